"""Graph methods on tables in tiles: some rows are fitted, and place the others."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from dualfold.errors import Argument, InvalidInput
from dualfold.graph.metrics import is_precomputed
from dualfold.maps.attraction import AttractionMap
from dualfold.scale.landmarks import HELD_OUT, HeldOut, keeps_more, placing_cost
from dualfold.scale.sampling import drawn_numbers, gathered
from dualfold.scale.table import TiledTable

# Of the few nearest landmarks, how many count. By 1, 0.9, 0.8 and 0.6 of five 1,000 rows kept 66.2,
# 66.5, 65.9 and 64.3 % on a surface, but 15.2, 15.6, 15.8 and 17.0 % on MNIST (three seeds each).
PERPLEXITY = 0.8


def seed_of(random_state: Any) -> int:
    """scikit-learn's `random_state` as one number; None is 0, so that runs agree."""
    if random_state is None or isinstance(random_state, Integral):
        return int(random_state or 0)
    return int(random_state.randint(2**31 - 1))


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
    numbers = drawn_numbers(n, min(n, count + HELD_OUT), seed_of(estimator.random_state))
    held = np.sort(np.random.default_rng(0).permutation(len(numbers))[count:])
    kept = np.setdiff1d(np.arange(len(numbers)), held)
    some = estimator._checked(_named(rows, gathered(rows, numbers)), reset=False)
    estimator._fit(some[kept])
    estimator.landmark_rows_, estimator.placing_cost_ = numbers[kept], None
    if not len(held):
        return
    both = estimator._for_comparison()
    both._fit(some)
    beside = HeldOut(some[kept], some[held])
    placed, rule = _placed(estimator, beside, some[kept], some[held])
    fitted = both.embedding_[np.concatenate([kept, held])]
    cost = placing_cost(beside, estimator.embedding_, placed, fitted, rule)
    certificate = estimator.certificate_
    words = f"{count:,} landmarks of {n:,} rows, which place the others: {cost}"
    about = "; ".join(filter(None, [certificate.about, words]))
    estimator.placing_cost_ = cost
    estimator.certificate_ = replace(certificate, about=about)


def _named(rows: TiledTable, some: Any) -> Any:
    """Rows with the names of their columns, where the table has them."""
    if not rows.is_frame:
        return some
    import pandas as pd

    return pd.DataFrame(some, columns=rows.meta.columns)


def near_mean(estimator: Any, graph: Any, points: Any, landmarks: Any) -> AttractionMap | None:
    """New rows at the mean of a few nearest landmarks: half as many as the graph has neighbours.

    The other rule of eigenmaps and diffusion maps. Nyström's is the mean of all neighbours in the
    graph, and where a map shows clusters or a curve it draws new rows to their middles: 1,000 rows
    beside 2,000 landmarks kept 13 % of their neighbours by it and 16 % by the few (MNIST), 22 and
    25 % (a roll whose map is a curve), but 67 and 66 % on a surface. So the rows decide.
    """
    usual = graph.n_neighbors or int(np.median(graph.lists.counts))
    count = min(max(2, usual // 2), len(landmarks))
    if graph.n_pieces > 1 and estimator.pieces == "separate":
        return None  # means across pieces lie nowhere
    by = PERPLEXITY * count
    return AttractionMap(landmarks, points, count, by, np.inf, estimator._metric())


def _placed(estimator: Any, beside: HeldOut, landmarks: Any, held: Any) -> tuple[Any, str]:
    """The places of rows held out, and how they were placed if not by the method's own rule.

    What they are placed by places all others, too.
    """
    own = estimator.placing_map()(held)
    map_ = estimator.embedding_
    rule = estimator._second_rule(getattr(estimator, "graph_", None), map_, landmarks)
    if rule is None:
        return own, ""
    near = rule(held)
    kept, more = (beside.kept(np.vstack([map_, places])) for places in (own, near))
    if not keeps_more(more, kept):
        return own, ""
    estimator._placing = rule
    return near, (
        f"each is placed at the mean of its {rule.n_neighbors} nearest landmarks, because by the "
        f"method's own rule they keep {100 * kept.mean():.1f} %"
    )
