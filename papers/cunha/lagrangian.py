"""The steps from the unfolding problem to its dual, each with numbers put in."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding import (
    UnfoldingProblem,
    contraction_of,
    dual_function,
    dual_slack,
    lagrangian,
    lowest_bend,
    weights_of_unit_bend,
)
from dualfold.unfolding.duality import gram_lengths
from papers.cunha.roll import neighbor_graph, small_roll
from papers.finding import Experiment, Finding, Row, Setting, claim, identity, theorem
from papers.report import number


def dual_steps(setting: Setting) -> Finding:
    """(19)–(45) on random matrices and weights over a roll's graph."""
    rng = setting.random()
    tries = setting.of(60, 400, 2_000)
    points = small_roll(setting.of(20, 30, 40), setting.seed).points
    p = contraction_of(neighbor_graph(points, 4)).problem
    agree, strict = _lmi(p, rng, tries)
    least_trace, least_symmetric = _products(p, rng, tries)
    rows = [
        *_gram_steps(p, rng),
        claim("KZ ⪰ 0: least of xᵀKZx/‖KZ‖, K of our points, Z = L(w)", "≥ 0",
              least_symmetric, lambda x: x >= -1e-9, "KZ is not symmetric; only tr KZ is needed"),
        theorem("the same: least tr KZ over ‖KZ‖", least_trace, at_least=0),
        *_lagrangian(p, rng),
        claim(f"(35) ⇔ (36) on {tries} random w and ν: share that agrees", 1.0, agree / tries,
              lambda x: x == 1,
              f"the way back was left open; {strict} of them feasible, weights of both signs"),
        *_concavity(p, rng, tries),
    ]  # fmt: skip
    sentence = (
        f"Every step to the dual holds; the way back from (36) to (35), which the paper left open, "
        f"holds on {agree} of {tries} tries (in a basis with 1/√n as first vector the matrix "
        f"splits into 1 − νn and I − B). KZ ⪰ 0 does not: xᵀKZx goes down to "
        f"{number(least_symmetric)}‖KZ‖; its trace stays ≥ 0."
    )
    return Finding(sentence, tuple(rows), notes=(f"{p.n} points, {p.m} edges.",))


def _gram_steps(p: UnfoldingProblem, rng: np.random.Generator) -> list[Row]:
    """(19)–(30)."""
    r = 3
    Y = p.centred_points(rng.standard_normal((p.n, r)))
    K = Y @ Y.T
    values, Q = np.linalg.eigh(K)
    back = (Q[:, -r:] * np.sqrt(values[-r:])) @ np.linalg.qr(rng.standard_normal((r, r)))[0]
    direct = gram_lengths(p, K)
    traces = np.array([np.trace(K @ _edge_matrix(p.n, a, b)) for a, b in p.edges])
    return [
        identity("(19) rank of K = YᵀY", np.linalg.matrix_rank(K), 0.0, equals=r),
        identity("(23) ‖(RΛ^½Qᵀ)ᵀ(RΛ^½Qᵀ) − K‖/‖K‖, R any rotation", _off(back @ back.T, K), 1e-12),
        identity(
            "(26), (27) Tr(KE) less K_ii + K_jj − 2K_ij", np.abs(traces - direct).max(), 1e-10
        ),
    ]


def _edge_matrix(n: int, i: int, j: int) -> Array:
    E = np.zeros((n, n))
    E[[i, j], [i, j]] = 1.0
    E[[i, j], [j, i]] = -1.0
    return E


def _off(A: Array, B: Array) -> float:
    return float(np.linalg.norm(A - B) / np.linalg.norm(B))


