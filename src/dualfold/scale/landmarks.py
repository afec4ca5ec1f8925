"""What it costs that most rows are placed by others: measured on rows held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.quality.ranks import t_similarity
from dualfold.quality.space import space_of

# The share of neighbours that they keep is known to ±0.01.
HELD_OUT_ROWS = 1_000
COMPARED_NEIGHBORS = 10


@dataclass(frozen=True)
class PlacingCost:
    """Rows held out, placed by the landmarks, beside the method fitted on them, too.

    held_out : how many rows; landmarks : how many placed them
    kept_placed, kept_fitted : the share of their 10 nearest rows that they keep on the map, placed
        by the landmarks and as part of the problem
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
            f"{COMPARED_NEIGHBORS} nearest where landmarks place them and "
            f"{100 * self.kept_fitted:.1f} % where they are fitted; they move by {self.moved:.2g} "
            "of the map's spread"
            + (f"; {self.rule}" if self.rule else "")
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


def placing_cost(
    rows: HeldOut, map_: Array, placed: Array, fitted: Array, rule: str = ""
) -> PlacingCost:
    """Compares two maps of the same rows, landmarks first.

    map_, placed : the places of landmarks and of rows held out by the landmarks' map
    fitted : the places of all of them, each a part of the problem
    rule : how the rows held out were placed, if not by the method's own rule
    """
    by_landmarks = np.vstack([map_, placed])
    kept = [float(rows.kept_shares(points).mean()) for points in (by_landmarks, fitted)]
    moved = _rms_motion(by_landmarks, fitted, slice(rows.landmarks, None))
    return PlacingCost(len(placed), rows.landmarks, kept[0], kept[1], moved, rule)


def _rms_motion(first: Array, second: Array, rows: slice) -> float:
    """Root mean square distance of some rows after the best motion and scale of all."""
    one, two = (points - points.mean(axis=0) for points in (first, second))
    width = max(one.shape[1], two.shape[1])
    one, two = (np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in (one, two))
    u, s, vt = np.linalg.svd(one.T @ two)
    size = float(np.square(one).sum())
    turned = one @ (u @ vt) * (float(s.sum()) / size if size else 1.0)
    spread = float(np.square(two).sum(axis=1).mean())
    moved = float(np.square((turned - two)[rows]).sum(axis=1).mean())
    return float(np.sqrt(moved / spread)) if spread else 0.0
