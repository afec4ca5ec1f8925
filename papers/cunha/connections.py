"""Isomap and Laplacian eigenmaps seen from the dual of unfolding."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.spatial.distance import pdist

from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.embedding import embed
from dualfold.graph import Graph, geodesic_distances
from dualfold.methods import eigenmaps as eigenmaps_problem
from dualfold.trace.solvers import Auto
from dualfold.unfolding import UnfoldingProblem, connections, unfold
from dualfold.weights import centred_gram, heat_laplacian
from papers.cunha.roll import NEAR, neighbor_graph, roll, size_note, small_roll
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, also, claim, identity, theorem


def isomap_bound(setting: Setting) -> Finding:
    """(56), (57): geodesics bound the unfolding, and how near it comes as points are added."""
    sample, graph, unfolding = roll(setting)
    rows = _geodesic_rows(sample.points, graph, unfolding.problem, unfolding.solution.factor)
    sizes, series, more = _ratios(setting)
    rows += more
    (one, *_, last), (first, *_, final) = series.values()
    sentence = (
        "No distance of the unfolding exceeds its geodesic, so Isomap's trace is a bound. From "
        f"{sizes[0]} to {sizes[-1]} points it goes from {one:.3f} to {last:.3f} times the value "
        f"with 6 neighbours, and from {first:.3f} to {final:.3f} with more; the paper's limit of 1 "
        "is still some way off."
    )
    lines = [Line(name, sizes, ratios) for name, ratios in series.items()]
    y_name = "Isomap's trace, of the unfolding's"
    chart = Chart(lines, "", "points", y_name, x_ticks=sizes, level=1.0, names="beside")
    caption = "Isomap's trace over the unfolding's, by the number of points."
    return Finding(
        sentence, tuple(rows), ((caption, chart_figure([chart])),), (size_note(unfolding),)
    )


def _geodesic_rows(points: Array, graph: Graph, p: UnfoldingProblem, factor: Array) -> list[Row]:
    """Distances of inputs and outputs against geodesics, and what Isomap's trace is."""
    Y = p.centred_points(factor)
    far = geodesic_distances(graph, dtype=np.float64)
    above = far[np.triu_indices(p.n, 1)]
    apart = pdist(Y)
    stretched = float((apart / above).max())
    squares = float(np.sum(apart**2)) / p.n
    given = float((pdist(points) / above).max())
    G = centred_gram(far)
    spectrum = np.linalg.eigvalsh(G)
    return [
        theorem("(56) largest ‖x_i − x_j‖ over geodesic", given, at_most=1, within=1e-9),
        theorem("the same for ‖y_i − y_j‖ of our unfolding", stretched, at_most=1, within=1e-9),
        identity(
            "tr(−½HΔH) of Isomap over Σ_ij g_ij²/2n",
            np.trace(G) * p.n / float(np.sum(above**2)),
            1e-9,
            equals=1.0,
        ),
        also(
            "Isomap's negative eigenvalues over its trace",
            float(-spectrum[spectrum < 0].sum() / np.trace(G)),
            "geodesics are not distances of points: K is not positive semidefinite",
        ),
        identity(
            "(4) tr K over Σ_ij ‖y_i − y_j‖²/2n",
            float(np.sum(Y**2)) / squares,
            1e-9,
            equals=1.0,
            about="so the bound needs (57) squared, and on the outputs",
        ),
    ]


def _ratios(setting: Setting) -> tuple[tuple[int, ...], dict[str, list[float]], list[Row]]:
    """Isomap's trace over the unfolding's for more and more points."""
    few, usual, many = (40, 60), (600, 1_200, 2_400), (600, 1_200, 2_400, 4_800)
    sizes: tuple[int, ...] = setting.of(few, usual, many)
    rows = []
    series: dict[str, list[float]] = {"6 neighbours": [], "more as n grows": []}
    for n in sizes:
        if setting.size == "brief":
            points = small_roll(n, setting.seed).points
        else:
            points = swiss_roll(n, random_state=setting.seed).points
        # 7 to 15 neighbours for 600 to 2,400 points: few enough not to reach the next turn.
        growing = max(6, round(6 * (n / 400) ** 0.5)) if setting.size != "brief" else 8
        for name, k in zip(series, (6, growing), strict=True):
            found = unfold(neighbor_graph(points, k), tol=1e-5).certificate
            ratio = float(found.isomap or np.nan) / found.lower
            series[name].append(ratio)
            rows.append(
                theorem(f"tr K_Isomap/tr K, {n} points, {k} neighbours", ratio, at_least=1,
                        within=1e-9, about=f"gap {found.gap:.0e}, rank {found.rank}")
            )  # fmt: skip
    rows += _limit_rows(sizes, series)
    return sizes, series, rows


