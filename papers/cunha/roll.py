"""Unfolding a swiss roll: both sides meet, the optimality conditions hold, bounds bracket it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dualfold.arrays import Array
from dualfold.data import Sample, swiss_roll
from dualfold.estimators import PCA, Isomap, LocallyLinearEmbedding, SpectralEmbedding
from dualfold.graph import Graph, joined, knn
from dualfold.quality import procrustes
from dualfold.unfolding import (
    Unfolding,
    UnfoldingProblem,
    geodesic_bounds,
    second_eigenvalue,
    unfold,
)
from dualfold.unfolding.bounds import scaled_into
from papers.figures.roll import bracket_figure, unrolling_figure
from papers.figures.unfolding import as_unfolding_in_words, bounds_in_words, unfolding_figure
from papers.finding import Experiment, Finding, Row, Setting, agrees

NEIGHBORS = 6
# A gap of 1e-9 leaves the optimality conditions, which fall with its root, near 1e-5.
TOL, NEAR = 1e-9, 1e-4
# With angles there are three times as many edges, and the last digits take most of the time.
TOL_TIED = 1e-7


def small_roll(n: int, seed: int) -> Sample:
    """A shorter roll: 100 points on the usual one are so far apart that edges leap across."""
    return swiss_roll(n, turns=0.75, height=8.0, random_state=seed)


def neighbor_graph(points: Array, n_neighbors: int) -> Graph:
    """Nearest neighbours, joined by the shortest links where a small sample falls apart."""
    graph = knn(points, n_neighbors)
    return graph if graph.n_pieces == 1 else joined(graph)


@lru_cache(maxsize=4)
def roll(setting: Setting, angles: bool = False) -> tuple[Sample, Graph, Unfolding]:
    """A roll that opens into the plane, its graph, and its unfolding with ≤."""
    n = setting.of(60, 800, 1_500)
    if setting.size == "brief":
        sample = small_roll(n, setting.seed)
    else:
        sample = swiss_roll(n, random_state=setting.seed)
    graph = neighbor_graph(sample.points, NEIGHBORS)
    return sample, graph, unfold(graph, tol=TOL_TIED if angles else TOL, angles=angles)


def size_note(unfolding: Unfolding) -> str:
    """What was unfolded, and by which solver."""
    problem = unfolding.problem
    return (
        f"{problem.n} points, {NEIGHBORS} neighbours, {problem.m} edges held to at most their "
        f"length; {unfolding.solution.solver}, {len(unfolding.solution.history)} iterations."
    )


def swiss_roll_unfolded(setting: Setting) -> Finding:
    """Figure 1, and the two sides of the problem over the iterations."""
    sample, _, plain = roll(setting)
    tied = roll(setting, angles=True)[2]
    rows: list[Row] = []
    maps, sheets = [], []
    for name, one in (("edges", plain), ("edges and angles", tied)):
        found, Y = one.certificate, one.coordinates(2)[0]
        spectrum = np.linalg.svd(one.factor, compute_uv=False) ** 2
        beyond = float(spectrum[2:].sum() / spectrum.sum())
        off = procrustes(sample.flat, Y, scale=1.0).disparity
        rows += [
            agrees(f"{name}: (49) gap (Σ w d² − tr K)/Σ w d²", found.gap, 1e-6, about=found.level),
            Row(f"{name}: tr K, a feasible value", None, f"{found.lower:.10g}"),
            Row(f"{name}: Σ w d²/λ₂, a proved bound", None, f"{found.upper:.10g}"),
            Row(f"{name}: iterations until then", None, float(len(one.solution.history))),
            agrees(f"{name}: variance outside two coordinates", beyond, 0.01, about="lies flat"),
            Row(f"{name}: disparity to the true sheet", None, off, note="turned, not scaled"),
        ]
        maps.append((f"unfolding, {name}", Y, bounds_in_words(found)))
        sheets.append((f"unfolded, {name} held", Y))
    for name, points in (
        ("Isomap", Isomap(n_neighbors=NEIGHBORS).fit_transform(sample.points)),
        ("PCA", PCA(n_components=2).fit_transform(sample.points)),
    ):
        maps.append((name, points, as_unfolding_in_words(plain.problem, points, plain.certificate)))
    sentence = (
        f"Both sides meet at {plain.certificate.lower:.6g} with a relative gap of "
        f"{plain.certificate.gap:.1e}, and at {tied.certificate.lower:.6g} "
        f"({tied.certificate.gap:.1e}) when the neighbours of each point are tied too, as in the "
        f"paper's (13). Both lie flat; the first gives width away for length and is "
        f"{rows[5].ours:.1%} off the true sheet, the second {rows[11].ours:.1%}."
    )
    return Finding(
        sentence,
        tuple(rows),
        (
            (
                "The roll, its neighbour graph, and the unfoldings (the paper's Figure 1).",
                unrolling_figure(sample.points, plain.problem.edges, sheets, sample.color),
            ),
            (
                "Maps of the same roll, each compared with the proved bound, and how the bound and "
                "the feasible value of the unfolding meet (edges held).",
                unfolding_figure(maps, plain.solution.history, sample.color),
            ),
        ),
        (size_note(plain), f"With angles {tied.problem.m} edges, {tied.solution.solver}."),
    )


def optimality(setting: Setting) -> Finding:
    """The conditions (50)–(55) on the answer, with dense algebra of its own."""
    _, _, unfolding = roll(setting)
    p, found = unfolding.problem, unfolding.certificate
    Y = p.centred(unfolding.solution.factor)
    K = Y @ Y.T
    L = p.laplacian(unfolding.solution.weights).toarray()
    values = np.linalg.eigvalsh(L)
    w = unfolding.solution.weights
    slack = p.squared - p.squared_lengths(Y)
    away = float(np.linalg.norm(L @ K - K) / np.linalg.norm(K))
    loose = float(np.abs(w * slack).sum() / (w @ p.squared))
    spectrum = np.linalg.eigvalsh(K)[::-1]
    rank, wide = found.rank, found.multiplicity or 0
    y = K @ setting.random().standard_normal(p.n)
    kept = float(np.linalg.norm(L @ y - y) / np.linalg.norm(y))
    rows = (
        agrees("(50) smallest eigenvalue of K over tr K", spectrum[-1] / K.trace(), 1e-12),
        agrees("(50) 1ᵀK1 over tr K", K.sum() / K.trace(), 1e-10),
        agrees(
            "(50) longest edge: largest ‖y_i − y_j‖²/d² − 1",
            max(0.0, float(-(slack / p.squared).min())),
            1e-8,
            about="with = some edges would have to be longer, see cunha-slater",
        ),
        agrees(
            "(51) λ₂(L*)", values[1], NEAR, paper=1.0, about="printed ≤ 1; it is ≥, and = at w*"
        ),
        Row("smallest weight", 0.0, float(w.min()), bool(w.min() >= -1e-12), "≥ 0 belongs to ≤"),
        agrees("(52) ‖L*K* − K*‖/‖K*‖", away, NEAR),
        agrees("(53) ‖L*y − y‖/‖y‖, y = K*x with a random x", kept, NEAR),
        agrees("slackness Σ w(d² − ‖y_i − y_j‖²)/Σ w d²", loose, NEAR, about="belongs to ≤"),
        Row("rank of K*", None, float(rank), note=f"eigenvalues above {found.cluster:.1e} tr K"),
        Row(
            "(55) multiplicity of λ₂(L*)",
            f"≥ {rank}",
            float(wide),
            wide >= rank,
            f"counted by inertia within {found.cluster:.1e} of λ₂",
        ),
    )
    sentence = (
        f"L*K* = K* to {away:.1e}; K* has rank {rank} and λ₂(L*) = {values[1]:.8f} occurs "
        f"{wide} times, so the top eigenspace of the dense matrix lies in the bottom one of the "
        "sparse matrix."
    )
    return Finding(sentence, rows, notes=(size_note(unfolding),))


def bounds(setting: Setting) -> Finding:
    """Upper bounds from any weights, lower bounds from any map, around the one value."""
    sample, _, unfolding = roll(setting)
    p, found = unfolding.problem, unfolding.certificate
    best = found.lower
    upper = _upper_bounds(p, unfolding)
    lower = _lower_bounds(p, sample.points, unfolding)
    rows = [
        Row(f"above: {name}", "≥ 1", one / best, bool(one >= best * (1 - 1e-12)), "of tr K")
        for name, one in upper.items()
    ] + [
        Row(f"below: {name}", "≤ 1", one / best, bool(one <= found.upper), "of tr K")
        for name, one in lower.items()
    ]
    L = p.laplacian(unfolding.solution.weights).toarray()
    true = float(np.linalg.eigvalsh(L)[1])
    second = second_eigenvalue(p, unfolding.solution.weights, unfolding.solution.factor)
    slip = 1e-11 * true  # what LAPACK itself may be off on the dense matrix
    between = second.proved - slip <= true <= second.ritz + slip
    rows.append(
        Row(
            "λ₂(L*) less the bound proved by inertia",
            None,
            true - second.proved,
            bool(between),
            f"proved ≤ λ₂ ≤ Ritz value; that is {second.ritz - true:.1e} above",
        )
    )
    heat = upper["heat weights, scaled"] / best
    sentence = (
        f"Every bound is on its side of {best:.6g}. Isomap's trace is "
        f"{upper['Isomap trace'] / best:.4g} times the value, eigenmaps' heat weights, scaled "
        f"until λ₂ = 1, give {heat:.3g} times it, and the solver's weights {found.upper / best:.9f}"
        "."
    )
    figure = bracket_figure(lower, upper, best, x_name="share of the best variance")
    caption = "Values reached by maps (scaled into the constraints) and proved bounds."
    return Finding(sentence, tuple(rows), ((caption, figure),), (size_note(unfolding),))


def _upper_bounds(p: UnfoldingProblem, unfolding: Unfolding) -> dict[str, float]:
    """Σ w d²/ℓ with a proved ℓ ≤ λ₂ for several weights, and the two from geodesics."""
    geodesic = geodesic_bounds(p)
    width = float(p.squared.mean())
    weights = {
        "equal weights, scaled": np.ones(p.m),
        "heat weights, scaled": np.exp(-p.squared / width),
        "weights 1/d², scaled": 1 / p.squared,
        "dual weights": unfolding.solution.weights,
    }
    found = {}
    for name, w in weights.items():
        second = second_eigenvalue(p, w, unfolding.solution.factor)
        found[name] = float(w @ p.squared) / second.proved
    if geodesic.isomap is not None:
        found["Isomap trace"] = geodesic.isomap
    return found | {"geodesics to a centre": geodesic.centre}


def _lower_bounds(p: UnfoldingProblem, points: Array, unfolding: Unfolding) -> dict[str, float]:
    """Variance of several maps, each shrunk until no edge is too long."""
    k = NEIGHBORS
    maps = {
        "the points themselves": points,
        "PCA": PCA(n_components=2).fit_transform(points),
        "Isomap": Isomap(n_neighbors=k).fit_transform(points),
        "LLE": LocallyLinearEmbedding(n_neighbors=k).fit_transform(points),
        "Laplacian eigenmaps": SpectralEmbedding(n_neighbors=k).fit_transform(points),
        "unfolding": unfolding.solution.factor,
    }
    return {name: scaled_into(p, Y)[1] for name, Y in maps.items()}


EXPERIMENTS = (
    Experiment(
        "cunha-swiss-roll",
        "C",
        "Figure 1, (28), (41), (49)",
        "Unfolding a swiss roll, primal against dual",
        swiss_roll_unfolded,
    ),
    Experiment("cunha-optimality", "C", "(50)–(55)", "Optimality conditions", optimality),
    Experiment(
        "cunha-bounds",
        "C",
        "(41), (56), (57), (66)",
        "Bounds of the unfolding from any weights and any map",
        bounds,
    ),
)
