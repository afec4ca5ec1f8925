"""Problem families with spectra known in closed form or from LAPACK, for the contract tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from dualfold.trace import Gramian, TraceProblem


@dataclass(frozen=True, eq=False)
class Family:
    name: str
    problem: TraceProblem
    spectrum: np.ndarray  # all eigenvalues off the trivial directions, best first
    explicit: bool = True  # A can be factored


def laplacian(edges, n, weights=None):
    weights = np.ones(len(edges)) if weights is None else weights
    i, j = np.asarray(edges).T
    W = sp.coo_array((np.r_[weights, weights], (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(degrees) - W), degrees


def path_edges(n, first=0):
    return [(first + k, first + k + 1) for k in range(n - 1)]


def path_spectrum(n):
    return 2 - 2 * np.cos(np.pi * np.arange(n) / n)


def path(n=70):
    L, _ = laplacian(path_edges(n), n)
    return Family("path", TraceProblem(L, None, 3, "min", np.ones(n)), path_spectrum(n)[1:])


def path_from_above(n=70):
    L, _ = laplacian(path_edges(n), n)
    return Family("path, max", TraceProblem(L, None, 3, "max"), path_spectrum(n)[::-1])


def cycle(n=51, count=3):
    L, _ = laplacian([*path_edges(n), (n - 1, 0)], n)
    spectrum = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n))
    name = f"cycle, {count} directions"
    return Family(name, TraceProblem(L, None, count, "min", np.ones(n)), spectrum[1:])


def complete(n=40):
    L, _ = laplacian([(i, j) for i in range(n) for j in range(i)], n)
    spectrum = np.full(n - 1, float(n))
    return Family("complete", TraceProblem(L, None, 3, "min", np.ones(n)), spectrum)


def grid(rows=9, columns=9):
    number = np.arange(rows * columns).reshape(rows, columns)
    edges = [*zip(number[:-1].ravel(), number[1:].ravel(), strict=True)]
    edges += [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    L, _ = laplacian(edges, number.size)
    spectrum = np.sort(np.add.outer(path_spectrum(rows), path_spectrum(columns)).ravel())[1:]
    problem = TraceProblem(L, None, 4, "min", np.ones(number.size))
    return Family(f"grid {rows}x{columns}", problem, spectrum)


def normalised_cycle(n=40):
    # All degrees 2: the normalised spectrum is 1 − cos.
    L, degrees = laplacian([*path_edges(n), (n - 1, 0)], n)
    spectrum = np.sort(1 - np.cos(2 * np.pi * np.arange(n) / n))[1:]
    return Family("normalised cycle", TraceProblem(L, degrees, 4, "min", np.ones(n)), spectrum)


def several_pieces(sizes=(30, 20, 25)):
    edges, indicators, spectra, first = [], [], [], 0
    n = sum(sizes)
    for size in sizes:
        edges += path_edges(size, first)
        indicator = np.zeros(n)
        indicator[first : first + size] = 1
        indicators.append(indicator)
        spectra.append(path_spectrum(size)[1:])
        first += size
    L, _ = laplacian(edges, n)
    problem = TraceProblem(L, None, 4, "min", np.column_stack(indicators))
    return Family("three pieces", problem, np.sort(np.concatenate(spectra)))


def wilkinson(n=41):
    # Its largest eigenvalues come in pairs that agree to 14 digits.
    W = sp.diags_array(
        [np.ones(n - 1), np.abs(np.arange(n) - n // 2) * 1.0, np.ones(n - 1)], offsets=[-1, 0, 1]
    )
    spectrum = np.linalg.eigvalsh(W.toarray())[::-1]
    return Family("Wilkinson", TraceProblem(sp.csr_array(W), None, 3, "max"), spectrum)


def cluster(n=60):
    # Three eigenvalues within 1e-7, the fourth at distance 1e-3; hidden by reflections.
    values = np.r_[1.0, 1 + 4e-8, 1 + 9e-8, 1.001, np.linspace(1.2, 5, n - 4)]
    rng = np.random.default_rng(5)
    A = np.diag(values)
    for _ in range(3):
        v = rng.standard_normal((n, 1))
        H = np.eye(n) - 2 * v @ v.T / (v.T @ v)
        A = H @ A @ H
    return Family("cluster", TraceProblem((A + A.T) / 2, None, 3, "min"), values)


def random_pencil(kind, n=80, sense="min"):
    rng = np.random.default_rng(11)
    R = sp.random_array((n, n), density=0.06, rng=rng, data_sampler=rng.standard_normal)
    A = sp.csr_array(R + R.T)
    C = sp.random_array((n, n), density=0.03, rng=rng, data_sampler=rng.standard_normal)
    B = sp.csr_array(C @ C.T + 2 * sp.eye_array(n))
    given = {"diagonal": 0.5 + rng.random(n), "sparse": B, "dense": B.toarray()}[kind]
    full = np.diag(given) if kind == "diagonal" else B.toarray()
    spectrum = scipy.linalg.eigh(A.toarray(), full, eigvals_only=True)
    problem = TraceProblem(A, given, 3, sense)
    spectrum = spectrum if sense == "min" else spectrum[::-1]
    return Family(f"pencil, {kind} B, {sense}", problem, spectrum)


def covariance(n=45):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, n)) * np.geomspace(3, 0.1, n)
    A = np.cov(X.T)
    return Family("covariance", TraceProblem(A, None, 4, "max"), np.linalg.eigvalsh(A)[::-1])


def dense_kernel(n=70):
    # A full heat kernel, normalised: dense A, diagonal B, one trivial direction.
    X = np.random.default_rng(4).random((n, 2)) * [3, 1]
    W = np.exp(-4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(W, 0)
    degrees = 50 * W.sum(axis=1)
    L = np.diag(degrees) - 50 * W
    spectrum = scipy.linalg.eigh(L, np.diag(degrees), eigvals_only=True)[1:]
    return Family("dense kernel", TraceProblem(L, degrees, 3, "min", np.ones(n)), spectrum)


def walk_square(n=48):
    # M = I − ½(shift + shift⁻¹) on a cycle: MᵀM has eigenvalues (1 − cos)².
    k = np.arange(n)
    half = np.full(n, 0.5)
    W = sp.csr_array((np.r_[half, half], (np.r_[k, k], np.r_[(k + 1) % n, (k - 1) % n])), (n, n))
    M = sp.csr_array(sp.eye_array(n) - W)
    spectrum = np.sort((1 - np.cos(2 * np.pi * k / n)) ** 2)[1:]
    return Family("Gramian", TraceProblem(Gramian(M), None, 4, "min", np.ones(n)), spectrum)


def operator(n=60):
    L, _ = laplacian(path_edges(n), n)
    problem = TraceProblem(aslinearoperator(L), None, 2, "min", np.ones(n))
    return Family("operator", problem, path_spectrum(n)[1:], explicit=False)


FAMILIES = [
    path(),
    path_from_above(),
    cycle(count=3),
    cycle(count=4),
    complete(),
    grid(9, 9),
    grid(8, 13),
    normalised_cycle(),
    several_pieces(),
    wilkinson(),
    cluster(),
    random_pencil("diagonal"),
    random_pencil("sparse"),
    random_pencil("dense"),
    random_pencil("diagonal", sense="max"),
    covariance(),
    dense_kernel(),
    walk_square(),
    operator(),
]
