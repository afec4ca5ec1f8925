"""Isomap, LLE and Laplacian eigenmaps seen from the dual of unfolding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.spatial.distance import pdist

from dualfold.data import sphere_cap, swiss_roll
from dualfold.duality import connections, unfold
from dualfold.experiments.cunha_roll import NEAR, roll, size_note, small_roll, within
from dualfold.experiments.finding import Experiment, Finding, Row, Setting
from dualfold.graph import geodesic_distances, knn
from dualfold.graph.directed import neighborhoods
from dualfold.view.papers import lines_figure
from dualfold.weights import heat_laplacian, reconstruction_weights
from dualfold.weights.gram import centred_gram

Array = np.ndarray[Any, np.dtype[Any]]


def isomap_bound(setting: Setting) -> Finding:
    """(56), (57): geodesics bound the unfolding, and how near it comes as points are added."""
    sample, graph, unfolding = roll(setting)
    p = unfolding.problem
    Y = p.centred(unfolding.solution.factor)
    far = geodesic_distances(graph, dtype=np.float64)
    above = far[np.triu_indices(p.n, 1)]
    apart = pdist(Y)
    stretched = float((apart / above).max())
    squares = float(np.sum(apart**2)) / p.n
    given = float((pdist(sample.points) / above).max())
    G = centred_gram(far)
    spectrum = np.linalg.eigvalsh(G)
    rows = [
        Row("(56) largest ‖x_i − x_j‖ over geodesic", "≤ 1", given, given <= 1 + 1e-9, "inputs"),
        Row("the same for ‖y_i − y_j‖", "≤ 1", stretched, stretched <= 1 + 1e-9, "outputs"),
        within(
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
        within(
            "(4) tr K over Σ_ij ‖y_i − y_j‖²/2n",
            float(np.sum(Y**2)) / squares,
            1e-9,
            paper=1.0,
            about="so the bound needs (57) squared, and on the outputs",
        ),
    ]
    sizes = setting.of((40, 60), (600, 900, 1_200), (600, 1_000, 1_600, 2_400))
    series: dict[str, list[float]] = {"6 neighbours": [], "more as n grows": []}
    for n in sizes:
        points = (small_roll if setting.size == "brief" else _usual_roll)(n, setting.seed).points
        # 7 to 15 neighbours for 600 to 2,400 points: few enough not to reach the next turn.
        growing = max(6, round(6 * (n / 400) ** 0.5)) if setting.size != "brief" else 8
        for name, k in zip(series, (6, growing), strict=True):
            found = unfold(knn(points, k), tol=1e-5).certificate
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
    (one, *_, last), (first, *_, final) = series.values()
    sentence = (
        "No distance of the unfolding exceeds its geodesic, so Isomap's trace is a bound. From "
        f"{sizes[0]} to {sizes[-1]} points it goes from {one:.3f} to {last:.3f} times the value "
        f"with 6 neighbours, and from {first:.3f} to {final:.3f} with more: the paper's limit of 1 "
        "needs neighbourhoods of ever more points."
    )
    figure = lines_figure(
        {name: (np.array(sizes), np.array(ratios)) for name, ratios in series.items()},
        x_name="points",
        y_name="Isomap's trace, of the unfolding's",
        scale="linear",
        level=1.0,
    )
    caption = "Isomap's trace over the unfolding's, by the number of points."
    return Finding(sentence, tuple(rows), ((caption, figure),), (size_note(unfolding),))


def _usual_roll(n: int, seed: int) -> Any:
    return swiss_roll(n, random_state=seed)


def local_linearity(setting: Setting) -> Finding:
    """(58)–(65): LLE's weights and the dual's both make each point of its neighbours."""
    _, graph, unfolding = roll(setting)
    p = unfolding.problem
    Y = p.centred(unfolding.solution.factor)
    W = unfolding.weights.toarray()
    degrees = W.sum(axis=1)
    whole = np.linalg.norm(Y)
    pulled = degrees[:, None] * Y - W @ Y
    left = (degrees - 1)[:, None] * Y
    points, lists = neighborhoods(graph, n_components=2)
    V = reconstruction_weights(points, lists, ridge=1e-3)
    rng = setting.random()
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    again = reconstruction_weights(2.5 * points @ turn + rng.standard_normal(3), lists, ridge=1e-3)
    negative = float(np.mean(V.data < 0))
    A = (np.eye(graph.n) - V.toarray()).T @ (np.eye(graph.n) - V.toarray())
    values, vectors = np.linalg.eigh(A)
    bottom = np.sqrt(graph.n) * vectors[:, 1:3]
    error = float(np.sum((bottom - V @ bottom) ** 2) / (graph.n * values[1:3].sum()))
    away = float(np.linalg.norm(left - W @ Y) / np.linalg.norm(left))
    shares = W / degrees[:, None]
    rows = [
        within(
            "(62), (64) ‖y_i − Σ w_ij(y_i − y_j)‖/‖y‖", np.linalg.norm(pulled - Y) / whole, NEAR
        ),
        within("(65) ‖(L_ii − 1)y_i − Σ w_ij y_j‖, relative", away, NEAR),
        Row(
            "(61) with w_ij/L_ii: ‖y_i − Σ w_ij y_j/L_ii‖/‖y‖",
            "≈ 0",
            float(np.linalg.norm(Y - shares @ Y) / whole),
            note="not 0: (65) has L_ii − 1, so its shares add up to more than 1",
        ),
        within("dual weights: largest |w_ij − w_ji|", np.abs(W - W.T).max(), 1e-12),
        Row("LLE's weights: share that has no equal opposite", None, _lopsided(V.toarray())),
        within("(58) largest |Σ_j w_ij − 1|", np.abs(V.sum(axis=1) - 1).max(), 1e-9),
        Row(
            "(58) share of negative weights", "0", negative, negative > 0, "affine, not convex: > 0"
        ),
        within(
            "weights of turned, moved and scaled data off these",
            float(np.abs(again - V).max()),
            1e-6,
        ),
        within("(59) Σ‖y_i − Σ w_ij y_j‖² over n(λ₂ + λ₃), y = √n v", error, 1e-6, paper=1.0),
        within("(59) largest |(1/n)Σ y yᵀ − I|, y = √n v", _off_identity(bottom), 1e-9),
        Row(
            "(60) the same as printed, y = v",
            "0",
            _off_identity(vectors[:, 1:3]),
            bool(_off_identity(vectors[:, 1:3]) > 0.5),
            "as printed not 0: √n is missing",
        ),
    ]
    slope, figure = _flatness(setting)
    rows.append(
        Row(
            "Figure 2: distance from the tangent plane over radius, exponent in n",
            -0.5,
            slope,
            abs(slope + 0.5) <= 0.1,
            "within 0.1; neighbourhoods shrink like n^−½, and are flat to that order",
        )
    )
    sentence = (
        f"At the optimum every point is a combination of its neighbours to {away:.1e}, as in LLE, "
        f"with symmetric weights. LLE's own are affine, not convex: {negative:.0%} are negative."
    )
    caption = "A sphere seen ever closer: how far ten neighbours are from their plane (Figure 2)."
    return Finding(sentence, tuple(rows), ((caption, figure),), (size_note(unfolding),))


def _off_identity(Y: Array) -> float:
    """Largest entry of (1/n)Σ y yᵀ − I."""
    return float(np.abs(Y.T @ Y / len(Y) - np.eye(Y.shape[1])).max())


def _lopsided(W: Array) -> float:
    """Σ|w_ij − w_ji| over Σ|w_ij| + |w_ji|."""
    return float(np.abs(W - W.T).sum() / (2 * np.abs(W).sum()))


def _flatness(setting: Setting) -> tuple[float, Any]:
    """How flat neighbourhoods on a sphere are, by the number of points."""
    sizes = setting.of(
        (200, 400, 800), (250, 500, 1_000, 2_000, 4_000), (500, 2_000, 8_000, 32_000)
    )
    shares = []
    for n in sizes:
        points = sphere_cap(n, random_state=setting.seed).points
        nearest = knn(points, 10).lists.indices.reshape(n, 10)
        arms = points[nearest] - points[nearest].mean(axis=1, keepdims=True)
        strengths = np.linalg.svd(arms, compute_uv=False)
        shares.append(float(np.mean(strengths[:, 2] / strengths[:, 0])))
    slope = float(np.polyfit(np.log(sizes), np.log(shares), 1)[0])
    figure = lines_figure(
        {f"slope {slope:.2f}".replace("-", "−"): (np.log10(sizes), np.array(shares))},
        x_name="log₁₀ of the number of points",
        y_name="off the plane, of the radius",
    )
    return slope, figure


def eigenmaps(setting: Setting) -> Finding:
    """(66)–(69): eigenmaps with the dual's weights contain the unfolding, if B = I."""
    _, graph, unfolding = roll(setting)
    found = connections(unfolding)
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
    wider = float(found.isomap or np.nan) / found.value
    as_units, as_counts = (
        float(np.linalg.norm(V.T @ (D[:, None] * V) - np.eye(2))) for V in (unit, counted)
    )
    rows = [
        within(
            "(66) Σ w_ij‖y_i − y_j‖² less λ₂ + λ₃",
            np.trace(Y.T @ L @ Y) - values[1:3].sum(),
            1e-9,
        ),
        within(
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
        within(
            "D^−½LD^−½ and D^−½ against Lv = λDv: values", np.abs(half_values - values).max(), 1e-9
        ),
        within("the same: first two vectors", gap, 1e-6, about="the paper left it unverified"),
        within("heat weights scaled up: λ₂", np.linalg.eigvalsh(scaled)[1], 1e-9, paper=1.0),
        within(
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
        within("λ₂·c*/c, the transformed dual", found.scaling_law, 1e-6, paper=1.0),
        Row("tr K_Isomap over tr K*", "≥ 1", wider, wider >= 1),
        within("(65), the same from `connections()`", found.local_linearity, NEAR),
    ]
    sentence = (
        f"With the dual's weights the bottom eigenvectors of L contain the unfolding to "
        f"{found.eigenmaps_angle:.1e}° when B = I. With the degrees as B, as in (66), they are "
        f"{found.normalised_angle:.0f}° off: the paper's last connection is one of unnormalised "
        "eigenmaps."
    )
    return Finding(sentence, tuple(rows), notes=(size_note(unfolding),))


EXPERIMENTS = (
    Experiment(
        "cunha-isomap", "C", "(56), (57)", "Isomap bounds unfolding from above", isomap_bound
    ),
    Experiment(
        "cunha-lle",
        "C",
        "(58)–(65), Figure 2",
        "LLE's local linearity in the dual",
        local_linearity,
    ),
    Experiment(
        "cunha-eigenmaps",
        "C",
        "(66)–(69)",
        "Laplacian eigenmaps with the dual's weights",
        eigenmaps,
    ),
)
