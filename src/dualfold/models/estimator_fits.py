"""What a growing map asks of its estimator: the rows and points of a fit, and a fit from them."""

from __future__ import annotations

import warnings

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.graph import Graph
from dualfold.graph.neighbor_lists import Neighbors
from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import Estimator, fit_with
from dualfold.methods.maps.out_of_sample import OutOfSampleMap


def fitted_rows_and_points(
    estimator: Estimator, rule: OutOfSampleMap, old: Rows
) -> tuple[Rows, Array, Array | None]:
    """The rows of a fit, their points, and the numbers of those in the graph (None: all).

    old : the rows that were fitted, for estimators that keep none
    """
    numbers = getattr(estimator, "rows_", None)
    points = getattr(estimator, "embedding_", None)
    if old is not None:
        rows = estimator._checked_rows(old, reset=False)
        if points is None or len(points) != rows.shape[0]:
            points = rule(rows)
    else:
        fitted = rule.fitted_rows()
        if fitted is None:
            raise InvalidInput(
                f"{type(estimator).__name__} keeps no rows; give those that it was fitted to: "
                "extend(X, ",
                Argument("old"),
                "=…)",
            )
        rows = fitted[0]
        if numbers is not None and points is not None:
            points, numbers = points[numbers], None
        if points is None or len(points) != rows.shape[0]:
            points = rule.stored_points() if rule.stored_points() is not None else rule(rows)
    return rows, np.asarray(points), numbers


def sources_of_rows(rule: OutOfSampleMap, n: int, numbers: Array | None) -> Array:
    """The number of each of n rows among those that the rule holds; -1 for the others.

    numbers : of the rows that were fitted, where not all were
    """
    held = rule.fitted_rows()
    if held is None or held[0].shape[0] == n:
        return np.arange(n)
    sources = np.full(n, -1)
    if numbers is not None and len(numbers) == held[0].shape[0]:
        sources[numbers] = np.arange(len(numbers))
    return sources


def fitted_from(
    estimator: Estimator, rows: Rows, start: Array, known: Neighbors | None
) -> Estimator:
    """The estimator fitted to rows, from the points `start`; its parameters stay as they are.

    New rows may have a direction in which the start does not vary. Where the certificate is
    unresolved or failed, the fit is made once more without the start.
    """
    begins = start if estimator.refits_from_points else None
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        fit_with(estimator, rows, FitContext(graph=known, start=begins))
    if estimator.certificate_.level in ("unresolved", "failed"):
        return fit_with(estimator, rows, FitContext(graph=known))
    for warning in recorded:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return estimator


def known_lists(graph: Graph | None, n_rows: int) -> Neighbors | None:
    """Neighbours that need no search: the lists of the graph, if it has all rows."""
    if graph is None or graph.n != n_rows or graph.kind != "fixed":
        return None
    if len(set(graph.lists.counts)) != 1:
        return None
    shape = graph.n, -1
    indices = graph.lists.indices.reshape(shape).astype(np.int32)
    return Neighbors(indices, graph.lists.distances.reshape(shape), graph.search)


def lengths_have_meaning(estimator: Estimator) -> bool:
    """Whether lengths on the map mean something."""
    name = type(estimator).__name__
    row = next(
        (description for description in DESCRIPTIONS.values() if description.class_name == name),
        None,
    )
    return row is None or row.lengths
