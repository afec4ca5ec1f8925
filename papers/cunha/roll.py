"""Unfolding a swiss roll: both sides meet, the optimality conditions hold, bounds bracket it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dualfold import PCA, Isomap, LocallyLinearEmbedding, SpectralEmbedding
from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.data.toys import Sample
from dualfold.graph import Graph, join_pieces, knn
from dualfold.quality import procrustes
from dualfold.unfolding import (
    Unfolding,
    UnfoldingProblem,
    dual_slack,
    geodesic_bounds,
    optimality_residuals,
    second_eigenvalue,
    unfold,
)
from dualfold.unfolding.bounds import feasible_scale
from papers.figures.roll import bracket_figure, unrolling_figure
from papers.figures.unfolding import as_unfolding_in_words, bounds_in_words, unfolding_figure
from papers.finding import Experiment, Finding, Row, Setting, also, claim, theorem

NEIGHBORS = 6
# A gap of 1e-9 leaves the optimality conditions, which fall with its root, near 1e-5.
TOL, NEAR = 1e-9, 1e-4
# With angles there are three times as many edges, and the last digits take most of the time.
TOL_TIED = 1e-7
# The even roll: with more neighbours cliques of five points make it rigid with =.
EVEN_NEIGHBORS = 5
CANDIDATES_PER_POINT = 12


def small_roll(n: int, seed: int) -> Sample:
    """A shorter roll: 100 points on the usual one are so far apart that edges leap across."""
    return swiss_roll(n, turns=0.75, height=8.0, random_state=seed)


def neighbor_graph(points: Array, n_neighbors: int) -> Graph:
    """Nearest neighbours, joined by the shortest links where a small sample falls apart."""
    graph = knn(points, n_neighbors)
    return graph if graph.n_pieces == 1 else join_pieces(graph)


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


def even_roll(n: int, turns: float, seed: int) -> Sample:
    """A roll whose points lie evenly: of many random ones, each time the farthest from all chosen.

    Random points leave bottlenecks, at which parts of the sheet turn against each other in further
    dimensions: then two coordinates show only one of them.
    """
    many = swiss_roll(CANDIDATES_PER_POINT * n, turns=turns, height=8.0, random_state=seed)
    apart = np.full(len(many.flat), np.inf)
    chosen = [0]
    while len(chosen) < n:
        away = many.flat - many.flat[chosen[-1]]
        apart = np.minimum(apart, np.einsum("ij,ij->i", away, away))
        chosen.append(int(np.argmax(apart)))
    kept = np.sort(chosen)
    return replace(many, points=many.points[kept], flat=many.flat[kept], color=many.color[kept])


@lru_cache(maxsize=2)
def even_rolls(setting: Setting) -> tuple[Sample, Graph, Unfolding]:
    """An even roll, its graph, and its unfolding with =, the paper's problem (28)."""
    n, turns = setting.of((40, 0.75), (140, 1.25), (200, 1.25))
    sample = even_roll(n, turns, setting.seed)
    graph = neighbor_graph(sample.points, EVEN_NEIGHBORS)
    return sample, graph, unfold(graph, constraints="equal")


def size_note(unfolding: Unfolding) -> str:
    """Note on what was unfolded, and by which solver."""
    problem = unfolding.problem
    kept = "equal to" if problem.constraints == "equal" else "held to at most"
    k = EVEN_NEIGHBORS if problem.constraints == "equal" else NEIGHBORS
    return (
        f"{problem.n} points, {k} neighbours, {problem.m} edges {kept} their length; "
        f"{unfolding.solution.solver}, {len(unfolding.solution.history)} iterations."
    )


