"""Both sides of maximum variance unfolding: a lower bound from points, an upper one from weights.

The problem is that of its numbers: `squared` holds d² and `masses` m as exact doubles. Every
bound here holds for them in exact arithmetic; u = 2⁻⁵³, γ_k = ku/(1 − ku).

Lower bound: any points Y, shrunk until no edge is too long. With q_e = ‖y_i − y_j‖² and V the
variance Σ m_i‖y_i − ȳ‖², the points Y·√s², s² = 1/max q_e/d_e², are feasible and tr K = s²V.

For equal lengths see `feasible`.

Upper bound: for any weights with λ₂(L(w)) ≥ ℓ > 0 (w ≥ 0 where edges are "at_most" d)

    tr K = ⟨M, K⟩ ≤ ⟨L(w), K⟩/ℓ = Σ w_e (K_ii + K_jj − 2K_ij)/ℓ ≤ Σ w_e d_e²/ℓ,

ℓ from `spectral_floor`. Where lengths may be off by εd², Σ w d² + εΣ|w|d² takes its place; for
the lengths q that the points have themselves, Σ w q. This needs no interior.
Two more bounds come from the graph's geodesics g, since ‖y_i − y_j‖ ≤ g_ij:

    tr K ≤ (1/2n) Σ_ij g_ij²   (Isomap's trace)      tr K ≤ Σ_i g_ic²   for every c.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.graph import Graph, geodesic_distances
from dualfold.kernels.arithmetic import PRODUCT_UNDERFLOW, UNIT_ROUNDOFF, gamma
from dualfold.kernels.arithmetic.double_double import DoubleDouble
from dualfold.unfolding.problem import UnfoldingProblem, graph_of

# Beyond, geodesics from some centres take the place of all pairs: docs/dev/notes/unfolding.md.
MAX_ALL_PAIRS_ROWS = 4_000
MAX_CENTRES = 8
# Lengths that contradict each other by less than this share of d² may have been rounded.
ROUNDED_LENGTHS_TOLERANCE = 1e-6
SOURCE_CHUNK_ROWS = 1_024  # sources of geodesics in one chunk


@dataclass(frozen=True)
class GeodesicBounds:
    """Upper bounds of tr K from path lengths; None where they were not computed."""

    isomap: float | None
    centre: float


@dataclass(frozen=True)
class EdgeFit:
    """Fit of points to the edges of a problem, with a bound of rounding.

    low, high : low ≤ ‖y_i − y_j‖²/d² ≤ high on every edge
    variance : a lower bound of Σ m_i‖y_i − ȳ‖²
    """

    low: float
    high: float
    variance: float

    @property
    def value(self) -> float:
        """A lower bound of tr K of the points, shrunk (or stretched) into "at_most" edges."""
        if not 0 < self.high < np.inf:
            return 0.0
        value = self.variance / self.high * (1 - 4 * UNIT_ROUNDOFF)
        return min(value, float(np.finfo(float).max))  # still a lower bound


def edge_fit(problem: UnfoldingProblem, factor: Array) -> EdgeFit:
    """Fit of points to the edges; for numbers neither huge nor tiny (see `in_units`).

    Differences of given numbers are right to one unit each, so sums of r squares are
    right to γ_{r+3}, relatively: nothing cancels, wherever the points lie.
    """
    Y = np.asarray(factor, dtype=float)
    differences = Y[problem.edges[:, 0]] - Y[problem.edges[:, 1]]
    lengths = np.einsum("ij,ij->i", differences, differences)
    wide = 2 * gamma(Y.shape[1] + 8)
    lost = max(1, Y.shape[1]) * PRODUCT_UNDERFLOW
    high = np.max((lengths * (1 + wide) + lost) / problem.squared, initial=0.0)
    low = np.min((lengths * (1 - wide) - lost) / problem.squared, initial=np.inf)
    return EdgeFit(float(low) if problem.m else 0.0, float(high), _variance(problem, Y))


def _variance(problem: UnfoldingProblem, Y: Array) -> float:
    """A lower bound of V = Σ m‖y_i − c‖² − ‖Σ m(y_i − c)‖²/Σm, true for every c.

    With c the mean as computed the second term is the square of a rounding error, whose
    size is bounded: each sum of n products is off by γ_{n+2}Σ m|y_i − c| at the most.
    """
    n, r = Y.shape
    mass, total = problem.mass, float(problem.mass.sum())
    share = gamma(n + r + 8)
    away = Y - (mass @ Y) / total
    spread = float(mass @ np.einsum("ij,ij->i", away, away))
    moved = np.abs(mass @ away) + 2 * share * (mass @ np.abs(away))
    off = float(moved @ moved) / total
    lost = n * max(1, r) * total * PRODUCT_UNDERFLOW
    return max(0.0, spread * (1 - 2 * share) - off * (1 + 8 * share) - lost)


def feasible_scale(problem: UnfoldingProblem, factor: Array) -> tuple[float, float]:
    """(s², value): Y·s violates no edge, and tr K is at least `value` for it."""
    fit = edge_fit(problem, np.asarray(factor, dtype=float))
    if not 0 < fit.high < np.inf:
        return 0.0, 0.0
    return 1 / fit.high * (1 - 4 * UNIT_ROUNDOFF), fit.value


def dual_value(problem: UnfoldingProblem, weights: Array, relaxation: float = 0.0) -> float:
    """At least Σ w d² + ε Σ|w|d²; ε is 0, or how far lengths may be off, relatively."""
    parts = weights * problem.squared
    size = float(np.abs(parts).sum())
    rounding = (problem.m + 16) * 2 * UNIT_ROUNDOFF * (
        1 + relaxation
    ) * size + problem.m * PRODUCT_UNDERFLOW
    return float(parts.sum()) + relaxation * size + rounding


def asked_lengths(problem: UnfoldingProblem, pairs: Array) -> DoubleDouble:
    """The squared distances asked of pairs, to 30 digits: those of the rows where they are known.

    Without rows they are the numbers of the problem, and `pairs` are its edges.
    """
    rows = problem.positions
    if rows is None:
        return DoubleDouble(problem.squared)
    differences = DoubleDouble(rows[pairs[:, 0]]) - DoubleDouble(rows[pairs[:, 1]])
    return (differences * differences).row_sums()


def asked_lengths_value(problem: UnfoldingProblem, weights: Array) -> float:
    """At least Σ w d² for the lengths asked, of rows or given: weights of both signs cancel."""
    parts = asked_lengths(problem, problem.edges) * weights
    columns = 1 if problem.positions is None else problem.positions.shape[1]
    size, total = float(np.abs(parts.high).sum()), parts.total()
    lost = problem.m * max(1, columns) * PRODUCT_UNDERFLOW
    rounding = 64 * (columns + 8) * UNIT_ROUNDOFF**2 * size
    return total + 4 * UNIT_ROUNDOFF * abs(total) + rounding + lost


def own_lengths_value(
    problem: UnfoldingProblem, weights: Array, factor: Array, scale: float
) -> float:
    """At least Σ w q, q = s²‖y_i − y_j‖² the lengths that the points s·Y have themselves.

    L(w) ⪰ ℓM bounds every K with exactly these lengths by Σ w q/ℓ, whatever d² is. Weights
    of both signs cancel, so all of it is in double-doubles: r + 8 operations, each right to
    4u² of the sizes that it adds, and a last sum without rounding.
    """
    r = factor.shape[1]
    i, j = problem.edges.T
    differences = DoubleDouble(factor[i]) - DoubleDouble(factor[j])
    parts = (differences * differences).row_sums() * weights * scale
    size = float(np.abs(parts.high).sum())
    total = parts.total()
    lost = problem.m * max(1, r) * max(scale, 1.0) * PRODUCT_UNDERFLOW
    return total + 4 * UNIT_ROUNDOFF * abs(total) + 64 * (r + 8) * UNIT_ROUNDOFF**2 * size + lost


def contradiction_share(problem: UnfoldingProblem, weights: Array) -> float:
    """By which share of d² lengths must differ from the given ones, if λ₂(L(w)) > 0; 0: not at all.

    Points within ε have a variance of at most (Σ w d² + εΣ|w|d²)/λ₂, which must not be negative.
    """
    size = float(np.abs(weights) @ problem.squared)
    return max(0.0, -dual_value(problem, weights) / size) if size > 0 else 0.0


def upper_bound(value: float, floor: float) -> float:
    """At least value/floor, the bound that weights of that `dual_value` and λ₂ ≥ floor give."""
    if not floor > 0:
        return float("inf")
    quotient = value / floor
    return float(np.nextafter(quotient + 4 * UNIT_ROUNDOFF * abs(quotient), np.inf))


def geodesic_bounds(
    problem: UnfoldingProblem, *, near: Array | None = None, all_pairs: int = MAX_ALL_PAIRS_ROWS
) -> GeodesicBounds:
    """Compute two upper bounds of the variance of any unfolding from shortest paths.

    No two points can be farther apart than the shortest path between them. The rounding of path
    lengths is included.

    Parameters
    ----------
    problem : UnfoldingProblem
        Edges and their lengths.
    near : ndarray of shape (n, r) or None, default=None
        Points of an unfolding; the central ones are good centres.
    all_pairs : int, default=4000
        Up to this many points paths between all pairs are computed, beyond it paths from some
        centres.

    Returns
    -------
    GeodesicBounds
        The bound `isomap` from all pairs (None if they were not computed) and the bound `centre`
        from one point.

    See Also
    --------
    certify_unfolding : Bounds from dual weights, too.

    Examples
    --------
    >>> from dualfold.unfolding import UnfoldingProblem, geodesic_bounds
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> found = geodesic_bounds(chain)
    >>> round(found.isomap, 9), round(found.centre, 9)
    (2.0, 2.0)
    """
    graph, mass = graph_of(problem), problem.mass
    added = 1 + 8 * (problem.n + 16) * UNIT_ROUNDOFF
    lost = (problem.n - 1) * float(mass.sum()) * PRODUCT_UNDERFLOW
    if problem.n <= all_pairs:
        sums = _geodesic_sums(graph, np.arange(problem.n), mass)
        isomap = float(mass @ sums) / (2 * float(mass.sum()))
        return GeodesicBounds(isomap * added + lost, float(sums.min()) * added + lost)
    sums = _geodesic_sums(graph, _centres(problem, graph, near), mass)
    return GeodesicBounds(None, float(sums.min()) * added + lost)


def _geodesic_sums(graph: Graph, sources: Array, mass: Array) -> Array:
    """Σ_i m_i g_ic² for each of the sources c."""
    chunks = np.array_split(sources, range(SOURCE_CHUNK_ROWS, len(sources), SOURCE_CHUNK_ROWS))
    return np.concatenate(
        [geodesic_distances(graph, chunk, dtype=np.float64) ** 2 @ mass for chunk in chunks]
    )


def _centres(problem: UnfoldingProblem, graph: Graph, near: Array | None) -> Array:
    """The middle of a longest path, and of the points `near`."""
    first = geodesic_distances(graph, [0], dtype=np.float64)[0]
    distances = geodesic_distances(graph, [int(np.argmax(first))], dtype=np.float64)[0]
    other = geodesic_distances(graph, [int(np.argmax(distances))], dtype=np.float64)[0]
    chosen = np.argsort(np.maximum(distances, other), kind="stable")[:MAX_CENTRES]
    if near is None:
        return chosen
    away = problem.centred_points(near)
    middle = np.argsort(np.einsum("ij,ij->i", away, away), kind="stable")[:MAX_CENTRES]
    return np.union1d(chosen, middle)