def _limit_rows(sizes: tuple[int, ...], series: dict[str, list[float]]) -> list[Row]:
    """“MVU approaches the upper bound given by Isomap”: the excess over 1 must fall with n.

    Isomap's own convergence asks for more neighbours as n grows; with 6 it is only measured.
    """
    slopes = [
        float(np.polyfit(np.log(sizes), np.log(np.array(ratios) - 1), 1)[0])
        for ratios in series.values()
    ]
    what = "excess of tr K_Isomap/tr K over 1, exponent in n"
    return [
        also(f"{what}, 6 neighbours", slopes[0]),
        claim(f"{what}, more neighbours as n grows", "→ 1", slopes[1], lambda x: x < -0.1,
              "falls with n: below −0.1"),
    ]  # fmt: skip


def eigenmaps(setting: Setting) -> Finding:
    """(66)–(69): eigenmaps with the dual's weights contain the unfolding, if B = I."""
    _, graph, unfolding = roll(setting)
    found = connections(unfolding)
    wider = float(found.isomap or np.nan) / found.value
    rows = [
        *_eigenmap_rows(graph),
        theorem("range K* to eigenmaps with w*, B = I: degrees", found.eigenmaps_angle,
                at_most=0.05, about=f"{found.rank} directions"),
        claim("range K* to eigenmaps with w*, B = Deg: degrees", 0.0, found.normalised_angle,
              lambda x: x <= 0.05, "the paper puts w* into (66), which has B = Deg"),
        theorem("λ₂·c*/c, the transformed dual", found.scaling_law, equals=1, within=1e-6),
        theorem("tr K_Isomap over tr K*", wider, at_least=1),
        theorem("(65) from `connections()`", found.local_linearity, at_most=NEAR),
    ]  # fmt: skip
    sentence = (
        f"With the dual's weights the bottom eigenvectors of L contain the unfolding to "
        f"{found.eigenmaps_angle:.1e}° when B = I. With the degrees as B, as in (66), they are "
        f"{found.normalised_angle:.0f}° off: the paper's last connection is one of unnormalised "
        "eigenmaps."
    )
    return Finding(sentence, tuple(rows), notes=(size_note(unfolding),))


def _eigenmap_rows(graph: Graph) -> list[Row]:
    """(66)–(68) with heat weights: which norm, which degrees, and the two ways to solve it."""
    Lh, degrees = heat_laplacian(graph)
    L, D = Lh.toarray(), np.asarray(degrees)
    values, vectors = scipy.linalg.eigh(L, np.diag(D))
    ours = embed(eigenmaps_problem(graph), solver=Auto(tol=1e-10)).values
    root = 1 / np.sqrt(D)
    half_values, half = np.linalg.eigh(root[:, None] * L * root)
    half = root[:, None] * half
    signs = np.sign(np.sum(half * (D[:, None] * vectors), axis=0))
    gap = np.abs(half[:, 1:3] * signs[1:3] - vectors[:, 1:3]).max()
    Y = vectors[:, 1:3]
    unit = Y / np.linalg.norm(Y, axis=0)
    counts = np.asarray((L != 0).sum(axis=1) - 1, dtype=float)
    counted = scipy.linalg.eigh(L, np.diag(counts))[1][:, 1:3]
    as_units, as_counts = (
        float(np.linalg.norm(V.T @ (D[:, None] * V) - np.eye(2))) for V in (unit, counted)
    )
    return [
        theorem("(66) our eigenvalues less λ₂ and λ₃ of Lv = λDv", np.abs(ours - values[1:3]).max(),
                at_most=1e-9),
        identity(
            "(66) Σ w_ij‖y_i − y_j‖² less λ₂ + λ₃",
            np.trace(Y.T @ L @ Y) - values[1:3].sum(),
            1e-9,
        ),
        identity(
            "(66) ‖Σ L_ii y_i y_iᵀ − I‖", np.linalg.norm(Y.T @ (D[:, None] * Y) - np.eye(2)), 1e-9
        ),
        claim("(67) the same for unit eigenvectors", 0.0, as_units, lambda x: x <= 1e-9,
              "unit in the norm of D is meant"),
        claim("(67) the same with D_ii the number of edges", 0.0, as_counts, lambda x: x <= 1e-9,
              "the weighted degree is meant"),
        identity(
            "D^−½LD^−½ and D^−½ against Lv = λDv: values", np.abs(half_values - values).max(), 1e-9
        ),
        identity("the same: first two vectors", gap, 1e-6, about="the paper left it unverified"),
    ]  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "cunha-isomap", "C", "(56), (57)", "Isomap bounds unfolding from above", isomap_bound
    ),
    Experiment(
        "cunha-eigenmaps",
        "C",
        "(66)–(69)",
        "Laplacian eigenmaps with the dual's weights",
        eigenmaps,
    ),
)
