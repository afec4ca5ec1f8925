"""Small trace problems of every kind that was ever judged wrongly, as plain arrays.

Each family draws a `Case` from a random generator. Nothing here computes an answer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tests.proofs.fuzz_case import (
    FAMILIES,
    Array,
    Case,
    Random,
    draw,
    family,
    graph,
    laplacian,
    orthogonal,
    powers,
    size,
    some_kind,
    some_width,
    with_spectrum,
)

__all__ = ["FAMILIES", "Case", "draw"]

# ---- dense spectra


@family("random spectrum")
def _(rng: Random) -> Case:
    n = size(rng)
    values = rng.standard_normal(n) * powers(rng, -2, 2, n)
    return Case(with_spectrum(rng, values), some_kind(rng))


@family("graded")
def _(rng: Random) -> Case:
    n = size(rng)
    if rng.random() < 0.5:
        return Case(with_spectrum(rng, powers(rng, -16, 0, n)), some_kind(rng))
    D = powers(rng, -8, 0, n)
    S = with_spectrum(rng, rng.uniform(0.5, 2, n) * rng.choice([1, 1, 1, -1], n))
    return Case(D[:, None] * S * D, some_kind(rng))


@family("clustered")
def _(rng: Random) -> Case:
    n = size(rng, 4)
    centres = rng.standard_normal(3)
    values = rng.choice(centres, n) + powers(rng, -15, -2) * rng.standard_normal(n)
    return Case(with_spectrum(rng, values), some_kind(rng))


@family("repeated")
def _(rng: Random) -> Case:
    n = size(rng, 4)
    kind = rng.integers(4)
    if kind == 0:
        A = np.kron(np.eye(3), with_spectrum(rng, rng.standard_normal(n // 3 + 1)))
    elif kind == 1:
        A = laplacian(np.ones((n, n)) - np.eye(n))
    elif kind == 2:
        A = laplacian(np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0))
    else:
        A = np.diag(rng.choice([1.0, 2.0, 2.5], n))
    N = np.ones((len(A), 1)) if kind in (1, 2) and rng.random() < 0.5 else None
    return Case(A, some_kind(rng), N=N)


@family("cancelling sum")
def _(rng: Random) -> Case:
    n = size(rng, 3)
    values = np.sort(rng.standard_normal(n))
    k = int(rng.integers(1, min(4, n - 1) + 1))
    left = powers(rng, -15, -1) * rng.choice([-1, 1])
    values[k - 1] = left - values[: k - 1].sum()
    values[k:] = max(values[:k]) + rng.random(n - k) * 2
    return Case(with_spectrum(rng, values), some_kind(rng))


@family("tiny optimum")
def _(rng: Random) -> Case:
    n = size(rng, 3)
    values = rng.uniform(0.3, 1, n)
    tiny = int(rng.integers(1, max(2, n // 2)))
    values[:tiny] = powers(rng, -15, -2, tiny) * rng.choice([1, 1, 1, -1], tiny)
    return Case(with_spectrum(rng, values), some_kind(rng))


@family("far scales")
def _(rng: Random) -> Case:
    name = str(rng.choice(["random spectrum", "clustered", "laplacian", "Gramian, walk"]))
    case = FAMILIES[name](rng)
    return replace(case, A=case.A * powers(rng, -160, 160))


@family("vanishing entries")
def _(rng: Random) -> Case:
    """Products of some entries underflow beside others of ordinary size."""
    name = str(rng.choice(["random spectrum", "Gramian", "diagonal B", "Gramian with B"]))
    case = FAMILIES[name](rng)
    D = 10.0 ** -rng.choice([0, 0, 0, 80, 100, 155, 165, 200, 300], case.n).astype(float)
    if case.kind == "gramian":
        rows = np.ones(len(case.A)) if rng.random() < 0.5 else np.resize(D, len(case.A))
        return replace(case, A=rows[:, None] * case.A * (D if rows[0] == 1 else 1.0))
    B = case.B if case.B is None or rng.random() < 0.5 else case.B * D * D
    return replace(case, A=D[:, None] * case.A * D, B=B if B is None or (B > 0).all() else None)


# ---- graphs


@family("laplacian")
def _(rng: Random) -> Case:
    n = size(rng, 3)
    return Case(laplacian(graph(rng, n, some_width(rng))), some_kind(rng), N=np.ones((n, 1)))


@family("laplacian in pieces")
def _(rng: Random) -> Case:
    n, width = size(rng, 6), some_width(rng)
    cut = int(rng.integers(2, n - 1))
    W = np.zeros((n, n))
    W[:cut, :cut], W[cut:, cut:] = graph(rng, cut, width), graph(rng, n - cut, width)
    first = (np.arange(n) < cut).astype(float)
    N = [None, np.ones((n, 1)), np.column_stack([first, 1 - first])][int(rng.integers(3))]
    return Case(laplacian(W), some_kind(rng), N=N)


@family("laplacian, degrees")
def _(rng: Random) -> Case:
    n = size(rng, 3)
    W = graph(rng, n, some_width(rng))
    return Case(laplacian(W), some_kind(rng), B=W.sum(axis=1), N=np.ones((n, 1)))


# ---- squares


def factor(rng: Random, rows: int, values: Array) -> Array:
    """rows×n with nearly these singular values."""
    n, left = len(values), orthogonal(rng, max(rows, len(values)))
    short = min(rows, n)
    return np.asarray((left[:rows, :short] * values[:short]) @ orthogonal(rng, n)[:short])


@family("Gramian")
def _(rng: Random) -> Case:
    n = size(rng)
    return Case(factor(rng, n, powers(rng, -8, 0, n)), "gramian")


@family("Gramian, rectangular")
def _(rng: Random) -> Case:
    n = size(rng, 4)
    rows = int(rng.integers(n - 2, n + 5))
    M = factor(rng, rows, powers(rng, -rng.choice([1, 4, 8]), 0, n))
    if rows < n and rng.random() < 0.7:  # the directions that M sends to (nearly) 0 are excluded
        return Case(M, "gramian", N=np.linalg.svd(M)[2][rows:].T)
    return Case(M, "gramian")


@family("Gramian, walk")
def _(rng: Random) -> Case:
    n = size(rng, 4)
    W = graph(rng, n, float(rng.choice([0.0, 1.0])))
    W = W / W.sum(axis=1)[:, None]
    if rng.random() < 0.5:  # weights of either sign, as LLE has them
        W = W * (1 + 0.5 * rng.standard_normal(W.shape))
        W = W / W.sum(axis=1)[:, None]
    return Case(np.eye(n) - W, "gramian", N=np.ones((n, 1)))


@family("Gramian, tiny values")
def _(rng: Random) -> Case:
    n = size(rng, 5)
    values = rng.uniform(0.3, 1, n)
    tiny = int(rng.integers(2, n - 1))
    values[:tiny] = powers(rng, *rng.choice([[-8, -7], [-8, -6], [-7, -5]]), tiny)
    M = factor(rng, n + int(rng.choice([0, 0, 2])), values)
    if rng.random() < 0.3:
        M[np.abs(M) < 0.15] = 0.0
    return Case(M, "gramian")


# ---- metrics


@family("diagonal B")
def _(rng: Random) -> Case:
    n = size(rng)
    wide = float(rng.choice([1, 5, 15]))
    B = powers(rng, -wide, wide, n)
    A = with_spectrum(rng, rng.standard_normal(n) * powers(rng, -1, 1, n))
    if rng.random() < 0.6:
        A = np.sqrt(B)[:, None] * A * np.sqrt(B)
    return Case((A + A.T) / 2, some_kind(rng), B=B)


@family("dense B")
def _(rng: Random) -> Case:
    n = size(rng)
    B = with_spectrum(rng, np.r_[1.0, powers(rng, -rng.choice([0.5, 4, 8, 12]), 0, n - 1)])
    if rng.random() < 0.1:
        B = B + powers(rng, -16, -1) * rng.standard_normal((n, n))
    A = with_spectrum(rng, rng.standard_normal(n))
    if rng.random() < 0.5:  # graded alongside: a pencil that is better than its parts
        values, Q = np.linalg.eigh((B + B.T) / 2)
        L = Q * np.sqrt(np.maximum(values, 1e-16))
        A = L @ A @ L.T
    return Case((A + A.T) / 2, some_kind(rng), B=B)


@family("sparse B")
def _(rng: Random) -> Case:
    n = size(rng, 3)
    steps = powers(rng, -rng.choice([0.1, 3]), 0, n - 1)  # finite elements of unequal length
    A, B = np.zeros((n, n)), np.zeros((n, n))
    for k, h in enumerate(steps):
        A[k : k + 2, k : k + 2] += np.array([[1, -1], [-1, 1]]) / h
        B[k : k + 2, k : k + 2] += np.array([[2, 1], [1, 2]]) * h / 6
    N = np.ones((n, 1)) if rng.random() < 0.5 else None
    return Case(A, some_kind(rng), B=sp.csr_array(B), N=N)


@family("Gramian with B")
def _(rng: Random) -> Case:
    case = FAMILIES[str(rng.choice(["Gramian, walk", "Gramian", "Gramian, tiny values"]))](rng)
    wide = float(rng.choice([0.5, 3, 10]))
    return replace(case, B=powers(rng, -wide, wide, case.n))


# ---- excluded directions


@family("excluded")
def _(rng: Random) -> Case:
    n = size(rng, 5)
    A = with_spectrum(rng, rng.standard_normal(n) * powers(rng, -3, 1, n))
    p = int(rng.integers(1, 4))
    N = np.linalg.eigh(A)[1][:, rng.permutation(n)[:p]]  # invariant up to rounding
    return Case(A, some_kind(rng), N=N @ near_singular(rng, p))


def near_singular(rng: Random, p: int) -> Array:
    """p×p with a condition up to 1e7."""
    values = powers(rng, -float(rng.choice([0, 3, 7])), 0, p)
    return np.asarray((orthogonal(rng, p) * values) @ orthogonal(rng, p))


@family("excluded, nearly dependent")
def _(rng: Random) -> Case:
    n, width = size(rng, 7), some_width(rng)
    cut = int(rng.integers(2, n - 2))
    W = np.zeros((n, n))
    W[:cut, :cut], W[cut:, cut:] = graph(rng, cut, width), graph(rng, n - cut, width)
    first = (np.arange(n) < cut).astype(float)
    apart = powers(rng, -7, 0) if rng.random() < 0.85 else powers(rng, -16.5, -7)
    N = np.column_stack([np.ones(n), np.ones(n) + apart * first])
    if rng.random() < 0.1:  # dependent, exactly
        N = np.column_stack([N, first])
    return Case(laplacian(W), some_kind(rng), N=N)


@family("excluded, not invariant")
def _(rng: Random) -> Case:
    n = size(rng, 4)
    A = with_spectrum(rng, rng.standard_normal(n))
    N = rng.standard_normal((n, int(rng.integers(1, 3))))
    if rng.random() < 0.5:
        own = np.linalg.eigh(A)[1][:, : N.shape[1]]
        N = own + powers(rng, -15, -1) * N
    return Case(A, some_kind(rng), N=N)


@family("excluded, strongly coupled")
def _(rng: Random) -> Case:
    """One small eigenvalue off N, N far from invariant: a count of all says little of the rest."""
    m = int(rng.integers(2, 6))
    values = np.r_[powers(rng, -4, -0.2), 1.0, 1 + rng.uniform(0.05, 10, m - 2)]
    coupling = rng.standard_normal(m) * powers(rng, -2, 0, m)
    A = np.diag(np.r_[powers(rng, -2, 1.5) * rng.choice([-1, 1]), values])
    A[0, 1:] = A[1:, 0] = powers(rng, -4, 0.5) * coupling / np.linalg.norm(coupling)
    return Case(A, some_kind(rng), N=np.eye(m + 1)[:, :1])


# ---- numbers of other kinds


@family("float32")
def _(rng: Random) -> Case:
    n = size(rng)
    values = rng.standard_normal(n) * powers(rng, -rng.choice([1, 6]), 0, n)
    A = with_spectrum(rng, values).astype(np.float32)
    return Case(A, "dense", sense=str(rng.choice(["min", "max"])))


@family("integers")
def _(rng: Random) -> Case:
    n = size(rng)
    largest = int(rng.choice([3, 100, 2**40, 2**61]))
    A = rng.integers(-largest, largest, (n, n))
    A = np.tril(A) + np.tril(A, -1).T
    return Case(A.astype(np.int8) if largest <= 100 else A, "dense")


@family("operator")
def _(rng: Random) -> Case:
    case = FAMILIES[str(rng.choice(["random spectrum", "laplacian", "diagonal B", "excluded"]))](
        rng
    )
    return replace(case, kind="operator")


@family("almost symmetric")
def _(rng: Random) -> Case:
    n = size(rng)
    A = with_spectrum(rng, rng.standard_normal(n) * powers(rng, -7, 0, n))
    A = A + powers(rng, -17, -2) * np.tril(rng.standard_normal((n, n)), -1)
    return Case(A, str(rng.choice(["dense", "sparse", "operator"])))


@family("maxima")
def _(rng: Random) -> Case:
    n = size(rng, 5)
    large = int(rng.integers(1, 4))
    values = np.r_[rng.uniform(1, 10, large), powers(rng, -8, 0) * rng.standard_normal(n - large)]
    return Case(with_spectrum(rng, values), "dense", sense="max")


@family("light nodes")
def _(rng: Random) -> Case:
    n = size(rng, 5)
    B = np.r_[powers(rng, -30, -5), rng.uniform(0.5, 2, n - 1)]
    values = np.sort(rng.uniform(0.2, 5, n)) * np.where(rng.random(n) < 0.1, 1e-6, 1)
    kind = str(rng.choice(["dense", "sparse", "operator"]))
    return Case(np.diag(values * B), kind, B=B)
