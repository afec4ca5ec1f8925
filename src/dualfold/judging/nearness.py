"""A lies nearer to B than to C on the map. Is it so in the data?

The distance of two groups is that of their means, on the map and in the data. In the data it comes
from distances of points alone, so that any metric has it:

    δ²(A, B) = mean d²(a, b) − ½·mean d²(a, a') − ½·mean d²(b, b')

over different points of samples of both, and the interval of δ(A, C)/δ(A, B) from drawing the
samples again (bootstrap, on the scale of logarithms, Bonferroni over all statements). Where points
have weights, means are weighted, and a sample has (Σw)²/Σw² points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtri, stdtrit

from dualfold.arrays import Array
from dualfold.certificate import plain
from dualfold.quality.estimate import Estimate
from dualfold.quality.space import Space
from dualfold.weights.row_weights import RowWeights

__all__ = ["Nearness", "NearnessStatement", "nearness"]

MAX_SAMPLED_POINTS = 150  # of a group
BOOTSTRAP_DRAWS = 200
MAX_GROUPS = 20
# Fewer have no spread to speak of; of points with weights it is (Σw)²/Σw².
MIN_GROUP_POINTS = 5
# Of two distances on the map: a smaller difference is not visible.
MIN_VISIBLE_RATIO = 1.2


@dataclass(frozen=True)
class NearnessStatement:
    """On the map `group` lies nearer to `near` than to `far`.

    ratio : distance to `far` over distance to `near` in the data, with an interval that holds for
        all statements of the audit together (95 %)
    on_map : the same ratio on the map
    """

    group: str
    near: str
    far: str
    ratio: Estimate
    on_map: float

    @property
    def true(self) -> bool | None:
        """Whether it is so in the data; None where the interval holds both."""
        if self.ratio.low > 1:
            return True
        return False if self.ratio.high < 1 else None

    def __str__(self) -> str:
        words = {True: "true", False: "false", None: "undecided"}[self.true]
        return (
            f"{self.group} lies nearer to {self.near} than to {self.far}: {words} in the data "
            f"(the distances there are as 1 to {float(self.ratio):.2f}, {self.ratio.low:.2f} to "
            f"{self.ratio.high:.2f})"
        )

    def to_dict(self) -> dict[str, object]:
        """JSON-ready."""
        named = {"group": self.group, "near": self.near, "far": self.far, "true": self.true}
        ratio = plain((float(self.ratio), self.ratio.low, self.ratio.high))
        return named | {"ratio": ratio, "on_map": plain(self.on_map)}


@dataclass(frozen=True, eq=False)
class Nearness:
    """All such statements that a map makes.

    statements : those whose distances on the map differ by a fifth or more
    sampled : points of a group that were compared, at most
    """

    statements: tuple[NearnessStatement, ...] = ()
    sampled: int = MAX_SAMPLED_POINTS

    def count(self, answer: bool | None) -> int:
        """Number of statements that are true, false or (None) undecided."""
        return sum(one.true is answer for one in self.statements)

    @property
    def worst(self) -> NearnessStatement | None:
        """The false one that the data contradict most."""
        wrong = [one for one in self.statements if one.true is False]
        return min(wrong, key=lambda one: one.ratio.high, default=None)


def nearness(
    x: Space,
    Y: Array,
    members: Sequence[Array],
    names: Sequence[str],
    seed: int,
    weights: Array | None = None,
) -> Nearness:
    """Every statement about three groups: `members` are rows of each, `weights` of all."""
    rng = np.random.default_rng(seed)
    members, names = members[:MAX_GROUPS], names[:MAX_GROUPS]
    if weights is not None:  # points that count for nothing are in no mean
        members = [rows[weights[rows] > 0] for rows in members]
    drawn = [rng.permutation(rows)[:MAX_SAMPLED_POINTS] for rows in members]
    if len(drawn) < 3 or min(_size(rows, weights) for rows in drawn) < MIN_GROUP_POINTS:
        return Nearness()
    whole, spread = _log_distances(x, drawn, rng, weights)
    centres = np.array([_centre(Y, rows, weights) for rows in members])
    shown = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    asked = [
        (a, b, c)
        for a in range(len(drawn))
        for b in range(len(drawn))
        for c in range(len(drawn))
        if len({a, b, c}) == 3 and shown[a, c] >= MIN_VISIBLE_RATIO * shown[a, b]
    ]
    z = _quantile(0.025 / max(1, len(asked)), drawn, weights)
    statements = []
    for a, b, c in asked:
        middle = whole[a, c] - whole[a, b]
        half = z * float(np.std(spread[:, a, c] - spread[:, a, b], ddof=1))
        count = len(drawn[a]) + len(drawn[b]) + len(drawn[c])
        value, low, high = np.exp([middle, middle - half, middle + half])
        ratio = Estimate(value, low, high, count)
        on_map = float(shown[a, c] / max(shown[a, b], 1e-300))
        statements.append(NearnessStatement(names[a], names[b], names[c], ratio, on_map))
    return Nearness(tuple(statements))


def _size(rows: Array, weights: Array | None) -> float:
    """The size of a sample: its effective rows where points have weights."""
    if weights is None or not len(rows):
        return float(len(rows))
    return RowWeights(weights[rows]).effective_rows


def _quantile(level: float, drawn: list[Array], weights: Array | None) -> float:
    """Standard deviations of draws that an interval reaches to.

    Where points have weights few of them may decide. So the smallest sample is taken: Student's
    quantile, and m/(m − 1), by which the variance of a sample of m is too small.
    """
    if weights is None:
        return float(-ndtri(level))
    m = min(_size(rows, weights) for rows in drawn)
    return float(-stdtrit(m - 1, level) * np.sqrt(m / (m - 1)))


def _centre(Y: Array, rows: Array, weights: Array | None) -> Array:
    own = None if weights is None else weights[rows]
    return np.asarray(np.average(Y[rows].astype(float), axis=0, weights=own))


def _log_distances(
    x: Space, drawn: list[Array], rng: np.random.Generator, given: Array | None
) -> tuple[Array, Array]:
    """log δ of all pairs of groups, and again for every draw; `given` are weights of all rows."""
    rows = np.concatenate(drawn).astype(np.int32)
    squares = np.square(np.vstack([x.between(part, rows) for part in np.array_split(rows, 8)]))
    np.fill_diagonal(squares, 0.0)
    ends = np.cumsum([0, *map(len, drawn)])
    weights = np.zeros((BOOTSTRAP_DRAWS + 1, len(rows)))
    for first, last in pairwise(ends):
        m = last - first
        weights[0, first:last] = 1 / m
        weights[1:, first:last] = rng.multinomial(m, np.full(m, 1 / m), size=BOOTSTRAP_DRAWS) / m
        if given is not None:
            weights[:, first:last] *= given[rows[first:last]]
            weights[:, first:last] /= weights[:, first:last].sum(axis=1, keepdims=True)
    count = len(drawn)
    means = np.empty((BOOTSTRAP_DRAWS + 1, count, count))
    for b in range(count):
        part = slice(ends[b], ends[b + 1])
        towards = weights[:, part] @ squares[part]
        for a in range(count):
            own = slice(ends[a], ends[a + 1])
            means[:, a, b] = np.einsum("wi,wi->w", towards[:, own], weights[:, own])
    within = np.einsum("waa->wa", means).copy()
    # The distance 0 of a point to itself does not count: m/(m − 1), squared for bootstrap draws.
    sizes = np.array([_size(part, given) for part in drawn])
    unbiased = within * np.where(
        np.arange(BOOTSTRAP_DRAWS + 1)[:, None] == 0,
        sizes / (sizes - 1),
        (sizes / (sizes - 1)) ** 2,
    )
    apart = means - 0.5 * (unbiased[:, :, None] + unbiased[:, None, :])
    logs = 0.5 * np.log(np.maximum(apart, 1e-12 * means.max()))
    return logs[0], logs[1:]