def _products(p: UnfoldingProblem, rng: np.random.Generator, tries: int) -> tuple[float, float]:
    """Over pairs K = YYᵀ, Z = L(w), w ≥ 0: least trace and least xᵀKZx of KZ/‖KZ‖."""
    trace = symmetric = np.inf
    for _ in range(max(tries // 10, 5)):
        Y = p.centred_points(rng.standard_normal((p.n, 2)))
        M = (Y @ Y.T) @ p.laplacian(rng.random(p.m)).toarray()
        M /= np.linalg.norm(M, 2)
        trace = min(trace, float(np.trace(M)))
        symmetric = min(symmetric, float(np.linalg.eigvalsh((M + M.T) / 2)[0]))
    return trace, symmetric


def _lagrangian(p: UnfoldingProblem, rng: np.random.Generator) -> list[Row]:
    """(29): both forms; (32): unbounded unless the matrix is 0; weak duality."""
    half, other = rng.standard_normal((2, p.n, p.n))
    K, Z, w, nu = half @ half.T, other @ other.T, rng.standard_normal(p.m), float(rng.random())
    L = p.laplacian(w).toarray()
    first = lagrangian(p, K, w, nu, Z)
    M = np.eye(p.n) + Z - nu - L
    second = np.sum(K * M) + w @ p.squared
    # Along its top eigenvector, if M ⋠ 0, the Lagrangian grows without end.
    values, vectors = np.linalg.eigh(M)
    rank_one = np.outer(vectors[:, -1], vectors[:, -1])
    growth = float(np.sum(1e6 * rank_one * M) / 1e6)
    total = float((np.eye(p.n) - nu - L).sum())
    finite = dual_function(p, w, nu, dual_slack(p, w, nu))
    infinite = dual_function(p, w, nu, Z)
    free = lagrangian(p, 7 * K, w, nu, dual_slack(p, w, nu)) / finite
    # Any w with λ₂ ≥ 1 bounds any feasible K: weights scaled to 1, points scaled into the edges.
    w = weights_of_unit_bend(p, rng.random(p.m))
    Y = p.centred_points(rng.standard_normal((p.n, 3)))
    Y *= np.sqrt(np.min(p.squared / p.squared_lengths(Y)))
    share = float(np.sum(Y**2) / (w @ p.squared))
    return [
        identity("(29) the two forms of the Lagrangian, relative", first / second - 1, 1e-10),
        theorem(
            "(32) growth of the Lagrangian along K = t vvᵀ",
            growth,
            equals=float(values[-1]),
            within=1e-9 * float(values[-1]),
            about="> 0: the supremum is infinite",
        ),
        identity("(32) L(7K, w, ν, Z)/g, Z = L(w) + ν11ᵀ − I", free, 1e-9, equals=1.0),
        theorem("(32) 1/g of another Z", 1 / infinite, equals=0),
        identity("(38) 1ᵀ(I − ν11ᵀ − L)1 less n − νn²", total - (p.n - nu * p.n**2), 1e-9),
        identity("(37) largest |L1|", np.abs(L @ np.ones(p.n)).max(), 1e-10),
        theorem("(33) tr K/Σ w d² of a feasible pair", share, at_most=1, about="weak duality"),
    ]


def _lmi(p: UnfoldingProblem, rng: np.random.Generator, tries: int) -> tuple[int, int]:
    """How often I − ν11ᵀ − L ⪯ 0 says the same as ν ≥ 1/n with λ₂ ≥ 1, and how often yes."""
    agree = feasible = 0
    for _ in range(tries):
        w = rng.random(p.m) - 0.1
        # Near the border: on either side of it for each of the two conditions.
        w *= rng.uniform(0.5, 1.5) / abs(lowest_bend(p, w)[0])
        nu = rng.uniform(0.5, 2.0) / p.n
        L = p.laplacian(w).toarray()
        one = np.linalg.eigvalsh(np.eye(p.n) - nu - L)[-1] <= 1e-12
        both = nu >= 1 / p.n and lowest_bend(p, w)[0] >= 1
        agree += bool(one == both)
        feasible += bool(both)
    return agree, feasible


def _concavity(p: UnfoldingProblem, rng: np.random.Generator, tries: int) -> list[Row]:
    """(42): λ₂ is concave off 1; (44), (45): both sides scale alike."""
    worst = 0.0
    for _ in range(tries):
        a, b, t = rng.random(p.m), rng.random(p.m), rng.random()
        worst = max(
            worst,
            t * lowest_bend(p, a)[0]
            + (1 - t) * lowest_bend(p, b)[0]
            - lowest_bend(p, t * a + (1 - t) * b)[0],
        )
    w = rng.random(p.m)
    u = rng.standard_normal((200, p.n))
    u -= u.mean(axis=1, keepdims=True)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    bends = ((u[:, p.edges[:, 0]] - u[:, p.edges[:, 1]]) ** 2) @ w
    low = float(bends.min() / lowest_bend(p, w)[0])
    return [
        theorem("(42) largest failure of concavity of λ₂", worst, at_most=1e-10),
        theorem("(42) least Σ w(u_i − u_j)² of random u over λ₂", low, at_least=1, within=1e-12),
        identity(
            "(45) λ₂(7w)/7λ₂(w)",
            lowest_bend(p, 7 * w)[0] / (7 * lowest_bend(p, w)[0]),
            1e-10,
            equals=1.0,
        ),
    ]


EXPERIMENTS = (
    Experiment(
        "cunha-dual-steps",
        "C",
        "(19)–(45)",
        "From the unfolding problem to its dual, step by step",
        dual_steps,
    ),
)
