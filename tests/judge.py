"""Whether what a certificate says of a trace problem is true. Small, slow, independent.

The judge takes the problem exactly as its floating-point numbers state it and knows nothing
of solvers, bounds or certificates but the attributes of the one it judges. With S the
symmetric part of A (or MᵀM) and of B, and E = {v : NᵀBv = 0}:

    optimum(d) = the d best eigenvalues of (A, B) on E, added up
    value(V)   = tr((VᵀBV)⁻¹VᵀAV) after V was projected onto E, B-orthogonally

Both are enclosed in balls (python-flint), so a verdict is itself a proof. Let W be any matrix
of m = dim E columns in E, T = WᵀAW, G = WᵀBW, f = ‖G − I‖ < 1. Then W spans E, and the
k-th eigenvalue of the pencil is that of T times a number in [1/(1+f), 1/(1−f)] (Ostrowski);
the k-th one of T is within ‖T − diag T‖ of its k-th diagonal entry (Weyl). The columns of W
are approximate eigenvectors; where they come from does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import acb_mat, arb, arb_mat, ctx

Array = np.ndarray[Any, np.dtype[Any]]
CLAIMS = ("proved", "within", "measured")
# This relative slack is what the judge itself may be off by.
SLACK = 1e-30
MOST_BITS = 1200


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
    excluded = None if N is None else exact(np.asarray(N, dtype=float).reshape(n, -1))
    if excluded is not None and excluded.ncols() == 0:
        excluded = None
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


def _frobenius(entries: list[arb]) -> arb:
    """At least the root of the sum of squares (a ball that holds 0 has no root)."""
    return sum((x.abs_upper() ** 2 for x in entries), arb(0)).sqrt().abs_upper()


# ---- what is claimed


def false_claims(
    found: Truth, V: Any, count: int, certificate: Any, tolerance: float, values: Any = None
) -> list[str]:
    """The sentences of `certificate` about the answer V that are not true; empty: all are.

    >>> from types import SimpleNamespace as Claim
    >>> found, V = truth(np.diag([1.0, 2.0, 3.0])), np.eye(3)
    >>> says = Claim(level="proved", gap=0.0, value=1.0, bound=1.0, complete=True, eigengap=1.0)
    >>> false_claims(found, V[:, :1], 1, says, 1e-4)
    []
    >>> false_claims(found, V[:, 1:2], 1, says, 1e-4)[0]
    'the value is 1 from the optimum (relative), not 0'
    """
    if certificate.level not in CLAIMS:
        return []
    answer = np.asarray(V, dtype=float).reshape(found.A.nrows(), -1)[:, :count]
    while True:
        try:
            return _false_claims(found, answer, count, certificate, tolerance, values)
        except Undecided:
            found = found.sharper()  # ends: `at_most` decides at MOST_BITS


def _false_claims(
    found: Truth, V: Array, count: int, certificate: Any, tolerance: float, values: Any
) -> list[str]:
    ctx.prec = found.bits
    value, best = found.value(V), found.optimum(count)
    numbers = (certificate.gap, certificate.value, certificate.bound)
    if not all(math.isfinite(number) for number in numbers):
        return [f"{certificate.level} with gap, value, bound {numbers}"]
    if value is None or not value.is_finite():
        return [f"{certificate.level}, but the vectors do not span {count} directions"]
    size, false = abs(best), []
    over, gap = value - best, arb(float(certificate.gap))
    away = float((over / size).mid()) if size > 0 else math.inf
    if not at_most(over, gap * size, size):
        false.append(f"the value is {away:.3g} from the optimum (relative), not {float(gap):.3g}")
    bound = found.sign * arb(float(certificate.bound))
    if not at_most(bound, best, size):
        excess = float(((bound - best) / size).mid()) if size > 0 else math.inf
        false.append(f"the bound is beyond the optimum by {excess:.3g} (relative)")
    if certificate.level == "proved" and not certificate.gap <= tolerance:
        false.append(f"proved with a gap of {certificate.gap:.3g} > {tolerance:g}")
    limit = max(float(certificate.gap), tolerance)
    if certificate.complete is True and not at_most(over, arb(limit) * size, size):
        false.append(f"complete, but {away:.3g} from the optimum (relative)")
    false += _false_eigengap(found, count, certificate)
    false += _false_value(found, V, value, certificate)
    return false + _false_values(found, V, values)


def at_most(left: arb, right: arb, size: arb) -> bool:
    """left ≤ right, up to SLACK of `size`; Undecided where more bits are needed to tell."""
    room = right - left + SLACK * size
    if room >= 0:
        return True
    if room < 0:
        return False
    if ctx.prec >= MOST_BITS:  # exact zeros: no precision separates 0 from 0
        return True
    raise Undecided("the ball holds 0")


def _false_eigengap(found: Truth, count: int, certificate: Any) -> list[str]:
    claimed = certificate.eigengap
    if claimed is None or count >= len(found.values):
        return []
    gap = found.values[count] - found.values[count - 1]
    size = abs(found.values[count]) + abs(found.values[count - 1])
    if at_most(arb(float(claimed)), gap, size):
        return []
    return [f"the eigengap is {float(gap.mid()):.3g}, not {claimed:.3g} or more"]


def _false_value(found: Truth, V: Array, value: arb, certificate: Any) -> list[str]:
    """`value` is that of the vectors, up to 1e-9 or the rounding of |v|ᵀ|A||v| / vᵀBv."""
    said = found.sign * arb(float(certificate.value))
    inside = on_constraint(exact(V), found.B, found.N)
    n, rough = V.shape[0], arb(0)
    for k in range(V.shape[1]):
        v = [abs(inside[i, k]) for i in range(n)]
        length = (_column(inside, k).transpose() * found.B * _column(inside, k))[0, 0]
        quotient = abs(value)
        for i in range(n):
            rough += sum(
                (v[i] * v[j] * (abs(found.A[i, j]) + quotient * abs(found.B[i, j]))
                 for j in range(n)), arb(0)) / length  # fmt: skip
    allowed = 1e-9 * abs(value) + 1e-13 * n * rough
    if abs(said - value) > allowed:
        said_, true = float(said.mid()), float(value.mid())
        return [f"the value of the vectors is {true:.12g}, not {said_:.12g}"]
    return []


def _column(A: arb_mat, k: int) -> arb_mat:
    return arb_mat([[A[i, k]] for i in range(A.nrows())])


def _false_values(found: Truth, V: Array, values: Any) -> list[str]:
    """Given `values` that a claim accepted must be near the columns' Rayleigh quotients."""
    if values is None:
        return []
    right = np.array(found.quotients(V))
    off = np.abs(found.sign * np.asarray(values, dtype=float) - right)
    scale = float(np.abs(found.spectrum).max())
    wrong = (off > 1e-2 * np.abs(right)) & (off > 1e-9 * scale)
    return [f"accepted values that are off by {off[wrong].max():.3g}"] if wrong.any() else []
