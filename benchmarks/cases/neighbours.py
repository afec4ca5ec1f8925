"""Neighbour lists, compared with lists made by nobody's code but NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.case import Answer, Case, Data, Side, ours, peer
from benchmarks.sets import images
from benchmarks.verdicts import Fact, NoMoreThan

ROWS = 200


def share_found(answer: Answer, data: Data) -> dict[str, Any]:
    """The share of the true 10 neighbours in the lists of some rows, by brute force.

    A listed point as near as the true tenth counts: ties have no right order.
    """
    X, lists = data.given, answer.lists
    if lists is None:
        return {}
    found = 0
    for row in np.random.default_rng(1).choice(len(X), min(ROWS, len(X)), replace=False):
        apart = X.astype(np.float64, copy=False) if len(X) < 2_000 else X
        squares = np.square(np.subtract(apart, apart[row], dtype=np.float64)).sum(axis=1)
        squares[row] = np.inf
        tenth = np.partition(squares, 9)[9]
        listed = lists[row][lists[row] != row][:10]
        found += int(np.sum(squares[listed] <= tenth * (1 + 1e-12)))
    return {"found by brute force": found / (10 * min(ROWS, len(X)))}


NEIGHBOURS = {
    "neighbours-mnist": Case(
        "10 nearest neighbours, MNIST 70,000",
        images(70_000),
        {
            "dualfold": ours("neighbours"),
            "dualfold approximate": ours("neighbours", search="approximate"),
            # Without it the BLAS that faiss bundles takes a slow path on some machines with
            # AVX-512; others ignore the hint.
            "faiss Flat": Side("faiss:flat", environment={"OPENBLAS_CORETYPE": "SkylakeX"}),
            "scikit-learn": peer("scikit_learn:neighbours"),
        },
        (
            NoMoreThan(0.5, ("faiss Flat",)),
            Fact("proved", least=1.0),
            Fact("found by brute force", least=1.0),
        ),
        check=share_found,
    ),
}
