"""The exact spectrum of a trace problem, in balls (python-flint). Small, slow, independent.

The problem is taken exactly as its floating-point numbers state it, A and B by their symmetric
parts, A = MᵀM by exact products. With E = {v : NᵀBv = 0}:

    optimum(d) = the d best eigenvalues of (A, B) on E, added up
    value(V)   = tr((VᵀBV)⁻¹VᵀAV) after V was projected onto E, B-orthogonally

Both are enclosed, so a verdict that rests on them is itself a proof. Let W be any matrix of
m = dim E columns in E, T = WᵀAW, G = WᵀBW, f = ‖G − I‖ < 1. Then W spans E, and the k-th
eigenvalue of the pencil is that of T times a number in [1/(1+f), 1/(1−f)] (Ostrowski); the k-th
one of T is within ‖T − diag T‖ of its k-th diagonal entry (Weyl). The columns of W are
approximate eigenvectors; where they come from does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import acb_mat, arb, arb_mat, ctx, fmpq, fmpq_mat

Array = np.ndarray[Any, np.dtype[Any]]


class Undecided(Exception):
    """No precision that was tried decides; says nothing about the certificate."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact spectrum of sign·A on E, best first, in balls of `bits` bits."""

    A: arb_mat  # sign·A
    B: arb_mat
    N: arb_mat | None
    sign: int
    values: list[arb]
    basis: arb_mat  # n×m, approximate B-orthonormal eigenvectors in the order of `values`
    bits: int
    given: tuple[Any, ...]  # to be asked again at a higher precision

    @property
    def vectors(self) -> Array:
        """The eigenvectors, rounded to doubles."""
        return doubles(self.basis)

    @property
    def spectrum(self) -> Array:
        """The eigenvalues of sign·A, ascending, rounded to doubles."""
        return np.array([float(value.mid()) for value in self.values])

    def sharper(self) -> Truth:
        """The same at twice the precision."""
        return truth(*self.given, bits=2 * self.bits)

    def optimum(self, count: int) -> arb:
        """The least that sign·tr(VᵀAV) can be."""
        return sum(self.values[:count], arb(0))

    def value(self, V: Array) -> arb | None:
        """sign·tr of the Ritz values of the span of V on E; None where V has too low a rank."""
        ctx.prec = self.bits
        inside = on_constraint(exact(V), self.B, self.N)
        try:
            ritz = (inside.transpose() * self.B * inside).solve(
                inside.transpose() * self.A * inside
            )
        except ZeroDivisionError:
            return None
        return ritz.trace()

    def quotients(self, V: Array) -> list[float]:
        """sign·(Rayleigh quotient) of each column of V on E."""
        singles = (self.value(V[:, [k]]) for k in range(V.shape[1]))
        return [math.nan if q is None else float(q.mid()) for q in singles]


def truth(
    A: Any, B: Any = None, N: Any = None, sense: str = "min", gramian: bool = False, bits: int = 300
) -> Truth:
    """The spectrum of the problem; with `gramian` A stands for AᵀA, from exact products.

    >>> found = truth(np.diag([3.0, 1.0, 2.0]))
    >>> [float(value.mid()) for value in found.values]
    [1.0, 2.0, 3.0]
    """
    ctx.prec = bits
    given = (A, B, N, sense, gramian)
    sign = 1 if sense == "min" else -1
    matrix = exact(A)
    n = matrix.ncols()
    S = matrix.transpose() * matrix if gramian else symmetric(matrix)
    S = S * sign
    metric = _metric(B, n)
    excluded = None if N is None else _independent(np.asarray(N, dtype=float).reshape(n, -1))
    for precision, shaken in ((bits, False), (bits, True), (2 * bits, True), (4 * bits, True)):
        ctx.prec = precision
        try:
            rough = _approximate_eigenvectors(S, metric, excluded, shaken)
            values, basis = _enclosed(S, metric, excluded, rough)
        except (ZeroDivisionError, ValueError):
            continue
        return Truth(S, metric, excluded, sign, values, basis, precision, given)
    raise Undecided("the spectrum could not be enclosed: is B positive definite, N independent?")


def _enclosed(
    A: arb_mat, B: arb_mat, N: arb_mat | None, rough: arb_mat
) -> tuple[list[arb], arb_mat]:
    """The eigenvalues in balls, ascending (module docstring)."""
    W = on_constraint(rough, B, N)
    T, G = W.transpose() * A * W, W.transpose() * B * W
    m = W.ncols()
    f = _frobenius([G[i, j] - (i == j) for i in range(m) for j in range(m)])
    off = _frobenius([T[i, j] for i in range(m) for j in range(m) if i != j])
    if not f < arb(1) / 2:
        raise ValueError("the basis is not orthonormal enough")
    order = sorted(range(m), key=lambda i: T[i, i].mid())
    wobble, stretch = arb(0, off.upper()), 1 + arb(0, (2 * f).upper())
    values = [(T[i, i] + wobble) * stretch for i in order]
    return values, arb_mat([[rough[i, j] for j in order] for i in range(W.nrows())])


