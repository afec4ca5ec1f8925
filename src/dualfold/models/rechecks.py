"""A stored model or stored points judged again, by the problem of the estimator that made them.

Only a name and parameters are taken from a file. They say which problem it is about; the answer
states them, so that whoever reads it sees which problem was judged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.certificate import Certificate, Tolerance
from dualfold.data.array_files import unnamed_columns
from dualfold.data.preparation import columns_differ, matching_columns
from dualfold.data.prepared import Prepared
from dualfold.errors import InvalidInput, counted
from dualfold.methods.fitting.estimator import Estimator
from dualfold.models.judges import GraphStatement, PointsJudge, TraceJudge, doubts_of_points
from dualfold.models.model import Model, reference_rows
from dualfold.models.trace_answers import CertifySettings, certificate_of_map
from dualfold.unfolding.stored_unfolding import BothSides


def rechecked_model(
    model: Model,
    X: Any,
    y: Any = None,
    *,
    weights: Any = None,
    tolerance: Tolerance = "default",
    fresh: bool = False,
) -> Certificate:
    """Certify a stored model by the rows that it was made of.

    Only the name and the parameters of the estimator are taken from the file; they say which
    problem it is about. If the file holds fewer vectors than the problem has (points in float32,
    independent coordinates, Fisher's discriminants), the missing ones are computed again.

    Parameters
    ----------
    model : Model
        The model.
    X : Prepared, array-like or sparse matrix of shape (n_samples, n_features)
        The table that the map was made of, prepared anew, or its rows as the map takes them.
    y : array-like of shape (n_samples,) or None, default=None
        Labels of the rows, for methods that use them; None: those of a `Prepared`.
    weights : array-like of shape (n_samples,) or None, default=None
        Weights of the rows that the map was fitted with (`sample_weight` or `masses`); None: those
        of a `Prepared`.
    tolerance : float or "default", default="default"
        Largest relative gap that is called "proved", and largest share of unbalanced forces of a
        "stationary" t-SNE map; "default" is 1e-4 of a gap and 0.01 of forces.
    fresh : bool, default=False
        Whether random searches start from the system's randomness, for files of other people, who
        could have tried many.

    Returns
    -------
    Certificate
        Certificate of a trace problem, an unfolding, a map of neighbours, or pieces.

    See Also
    --------
    rechecked_points : Certifies points without a model.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import PCA
    >>> from dualfold.saved import model_of, rechecked_model
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> rechecked_model(model_of(PCA(n_components=2).fit(X)), X).level
    'proved'
    """
    settings = CertifySettings(tolerance, fresh)
    estimator, doubts = model.problem.new_estimator(), _doubts_of_preparation(model, X)
    if isinstance(X, Prepared):
        X, y, weights = _columns_of(model, X), X.classes, X.weights
    table = estimator._checked_rows(X, reset=True)
    if table.shape[1] != len(model.columns):
        raise InvalidInput(
            f"the rows have {counted(table.shape[1], 'column')}, the model was made for "
            f"{len(model.columns)}"
        )
    given = _Rows(X, table, y, weights)
    inner = replace(model, map=model.map.unmoved())
    certificate = _certificate_of_model(estimator, given, inner, settings)
    certificate = certificate.with_scope(_words_on_growth(model))
    return certificate.with_doubts(*doubts, *_doubts_of_name(model))


def _columns_of(model: Model, data: Prepared) -> Rows:
    """The rows of a table; an estimator that was given columns finds them by their names."""
    names = data.names
    if model.preparation.is_fitted or model.columns == unnamed_columns(len(names)):
        return data.X
    return matching_columns(data.X, names, model.columns)


def _doubts_of_preparation(model: Model, data: object) -> list[str]:
    """Statements of a model about its table that are not true of the table."""
    preparation = model.preparation
    if not preparation.is_fitted:
        return []
    if not isinstance(data, Prepared):  # rows as the map takes them; the model would change them
        scaled = [] if preparation.standard is None else ["shift", "scale"]
        return [f"the model has a {name} of its own" for name in (*scaled, "means")]
    doubts = data.preparation.differences(preparation)
    if model.reference is not None and columns_differ(reference_rows(data.X), model.reference):
        doubts.append("the rows that the model keeps are not those of the table")
    return doubts


def _doubts_of_name(model: Model) -> list[str]:
    """Whether the model is called by a method that its estimator is not."""
    method = model.problem.method
    name = model.problem.estimator if method is None else method.name
    if model.method in (name, model.problem.estimator):
        return []
    return [f"the model is called {model.method[:40]!r}, its settings state {name}"]


def _words_on_growth(model: Model) -> str:
    """Words on what of a map is no answer to its problem, and not judged; "" for nothing."""
    words = []
    if model.map.unmoved() is not model.map:
        words.append("the map before it was turned and moved onto an older one")
    if model.growth is not None and (model.growth.n_added or model.growth.n_left):
        words.append(
            f"the rows that were fitted, not about {counted(model.growth.n_added, 'row')} added "
            f"and {model.growth.n_left:,} taken away later"
        )
    return ", and ".join(words)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows that a map was made of, as given and as a table, with labels, weights or None."""

    given: Rows
    table: Rows
    y: object
    weights: Array | None


def _certificate_of_model(
    estimator: Estimator, rows: _Rows, model: Model, settings: CertifySettings
) -> Certificate:
    table = rows.table
    if hasattr(estimator, "graph_of"):
        statement = GraphStatement.of(estimator, table, model.both_sides, settings, rows.weights)
        return statement.certificate_of_map(model.map)
    if not hasattr(estimator, "judged_points"):
        stated = estimator.statement(rows.given, model.coordinates, rows.y, rows.weights)
        return certificate_of_map(stated, model.map, settings)[0]
    points, n = model.map.stored_points(), table.shape[0]
    chosen = estimator._landmark_rows(n) if hasattr(estimator, "_landmark_rows") else None
    fitted = n if chosen is None else len(chosen)
    if points is not None and np.shape(points) != (fitted, estimator.n_components):
        raise InvalidInput(
            f"the model holds points of shape {np.shape(points)} and the data has {n} rows"
        )
    options = {"tolerance": settings.tolerance}
    return PointsJudge(estimator, table, options).certificate_of_map(model.map)[0]


def rechecked_points(
    estimator: Any,
    X: Any,
    points: Any,
    values: Any = None,
    sides: BothSides | None = None,
    y: Any = None,
    *,
    weights: Any = None,
    tolerance: Tolerance = "default",
    fresh: bool = False,
) -> Certificate:
    """Certify points as the answer of an unfitted estimator to a table.

    Parameters
    ----------
    estimator : estimator
        An estimator of dualfold with its parameters, not fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows that the map was made of.
    points : array-like of shape (n_samples, n_components)
        The points.
    values : array-like or None, default=None
        Eigenvalues that were stored with them.
    sides : BothSides or None, default=None
        Points and dual weights of an unfolding, if they were stored.
    y : array-like of shape (n_samples,) or None, default=None
        Labels of the rows, for methods that use them.
    weights : array-like of shape (n_samples,) or None, default=None
        Weights of the rows that the map was fitted with (`sample_weight` or `masses`).
    tolerance : float or "default", default="default"
        Largest relative gap that is called "proved", and largest share of unbalanced forces of a
        "stationary" t-SNE map; "default" is 1e-4 of a gap and 0.01 of forces.
    fresh : bool, default=False
        Whether random searches start from the system's randomness, for files of other people, who
        could have tried many.

    Returns
    -------
    Certificate
        That of a trace problem, an unfolding, a map of neighbours, or pieces.

    See Also
    --------
    rechecked_model : Certifies a stored model.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import PCA
    >>> from dualfold.saved import rechecked_points
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> rechecked_points(PCA(n_components=2), X, X[:, :2]).level
    'failed'
    """
    settings = CertifySettings(tolerance, fresh)
    table, stored = estimator._checked_rows(X, reset=True), np.asarray(points)
    if hasattr(estimator, "graph_of"):
        if len(stored) != table.shape[0]:
            raise InvalidInput(
                f"{len(stored)} points are stored and the data has {table.shape[0]} rows"
            )
        statement = GraphStatement.of(estimator, table, sides, settings, weights)
        return statement.certificate_of_points(stored, values)
    if hasattr(estimator, "judged_points"):
        return estimator.judged_points(table, stored, tolerance=settings.tolerance)
    judge = TraceJudge(estimator.statement(X, stored.shape[1], y, weights), settings)
    fitted = np.flatnonzero(np.ones(len(stored)) if weights is None else weights)
    certificate = judge.certificate_of_points(stored[fitted], values)
    if len(fitted) == len(stored) or certificate.level == "failed":
        return certificate
    # Rows of weight 0 are where the map puts new rows.
    again = judge.map_of_points(stored[fitted].astype(float), certificate)(table)
    again[fitted] = stored[fitted]
    return certificate.with_doubts(*doubts_of_points(again, stored))
