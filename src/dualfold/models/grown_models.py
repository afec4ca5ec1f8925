"""A stored model as a map that rows can be added to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualfold.arrays import Rows
from dualfold.data.array_files import unnamed_columns
from dualfold.errors import Argument, DamagedFile, InvalidInput, counted
from dualfold.graph.graph import Graph
from dualfold.methods.fitting.estimator import Estimator
from dualfold.methods.fitting.graph_estimator import GraphEstimator
from dualfold.methods.fitting.neighborhoods import graph_settings, neighbor_graph
from dualfold.models.growth import Growth
from dualfold.models.judges import doubts_of_points
from dualfold.models.model import Model, reference_rows
from dualfold.models.updated_map import UpdatedMap

# A reference row is stored in float32.
REFERENCE_TOLERANCE = 1e-6


def updated_map_of(model: Model, old: Any = None) -> UpdatedMap:
    """Make the map of a stored model, which can grow and be judged again.

    Parameters
    ----------
    model : Model
        The model.
    old : array-like of shape (n_samples, n_features) or None, default=None
        The rows that were fitted, in the units that the map takes; needed for maps that keep none
        (linear ones), and not used for others.

    Returns
    -------
    UpdatedMap
        The map with all rows that were added, and without those that left.

    Raises
    ------
    InvalidInput
        If the map keeps no rows and none are given, or others than it was made of.
    DamagedFile
        If a stored point is not where the map places its row.

    See Also
    --------
    model_of : Makes a model of it again.

    Examples
    --------
    >>> from dualfold import Isomap
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.saved import model_of, updated_map_of
    >>> X = swiss_roll(200, random_state=0).points
    >>> model = model_of(Isomap(n_neighbors=10).fit(X[:150]).extend(X[150:]))
    >>> updated_map_of(model).embedding_.shape
    (200, 2)
    """
    estimator = _known_estimator(model)
    fitted = _fitted_rows(model, estimator, old)
    n, growth = fitted.shape[0], model.growth
    if growth is None:
        points = model.map.stored_points()
        growth = Growth.of_fit(fitted, model.map(fitted) if points is None else points)
    elif growth.n_fitted != n:
        raise InvalidInput(
            Argument("old"), f" has {counted(n, 'row')}; the map was made of {growth.n_fitted:,}"
        )
    else:
        _refuse_moved_points(model, fitted, growth)
    grown = UpdatedMap(estimator, model.map, fitted, growth, stored=model)
    numbers = np.arange(grown.n_rows) if growth.graph_rows is None else growth.graph_rows
    graph = _graph(estimator, grown.rows[numbers])
    if graph is None:
        return grown
    return replace(grown, graph_=graph, growth=replace(growth, graph_rows=numbers))


def _graph(estimator: Estimator, rows: Rows) -> Graph | None:
    """The neighbour graph of rows; None for methods without one, or with one for each class."""
    if isinstance(estimator, GraphEstimator):
        return estimator._method().graph(rows, None)
    if not hasattr(estimator, "pieces") or estimator._uses_labels():
        return None
    return neighbor_graph(rows, None, graph_settings(estimator))


def _known_estimator(model: Model) -> Estimator:
    """The estimator of a model, not fitted, but with the columns that it takes."""
    estimator = model.problem.new_estimator()
    if isinstance(getattr(estimator, "left_out", None), list):
        # They were left out of other rows than those that the map has now.
        estimator.set_params(left_out=None)
    preparation, weighted = model.preparation, model.problem.weighted
    width = model.map.n_columns
    if preparation.is_fitted:  # rows come prepared, and without names
        return estimator._for_columns(width, None, weighted=weighted)
    if preparation.is_encoded:
        means = model.map.column_means()
        return estimator._for_encoded_columns(preparation.encodings, means, weighted=weighted)
    names = None if model.columns == unnamed_columns(width) else model.columns
    array = None if names is None else np.array(names, dtype=object)
    return estimator._for_columns(width, array, weighted=weighted)


def _fitted_rows(model: Model, estimator: Estimator, old: Rows | None) -> Rows:
    """The rows that the map was made of: its own, or those that are given."""
    held = model.map.fitted_rows()
    if held is not None:
        return held[0]
    if old is None:
        raise InvalidInput(
            f"a map by {model.method} keeps no rows, and needs those that it was made of to grow; "
            "give them: ",
            Argument("old"),
        )
    rows = estimator._checked_rows(old, reset=False)
    if model.reference is None:
        return rows
    sample = reference_rows(rows)
    allowed = REFERENCE_TOLERANCE * np.abs(model.reference).max(initial=0.0)
    same = sample is not None and sample.shape == model.reference.shape
    if not same or not bool(np.all(np.abs(sample - model.reference) <= allowed)):
        raise InvalidInput(
            Argument("old"),
            " holds other rows than those that the map was made of, or in another "
            "order; give the same table",
        )
    return rows


def _refuse_moved_points(model: Model, fitted: Rows, growth: Growth) -> None:
    """`DamagedFile` where a stored point is not where the rule places its row."""
    held = growth.source >= 0
    points, stored = model.map.stored_points(), np.asarray(growth.points)
    again = np.empty(stored.shape)
    kept = growth.source[held]
    again[held] = points[kept] if points is not None else model.map(fitted[kept])
    if not held.all():
        again[~held] = model.map(growth.rows)
    doubts = doubts_of_points(again, stored)
    if doubts:
        raise DamagedFile(f"the places of its rows are not those of its map: {doubts[0]}")