def _approximate_eigenvectors(A: arb_mat, B: arb_mat, N: arb_mat | None, shaken: bool) -> arb_mat:
    """B-orthonormal columns, nearly eigenvectors on E; exact numbers, nothing is promised."""
    lower = cholesky(B)
    up = lower.inv().transpose().mid()
    C = symmetric(up.transpose() * A * up).mid()
    n, p = C.nrows(), 0
    if N is not None:  # the trivial directions are sent to the far end of the spectrum
        p = N.ncols()
        Y = lower.transpose() * N
        P = Y * (Y.transpose() * Y).solve(Y.transpose())
        rest = identity(n) - P
        far = 4 * _frobenius(C.entries()) + (0 if any(x != 0 for x in C.entries()) else 1)
        C = symmetric(rest * C * rest + P * far.mid()).mid()
    size = max((abs(x) for x in C.entries()), default=arb(0)).mid()
    C = C * (1 / size) if size > 0 else identity(n)
    if shaken:  # repeated eigenvalues, which the routine below can stumble over, fall apart
        noise = np.random.default_rng(0).standard_normal((n, n)) * 2.0 ** (-3 * ctx.prec // 4)
        C = C + symmetric(exact(noise))
    values, X = acb_mat(C).eig(algorithm="approx", right=True)
    order = sorted(range(n), key=lambda k: values[k].real.mid())[: n - p]
    chosen = arb_mat([[X[i, k].real.mid() for k in order] for i in range(n)])
    for _ in range(2):  # vectors of a repeated eigenvalue come in any basis
        root = cholesky(chosen.transpose() * chosen)
        chosen = (chosen * root.inv().transpose()).mid()
    return (up * chosen).mid()


def on_constraint(V: arb_mat, B: arb_mat, N: arb_mat | None) -> arb_mat:
    """V less its B-orthogonal components along N."""
    if N is None:
        return V
    BN = B * N
    return V - N * (N.transpose() * BN).solve(BN.transpose() * V)


def cholesky(B: arb_mat) -> arb_mat:
    """L of B = LLᵀ; ZeroDivisionError where B is not shown to be positive definite."""
    n = B.nrows()
    L = [[arb(0)] * n for _ in range(n)]
    for j in range(n):
        pivot = B[j, j] - sum((x * x for x in L[j][:j] if x != 0), arb(0))
        if not pivot > 0:
            raise ZeroDivisionError("not positive definite")
        L[j][j] = pivot.sqrt()
        for i in range(j + 1, n):
            left = B[i, j] - sum((a * b for a, b in zip(L[i][:j], L[j][:j], strict=True)), arb(0))
            L[i][j] = left / L[j][j]
    return arb_mat(L)


def exact(A: Any) -> arb_mat:
    """A matrix of floats or integers, digit for digit."""
    if isinstance(A, arb_mat):
        return A
    if sp.issparse(A):
        A = A.toarray()
    rows = np.asarray(A)
    rows = rows.astype(object) if rows.dtype.kind in "iub" else rows.astype(float)
    return arb_mat(rows.reshape(len(rows), -1).tolist())


def symmetric(A: arb_mat) -> arb_mat:
    return (A + A.transpose()) * (arb(1) / 2)


def identity(n: int) -> arb_mat:
    return arb_mat([[int(i == j) for j in range(n)] for i in range(n)])


def doubles(A: arb_mat) -> Array:
    """The nearest doubles."""
    rows = [[float(A[i, j].mid()) for j in range(A.ncols())] for i in range(A.nrows())]
    return np.array(rows).reshape(A.nrows(), A.ncols())


def _metric(B: Any, n: int) -> arb_mat:
    if B is None:
        return identity(n)
    if not sp.issparse(B) and np.ndim(B) == 1:
        entries = [arb(float(b)) for b in B]
        return arb_mat([[entries[i] if i == j else 0 for j in range(n)] for i in range(n)])
    return symmetric(exact(B))


def _independent(N: Array) -> arb_mat | None:
    """Columns of N that span all of them, by exact fractions; None where N is 0."""
    if N.shape[1] == 1 and N.any():
        return exact(N)
    rows = [[fmpq(*float(x).as_integer_ratio()) for x in column] for column in N.T]
    kept: list[int] = []
    for k in range(len(rows)):
        if fmpq_mat([rows[i] for i in [*kept, k]]).rank() > len(kept):
            kept.append(k)
    return exact(N[:, kept]) if kept else None


def _frobenius(entries: list[arb]) -> arb:
    """At least the root of the sum of squares (a ball that holds 0 has no root)."""
    return sum((x.abs_upper() ** 2 for x in entries), arb(0)).sqrt().abs_upper()
