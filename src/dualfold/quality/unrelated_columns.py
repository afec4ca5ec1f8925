"""How much overall order principal components show of columns that are not related."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from dualfold.arrays import Array
from dualfold.inputs import random_generator

N_SHUFFLED_TABLES = 19
# Above the mean of shuffled tables: hardly any table of noise lies farther out.
MAX_DEVIATIONS = 4.0


class UnrelatedOrder(NamedTuple):
    """Limits that shuffled tables hardly pass: their mean and four standard deviations.

    distances : Spearman's correlation of distances in the table and on its principal components
    squares : R² of the columns on these, summed over those from the given least
    """

    distances: float
    squares: float


def order_of_unrelated_columns(
    X: Array,
    n_components: int,
    kept_order: Callable[[Array, Array], float],
    *,
    least_square: float,
    blocks: Sequence[Hashable] | None = None,
    random_state: int = 0,
) -> UnrelatedOrder:
    """Order that as many axes show of the columns, each with its rows shuffled.

    kept_order : the correlation of distances in a table and on its map
    least_square : columns of a smaller R² do not count
    blocks : of each column; those of one block (the levels of a category) are shuffled together
    """
    names = list(range(X.shape[1])) if blocks is None else list(blocks)
    together = [
        np.array([column for column, name in enumerate(names) if name == block])
        for block in dict.fromkeys(names)
    ]
    rng = random_generator([random_state, len(X)])
    source, places = _without_copies(np.asarray(X, dtype=float))
    orders = []
    for _ in range(N_SHUFFLED_TABLES):
        shuffled = source.copy()
        for columns in together:
            shuffled[:, columns] = source[rng.permutation(len(source))][:, columns]
        shuffled = shuffled[places]
        shuffled -= shuffled.mean(axis=0)
        values, vectors = np.linalg.eigh(shuffled.T @ shuffled)
        axes = vectors[:, -n_components:]
        variances = (shuffled**2).sum(axis=0)
        varies = variances > np.finfo(float).eps * variances.sum()
        explained = axes**2 @ values[-n_components:]
        squares = explained[varies] / variances[varies]
        orders.append(
            (kept_order(shuffled, shuffled @ axes), squares[squares >= least_square].sum())
        )
    limits = np.mean(orders, axis=0) + MAX_DEVIATIONS * np.std(orders, axis=0, ddof=1)
    return UnrelatedOrder(min(1.0, float(limits[0])), float(limits[1]))


def _without_copies(X: Array) -> tuple[Array, Array]:
    """The rows to shuffle, and for each row of X its place among them.

    Where fewer than half of the rows are different, and most columns nearly name them (measured
    values, no answers of a few levels), rows were copied: the different ones are shuffled, and then
    copied as often.
    """
    distinct, places = np.unique(X, axis=0, return_inverse=True)
    if 2 * len(distinct) < len(X):
        values = [len(np.unique(column)) for column in distinct.T]
        if 2 * np.median(values) > len(distinct):
            return distinct, places.ravel()
    return X, np.arange(len(X))
