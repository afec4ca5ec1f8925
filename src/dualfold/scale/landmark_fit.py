"""Graph methods on tables in tiles: some rows are fitted, and place the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from dualfold.errors import Argument, InvalidInput
from dualfold.fitting.solver_choice import seed_of
from dualfold.graph.metrics import is_precomputed
from dualfold.scale.landmarks import HELD_OUT_ROWS, HeldOut, keeps_more, placing_cost
from dualfold.scale.sampling import drawn_row_numbers, gather_rows
from dualfold.scale.table import TiledTable


def fit_landmarks(estimator: Any, rows: TiledTable) -> None:
    """Landmarks, drawn from all tiles, are fitted; the other rows are placed as new ones are.

    `placing_cost_` is what that costs, measured on rows held out: placed, and fitted with the
    landmarks. They also decide between two rules of new rows, where a method has a second one.
    """
    if estimator.graph is not None or is_precomputed(estimator.metric):
        raise InvalidInput(
            "X is a table in tiles, of which some rows are fitted: it needs features, neither ",
            Argument("graph"),
            " nor ",
            Argument("metric", "precomputed"),
        )
    n, count = rows.n_rows, min(rows.landmarks, rows.n_rows)
    numbers = drawn_row_numbers(n, min(n, count + HELD_OUT_ROWS), seed_of(estimator.random_state))
    held = np.sort(np.random.default_rng(0).permutation(len(numbers))[count:])
    kept = np.setdiff1d(np.arange(len(numbers)), held)
    some = estimator._checked(_with_column_names(rows, gather_rows(rows, numbers)), reset=False)
    estimator._fit(some[kept], None)
    estimator.landmark_rows_, estimator.placing_cost_ = numbers[kept], None
    if not len(held):
        return
    make = getattr(estimator, "for_comparison", None)
    both = clone(estimator) if make is None else make()
    both._fit(some, None)
    beside = HeldOut(some[kept], some[held])
    placed, rule = _place_held_out(estimator, beside, some[kept], some[held])
    fitted = both.embedding_[np.concatenate([kept, held])]
    cost = placing_cost(beside, estimator.embedding_, placed, fitted, rule)
    certificate = estimator.certificate_
    words = f"{count:,} landmarks of {n:,} rows, which place the others: {cost}"
    about = "; ".join(filter(None, [certificate.about, words]))
    estimator.placing_cost_ = cost
    estimator.certificate_ = replace(certificate, about=about)


def _with_column_names(rows: TiledTable, some: Any) -> Any:
    """Rows with the names of their columns, where the table has them."""
    if not rows.is_frame:
        return some
    import pandas as pd

    return pd.DataFrame(some, columns=rows.meta.columns)


def _place_held_out(estimator: Any, beside: HeldOut, landmarks: Any, held: Any) -> tuple[Any, str]:
    """The places of rows held out, and how they were placed if not by the method's own rule.

    What they are placed by places all others, too.
    """
    own = estimator.placing_map()(held)
    map_ = estimator.embedding_
    second = getattr(estimator, "second_rule", None)
    rule = None if second is None else second(estimator.graph_, map_, landmarks)
    if rule is None:
        return own, ""
    near = rule(held)
    kept, more = (beside.kept_shares(np.vstack([map_, places])) for places in (own, near))
    if not keeps_more(more, kept):
        return own, ""
    estimator._placing = rule
    return near, (
        f"each is placed at the mean of its {rule.n_neighbors} nearest landmarks, because by the "
        f"method's own rule they keep {100 * kept.mean():.1f} %"
    )
