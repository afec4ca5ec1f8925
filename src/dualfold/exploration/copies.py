"""Rows that are copies of others up to rounding: on a map of neighbours they make islands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dualfold.graph.distances import chunks

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.data import Prepared
    from dualfold.exploration.fitted_map import FittedMap

# Vectors in float32 have 7 digits, and a sum of them loses one.
COPY_SHARE = 1e-6
# Rows that tell how far a table spreads.
MAX_SPREAD_ROWS = 10_000
# They are said from so many on, and from this share of the rows.
MIN_COPIES = 10
MIN_COPIES_SHARE = 0.01
# Rows after each one, by their places along a random direction, that are compared with it.
MAX_COMPARED_ROWS = 16
# Copies lie nearer to each other along the direction than so many times their distance, nearly all.
MAX_TIMES_ALONG = 4.0


def copies_remarks(result: FittedMap, data: Prepared) -> list[str]:
    """Remark on rows that are copies of others, of maps that are made of neighbours.

    Few are no matter; in one or two columns different rows come as near to each other.
    """
    plan, X = result.plan, data.X
    of_neighbors = plan.method.needs_graph or "perplexity" in plan.parameters
    if not of_neighbors or plan.of_distances or not isinstance(X, np.ndarray) or X.shape[1] <= 2:
        return []
    count = int(copied_rows(X).sum())
    if count < max(MIN_COPIES, MIN_COPIES_SHARE * len(X)):
        return []
    return [
        f"{count:,} of {len(X):,} rows are copies of others up to rounding (nearer than a "
        "millionth of the table's spread); on a map of neighbours copies make islands of their "
        "own, so leave out repeated rows before reading groups"
    ]


def copied_rows(X: Array) -> Array:
    """For each row whether another one is nearer than a millionth of the table's spread.

    The spread is the root of the mean squared distance from the mean, of every few rows. Copies
    have nearly the same place along any direction; of the rows there, the next few are compared.
    """
    is_copy = np.zeros(len(X), dtype=bool)
    some = X[:: max(1, -(-len(X) // MAX_SPREAD_ROWS))]
    reach = COPY_SHARE * float(np.sqrt(some.var(axis=0, dtype=np.float64).sum()))
    if not np.isfinite(reach) or reach == 0:
        return np.full(len(X), reach == 0 and len(X) > 1)
    along = np.asarray(X @ np.random.default_rng(0).standard_normal(X.shape[1]), dtype=float)
    order = np.argsort(along, kind="stable")
    along = along[order]
    for step in range(1, min(MAX_COMPARED_ROWS, len(X) - 1) + 1):
        near = np.flatnonzero(along[step:] - along[:-step] <= MAX_TIMES_ALONG * reach)
        if not len(near):
            break
        for part in chunks(len(near), X.shape[1]):
            first, second = order[near[part]], order[near[part] + step]
            difference = X[first].astype(np.float64) - X[second]
            same = np.einsum("ij,ij->i", difference, difference) <= reach**2
            is_copy[first[same]] = is_copy[second[same]] = True
    return is_copy
