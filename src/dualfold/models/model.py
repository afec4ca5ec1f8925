"""A fitted map with all that is needed to place new rows, as one file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold import __version__
from dualfold.arrays import Array, Rows
from dualfold.data.array_files import unnamed_columns
from dualfold.data.atomic_files import atomic_file
from dualfold.data.notices import quoted_names
from dualfold.data.preparation import Preparation, PreparedRows
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.methods.descriptions import Description
from dualfold.methods.fitting.estimator import Estimator
from dualfold.methods.maps import file_checks
from dualfold.methods.maps.out_of_sample import OutOfSampleMap, map_from_parts, parts_of
from dualfold.methods.maps.parts import Parts
from dualfold.models.archive import read_archive, write_archive
from dualfold.models.growth import Growth
from dualfold.models.stated_problem import StatedProblem
from dualfold.models.updated_map import UpdatedMap
from dualfold.unfolding.stored_unfolding import BothSides
from dualfold.weights.encoding import features_of

# What a model of a linear map, which holds no rows itself, stores of them to compare new ones with.
MAX_STORED_ROWS = 2_000
MAX_STORED_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted map with all that is needed to place new rows; it can be saved as a file.

    `model_of` makes one of a fitted estimator.

    Attributes
    ----------
    map : OutOfSampleMap
        Rule that places new rows.
    method : str
        Name of the method, for the names of the coordinates.
    preparation : Preparation
        How a table becomes the rows that the map takes.
    problem : StatedProblem
        Estimator that made the map, with its parameters.
    certificate : dict
        What was proved of it, as JSON has it.
    both_sides : BothSides or None
        Points and dual weights of an unfolding.
    reference : ndarray or None
        Some of the fitted rows, if the map holds none: new rows are compared with them.
    growth : Growth or None
        Rows that came after the fit, and which fitted rows left; None if nothing grew.

    See Also
    --------
    model_of : Makes one of a fitted estimator.
    save_model : Writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import PCA
    >>> from dualfold.saved import model_of
    >>> model = model_of(PCA(n_components=1).fit(np.array([[0.0, 0.0], [2.0, 0.0]])))
    >>> model.columns, abs(float(model.transform(np.array([[3.0, 0.0]]))[0, 0]))
    (('column_1', 'column_2'), 2.0)
    """

    map: OutOfSampleMap
    method: str
    preparation: Preparation
    problem: StatedProblem
    certificate: dict[str, Any] = field(default_factory=dict)
    both_sides: BothSides | None = None
    reference: Array | None = None
    growth: Growth | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the map was made of, in their order."""
        return self.preparation.columns

    @property
    def stated_method(self) -> Description | None:
        """Method by whose name the model is called; None where it is called as its estimator."""
        method = self.problem.method
        return method if method is not None and method.name == self.method else None

    @property
    def coordinates(self) -> int:
        """Number of coordinates of the map."""
        return self.map.n_coordinates

    def transform(self, X: Any) -> Array:
        """Place new rows on the map.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with `columns` in this order, or a data frame.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The points.

        Raises
        ------
        InvalidInput
            If the rows have other columns.
        """
        preparation = self._complete_preparation
        if hasattr(X, "iloc") and preparation.is_encoded:
            X, _ = preparation.encoded({str(name): column for name, column in X.items()})
            X = preparation.with_categories(X)
        if X.shape[1] != len(self.columns):
            raise InvalidInput(
                f"the rows have {X.shape[1]} columns, the model was made for "
                f"{len(self.columns)} ({quoted_names(self.columns)})"
            )
        return self.map(preparation.scaled(X))

    def prepared_rows(self, source: Any, reading: Reading = DEFAULT_READING) -> PreparedRows:
        """Prepare new rows as those were that the map was made of.

        Parameters
        ----------
        source : str, path, data frame, array-like or sparse matrix
            Rows with the columns of the first table, found by their names.
        reading : Reading, default=Reading()
            How the new rows are read.

        Returns
        -------
        PreparedRows
            `X` as the map takes it, and what was decided about the rows.
        """
        return self._complete_preparation.apply(source, reading)

    @property
    def _complete_preparation(self) -> Preparation:
        """The preparation; an estimator that encoded its table knows the means of the columns."""
        preparation = self.preparation
        if preparation.means is not None or not preparation.is_encoded:
            return preparation
        return replace(preparation, means=self.map.column_means())


def save_model(path: str | os.PathLike[str], model: Model, *, overwrite: bool = False) -> None:
    """Write a model to a file, completely or not at all.

    The file holds data and runs nothing when it is read.

    Parameters
    ----------
    path : str or PathLike
        The file.
    model : Model
        The model.
    overwrite : bool, default=False
        Whether to replace a file of that name.

    Raises
    ------
    InvalidInput
        If the file exists, or the map cannot be stored as data.

    See Also
    --------
    load_model : Reads it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from dualfold import PCA
    >>> from dualfold.saved import load_model, model_of, save_model
    >>> model = model_of(PCA(n_components=1).fit(np.array([[0.0, 0.0], [2.0, 0.0]])))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(Path(folder, "line.dualfold"), model)
    ...     load_model(Path(folder, "line.dualfold")).method
    'PCA'
    """
    parts = parts_of(model.map)
    prepared = model.preparation.parts()
    parts.arrays |= {f"preparation.{name}": array for name, array in prepared.arrays.items()}
    parts.put("model_reference", model.reference)
    if model.both_sides is not None:
        parts.put("unfolding_factor", model.both_sides.factor)
        parts.put("unfolding_weights", model.both_sides.weights)
    header = {
        "dualfold": __version__,
        "method": model.method,
        "preparation": prepared.facts,
        "problem": model.problem.to_json(),
        "certificate": model.certificate,
        "map": {"kind": parts.kind, "facts": parts.facts},
    }
    if model.growth is not None:
        header["growth"] = model.growth.put_into(parts)
    with atomic_file(Path(path), overwrite=overwrite) as file:
        write_archive(file, header, parts.arrays)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model from a file.

    Parameters
    ----------
    path : str or PathLike
        The file.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    InvalidInput
        If there is no such file.
    DamagedFile
        If the file is not one that `save_model` wrote.

    See Also
    --------
    save_model : Writes it, and has an example.
    rechecked_model : Certifies it.

    Examples
    --------
    >>> from dualfold.saved import load_model
    >>> model = load_model("roll.dualfold")  # doctest: +SKIP
    >>> points = model.transform(new_rows)  # doctest: +SKIP
    """
    header, arrays = read_archive(Path(path))
    try:
        return _model_of(header, arrays)
    except DamagedFile as error:
        raise DamagedFile(f"{path} is damaged: ", error.message, "; save it again") from error
    except RecursionError as error:
        raise DamagedFile(f"{path} is damaged: its header is nested too deep") from error


