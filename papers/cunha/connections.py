"""Isomap and Laplacian eigenmaps seen from the dual of unfolding."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.spatial.distance import pdist

from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.graph import Graph, geodesic_distances
from dualfold.unfolding import UnfoldingProblem, connections, unfold
from dualfold.weights import heat_laplacian
from dualfold.weights.gram import centred_gram
from papers.cunha.roll import NEAR, neighbor_graph, roll, size_note, small_roll
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, agrees


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
    Y = p.centred(factor)
    far = geodesic_distances(graph, dtype=np.float64)
    above = far[np.triu_indices(p.n, 1)]
    apart = pdist(Y)
    stretched = float((apart / above).max())
    squares = float(np.sum(apart**2)) / p.n
    given = float((pdist(points) / above).max())
    G = centred_gram(far)
    spectrum = np.linalg.eigvalsh(G)
    return [
        Row("(56) largest ‖x_i − x_j‖ over geodesic", "≤ 1", given, given <= 1 + 1e-9, "inputs"),
        Row("the same for ‖y_i − y_j‖", "≤ 1", stretched, stretched <= 1 + 1e-9, "outputs"),
        agrees(
            "tr(−½HΔH) of Isomap over Σ_ij g_ij²/2n",
            np.trace(G) * p.n / float(np.sum(above**2)),
            1e-9,
            paper=1.0,
        ),
        Row(
            "Isomap's negative eigenvalues over its trace",
            None,
            float(-spectrum[spectrum < 0].sum() / np.trace(G)),
            note="geodesics are not distances of points: K is not positive semidefinite",
        ),
        agrees(
            "(4) tr K over Σ_ij ‖y_i − y_j‖²/2n",
            float(np.sum(Y**2)) / squares,
            1e-9,
            paper=1.0,
            about="so the bound needs (57) squared, and on the outputs",
        ),
    ]


def _ratios(setting: Setting) -> tuple[tuple[int, ...], dict[str, list[float]], list[Row]]:
    """Isomap's trace over the unfolding's for more and more points."""
    few, usual, many = (40, 60), (600, 800, 1_000), (600, 1_000, 1_600, 2_400)
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
                Row(
                    f"tr K_Isomap/tr K, {n} points, {k} neighbours",
                    "→ 1",
                    ratio,
                    bool(ratio >= 1 - 1e-9),
                    f"≥ 1 always; gap {found.gap:.0e}, rank {found.rank}",
                )
            )
    return sizes, series, rows


def eigenmaps(setting: Setting) -> Finding:
    """(66)–(69): eigenmaps with the dual's weights contain the unfolding, if B = I."""
    _, graph, unfolding = roll(setting)
    found = connections(unfolding)
    wider = float(found.isomap or np.nan) / found.value
    rows = [
        *_eigenmap_rows(graph),
        agrees(
            "range K* to eigenmaps with w*, B = I: degrees",
            found.eigenmaps_angle,
            0.05,
            about=f"{found.rank} directions",
        ),
        Row(
            "range K* to eigenmaps with w*, B = Deg: degrees",
            "0",
            found.normalised_angle,
            bool(found.normalised_angle > 1),
            "the paper puts w* into (66), which has B = Deg: not 0 (> 1)",
        ),
        agrees("λ₂·c*/c, the transformed dual", found.scaling_law, 1e-6, paper=1.0),
        Row("tr K_Isomap over tr K*", "≥ 1", wider, wider >= 1),
        agrees("(65), the same from `connections()`", found.local_linearity, NEAR),
    ]
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
    root = 1 / np.sqrt(D)
    half_values, half = np.linalg.eigh(root[:, None] * L * root)
    half = root[:, None] * half
    signs = np.sign(np.sum(half * (D[:, None] * vectors), axis=0))
    gap = np.abs(half[:, 1:3] * signs[1:3] - vectors[:, 1:3]).max()
    Y = vectors[:, 1:3]
    unit = Y / np.linalg.norm(Y, axis=0)
    counts = np.asarray((L != 0).sum(axis=1) - 1, dtype=float)
    counted = scipy.linalg.eigh(L, np.diag(counts))[1][:, 1:3]
    scaled = L / float(np.linalg.eigvalsh(L)[1])
    as_units, as_counts = (
        float(np.linalg.norm(V.T @ (D[:, None] * V) - np.eye(2))) for V in (unit, counted)
    )
    return [
        agrees(
            "(66) Σ w_ij‖y_i − y_j‖² less λ₂ + λ₃",
            np.trace(Y.T @ L @ Y) - values[1:3].sum(),
            1e-9,
        ),
        agrees(
            "(66) ‖Σ L_ii y_i y_iᵀ − I‖", np.linalg.norm(Y.T @ (D[:, None] * Y) - np.eye(2)), 1e-9
        ),
        Row(
            "(67) the same for unit eigenvectors",
            "0",
            as_units,
            as_units > 0.1,
            "as printed not 0: unit in the norm of D is meant",
        ),
        Row(
            "(67) the same with D_ii the number of edges",
            "0",
            as_counts,
            as_counts > 0.1,
            "as printed not 0: the weighted degree is meant",
        ),
        agrees(
            "D^−½LD^−½ and D^−½ against Lv = λDv: values", np.abs(half_values - values).max(), 1e-9
        ),
        agrees("the same: first two vectors", gap, 1e-6, about="the paper left it unverified"),
        agrees("heat weights scaled up: λ₂", np.linalg.eigvalsh(scaled)[1], 1e-9, paper=1.0),
    ]


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
