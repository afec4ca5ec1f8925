"""Both sides of unfolding from the shortest paths of a few landmarks, for very many points.

The distances g_c(i) from a landmark c along the graph help on each side:

- below: |g_c(i) − g_c(j)| ≤ d_ij on every edge, so a landmark's distances are a column
  that needs no shrinking, and so are mixtures of them; the best K in the
  span of some such columns is a small convex program (`span.py`).
- above: by Cauchy–Schwarz along the path from c to i, ‖y_i − y_c‖² ≤ g_c(i) Σ_e ‖y_e‖²/d_e,
  and all of these together say L(w_c) ⪰ Σ_i m_i (e_i − e_c)(e_i − e_c)ᵀ, for which λ₂ ≥ 1, with

      w_c,e = (1/d_e) Σ m_i g_c(i) over the points i whose path takes edge e.

  Hence tr K ≤ Σ w_c d² = Σ_i m_i g_c(i)², the geodesic bound of a centre, now with dual weights.
  The mean of w_c over many landmarks has λ₂ near 2 and tends to Isomap's trace, ½ the mean.

Nothing n×n is made and nothing iterates over n·r unknowns.
"""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array, Seed
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.graph import farthest_points
from dualfold.graph.geodesics import Landmarks
from dualfold.kernels.threads import one_blas_thread
from dualfold.trace.sparse.factorisation import Ordering, fill_reducing_ordering
from dualfold.trace.sparse.shifted_matrices import MAX_FLOPS
from dualfold.unfolding.problem import UnfoldingProblem, graph_of
from dualfold.unfolding.solution import BestSides, Callback, UnfoldingSolution
from dualfold.unfolding.solvers.connectivity import lowest_eigenpairs
from dualfold.unfolding.solvers.span import Span
from dualfold.unfolding.spectral_floor import proved_floor

# The barrier's own share of the gap in the span: far below what landmarks leave.
SPAN_GAP = 0.01
# How far below its Ritz value λ₂ is proved; negligible beside the gap that remains.
HEIGHT_STEPS = (1e-6, 1e-4, 1e-2, 0.2)
N_EIGENVECTORS = 4
# Without a factorisation λ₂ ≥ 1 holds by construction; rounding of sums of n terms is below.
CONSTRUCTION_ROUNDING = 1e-9