def swiss_roll_unfolded(setting: Setting) -> Finding:
    """Figure 1, and the two sides of the problem over the iterations."""
    sample, _, plain = roll(setting)
    tied = roll(setting, angles=True)[2]
    rows, first, equal = _figure_1(setting)
    maps, far = [], []
    for name, one in (("edges", plain), ("edges and angles", tied)):
        found, Y = one.certificate, one.coordinates(2)[0]
        spectrum = np.linalg.svd(one.factor, compute_uv=False) ** 2
        beyond = float(spectrum[2:].sum() / spectrum.sum())
        off = procrustes(sample.flat, Y, scale=1.0).disparity
        far.append(off)
        rows += [
            theorem(f"{name}: (49) gap (Σ w d² − tr K)/Σ w d²", found.gap, at_most=1e-6,
                    about=found.level),
            also(f"{name}: tr K, a feasible value", f"{found.lower:.10g}"),
            also(f"{name}: Σ w d²/λ₂, a proved bound", f"{found.upper:.10g}"),
            claim(f"{name}: variance outside two coordinates", "Figure 1: flat", beyond,
                  lambda x: x <= 0.01),
            claim(f"{name}: disparity to the true sheet", "Figure 1: unrolled", off,
                  lambda x: x <= 0.05, "turned, not scaled; 0.05, as far as a picture shows"),
        ]  # fmt: skip
        maps.append((f"unfolding, {name}", Y, bounds_in_words(found)))
    for name, points in (
        ("Isomap", Isomap(n_neighbors=NEIGHBORS).fit_transform(sample.points)),
        ("PCA", PCA(n_components=2).fit_transform(sample.points)),
    ):
        maps.append((name, points, as_unfolding_in_words(plain.problem, points, plain.certificate)))
    sentence = (
        f"With = as in (28) both sides meet to {equal.certificate.gap:.0e} for exactly the lengths "
        f"of an even roll. With ≤ both sides meet at {plain.certificate.lower:.6g} with a gap of "
        f"{plain.certificate.gap:.1e}, and at {tied.certificate.lower:.6g} "
        f"({tied.certificate.gap:.1e}) when the neighbours of each point are tied too, as in the "
        f"paper's (13). Both lie flat; the first gives width away for length and is "
        f"{far[0]:.1%} off the true sheet, the second {far[1]:.1%}."
    )
    return Finding(
        sentence,
        tuple(rows),
        (
            ("A roll, its neighbour graph, and its unfoldings (the paper's Figure 1).", first),
            (
                "Maps of the same roll, each compared with the proved bound, and how the bound and "
                "the feasible value of the unfolding meet (edges held).",
                unfolding_figure(maps, plain.solution.history, sample.color),
            ),
        ),
        (
            f"Figure 1: {size_note(equal)}",
            size_note(plain),
            f"With angles {tied.problem.m} edges, {tied.solution.solver}.",
        ),
    )


def _figure_1(setting: Setting) -> tuple[list[Row], Any, Unfolding]:
    """The even roll with =, with ≤, and with ≤ and angles: rows, the picture, and the first."""
    sample, graph, equal = even_rolls(setting)
    rows: list[Row] = []
    sheets = []
    for name, one in (
        ("edges =", equal),
        ("edges ≤", unfold(graph)),
        ("edges and angles ≤", unfold(graph, angles=True, tol=TOL_TIED)),
    ):
        Y = one.coordinates(2)[0]
        beyond = 1 - float(np.sum(Y**2) / np.sum(one.factor**2))
        off = procrustes(sample.flat, Y, scale=1.0).disparity
        sheets.append((f"unfolded, {name}", Y))
        rows += [
            theorem(f"even roll, {name}: (49) gap", one.certificate.gap, at_most=1e-4,
                    about=one.certificate.level),
            claim(f"even roll, {name}: variance outside two coordinates", "Figure 1: flat", beyond,
                  lambda x: x <= 0.01),
            claim(f"even roll, {name}: disparity to the true sheet", "Figure 1: unrolled", off,
                  lambda x: x <= 0.05, "turned, not scaled"),
        ]  # fmt: skip
    p = equal.problem
    missed = np.abs(p.squared_lengths(equal.solution.factor) / p.squared - 1).max()
    rows.append(theorem("even roll, edges =: (13) largest |‖y_i − y_j‖²/d² − 1|", float(missed),
                        at_most=1e-9))  # fmt: skip
    return rows, unrolling_figure(sample.points, p.edges, sheets, sample.color), equal


def optimality(setting: Setting) -> Finding:
    """The conditions (50)–(55) on the answers for = and ≤, with dense algebra of its own."""
    _, _, unfolding = roll(setting)
    p, found = unfolding.problem, unfolding.certificate
    Y = p.centred_points(unfolding.solution.factor)
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
    rows = [
        theorem("(50) smallest eigenvalue of K over tr K", spectrum[-1] / K.trace(), at_least=0,
                within=1e-12),
        theorem("(50) 1ᵀK1 over tr K", abs(K.sum()) / K.trace(), at_most=1e-10),
        theorem("(50) longest edge: largest ‖y_i − y_j‖²/d²",
                1 - float((slack / p.squared).min()), at_most=1, within=1e-8,
                about="with = some edges would have to be longer, see cunha-slater"),
        theorem("(51) λ₂(L*)", values[1], equals=1, within=NEAR),
        claim("(51) λ₂(L) of the dual feasible weights 2w*", "≤ 1",
              float(np.linalg.eigvalsh(2 * L)[1]), lambda x: x <= 1, "misprinted: ≥ 1"),
        theorem("smallest weight", w.min(), at_least=0, within=1e-12, about="belongs to ≤"),
        theorem("(52) ‖L*K* − K*‖/‖K*‖", away, at_most=NEAR),
        theorem("(53) ‖L*y − y‖/‖y‖, y = K*x with a random x", kept, at_most=NEAR),
        theorem("slackness Σ w(d² − ‖y_i − y_j‖²)/Σ w d²", loose, at_most=NEAR,
                about="belongs to ≤"),
        theorem("(55) multiplicity of λ₂(L*) less the rank of K*", wide - rank, at_least=0,
                about=f"rank {rank}; counted by inertia within {found.cluster:.1e} of λ₂"),
    ]  # fmt: skip
    exact, trace = _equal_rows(setting)
    rows += exact
    sentence = (
        f"With = as in (28), tr K*(L* − I) is {trace:.1e} of tr K*, for exactly the lengths of the "
        f"data. With ≤, L*K* = K* to {away:.1e}; K* has rank {rank} and λ₂(L*) = {values[1]:.8f} "
        f"occurs {wide} times, so the top eigenspace of the dense matrix lies in the bottom one of "
        "the sparse matrix."
    )
    notes = (size_note(even_rolls(setting)[2]), size_note(unfolding))
    return Finding(sentence, tuple(rows), notes=notes)