def _model_of(header: dict[str, Any], arrays: dict[str, Array]) -> Model:
    stated = file_checks.json_object(header, "map")
    parts = Parts(stated.get("kind", ""), dict(file_checks.json_object(stated, "facts")), arrays)
    method = header.get("method")
    if not isinstance(method, str):
        raise DamagedFile("it names no method")
    map_ = map_from_parts(parts)
    preparation = Preparation.from_parts(
        parts.below("preparation", file_checks.json_object(header, "preparation"))
    )
    width = len(preparation.columns)
    if map_.n_columns != width:
        raise DamagedFile(f"its map takes {map_.n_columns} columns, and it names {width}")
    return Model(
        map=map_,
        method=method,
        preparation=preparation,
        problem=StatedProblem.from_json(file_checks.json_object(header, "problem")),
        certificate=dict(file_checks.json_object(header, "certificate")),
        both_sides=_both_sides(parts),
        reference=parts.optional_array("model_reference", [None, width]),
        growth=Growth.from_file(header, parts, map_),
    )


def _both_sides(parts: Parts) -> BothSides | None:
    if parts.get("unfolding_factor") is None and parts.get("unfolding_weights") is None:
        return None
    factor = parts.array("unfolding_factor", [None, None])
    weights = parts.table("unfolding_weights", [len(factor), len(factor)])
    return BothSides(factor, sp.csr_array(weights))


