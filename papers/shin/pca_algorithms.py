"""Lecture 3, last parts: three algorithms for the same components, and one direction at a time."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.embedding import embed
from dualfold.methods import pca
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Dense
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, agrees

Algorithm = Callable[[Array, int], tuple[Array, Array]]
KEPT = 5  # components compared
# Wider covariances are not formed here: at D = 10,000 they take 3 GB and many minutes.
MOST_EVD = 4_096


def algorithms(setting: Setting) -> Finding:
    """EVD of the covariance, SVD of the data, Gram matrix: the same λ and b."""
    rng = setting.random()
    n, side = 60, setting.of(12, 20, 32)
    X = spots(rng, n, side)
    width = X.shape[1]
    found = {name: algorithm(X, KEPT) for name, algorithm in ALGORITHMS.items()}
    values, vectors = found["SVD"]
    rows = []
    for name, (others, directions) in found.items():
        if name != "SVD":
            off = float(np.abs(others - values).max() / values[0])
            turned = float(np.abs(np.abs(np.sum(directions * vectors, axis=0)) - 1).max())
            rows += [
                agrees(f"λ by {name} less σ²/N, of λ₁", off, 1e-12),
                agrees(f"b by {name}, 1 − |cos|", turned, 1e-10),
            ]
    centred = X - X.mean(axis=0)
    spectrum = np.linalg.eigvalsh(centred.T @ centred / n)
    zeros = int((spectrum < 1e-12 * spectrum[-1]).sum())
    rank, plain = np.linalg.matrix_rank(centred), np.linalg.matrix_rank(X)
    c = np.linalg.eigh(centred @ centred.T / n)[1][:, -1]
    length = float(np.linalg.norm(centred.T @ c) / np.sqrt(n * values[0]))
    rows += [
        Row(f"rank of S, N = {n}", n, int(rank), bool(rank == n - 1),
            "N − 1: centring takes one; N is the rank of the data not centred"),
        Row("rank of the data before centring", None, int(plain), bool(plain == n)),
        Row(f"eigenvalues 0, of D = {width}", width - n + 1, zeros, zeros == width - n + 1,
            "D − N + 1, which is what rank N − 1 leaves"),
        Row("‖Xc‖ over √(Nλ)", None, length, abs(length - 1) < 1e-12,
            "the recovered vector Xc is not of length 1: divide by √(Nλ)"),
    ]  # fmt: skip
    sentence = (
        f"All three algorithms give the same {KEPT} components of {n} pictures of {width} pixels. "
        f"The centred data has rank {rank} = N − 1, not N as the lecture says; its own count of "
        f"{width - n + 1} zero eigenvalues is right."
    )
    return Finding(sentence, tuple(rows))


def timings(setting: Setting) -> Finding:
    """Seconds of each algorithm for few pictures with many pixels, taken in turns."""
    rng, n = setting.random(), setting.of(40, 100, 200)
    sides = setting.of((10, 16, 20), (16, 24, 32, 44), (16, 32, 48, 64, 100))
    repeats = setting.of(2, 3, 2)
    taken: dict[str, dict[int, float]] = {name: {} for name in ALGORITHMS}
    for side in sides:
        X = spots(rng, n, side)
        able = {
            name: algorithm
            for name, algorithm in ALGORITHMS.items()
            if name != "EVD" or side**2 <= MOST_EVD
        }
        # In turns and the best of several: what else the machine does then hits all alike.
        for _ in range(repeats):
            for name, algorithm in able.items():
                begin = perf_counter()
                algorithm(X, KEPT)
                seconds = perf_counter() - begin
                taken[name][side**2] = min(seconds, taken[name].get(side**2, np.inf))
    widest = max(taken["EVD"])
    evd, svd, gram = (taken[name][widest] for name in ("EVD", "SVD", "Gram"))
    rows = [
        Row(f"D = {width:,}: seconds of {name}", None, seconds)
        for name, each in taken.items()
        for width, seconds in each.items()
    ]
    # Seconds are no fact about the paper, but on wide pictures their order is one.
    holds = None if setting.size == "brief" else evd > gram
    words = "> 1: the N×N matrix is quicker"
    rows.append(Row(f"D = {widest:,}: EVD over Gram", "much easier", evd / gram, holds, words))
    words = f"the Gram matrix of {n} pictures takes {8 * n**2 / 1e6:.2g}"
    whole = 8 * 10_000**2 / 1e6
    rows.append(Row("megabytes of S at the lecture's D = 10,000", None, whole, None, words))
    sentence = (
        f"For {n} pictures of {widest:,} pixels the Gram matrix took {gram:.3f} s, the SVD "
        f"{svd:.3f} s and the covariance {evd:.3f} s ({evd / gram:.0f} times the first)."
    )
    lines = [Line(name, list(each), list(each.values())) for name, each in taken.items()]
    widths = [side**2 for side in sides]
    chart = Chart(lines, "", "D, pixels", "seconds", x_scale="log", y_scale="log", x_ticks=widths)
    caption = f"Time of the three algorithms for N = {n} pictures against their pixels."
    notes = (f"Algorithms taken in turns, the best of {repeats}; times are this machine's.",)
    return Finding(sentence, tuple(rows), ((caption, chart_figure([chart])),), notes)


def deflation(setting: Setting) -> Finding:
    """One direction after another, orthogonal to those before = all at once."""
    rng, matrices, d = setting.random(), setting.of(5, 30, 300), 6
    values_off = vectors_off = pulled = 0.0
    for _ in range(matrices):
        X = rng.standard_normal((80, 12)) * np.linspace(3.0, 0.5, 12)
        S = pca(X, n_components=d, matrix="covariance").A
        whole = Dense().solve(TraceProblem(S, None, d, "max"))
        B = np.zeros((12, 0))
        for k in range(d):
            value, b = next_direction(S, B)
            # From (*): η_j = −2 b_jᵀS b; the lecture shows that it is 0.
            pulled = max(pulled, float(np.abs(2 * B.T @ S @ b).max(initial=0.0)) / whole.values[0])
            values_off = max(values_off, abs(value - whole.values[k]) / whole.values[0])
            vectors_off = max(vectors_off, 1 - abs(float(b @ whole.vectors[:, k])))
            B = np.column_stack([B, b])
    same = _repeated(rng)
    rows = (
        agrees("λ one by one less all at once, of λ₁", values_off, 1e-12),
        agrees("b one by one, 1 − |cos|", vectors_off, 1e-10),
        agrees("multipliers η_j of the constraints, of λ₁", pulled, 1e-12),
        Row("repeated eigenvalue: subspaces apart by", None, same, same < 1e-10,
            "‖BBᵀ − B′B′ᵀ‖; single directions are then not unique"),
    )  # fmt: skip
    sentence = (
        f"On {matrices} data sets {d} directions found one after the other are those found "
        f"together to {max(values_off, vectors_off):.1g}; the multipliers of orthogonality vanish."
    )
    notes = (
        "The lecture's step writes λ where λ_j of the earlier direction is meant; η_j = 0 all the "
        "same, as b_j is orthogonal to the new direction. Its “step k” finds b_(k+1).",
    )
    return Finding(sentence, rows, notes=notes)


def next_direction(S: Array, before: Array) -> tuple[float, Array]:
    """(λ, b): bᵀSb largest among unit b orthogonal to the columns of `before`."""
    excluded = before if before.shape[1] else None
    found = Dense().solve(TraceProblem(S, None, 1, "max", excluded=excluded))
    return float(found.values[0]), np.asarray(found.vectors[:, 0])


def spots(rng: np.random.Generator, n: int, side: int) -> Array:
    """n pictures of side×side pixels: a bright spot somewhere, of some size, and noise."""
    at = np.linspace(0, 1, side)
    middle, size = rng.uniform(0.2, 0.8, (2, n, 1)), rng.uniform(0.1, 0.25, (n, 1))
    across, up = (np.exp(-((at - place) ** 2) / (2 * size**2)) for place in middle)
    pictures = (up[:, :, None] * across[:, None, :]).reshape(n, -1)
    return np.asarray(pictures + 0.05 * rng.standard_normal(pictures.shape))


def _by_covariance(X: Array, count: int) -> tuple[Array, Array]:
    solved = embed(pca(X, n_components=count, matrix="covariance"), solver=Dense())
    return solved.values, solved.solution.vectors


def _by_gram(X: Array, count: int) -> tuple[Array, Array]:
    problem = pca(X, n_components=count, matrix="gram")
    solved = embed(problem, solver=Dense())
    lift: Any = problem.lift
    return solved.values, lift.linear_map(solved.solution.vectors, solved.values).components.T


def _by_svd(X: Array, count: int) -> tuple[Array, Array]:
    _, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return s[:count] ** 2 / len(X), Vt[:count].T


def _repeated(rng: np.random.Generator) -> float:
    """λ = 5, 3, 3, 1: the first three directions, one by one against at once."""
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    S = (Q * np.array([5.0, 3.0, 3.0, 1.0])) @ Q.T
    S = (S + S.T) / 2
    B = np.zeros((4, 0))
    for _ in range(3):
        B = np.column_stack([B, next_direction(S, B)[1]])
    return float(np.abs(B @ B.T - Q[:, :3] @ Q[:, :3].T).max())


ALGORITHMS: dict[str, Algorithm] = {"EVD": _by_covariance, "SVD": _by_svd, "Gram": _by_gram}

EXPERIMENTS = (
    Experiment(
        "shin-pca-algorithms",
        "S",
        "lecture 3, EVD, SVD, N ≪ D",
        "Three algorithms for PCA give one answer",
        algorithms,
    ),
    Experiment(
        "shin-pca-seconds",
        "S",
        "lecture 3, High Dimensions",
        "Few pictures of many pixels",
        timings,
    ),
    Experiment(
        "shin-pca-deflation", "S", "lecture 3, Step k", "One direction after the other", deflation
    ),
)
