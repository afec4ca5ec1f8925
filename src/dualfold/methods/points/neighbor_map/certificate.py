"""The verdict on a neighbour map: how far its divergence can be from the least of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import (
    MAX_GAP,
    Certificate,
    checked_tolerance,
    level_of,
    refuse_no_problem,
)
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF as _U
from dualfold.kernels.threads import lapack_threads
from dualfold.methods.points.neighbor_map.lower_bound import neighbor_bound, searched_bound
from dualfold.methods.points.neighbor_map.problem import (
    MAX_PAIRED_ROWS,
    NeighborProblem,
    divergence_parts,
    kernel,
    squared_distances,
    white_basis,
)

# YᵀY/(n·s) must be I to this; coordinates stored in float32 are.
WHITE_TOLERANCE = 1e-5


@dataclass(frozen=True, kw_only=True)
class NeighborCertificate(Certificate):
    """Certificate of a neighbour map; print it.

    For more than 8,000 rows the level is at most "measured": the bound holds but for the
    probability `chance`. The level "unresolved" means that the bound is no better than KL ≥ 0.

    Attributes
    ----------
    level : {"proved", "within", "within reach", "measured", "unresolved", "stationary", \
            "not stationary", "failed"}
        How much is known; `dualfold.Certificate` explains the words.
    gap : float
        The gap (value − bound)/bound; infinite if the bound is not above 0.
    value : float
        Upper bound of KL(P‖Q) of the map, in nats; of the exactly white map that its points are to
        1e-5.
    bound : float
        Lower bound, in nats, of KL(P‖Q) over all maps of the same spread.
    tolerance : float
        Largest gap that is called "proved".
    reasons : tuple of str
        What is short of "proved", in words.
    about : str
        What the statement is about.
    chance : float
        Probability that a measured statement is wrong.
    complete : bool or None
        Always None.
    spread : float
        The mean square of each coordinate.

    See Also
    --------
    certify_neighbors : The function that returns it.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from dualfold.methods.points.neighbor_map import certify_neighbors, neighbor_problem
    >>> pair = neighbor_problem(sp.csr_array(1 - np.eye(2)), n_components=1, spread=0.1)
    >>> certify_neighbors(pair, np.sqrt(0.1) * np.array([[-1.0], [1.0]])).spread
    0.1
    """

    spread: float

    schema: ClassVar[str] = "dualfold.neighbor-map/1"
    optimum: ClassVar[str] = "the least divergence"

    @property
    def grounds(self) -> str:
        """Value and bound in nats, in words."""
        return (
            f"KL is {self.value:.4g} nats, and no white map of this spread has less than "
            f"{max(self.bound, 0.0):.4g} (0 is trivial)"
        )


def certify_neighbors(
    problem: NeighborProblem, Y: Any, *, weights: Any = None, tolerance: float = 0.01
) -> NeighborCertificate:
    """Certify the points of a neighbour map.

    Parameters
    ----------
    problem : NeighborProblem
        The problem.
    Y : array-like of shape (n, d)
        The points of the map.
    weights : array-like of shape (n, n) or None, default=None
        Weights of pairs from near the minimum of the relaxed problem, a hint that improves the
        bound; None takes those of the map itself, as always for more than 8,000 rows.
    tolerance : float in [0, 1], default=0.01
        Largest relative gap that is called "proved".

    Returns
    -------
    NeighborCertificate
        How far the divergence of the map can be from the least of all.

    See Also
    --------
    neighbor_bound : The bound alone.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from dualfold.methods.points.neighbor_map import neighbor_problem
    >>> ring = sp.csr_array(np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1))
    >>> turn = np.arange(12) * np.pi / 6
    >>> circle = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> problem = neighbor_problem(ring, n_components=2, spread=0.05)
    >>> certify_neighbors(problem, circle * np.sqrt(0.1)).level
    'proved'
    """
    stated = "dualfold.methods.points.neighbor_map.neighbor_problem(graph) states one"
    refuse_no_problem(problem, NeighborProblem, stated)
    tolerance, points = checked_tolerance(tolerance), np.asarray(Y, dtype=float)
    trouble = _not_a_map(problem, points)
    if trouble:
        return _verdict(problem, np.nan, np.nan, tolerance, trouble)
    with lapack_threads(problem.n):
        white = white_basis(points) * np.sqrt(problem.size)
        if problem.n > MAX_PAIRED_ROWS:
            value, bound, chance = searched_bound(problem, white)
        else:
            value, bound, chance = *_value_and_bound(problem, white, weights), 0.0
    return _verdict(problem, value, bound, tolerance, "", chance)


def _value_and_bound(problem: NeighborProblem, white: Array, weights: Any) -> tuple[float, float]:
    """KL from above and the better of two bounds, from matrices of all pairs."""
    parts = divergence_parts(problem, white)
    bound = neighbor_bound(problem, kernel(squared_distances(white)))
    if weights is not None:
        bound = max(bound, neighbor_bound(problem, weights))
    return sum(parts) + _divergence_rounding(problem, parts), bound


def _verdict(
    problem: NeighborProblem,
    value: float,
    bound: float,
    tolerance: float,
    why: str,
    chance: float = 0.0,
) -> NeighborCertificate:
    gap = max(value - bound, 0.0) / bound if bound > 0 else np.inf
    level: Any = "failed" if why else "measured" if chance else level_of(gap, tolerance)
    reasons = [why] if why else []
    if not why and gap >= MAX_GAP:
        level = "unresolved"
        reasons = [
            f"KL is {value:.4g} nats and the bound {bound:.4g}, hardly better than KL ≥ 0, which "
            "is true of every map: a smaller spread has a better one"
        ]
    elif not why and gap > tolerance:
        reasons = [f"the gap is {gap:.2g}, not {tolerance:g}"]
    white = f"white maps: uncorrelated coordinates, each of the mean square {problem.spread:g}"
    return NeighborCertificate(
        level=level,
        gap=gap,
        value=value,
        bound=bound,
        tolerance=tolerance,
        reasons=tuple(reasons),
        about="; ".join(filter(None, [problem.about, white])),
        chance=chance,
        spread=problem.spread,
    )


def _not_a_map(problem: NeighborProblem, points: Array) -> str:
    """Why these points are no map of the problem; "" if they are one."""
    if points.shape != (problem.n, problem.count) or not np.isfinite(points).all():
        return f"the points are no {problem.n}×{problem.count} finite numbers"
    if np.abs(points).max() > 1e100:
        return "the points are too large to be squared"
    scaled = points / np.sqrt(problem.size)
    off = np.abs(scaled.T @ scaled - np.eye(problem.count)).max()
    off = max(off, float(np.abs(scaled.sum(axis=0)).max()) / np.sqrt(problem.n))
    if not off <= WHITE_TOLERANCE:
        return f"the points are not white: YᵀY/(n·s) and the mean are off by {off:.1e}"
    return ""


def _divergence_rounding(problem: NeighborProblem, parts: tuple[float, float, float]) -> float:
    """A bound of the rounding of KL: sums of n rows of n terms, t to (d + 4)u each.

    An error ε of every t, relative, moves Σ p t by ε of itself and log Σ exp(−t) by ε times the
    mean of t under q, which is at most t's least plus log n². Kernels below 1e-308 of the largest
    count as 0, which takes less than that off the sum.
    """
    n, (pulled, summed, known) = problem.n, parts
    sizes = pulled + 2 * abs(summed) + abs(known) + 8 * np.log(n) + 4
    return (len(problem.P.data) // n + 4 * n + 8 * problem.count + 64) * _U * float(sizes)
