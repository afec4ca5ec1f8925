"""Why no strictly feasible K was found for equal lengths: there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import minimum_spanning_tree

from dualfold.arrays import Array
from dualfold.graph import Graph, from_lengths
from dualfold.unfolding import UnfoldingProblem, contraction_of, interior_point
from dualfold.unfolding.solvers.semidefinite import longest_step
from papers.cunha.roll import neighbor_graph, small_roll
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, also, claim, theorem

NEIGHBORS = 5
# Share of the way to the border of the cone that a step may go (the usual choice).
SHARE = 0.95
# The gap at which the estimator calls an unfolding done; = stays above it, ≤ gets below.
ARRIVED = 1e-6
# Shares of its diagonal that are added to the Schur matrix when rounding has spoiled it.
RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)


def clique(problem: UnfoldingProblem, size: int) -> tuple[int, ...] | None:
    """Some `size` points that are all tied to one another, or None."""
    above: list[set[int]] = [set() for _ in range(problem.n)]
    for i, j in problem.edges.tolist():
        above[i].add(j)

    def grown(members: tuple[int, ...], candidates: set[int]) -> tuple[int, ...] | None:
        if len(members) == size:
            return members
        for one in sorted(candidates):
            found = grown((*members, one), candidates & above[one])
            if found is not None:
                return found
        return None

    return grown((), set(range(problem.n)))


def stress(problem: UnfoldingProblem, points: Array, members: tuple[int, ...]) -> Array:
    """Edge weights ω on a clique with L(ω) ⪰ 0 and Σ ω d² = 0.

    L(ω) projects onto the vectors over the clique that are orthogonal to 1 and to every
    coordinate. ⟨L(ω), K⟩ = Σ ω d² = 0 for every K with these lengths, so each is singular
    beside 1, and w + tω is as good as w in the dual for every t ≥ 0.
    """
    rows = list(members)
    frame = np.column_stack([np.ones(len(rows)), points[rows] - points[rows].mean(axis=0)])
    Q = np.linalg.qr(frame)[0]
    N = np.eye(len(rows)) - Q @ Q.T
    place = {point: at for at, point in enumerate(rows)}
    omega = np.zeros(problem.m)
    for edge, (i, j) in enumerate(problem.edges.tolist()):
        if i in place and j in place:
            omega[edge] = -N[place[i], place[j]]
    return omega


def equal_lengths_path(
    problem: UnfoldingProblem, *, tol: float = 1e-8, max_iter: int = 40
) -> list[tuple[float, float]]:
    """The paper's problem (28) as it stands, by a textbook primal–dual interior point.

    (error, Σ|w|) of each iteration; the error is the larger of the relative gap and the
    worst relative miss of an edge. Ends early when a matrix that must be positive definite
    is not, in spite of a ridge.
    """
    p = replace(problem, squared=problem.squared / problem.squared.mean())
    B, d = p.incidence.toarray(), p.squared
    J = np.full((p.n, p.n), 1 / p.n)  # along 1, where X and S are 0
    w = 1 / np.sqrt(d)
    w *= 1.5 / np.linalg.eigvalsh(p.laplacian(w).toarray())[1]
    S = _surplus(p, w)
    inverse = np.linalg.inv(S + J) - J
    X = inverse * float(d.sum() / _on_edges(p, inverse).sum())
    history = []
    for _ in range(max_iter):
        missing = d - _on_edges(p, X)
        gap = abs(1 - float(np.trace(X)) / float(w @ d))
        history.append((max(gap, float(np.abs(missing / d).max())), float(np.abs(w).sum())))
        if history[-1][0] <= tol:
            break
        try:
            dX, dw = _direction(p, B, X, S, missing)
            primal, dual = _reach(X + J, dX), _reach(S + J, p.laplacian(dw).toarray())
        except np.linalg.LinAlgError:
            break
        X, w = X + primal * (dX - J @ dX - dX @ J + J @ dX @ J), w + dual * dw
        S = _surplus(p, w)
    return history


def _surplus(p: UnfoldingProblem, w: Array) -> Array:
    """L(w) − I off the constant vector."""
    return np.asarray(p.laplacian(w).toarray() - np.eye(p.n) + 1 / p.n)


def _on_edges(p: UnfoldingProblem, A: Array) -> Array:
    i, j = p.edges.T
    return np.asarray(A[i, i] + A[j, j] - 2 * A[i, j])


def _direction(
    p: UnfoldingProblem, B: Array, X: Array, S: Array, missing: Array
) -> tuple[Array, Array]:
    """Predictor and corrector (Mehrotra) of the HKM direction."""
    J = np.full((p.n, p.n), 1 / p.n)
    inverse = np.linalg.inv(S + J) - J
    factor = _schur_factor((B @ X @ B.T) * (B @ inverse @ B.T))
    mu = float(np.sum(X * S)) / (p.n - 1)

    def towards(target: float, products: Array) -> tuple[Array, Array, Array]:
        R = target * inverse - X - (products + products.T) / 2
        dw = scipy.linalg.cho_solve(factor, _on_edges(p, R) - missing)
        dS = p.laplacian(dw).toarray()
        moved = X @ dS @ inverse
        return R - (moved + moved.T) / 2, dw, dS

    dX, dw, dS = towards(0.0, np.zeros_like(X))
    a, b = _reach(X + J, dX), _reach(S + J, dS)
    after = float(np.sum((X + a * dX) * (S + b * dS))) / (p.n - 1)
    dX, dw, _ = towards(min(1.0, max(after / mu, 0.0) ** 2) * mu, dX @ dS @ inverse)
    return dX, dw


def _schur_factor(M: Array) -> Any:
    """Cholesky factor of a matrix, with more and more of its diagonal added until it has one."""
    for share in RIDGES:
        try:
            return scipy.linalg.cho_factor(M + share * np.diag(np.diagonal(M)))
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the Schur matrix is not positive definite")


def _reach(A: Array, change: Array) -> float:
    return min(1.0, SHARE * float(longest_step(np.linalg.cholesky(A), change)))


def no_interior(setting: Setting) -> Finding:
    """Strict feasibility of =, of ≤, of = on a tree and of the dual; and what solvers do."""
    points = small_roll(setting.of(40, 60, 120), setting.seed).points
    graph = neighbor_graph(points, NEIGHBORS)
    equal = contraction_of(graph, constraints="equal").problem
    at_most = replace(equal, constraints="at_most")
    tree = contraction_of(
        from_lengths(minimum_spanning_tree(graph.lengths)), constraints="equal"
    ).problem
    found = interior_point(at_most, tol=1e-9)
    rows = [
        *_clique_rows(equal, points, found.weights),
        *_interior_rows(at_most, tree, found.weights),
    ]
    stalled, straight = equal_lengths_path(equal), equal_lengths_path(tree)
    gaps = [record.gap for record in found.history]
    # The least of each: near the end rounding moves the errors up and down.
    least, on_tree = (min(error for error, _ in path) for path in (stalled, straight))
    rows += [
        theorem("≤: gap of our interior point", min(gaps), at_most=ARRIVED),
        also("= on a tree: least error of a textbook interior point", on_tree),
        also("= on the graph: least error before it breaks down", least,
             f"{len(stalled)} iterations; Σ|w| grows {stalled[-1][1] / stalled[0][1]:.3g}-fold"),
    ]  # fmt: skip
    growth, relaxed, series = _relaxed_rows(graph, setting)
    rows += series
    sentence = (
        "No strictly feasible K exists for equal lengths: five tied points span three dimensions. "
        "The interior point "
        f"breaks down at {least:.0e} with =, and reaches {min(gaps):.0e} with ≤ and "
        f"{on_tree:.0e} with = on a tree, which both have one. Held to ε·d² it reaches "
        f"gaps of {relaxed:.0e}, but Σ|w| grows {growth:.0f}-fold as ε falls. The dual always has "
        "a strictly feasible point, so the gap is zero all the same."
    )
    curves = {
        "≤, neighbour graph": gaps,
        "=, spanning tree": [error for error, _ in straight],
        "=, neighbour graph": [error for error, _ in stalled],
    }
    lines = [
        Line(name, np.arange(len(one)), np.clip(one, 1e-12, None)) for name, one in curves.items()
    ]
    y_name = "gap and miss of edges, relative"
    chart = Chart(lines, "", "iteration", y_name, y_scale="log", names="beside")
    caption = "Interior points on the same roll: with = the neighbour graph has no interior."
    note = f"{equal.n} points, {NEIGHBORS} neighbours, {equal.m} edges."
    return Finding(sentence, tuple(rows), ((caption, chart_figure([chart])),), (note,))


def _clique_rows(equal: UnfoldingProblem, points: Array, weights: Array) -> list[Row]:
    """A clique of more than D + 1 points: its Gram matrix, and a ray of the dual."""
    size = points.shape[1] + 2
    members = clique(equal, size)
    if members is None:
        return [also("K ≻ 0 on 1⊥ with =", f"no {size} points all tied")]
    omega = stress(equal, points, members)
    inside = points[list(members)] - points[list(members)].mean(axis=0)
    gram = np.linalg.eigvalsh(inside @ inside.T)
    worth = float(omega @ equal.squared) / float(np.abs(omega) @ equal.squared)
    second = [
        float(np.linalg.eigvalsh(equal.laplacian(weights + t * omega).toarray())[1])
        for t in (0.0, 1e3)
    ]
    lowest = float(np.linalg.eigvalsh(equal.laplacian(omega).toarray())[0])
    return [
        claim("second smallest eigenvalue of the Gram matrix of five tied points, of the largest",
              "K ≻ 0 feasible", gram[1] / gram[-1], lambda x: x > 1e-12,
              f"points {', '.join(map(str, members))} are all tied and span only "
              f"{points.shape[1]} dimensions: no K ≻ 0 on 1⊥ has their lengths"),
        theorem("a stress ω on them: Σ ω d² over Σ|ω|d²", abs(worth), at_most=1e-12),
        theorem("smallest eigenvalue of L(ω)", lowest, at_least=0, within=1e-12),
        theorem("λ₂(L(w* + 1000ω)) less λ₂(L(w*))", second[1] - second[0], at_least=0, within=1e-9,
                about="the dual's optimal set is unbounded or empty"),
    ]  # fmt: skip


def _interior_rows(at_most: UnfoldingProblem, tree: UnfoldingProblem, w: Array) -> list[Row]:
    """Strictly feasible points where there are some."""
    least = float(at_most.squared.min())
    # K = sH has ‖y_i − y_j‖² = 2s for every pair and the eigenvalue s on all of 1⊥.
    slack = float((at_most.squared - 0.5 * least).min()) / least
    # Edge vectors of a tree can be orthogonal to one another: Y = B⁺diag(d).
    Y = np.linalg.pinv(tree.incidence.toarray()) * np.sqrt(tree.squared)
    missed = float(np.abs(tree.squared_lengths(Y) / tree.squared - 1).max())
    doubled = float(np.linalg.eigvalsh(at_most.laplacian(2 * w).toarray())[1])
    return [
        theorem("≤: smallest slack of K = sH, s = min d²/4, of min d²", slack, at_least=0.5,
                within=1e-12, about="strictly feasible"),
        theorem("= on a tree: edges as orthogonal vectors, worst miss", missed, at_most=1e-10),
        theorem("dual: λ₂ of the weights 2w*", doubled, equals=2, within=1e-3,
                about="strictly feasible, as λ₂(w*) = 1"),
    ]  # fmt: skip


def _relaxed_rows(graph: Graph, setting: Setting) -> tuple[float, float, list[Row]]:
    """The value and the weights as |‖y_i − y_j‖² − d²| ≤ ε d² closes in on =.

    Before the rows: how much Σ|w| grows, and the largest of the gaps.
    """
    steps = (1e-2, 1e-3, 1e-4, 1e-5)[: setting.of(3, 4, 4)]
    problem = contraction_of(graph, constraints="equal").problem
    rows, sizes, values, gaps = [], [], [], []
    for epsilon in steps:
        found = interior_point(problem, tol=1e-7, relaxation=epsilon)
        best = min(found.history, key=lambda record: record.gap)
        sizes.append(float(np.abs(found.weights).sum()))
        values.append(best.upper)
        gaps.append(best.gap)
        rows.append(
            also(f"Σ|w| at ε = {epsilon:.0e}", sizes[-1],
                 f"Σ w d² {best.upper:.6g}, gap {best.gap:.0e}, {len(found.history)} steps")
        )  # fmt: skip
    falls = np.abs(np.diff(values))
    rows.append(
        also("a tenth of ε divides the change of tr K by", float(falls[-2] / falls[-1]),
             "10 if the dual were attained: tr K would then change in proportion to ε")
    )  # fmt: skip
    return sizes[-1] / sizes[0], max(gaps), rows


EXPERIMENTS = (
    Experiment(
        "cunha-slater",
        "C",
        "before (49)",
        "Slater's condition: there is no strictly feasible K",
        no_interior,
    ),
)
