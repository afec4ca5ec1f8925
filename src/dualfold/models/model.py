"""A fitted map with all that is needed to place new rows, as one file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.data.atomic_files import atomic_file
from dualfold.data.columns import refuse_lacking
from dualfold.data.encoding import (
    Encoding,
    encoded_columns,
    features_of,
    from_json,
    indicators,
    level_places,
    to_json,
)
from dualfold.data.imputation import MIN_NOISE, Imputation
from dualfold.data.notices import quoted_names
from dualfold.data.text.text_block import TextBlock
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.methods.maps import file_checks
from dualfold.methods.maps.out_of_sample import OutOfSampleMap, map_from_parts, parts_of
from dualfold.methods.maps.parts import DATA_TOLERANCE, Parts, agree_within
from dualfold.models.archive import read_archive, write_archive
from dualfold.models.stored_growth import StoredGrowth, growth_from, growth_of
from dualfold.models.updated_map import UpdatedMap
from dualfold.unfolding.stored_unfolding import BothSides

# What a file holds of an imputation.
IMPUTATION_ARRAYS = ("mean", "scale", "components", "noise")
# What a model of a linear map, which holds no rows itself, stores of them to compare new ones with.
MAX_STORED_ROWS = 2_000
MAX_STORED_NUMBERS = 4_000_000
# In units of the columns' scales components are near 1; these only keep sums from overflowing.
MAX_COMPONENTS = 100
MAX_COMPONENT = 1e6


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
    columns : tuple of str
        Columns that the map was made of, in their order.
    means : ndarray or None
        Means of the columns, which replace missing values of new rows.
    shift : ndarray or None
        What standardising subtracted; None if nothing was standardised.
    scale : ndarray or None
        What standardising divided by. A column that did not vary has an infinite scale and becomes
        0.
    settings : dict
        How the map was made, as JSON has it.
    certificate : dict
        What was proved of it, as JSON has it.
    both_sides : BothSides or None
        Points and dual weights of an unfolding.
    reference : ndarray or None
        Some of the fitted rows, if the map holds none: new rows are compared with them.
    imputation : Imputation or None
        How missing values of the fitted rows were filled in, if not by means alone.
    growth : StoredGrowth or None
        Rows that came after the fit, and which fitted rows left; None if nothing grew.
    text : TextBlock or None
        How texts or vectors become the first of `columns`.

    See Also
    --------
    model_of : Makes one of a fitted estimator.
    save_model : Writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import PCA
    >>> from dualfold.models import model_of
    >>> model = model_of(PCA(n_components=1).fit(np.array([[0.0, 0.0], [2.0, 0.0]])))
    >>> model.columns, abs(float(model.transform(np.array([[3.0, 0.0]]))[0, 0]))
    (('column_1', 'column_2'), 2.0)
    """

    map: OutOfSampleMap
    method: str
    columns: tuple[str, ...]
    means: Array | None = None
    shift: Array | None = None
    scale: Array | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    certificate: dict[str, Any] = field(default_factory=dict)
    both_sides: BothSides | None = None
    reference: Array | None = None
    imputation: Imputation | None = None
    growth: StoredGrowth | None = None
    text: TextBlock | None = None

    @property
    def encodings(self) -> tuple[Encoding, ...]:
        """How columns of a table become `columns`; empty if they are the same."""
        return from_json(self.settings.get("encodings") or ())

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
        if hasattr(X, "iloc") and (self.encodings or self.text is not None):
            X = self.encoded_table({str(name): column for name, column in X.items()})[0]
            X = self.with_categories(X)
        if X.shape[1] != len(self.columns):
            raise InvalidInput(
                f"the rows have {X.shape[1]} columns, the model was made for "
                f"{len(self.columns)} ({quoted_names(self.columns)})"
            )
        return self.map(self.standardized_rows(X))

    def standardized_rows(self, X: Any) -> Any:
        """Standardise rows as the fitted rows were.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the model's columns.

        Returns
        -------
        array-like
            The rows as the map takes them.
        """
        if self.shift is None or self.scale is None:
            return X
        return (np.asarray(X, dtype=np.float64) - self.shift) / self.scale

    def encoded_table(self, table: Mapping[str, Any]) -> tuple[Array, list[str]]:
        """Encode columns of a table as the model's columns.

        What is unknown or missing is NaN.

        Parameters
        ----------
        table : mapping of str to array-like
            Columns by name.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The encoded rows.
        notices : list of str
            One sentence for each column with unknown values.
        """
        encodings = self.encodings
        refuse_lacking([encoding.name for encoding in encodings], list(table))
        X = self._encoded_columns(table)
        new = {encoding.name: encoding.unknown(table[encoding.name]) for encoding in encodings}
        notices = [
            f"'{name}' has values that no old row had ({quoted_names(values, 3)}): counted as "
            "unknown"
            for name, values in new.items()
            if values
        ]
        return X, notices

    def _encoded_columns(self, table: Mapping[str, Any]) -> Array:
        """The text before the columns that join it; NaN for texts without a known term."""
        if self.text is None:
            return encoded_columns(self.encodings, table)
        rows = self.text.rows(table)
        joined = [encoded_columns(self.encodings, table)] if self.encodings else []
        return np.concatenate([rows, *joined], axis=1)

    def imputed_rows(self, X: Array) -> Array:
        """Fill in missing values as those of the fitted rows were; by means where these had none.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows with `columns`; missing values are NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The complete rows.
        """
        if self.imputation is not None:
            return self.imputation.imputed(X)
        means = self.map.column_means() if self.means is None else self.means
        return X if means is None else np.where(np.isfinite(X), X, means)

    def with_categories(self, X: Array) -> Array:
        """Fill in what is missing or unknown in categories, as `imputed_rows` does.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows with `columns`; missing values are NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows in which numbers alone may be missing.
        """
        text = np.zeros(0 if self.text is None else self.text.width, dtype=bool)
        lacking = ~np.isfinite(X) & np.concatenate([text, indicators(self.encodings)])
        return np.where(lacking, self.imputed_rows(X), X) if lacking.any() else X

    def matching_columns(self, X: Any, names: Sequence[str]) -> Any:
        """Select the model's columns of a table by their names.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            The table.
        names : sequence of str
            Names of its columns.

        Returns
        -------
        array-like of shape (n_samples, n_features)
            The model's columns in their order.

        Raises
        ------
        InvalidInput
            If a column is missing.
        """
        places = {name: place for place, name in enumerate(names)}
        refuse_lacking(self.columns, names)
        if tuple(names) == self.columns:
            return X
        return X[:, [places[name] for name in self.columns]]


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
    >>> from dualfold.models import load_model, model_of, save_model
    >>> model = model_of(PCA(n_components=1).fit(np.array([[0.0, 0.0], [2.0, 0.0]])))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(Path(folder, "line.dualfold"), model)
    ...     load_model(Path(folder, "line.dualfold")).method
    'PCA'
    """
    parts = parts_of(model.map)
    for name in ("means", "shift", "scale", "reference"):
        parts.put(f"model_{name}", getattr(model, name))
    if model.imputation is not None:
        for name in IMPUTATION_ARRAYS:
            parts.put(f"imputation_{name}", np.atleast_1d(getattr(model.imputation, name)))
    if model.both_sides is not None:
        parts.put("unfolding_factor", model.both_sides.factor)
        parts.put("unfolding_weights", model.both_sides.weights)
    header = {
        "dualfold": model.settings.get("dualfold", "unknown"),
        "method": model.method,
        "columns": list(model.columns),
        "settings": model.settings,
        "certificate": model.certificate,
        "map": {"kind": parts.kind, "facts": parts.facts},
    }
    if model.growth is not None:
        header["growth"] = model.growth.put_into(parts)
    if model.text is not None:
        header["text"] = model.text.put_into(parts)
    with atomic_file(Path(path), overwrite=overwrite) as file:
        write_archive(file, header, parts.arrays)


def columns_differ(mine: Array | None, stored: Any, scale: Array | None = None) -> bool:
    """Whether one number for each column is stored as another than `mine`.

    `scale` is what their rounding is relative to (None: they themselves). None is nothing.
    """
    if mine is None or stored is None:
        return (mine is None) != (stored is None)
    if stored.shape != mine.shape or stored.dtype.kind not in "fiu":
        return True
    sizes = np.abs(mine) if scale is None else scale
    return not agree_within(mine, stored, DATA_TOLERANCE * sizes)


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
    >>> from dualfold.models import load_model
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
    settings = dict(file_checks.json_object(header, "settings"))
    columns: Any = header.get("columns")
    method: Any = header.get("method")
    has_names = isinstance(method, str) and isinstance(columns, list)
    if not has_names or not all(isinstance(column, str) for column in columns):
        raise DamagedFile("it names no method, or its columns in an unknown form")
    map_, width = map_from_parts(parts), len(columns)
    if map_.n_columns != width:
        raise DamagedFile(f"its map takes {map_.n_columns} columns, and it names {width}")
    encodings = from_json(settings.get("encodings") or ())
    text = TextBlock.from_file(parts, header["text"]) if "text" in header else None
    joined = tuple(columns[0 if text is None else text.width :])
    if (encodings or text is not None) and features_of(encodings) != joined:
        raise DamagedFile("its columns are not those that it states how to make")
    return Model(
        map=map_,
        method=method,
        columns=tuple(columns),
        means=parts.optional_array("model_means", [width]),
        shift=parts.optional_array("model_shift", [width]),
        scale=parts.optional_array("model_scale", [width], above=0.0, infinite=True),
        settings=settings,
        certificate=dict(file_checks.json_object(header, "certificate")),
        both_sides=_both_sides(parts),
        reference=parts.optional_array("model_reference", [None, width]),
        growth=growth_from(header, parts, map_),
        imputation=None if text is not None else _imputation(parts, encodings, width),
        text=text,
    )


def _imputation(parts: Parts, encodings: Sequence[Encoding], width: int) -> Imputation | None:
    if all(parts.get(f"imputation_{name}") is None for name in IMPUTATION_ARRAYS):
        return None
    components = parts.array("imputation_components", [width, None])
    noise = parts.array("imputation_noise", [1], least=MIN_NOISE)
    if components.shape[1] > MAX_COMPONENTS or np.abs(components).max(initial=0.0) > MAX_COMPONENT:
        raise DamagedFile("its components of missing values are too many or too large")
    return Imputation(
        mean=parts.array("imputation_mean", [width]),
        scale=parts.array("imputation_scale", [width], least=0.0),
        components=components,
        noise=float(noise[0]),
        levels=level_places(encodings),
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
    name = type(estimator).__name__
    columns = getattr(estimator, "feature_names_in_", None)
    encodings = getattr(estimator, "encodings_", ())
    if encodings:
        columns = features_of(encodings)
    if columns is None:
        columns = [f"column_{place + 1}" for place in range(estimator.n_features_in_)]
    parameters, not_kept = _plain_parameters(estimator)
    return Model(
        map=storable_map(estimator),
        method=name,
        columns=tuple(str(column) for column in columns),
        settings={"estimator": name, "parameters": parameters, "not_kept": not_kept}
        | ({"encodings": to_json(encodings)} if encodings else {})
        | ({"weighted": True} if getattr(estimator, "_weighted", False) else {}),
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
            certificate=grown.estimator.certificate_.to_dict(),
            both_sides=both_sides(grown.estimator),
            reference=None if model.reference is None else reference_rows(grown.rows),
        )
        if model.means is not None and model.shift is None:  # a scale stays, and its means
            means = np.asarray(grown.rows.mean(axis=0), dtype=float).ravel()
            model = replace(model, means=means)
        if "parameters" in model.settings:
            stated, not_kept = _plain_parameters(grown.estimator)
            found = {"parameters": stated, "not_kept": not_kept}
            model = replace(model, settings=model.settings | found)
    parts_of(grown.rule)  # refuses what cannot be saved now, not when the file is written
    return replace(model, map=grown.rule, growth=growth_of(grown))


def _plain_parameters(estimator: Any) -> tuple[dict[str, Any], list[str]]:
    """The parameters that a file can hold, and the names of the others."""
    plain: dict[str, Any] = {}
    others = []
    parameters = estimator.get_params(deep=False)
    # Rows that were left out are stated: with them it would be another problem.
    if hasattr(estimator, "found_parameters"):
        parameters |= estimator.found_parameters()
    for name, value in parameters.items():
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, bool | int | float | str):
            plain[name] = value
        elif isinstance(value, dict) and not value:
            plain[name] = None
        elif name in ("left_out", "coordinates"):
            plain[name] = [int(number) for number in value]
        else:
            others.append(name)
    return plain, others


def kept_rows(X: Any) -> Array | None:
    """The numbers of the rows that a model stores; None where the table is sparse."""
    if not isinstance(X, np.ndarray):
        return None
    n, width = X.shape
    count = min(n, MAX_STORED_ROWS, max(50, MAX_STORED_NUMBERS // max(1, width)))
    return np.sort(np.random.default_rng(0).choice(n, count, replace=False))


def reference_rows(X: Any) -> Array | None:
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


def both_sides(estimator: Any) -> BothSides | None:
    """What proves an unfolding, to be stored with its map; None for all others."""
    if not hasattr(estimator, "dual_weights_"):
        return None
    return BothSides(estimator.factor_, estimator.dual_weights_)
