"""Graph methods on tables in tiles: some rows are fitted, and place the others."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from dualfold.errors import Argument, InvalidInput
from dualfold.graph.metrics import is_precomputed
from dualfold.scale.landmarks import HELD_OUT, placing_cost
from dualfold.scale.sampling import drawn_numbers, gathered
from dualfold.scale.table import TiledTable


def seed_of(random_state: Any) -> int:
    """scikit-learn's `random_state` as one number; None is 0, so that runs agree."""
    if random_state is None or isinstance(random_state, Integral):
        return int(random_state or 0)
    return int(random_state.randint(2**31 - 1))


def fit_landmarks(estimator: Any, rows: TiledTable) -> None:
    """Landmarks, drawn from all tiles, are fitted; the other rows are placed as new ones are.

    `placing_cost_` is what that costs, measured on rows held out: placed, and fitted with the
    landmarks.
    """
    if estimator.graph is not None or is_precomputed(estimator.metric):
        raise InvalidInput(
            "X is a table in tiles, of which some rows are fitted: it needs features, neither ",
            Argument("graph"),
            " nor ",
            Argument("metric", "precomputed"),
        )
    n, count = rows.n_rows, min(rows.landmarks, rows.n_rows)
    numbers = drawn_numbers(n, min(n, count + HELD_OUT), seed_of(estimator.random_state))
    held = np.sort(np.random.default_rng(0).permutation(len(numbers))[count:])
    kept = np.setdiff1d(np.arange(len(numbers)), held)
    some = estimator._checked(gathered(rows, numbers), reset=False)
    estimator._fit(some[kept])
    estimator.landmark_rows_, estimator.placing_cost_ = numbers[kept], None
    if not len(held):
        return
    both = estimator._for_comparison()
    both._fit(some)
    placed = estimator.placing_map()(some[held])
    fitted = both.embedding_[np.concatenate([kept, held])]
    cost = placing_cost(some[kept], some[held], estimator.embedding_, placed, fitted)
    certificate = estimator.certificate_
    words = f"{count:,} landmarks of {n:,} rows, which place the others: {cost}"
    about = "; ".join(filter(None, [certificate.about, words]))
    estimator.placing_cost_ = cost
    estimator.certificate_ = replace(certificate, about=about)
