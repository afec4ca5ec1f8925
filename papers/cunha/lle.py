"""LLE seen from the dual of unfolding: each point is a combination of its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data import sphere_cap
from dualfold.graph import Graph, knn
from dualfold.graph.directed_lists import neighborhoods
from dualfold.weights import reconstruction_weights
from papers.cunha.roll import NEAR, roll, size_note
from papers.figures.charts import Chart, Line, chart_figure
from papers.figures.sphere import tangent_planes_figure
from papers.finding import Experiment, Finding, Row, Setting, also, claim, identity, theorem


def local_linearity(setting: Setting) -> Finding:
    """(58)–(65): LLE's weights and the dual's both make each point of its neighbours."""
    _, graph, unfolding = roll(setting)
    p = unfolding.problem
    Y = p.centred_points(unfolding.solution.factor)
    W = unfolding.weights.toarray()
    degrees = W.sum(axis=1)
    whole = np.linalg.norm(Y)
    pulled = degrees[:, None] * Y - W @ Y
    left = (degrees - 1)[:, None] * Y
    away = float(np.linalg.norm(left - W @ Y) / np.linalg.norm(left))
    shares = W / degrees[:, None]
    rows: list[Row] = [
        theorem("(62), (64) ‖y_i − Σ w_ij(y_i − y_j)‖/‖y‖", np.linalg.norm(pulled - Y) / whole,
                at_most=NEAR),
        theorem("(65) ‖(L_ii − 1)y_i − Σ w_ij y_j‖, relative", away, at_most=NEAR),
        claim("(61) with w_ij/L_ii: ‖y_i − Σ w_ij y_j/L_ii‖/‖y‖", "≈ 0",
              np.linalg.norm(Y - shares @ Y) / whole, lambda x: x <= 0.01,
              "x_i ≈ Σ w_ij x_j as in LLE; (65) has L_ii − 1, so its shares add up to more than 1"),
        identity("dual weights: largest |w_ij − w_ji|", np.abs(W - W.T).max(), 1e-12),
    ]  # fmt: skip
    own, negative = _weight_rows(graph, setting)
    rows += own
    slope, figure = _flatness(setting)
    sphere = tangent_planes_figure(sphere_cap(400, random_state=setting.seed).points)
    rows.append(
        theorem("Figure 2: distance from the tangent plane over radius, exponent in n", slope,
                equals=-0.5, within=0.1, about="ten of our neighbours shrink like n^−½")
    )  # fmt: skip
    sentence = (
        f"At the optimum every point is a combination of its neighbours to {away:.1e}, as in LLE, "
        f"with symmetric weights. LLE's own are affine, not convex: {negative:.0%} are negative."
    )
    figures = (
        ("Local linear structure on a sphere: neighbourhoods and their planes (Figure 2).", sphere),
        ("A sphere seen ever closer: how far ten neighbours are from their plane.", figure),
    )
    return Finding(sentence, tuple(rows), figures, (size_note(unfolding),))


def _weight_rows(graph: Graph, setting: Setting) -> tuple[list[Row], float]:
    """(58)–(60): LLE's own weights and eigenvectors; and the share of negative weights."""
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
    rows = [
        also("LLE's weights: share that has no equal opposite", _lopsided(V.toarray())),
        identity("(58) largest |Σ_j w_ij − 1|", np.abs(V.sum(axis=1) - 1).max(), 1e-9),
        claim("(58) share of negative weights", "a convex combination", negative,
              lambda x: x == 0, "affine, not convex"),
        identity(
            "weights of turned, moved and scaled data off these",
            float(np.abs(again - V).max()),
            1e-6,
        ),
        identity("(59) Σ‖y_i − Σ w_ij y_j‖² over n(λ₂ + λ₃), y = √n v", error, 1e-6, equals=1.0),
        identity("(59) largest |(1/n)Σ y yᵀ − I|, y = √n v", _off_identity(bottom), 1e-9),
        claim("(60) the same as printed, y = v", 0.0, _off_identity(vectors[:, 1:3]),
              lambda x: x <= 1e-9, "√n is missing"),
    ]  # fmt: skip
    return rows, negative


def _off_identity(Y: Array) -> float:
    """Largest entry of (1/n)Σ y yᵀ − I."""
    return float(np.abs(Y.T @ Y / len(Y) - np.eye(Y.shape[1])).max())


def _lopsided(W: Array) -> float:
    """Σ|w_ij − w_ji| over Σ|w_ij| + |w_ji|."""
    return float(np.abs(W - W.T).sum() / (2 * np.abs(W).sum()))


def _flatness(setting: Setting) -> tuple[float, Any]:
    """Flatness of neighbourhoods on a sphere, by the number of points."""
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
    chart = Chart(
        [Line(f"slope {slope:.2f}".replace("-", "−"), sizes, shares)],
        x_name="points", y_name="off the plane, of the radius", x_scale="log", y_scale="log",
        x_ticks=sizes, names="beside",
    )  # fmt: skip
    return slope, chart_figure([chart])


EXPERIMENTS = (
    Experiment(
        "cunha-lle",
        "C",
        "(58)–(65), Figure 2",
        "LLE's local linearity in the dual",
        local_linearity,
    ),
)