def model_of(estimator: Any) -> Model:
    """Make a model of a fitted estimator, or of a map that grew.

    Parameters
    ----------
    estimator : estimator or UpdatedMap
        A fitted estimator of dualfold, or what its `extend` returned.

    Returns
    -------
    Model
        The model, which places new rows as the estimator does.

    Raises
    ------
    InvalidInput
        If the estimator has no rule for new rows.

    See Also
    --------
    save_model : Writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import Isomap
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> fitted = Isomap(n_neighbors=8).fit(X)
    >>> bool((model_of(fitted).transform(X) == fitted.transform(X)).all())
    True
    """
    if isinstance(estimator, UpdatedMap):
        return _model_of_grown(estimator)
    encodings = getattr(estimator, "encodings_", ())
    columns = getattr(estimator, "feature_names_in_", unnamed_columns(estimator.n_features_in_))
    preparation = Preparation.of_numbers([str(column) for column in columns])
    if encodings:
        preparation = replace(preparation, columns=features_of(encodings), encodings=encodings)
    return Model(
        map=storable_map(estimator),
        method=type(estimator).__name__,
        preparation=preparation,
        problem=StatedProblem.of(estimator),
        certificate=estimator.certificate_.to_dict(),
        both_sides=both_sides(estimator),
    )


def _model_of_grown(grown: UpdatedMap) -> Model:
    """The model of a map that grew: the stored one that it came from, or its estimator's."""
    first, fitted = grown.stored, hasattr(grown.estimator, "certificate_")
    model: Model = model_of(grown.estimator) if first is None else first
    if first is not None and fitted:  # a stored map that was fitted again
        model = replace(
            model,
            problem=StatedProblem.of(grown.estimator),
            certificate=grown.estimator.certificate_.to_dict(),
            both_sides=both_sides(grown.estimator),
            reference=None if model.reference is None else reference_rows(grown.rows),
        )
        if model.preparation.means is not None and model.preparation.standard is None:
            # A scale stays, and its means.
            rows: Any = grown.rows  # dense or sparse
            means = np.asarray(rows.mean(axis=0), dtype=float).ravel()
            model = replace(model, preparation=replace(model.preparation, means=means))
    parts_of(grown.rule)  # refuses what cannot be saved now, not when the file is written
    growth = None if grown.growth.is_in(grown.rule) else grown.growth
    return replace(model, map=grown.rule, growth=growth)


def kept_rows(X: Rows) -> Array | None:
    """The numbers of the rows that a model stores; None where the table is sparse."""
    if not isinstance(X, np.ndarray):
        return None
    n, width = X.shape
    count = min(n, MAX_STORED_ROWS, max(50, MAX_STORED_NUMBERS // max(1, width)))
    return np.sort(np.random.default_rng(0).choice(n, count, replace=False))


def reference_rows(X: Rows) -> Array | None:
    """The rows that a model stores of a linear map; None where the table is sparse."""
    rows = kept_rows(X)
    return None if rows is None else X[rows].astype(np.float32)


def storable_map(estimator: Any) -> OutOfSampleMap:
    """The map that places new rows, if a file can hold it."""
    if not hasattr(estimator, "placing_map"):
        raise InvalidInput(
            f"{type(estimator).__name__} places no new points, so there is no model to save"
        )
    map_: OutOfSampleMap = estimator.placing_map()
    parts_of(map_)  # refuses what cannot be saved now, not when the file is written
    return map_


def both_sides(estimator: Estimator) -> BothSides | None:
    """Points and weights that prove an unfolding, for its model; None for all others."""
    if not hasattr(estimator, "dual_weights_"):
        return None
    return BothSides(estimator.factor_, estimator.dual_weights_)
