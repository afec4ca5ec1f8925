"""Methods of all pairs of rows, on tables in tiles: some rows are fitted, and place the others.

What it costs that most rows are placed by others is measured on rows held out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.metrics import is_precomputed
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import Estimator
from dualfold.methods.fitting.solver_choice import seed_of
from dualfold.quality.estimate import estimate_of_mean
from dualfold.quality.ranks import t_similarity
from dualfold.quality.space import space_of
from dualfold.scale.search import kept_on_maps
from dualfold.scale.tiled_table import TiledTable, drawn_row_numbers, gather_rows


def fit_landmarks(estimator: Estimator, rows: TiledTable, weights: Array | None = None) -> None:
    """Landmarks, drawn from all tiles, are fitted; the other rows are placed as new ones are.

    `placing_cost_` is what that costs, measured on rows held out: placed, and fitted with the
    landmarks. They also decide between two rules of new rows, where a method has a second one.
    """
    precomputed = next(
        (name for name in ("metric", "kernel") if is_precomputed(getattr(estimator, name, None))),
        None,
    )
    if getattr(estimator, "graph", None) is not None or precomputed is not None:
        raise InvalidInput(
            "X is a table in tiles, of which some rows are fitted: it needs features, neither ",
            Argument("graph"),
            " nor ",
            Argument(precomputed or "metric", "precomputed"),
        )
    n, count = rows.n_rows, min(rows.landmarks, rows.n_rows)
    numbers = drawn_row_numbers(n, min(n, count + HELD_OUT_ROWS), seed_of(estimator.random_state))
    held = np.sort(np.random.default_rng(0).permutation(len(numbers))[count:])
    kept = np.setdiff1d(np.arange(len(numbers)), held)
    sample = estimator._checked_rows(
        _with_column_names(rows, gather_rows(rows, numbers)), reset=False
    )
    fitted_weights = None if weights is None else weights[numbers[kept]]
    estimator._fit(sample[kept], FitContext(weights=fitted_weights))
    estimator.landmark_rows_, estimator.placing_cost_ = numbers[kept], None
    if not len(held):
        return
    make = getattr(estimator, "for_comparison", None)
    both = clone(estimator) if make is None else make()
    both._fit(sample, FitContext(weights=None if weights is None else weights[numbers]))
    beside = HeldOut(sample[kept], sample[held])
    placed, rule = _place_held_out(estimator, beside, sample[kept], sample[held])
    fitted = both.embedding_[np.concatenate([kept, held])]
    by_landmarks = np.vstack([estimator.embedding_, placed])
    moved = rms_motion(by_landmarks, fitted, slice(len(kept), None))
    rules = estimator.placing_map(), both.placing_map()
    places = placed, both.embedding_[held]
    shares = kept_on_maps(rows, numbers[held], places, rules, min(COMPARED_NEIGHBORS, n - 1))
    by, fitted_by = (estimate_of_mean(share, n, (0.0, 1.0)) for share in shares)
    cost = PlacingCost(len(held), count, by, fitted_by, moved, rule)
    certificate = estimator.certificate_
    words = f"{count:,} landmarks of {n:,} rows, which place the others: {cost}"
    about = "; ".join(filter(None, [certificate.about, words]))
    estimator.placing_cost_ = cost
    estimator.certificate_ = replace(certificate, about=about)


def _with_column_names(rows: TiledTable, sample: Any) -> Any:
    """Rows with the names of their columns, where the table has them."""
    if not rows.is_frame:
        return sample
    import pandas as pd

    return pd.DataFrame(sample, columns=rows.meta.columns)


def _place_held_out(
    estimator: Estimator, beside: HeldOut, landmarks: Any, held: Any
) -> tuple[Any, str]:
    """The places of rows held out, and how they were placed if not by the method's own rule.

    What they are placed by places all others, too.
    """
    placed = estimator.placing_map()(held)
    map_ = estimator.embedding_
    second = getattr(estimator, "second_rule", None)
    rule = None if second is None else second(estimator.graph_, map_, landmarks)
    if rule is None:
        return placed, ""
    near = rule(held)
    kept, more = (beside.kept_shares(np.vstack([map_, places])) for places in (placed, near))
    if not keeps_more(more, kept):
        return placed, ""
    estimator._placing = rule
    return near, (
        f"each is placed at the mean of its {rule.n_neighbors} nearest landmarks, because of the "
        f"nearest among landmarks and rows held out they keep {100 * more.mean():.1f} % so, and "
        f"{100 * kept.mean():.1f} % by the method's own rule"
    )


# The share of neighbours that they keep is known to ±0.02.
HELD_OUT_ROWS = 1_000
COMPARED_NEIGHBORS = 10


@dataclass(frozen=True)
class PlacingCost:
    """Rows held out, placed by the landmarks, beside the method fitted on them, too.

    held_out : how many rows; landmarks : how many placed them
    kept_placed, kept_fitted : the share of their 10 nearest rows of the whole table that they keep
        on the map of all rows, with `low` and `high`: placed by the landmarks as all others are,
        and as part of the problem, which then places the others
    moved : the distance between their two places after the best rotation and scale of one map
        onto the other, as a share of the map's spread (root mean squares)
    rule : how they are placed, where it is not the method's own rule; with what that would keep
    """

    held_out: int
    landmarks: int
    kept_placed: float
    kept_fitted: float
    moved: float
    rule: str = ""

    def __str__(self) -> str:
        return (
            f"{self.held_out:,} rows held out keep {100 * self.kept_placed:.1f} % of their "
            f"{COMPARED_NEIGHBORS} nearest of all rows where landmarks place them and "
            f"{100 * self.kept_fitted:.1f} % where they are fitted; they move by {self.moved:.2g} "
            "of the map's spread" + (f"; {self.rule}" if self.rule else "")
        )


class HeldOut:
    """Rows held out beside the landmarks: the nearest of each are searched once for all maps."""

    def __init__(self, landmarks: Array, held_out: Array) -> None:
        self.landmarks = len(landmarks)
        self.rows = space_of(np.vstack([landmarks, held_out]))

    def kept_shares(self, points: Array) -> Array:
        """The share of its nearest rows that each row held out keeps on a map, landmarks first."""
        k = min(COMPARED_NEIGHBORS, self.rows.n - 1)
        shares = np.asarray(t_similarity(self.rows, points, k, per_point=True))
        return shares[self.landmarks :]


def keeps_more(better: Array, than: Array) -> bool:
    """Whether the same rows keep more, by over two standard errors of the difference."""
    gain = better - than
    return bool(gain.mean() > 2 * gain.std() / np.sqrt(len(gain)))


def rms_motion(first: Array, second: Array, rows: slice) -> float:
    """Root mean square distance of some rows after the best motion and scale of all."""
    one, two = (points - points.mean(axis=0, dtype=float) for points in (first, second))
    width = max(one.shape[1], two.shape[1])
    one, two = (np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in (one, two))
    u, s, vt = np.linalg.svd(one.T @ two)
    size = float(np.square(one).sum())
    turned = one @ (u @ vt) * (float(s.sum()) / size if size else 1.0)
    spread = float(np.square(two).sum(axis=1).mean())
    moved = float(np.square((turned - two)[rows]).sum(axis=1).mean())
    return float(np.sqrt(moved / spread)) if spread else 0.0
