"""Whether what a certificate says of a trace problem is true.

The judge knows the problem (`exact_spectrum`), the answer and the attributes of the certificate,
and nothing of how any of them was found: it imports no part of dualfold.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from tests.proofs.exact_spectrum import Truth, Undecided, doubles, exact, on_constraint, truth

__all__ = [
    "CLAIMS",
    "Truth",
    "Undecided",
    "doubles",
    "exact",
    "false_claims",
    "loose_ends",
    "truth",
]

Array = np.ndarray[Any, np.dtype[Any]]
CLAIMS = ("proved", "within", "measured")
# This relative slack is what the judge itself may be off by.
SLACK = 1e-30
MOST_BITS = 1200


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
    return _sharpened(found, _false_claims, answer, count, certificate, tolerance, values)


def loose_ends(found: Truth, V: Any, count: int, certificate: Any) -> list[str]:
    """What a certificate that claims nothing says wrongly all the same.

    A finite bound is a bound at every level; "a better direction was missed" of an optimal answer
    is not true.
    """
    answer = np.asarray(V, dtype=float).reshape(found.A.nrows(), -1)[:, :count]
    return _sharpened(found, _loose_ends, answer, count, certificate)


def _sharpened(found: Truth, judgement: Any, *given: Any) -> list[str]:
    while True:
        try:
            ctx.prec = found.bits
            said: list[str] = judgement(found, *given)
            return said
        except Undecided:
            found = found.sharper()  # ends: `at_most` decides at MOST_BITS


def _loose_ends(found: Truth, V: Array, count: int, certificate: Any) -> list[str]:
    best, loose = found.optimum(count), []
    if math.isfinite(certificate.bound):
        bound = found.sign * arb(float(certificate.bound))
        if not at_most(bound, best, abs(best)):
            loose.append(f"{certificate.level}, with a bound that is none")
    if certificate.complete is False:
        value = found.value(V)
        if value is not None and at_most(value, best + abs(best) * 1e-13, abs(best)):
            loose.append("nothing was missed")
    return loose


def _false_claims(
    found: Truth, V: Array, count: int, certificate: Any, tolerance: float, values: Any
) -> list[str]:
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
    false += _false_residuals(found, V, certificate)
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
    allowed = 1e-9 * abs(value) + 1e-13 * n * rough + 1e-290
    if abs(said - value) > allowed:
        said_, true = float(said.mid()), float(value.mid())
        return [f"the value of the vectors is {true:.12g}, not {said_:.12g}"]
    return []


def _false_residuals(found: Truth, V: Array, certificate: Any) -> list[str]:
    """‖Av − θBv‖ in the B⁻¹ norm is at most what is said, column by column, for ‖v‖ = 1."""
    if not hasattr(certificate, "eigenvectors"):
        return []  # before they were bounds
    for k, said in enumerate(certificate.residuals):
        v = _column(exact(V), k)
        Av, Bv = found.A * v, found.B * v
        square = (v.transpose() * Bv)[0, 0]
        rest = Av - Bv * ((v.transpose() * Av)[0, 0] / square)
        length = (rest.transpose() * found.B.solve(rest))[0, 0] / square
        # Squares below 1e-280 may vanish: a residual is no part of what is claimed.
        if not at_most(length, (arb(float(said)) + 1e-140) ** 2, abs(length)):
            return [f"residual {k + 1} is {float(length.mid()) ** 0.5:.9g}, not {said:.9g}"]
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