def _equal_rows(setting: Setting) -> tuple[list[Row], float]:
    """(49)–(55) for the paper's own problem, with =; and tr K*(L* − I)/tr K*.

    Weights that attain the optimum need not exist with = (cunha-slater): they grow, and (52) holds
    in the trace, tr K*(L* − I) → 0, before it does in the norm.
    """
    unfolding = even_rolls(setting)[2]
    p, w, found = unfolding.problem, unfolding.solution.weights, unfolding.certificate
    Y = p.centred_points(unfolding.solution.factor)
    K = Y @ Y.T
    at = optimality_residuals(p, K, w)
    trace = float(np.sum(K * dual_slack(p, w)) / np.trace(K))
    y = Y[:, 0]
    bend = float(w @ (y[p.edges[:, 0]] - y[p.edges[:, 1]]) ** 2 / (y @ y))
    rows = [
        theorem("=: (49) gap, proved for exactly the lengths of the data", found.gap,
                at_most=1e-4, about=found.level),
        theorem("=: (50) largest |‖y_i − y_j‖²/d² − 1|", at.lengths, at_most=1e-9),
        theorem("=: (50) 1ᵀK1 over tr K", at.centring, at_most=1e-10),
        theorem("=: (50) −(smallest eigenvalue of K)/tr K", at.definiteness, at_most=1e-12),
        theorem("=: (51) 1 − λ₂(L*)", at.bend, at_most=NEAR),
        theorem("=: (52) in the trace, tr K*(L* − I)/tr K*", trace, at_most=1e-4),
        also("=: (52) in the norm, ‖L*K* − K*‖/‖K*‖", at.slackness,
             f"largest weight {np.abs(w).max():.1e}, smallest {w.min():.1e}: both signs"),
        theorem("=: (53) first coordinate y of K*: yᵀL*y/yᵀy", bend, equals=1, within=NEAR),
        theorem("=: (55) multiplicity of λ₂(L*) less the rank of K*",
                (found.multiplicity or 0) - found.rank, at_least=0,
                about=f"rank {found.rank}; within {found.cluster:.1e} of λ₂"),
    ]  # fmt: skip
    return rows, trace


def bounds(setting: Setting) -> Finding:
    """Upper bounds from any weights, lower bounds from any map, around the one value."""
    sample, _, unfolding = roll(setting)
    p, found = unfolding.problem, unfolding.certificate
    best = found.lower
    upper = _upper_bounds(p, unfolding)
    lower = _lower_bounds(p, sample.points, unfolding)
    rows: list[Row] = [
        theorem(f"above: {name}, of tr K", one / best, at_least=1, within=1e-12)
        for name, one in upper.items()
    ] + [
        theorem(f"below: {name}, of the proved bound", one / found.upper, at_most=1)
        for name, one in lower.items()
    ]
    L = p.laplacian(unfolding.solution.weights).toarray()
    true = float(np.linalg.eigvalsh(L)[1])
    second = second_eigenvalue(p, unfolding.solution.weights, unfolding.solution.factor)
    slip = 1e-11 * true  # what LAPACK itself may be off on the dense matrix
    rows += [
        theorem("λ₂(L*) less the bound proved by inertia", true - second.proved, at_least=0,
                within=slip),
        theorem("our Ritz value less λ₂(L*)", second.ritz - true, at_least=0, within=slip),
    ]  # fmt: skip
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
    return {name: feasible_scale(p, Y)[1] for name, Y in maps.items()}


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
