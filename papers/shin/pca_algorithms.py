"""Lecture 3, last parts: three algorithms for the same components, and one direction at a time."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from dualfold import PCA
from dualfold.arrays import Array
from dualfold.embedding import embed
from dualfold.methods import pca
from dualfold.trace import TraceProblem
from dualfold.trace.solvers import Dense
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, also, claim, theorem

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
                theorem(f"λ by our {name} less σ²/N, of λ₁", off, at_most=1e-12),
                theorem(f"b by our {name}, 1 − |cos|", turned, at_most=1e-10),
            ]
    rows += [*_rank_rows(X), *_rank_rows(spots(rng, 20, 100))]
    rank = n - 1
    sentence = (
        f"All three algorithms give the same {KEPT} components of {n} pictures of {width} pixels. "
        f"The centred data has rank {rank} = N − 1, not N as the lecture says; its own count of "
        f"{width - n + 1} zero eigenvalues is right."
    )
    return Finding(sentence, tuple(rows))


def _rank_rows(X: Array) -> list[Row]:
    """Number of directions that our PCA finds in N pictures of D pixels, and the length of Xc."""
    n, width = X.shape
    model = PCA(n_components=n, svd_solver="full").fit(X)
    rank = int((model.eigenvalues_ > 1e-12 * model.eigenvalues_[0]).sum())
    found = embed(pca(X, n_components=1, matrix="gram"), solver=Dense())
    c, centred = found.solution.vectors[:, 0], X - X.mean(axis=0)
    long = float(np.linalg.norm(centred.T @ c) / np.sqrt(n * found.values[0]))
    true = np.linalg.svd(centred, compute_uv=False)[0] ** 2 / n
    return [
        claim(f"rank of S, N = {n}, D = {width:,}", n, rank, lambda x: x == n,
              "N − 1: centring takes one"),
        claim(f"eigenvalues 0, N = {n}, D = {width:,}", width - n + 1, width - rank,
              lambda x: x == width - n + 1, "D − N + 1, which is what rank N − 1 leaves"),
        theorem(f"‖Xc‖ over √(Nλ), N = {n}, D = {width:,}", long, equals=1, within=1e-10,
                about="the recovered vector Xc is not of length 1: divide by √(Nλ)"),
        theorem(f"λ₁ by our N×N matrix over σ₁²/N, D = {width:,}", found.values[0] / true,
                equals=1, within=1e-10),
    ]  # fmt: skip


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
        also(f"D = {width:,}: seconds of {name}", seconds)
        for name, each in taken.items()
        for width, seconds in each.items()
    ]
    rows.append(
        claim(f"D = {widest:,}: seconds of our EVD over our Gram matrix", "much easier",
              evd / gram, lambda x: x > 2, "more than twice; seconds are this machine's")
    )  # fmt: skip
    rows.append(also("megabytes of S at the lecture's D = 10,000", 8 * 10_000**2 / 1e6,
                     f"the Gram matrix of {n} pictures takes {8 * n**2 / 1e6:.2g}"))  # fmt: skip
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
        theorem("λ one by one less all at once, of λ₁", values_off, at_most=1e-12),
        theorem("b one by one, 1 − |cos|", vectors_off, at_most=1e-10),
        theorem("multipliers η_j of the constraints, of λ₁", pulled, at_most=1e-12),
        theorem("repeated eigenvalue: subspaces apart by", same, at_most=1e-10,
                about="‖BBᵀ − B′B′ᵀ‖; single directions are then not unique"),
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
