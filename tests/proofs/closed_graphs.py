"""Graphs whose Laplacians have spectra and eigenvectors in closed form.

All entries are exact in doubles; eigenvalues are enclosed by balls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import arb, ctx

from tests.proofs import judge

Array = np.ndarray[Any, np.dtype[Any]]
BITS = 200


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Some eigenvalues of a Laplacian (balls, ascending) with their eigenvectors."""

    A: Any
    values: list[arb]
    vectors: Array  # orthonormal columns
    name: str = ""

    @property
    def n(self) -> int:
        return int(self.A.shape[0])


def sine_square(numerator: int, denominator: int) -> arb:
    """4 sin²(π·numerator/denominator), of full relative precision."""
    ctx.prec = BITS
    return 4 * (arb(numerator) / denominator).sin_pi() ** 2


def picked(total: int, few: int, top: bool) -> list[int]:
    return list(range(total - 1, max(-1, total - 1 - few), -1)) if top else list(range(few))


def path(n: int, few: int = 8, top: bool = False) -> Spectrum:
    ones = np.ones(n - 1)
    degrees = np.r_[1.0, np.full(n - 2, 2.0), 1.0]
    L = sp.diags_array([-ones, degrees, -ones], offsets=[-1, 0, 1]).tocsr()
    chosen = picked(n, min(few, n), top)
    turns = np.outer(2 * np.arange(n) + 1, chosen) % (4 * n)  # whole: a large angle stays exact
    V = np.cos(np.pi * turns / (2 * n)) * np.sqrt(2 / n)
    V[:, [k == 0 for k in chosen]] = 1 / np.sqrt(n)
    return Spectrum(L, [sine_square(k, 2 * n) for k in chosen], V, f"path {n}")


def ring(n: int, few: int = 8, top: bool = False) -> Spectrum:
    L = sp.lil_array(path(n, 1).A)
    L[0, 0] = L[n - 1, n - 1] = 2.0
    L[0, n - 1] = L[n - 1, 0] = -1.0
    rows, values, columns = np.arange(n), [], []
    for j in picked(n, min(few, n), top):  # 0, 1, 1, 2, 2, …: cosine and sine
        k, sine = (j + 1) // 2, j % 2 == 0
        values.append(sine_square(k, n))
        angle = 2 * np.pi * (k * rows % n) / n
        column = np.sin(angle) if sine and k else np.cos(angle)
        columns.append(column / np.linalg.norm(column))
    return Spectrum(sp.csr_array(L), values, np.column_stack(columns), f"ring {n}")


def star(n: int, few: int = 8, top: bool = False) -> Spectrum:
    """0, then 1 with n − 2 contrasts of leaves, then n (the centre against the leaves)."""
    leaves = np.arange(1, n)
    ends = np.r_[np.zeros(n - 1, int), leaves], np.r_[leaves, np.zeros(n - 1, int)]
    W = sp.csr_array((np.ones(2 * n - 2), ends), shape=(n, n))
    L = sp.csr_array(sp.diags_array(np.r_[n - 1.0, np.ones(n - 1)]) - W)
    V, values = np.zeros((n, few)), [arb(1)] * few
    for k in range(few):  # wavelets: equal halves of 2^j leaves, disjoint or nested
        first, half = 1 + 4 * k, 2
        V[first : first + half, k], V[first + half : first + 2 * half, k] = 0.5, -0.5
    V[:, 0], values[0] = 1 / np.sqrt(n), arb(0)
    if top:
        V[:, 0] = np.r_[n - 1.0, -np.ones(n - 1)] / np.sqrt(n * (n - 1.0))
        values[0] = arb(n)
    return Spectrum(L, values, V, f"star {n}")


def tree(levels: int, few: int = 8) -> Spectrum:
    """The balanced binary tree: functions of the level, and those odd in two twin branches."""
    n = 2**levels - 1
    child = np.arange(1, n)
    ends = np.r_[child, (child - 1) // 2], np.r_[(child - 1) // 2, child]
    W = sp.csr_array((np.ones(2 * n - 2), ends), shape=(n, n))
    L = sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)
    found: list[tuple[arb, int, int, Array]] = []
    for depth in range(-1, 5):  # −1: even everywhere; else odd under a node of this depth
        size = levels - depth - 1
        quotient, counts = np.zeros((size, size)), 2.0 ** np.arange(size)
        for k in range(size - 1):
            quotient[k : k + 2, k : k + 2] += counts[k + 1] * np.array([[1, -1], [-1, 1]])
        quotient[0, 0] += depth >= 0  # the node above has the value 0
        known = judge.truth(quotient, counts, bits=BITS)
        nodes = [-1] if depth < 0 else range(2**depth - 1, 2 ** (depth + 1) - 1)
        for value, f in zip(known.values[:few], known.vectors.T, strict=False):
            found += [(value, depth, node, f) for node in nodes]
    found.sort(key=lambda each: float(each[0].mid()))
    columns = [_branches(n, node, f) for _, _, node, f in found[:few]]
    values = [value for value, *_ in found[:few]]
    return Spectrum(L, values, np.column_stack(columns), f"binary tree {n}")


def _branches(n: int, node: int, f: Array) -> Array:
    """f of the level; or +f and −f on the two branches of `node` (numbered as in a heap)."""
    column = np.zeros(n)
    tops = [(1.0, 0)] if node < 0 else [(np.sqrt(0.5), 2 * node + 1), (-np.sqrt(0.5), 2 * node + 2)]
    for factor, top in tops:
        for down, height in enumerate(f):
            first = (top + 1) * 2**down - 1
            column[first : first + 2**down] = factor * height
    return column


def product(left: Spectrum, right: Spectrum, a: float, b: float, few: int = 8) -> Spectrum:
    """aL ⊕ bR: every sum of eigenvalues, every product of eigenvectors."""
    ctx.prec = BITS
    I, J = sp.eye_array(left.n), sp.eye_array(right.n)
    A = sp.csr_array(a * sp.kron(left.A, J) + b * sp.kron(I, right.A))
    sums = [
        (a * x + b * y, i, j) for i, x in enumerate(left.values) for j, y in enumerate(right.values)
    ]
    sums.sort(key=lambda each: float(each[0].mid()))
    if left.values[0] > left.values[-1]:  # taken from the top
        sums.reverse()
    chosen = sums[:few]
    V = np.column_stack([np.kron(left.vectors[:, i], right.vectors[:, j]) for _, i, j in chosen])
    name = f"{a:g}·{left.name} × {b:g}·{right.name}"
    return Spectrum(A, [value for value, _, _ in chosen], V, name)