def landmark(
    problem: UnfoldingProblem,
    *,
    n_landmarks: int = 100,
    n_directions: int = 8,
    tol: float = 0.0,
    random_state: Seed = None,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Unfold approximately, from the geodesics of some landmarks, with a true gap.

    n_landmarks : more bring the bound nearer to Isomap's trace; n·n_landmarks numbers are held
    n_directions : landmarks whose distances span K: those that spread the points most
    tol : gap at which the answer is called converged; there are no iterations

    On swiss rolls each side comes within 6 to 7 % of the optimum. For a smaller gap use
    `low_rank` with the gap that is wanted: on sheets that is hardly slower.

    >>> import numpy as np
    >>> from dualfold.unfolding.solvers.landmark import landmark
    >>> from dualfold.unfolding.problem import UnfoldingProblem
    >>> chain = UnfoldingProblem(10, np.c_[np.arange(9), np.arange(1, 10)], np.ones(9))
    >>> answer = landmark(chain, n_landmarks=10, random_state=0)
    >>> last = answer.history[-1]
    >>> bool(last.lower <= 82.5 <= last.upper and last.gap < 0.3)
    True
    """
    refuse_equal_lengths(problem, "landmark")
    if n_landmarks < 1 or n_directions < 1:
        raise InvalidInput(
            Argument("n_landmarks"),
            " and ",
            Argument("n_directions"),
            f" must be at least 1; given were {n_landmarks} and {n_directions}",
        )
    progress = BestSides(problem, tol, callback)
    count = min(n_landmarks, problem.n)
    chosen = farthest_points(graph_of(problem), count, random_state=random_state, dtype=np.float64)
    with one_blas_thread():
        points = points_from(problem, chosen, n_directions)
        if progress.record(points):
            return progress.solution("landmark")
        weights = path_weights(problem, chosen)
        progress.offer_weights(weights, _floor(problem, weights, points))
        progress.record(points)
    progress.story.append(f"{count} landmarks, K in the span of {n_directions} of them")
    return progress.solution("landmark")


def refuse_equal_lengths(problem: UnfoldingProblem, solver: str) -> None:
    """Refuse a problem that a solver of "at_most" lengths cannot answer."""
    if problem.constraints != "at_most":
        raise InvalidInput(
            Argument("solver", solver),
            " is for lengths that may shrink, and this problem is ",
            Argument("constraints", problem.constraints),
            "; take ",
            Argument("solver", "interior_point"),
            " or ",
            Argument("constraints", "at_most"),
        )


def widest_distances(problem: UnfoldingProblem, chosen: Landmarks, count: int) -> Array:
    """n×count: the landmarks' distances that have the largest variance."""
    columns = problem.centred_points(chosen.distances.T)
    variance = problem.mass @ columns**2
    best = np.sort(np.argsort(-variance, kind="stable")[:count])
    return np.asarray(columns[:, best])


def points_from(problem: UnfoldingProblem, chosen: Landmarks, n_directions: int) -> Array:
    """The best K that the distances of some landmarks can make, or the best of them alone."""
    columns = widest_distances(problem, chosen, n_directions)
    span = Span.of(problem, columns)
    mixed = span.points(span.point_at_gap(span.start(), SPAN_GAP))
    alone = columns[:, [np.argmax(problem.mass @ columns**2)]]
    # Rounded path lengths can exceed an edge by some units in the last place.
    return max((_shrunk_points(problem, Y) for Y in (mixed, alone)), key=problem.value)


def _shrunk_points(problem: UnfoldingProblem, points: Array) -> Array:
    Y = problem.centred_points(points)
    longest = float(np.max(problem.squared_lengths(Y) / problem.squared))
    return Y / np.sqrt(longest) if longest > 1 else Y


def path_weights(problem: UnfoldingProblem, chosen: Landmarks) -> Array:
    """The mean over the landmarks of the weights w_c of their shortest paths."""
    i, j = problem.edges.T
    tails, heads = np.concatenate([i, j]), np.concatenate([j, i])
    by_head = np.argsort(heads, kind="stable")
    tails, heads = tails[by_head], heads[by_head]
    number = np.tile(np.arange(problem.m), 2)[by_head]
    length = np.sqrt(problem.squared)
    starts = np.searchsorted(heads, np.arange(problem.n))
    total = np.zeros(problem.m)
    for c, g in zip(chosen.indices, chosen.distances, strict=True):
        through = g[tails] + length[number]
        least = np.minimum.reduceat(through, starts)
        hits = np.flatnonzero(through == least[heads])
        last = np.empty(problem.n, np.intp)  # of several shortest paths any one will do
        last[heads[hits]] = hits
        total += _path_loads(problem, g, int(c), tails[last], number[last])
    return total / (length * len(chosen.indices))


def _path_loads(
    problem: UnfoldingProblem, g: Array, root: int, before: Array, edge: Array
) -> Array:
    """For each edge Σ m_i g(i) over the points behind it in the tree of shortest paths."""
    carried = (problem.mass * g).tolist()
    towards = before.tolist()
    for v in np.argsort(-g, kind="stable").tolist():  # the farthest first: all before their parent
        if v != root:
            carried[towards[v]] += carried[v]
    rest = np.arange(problem.n) != root
    return np.bincount(edge[rest], np.asarray(carried)[rest], problem.m)


def _floor(problem: UnfoldingProblem, weights: Array, points: Array) -> float:
    """A proved lower bound of λ₂(L(w)): by inertia, or 1 by construction."""
    try:
        pattern = problem.laplacian(np.ones(problem.m))
        ordering: Ordering = fill_reducing_ordering(pattern, most_flops=MAX_FLOPS)
    except TooLarge:
        return 1 - CONSTRUCTION_ROUNDING
    rng = np.random.default_rng(0)
    count = min(N_EIGENVECTORS, problem.n - 1)
    start = np.hstack([points, rng.standard_normal((problem.n, count))])
    values, _ = lowest_eigenpairs(problem, weights, ordering, start, count, tol=1e-5)
    tried = (
        proved_floor(problem, weights, values[0] * (1 - drop), ordering) for drop in HEIGHT_STEPS
    )
    return max(next((floor for floor in tried if floor > 0), 0.0), 1 - CONSTRUCTION_ROUNDING)
