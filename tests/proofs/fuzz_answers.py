"""Answers to a trace problem whose spectrum is known: right ones, and ones made to deceive.

An answer is written in the eigenbasis W of the problem: V = WK with K orthonormal, so that its
value is known whatever the metric. `is_right` says that V spans the best directions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tests.proofs.fuzz_case import Case

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class Known:
    """What an answer is made from."""

    W: Array  # n×m eigenvectors, best first
    values: Array  # of sign·A, ascending
    count: int
    tolerance: float
    N: Array | None
    sign: int
    case: Case

    @property
    def m(self) -> int:
        return self.W.shape[1]

    @property
    def optimum(self) -> float:
        return float(self.values[: self.count].sum())


@dataclass(frozen=True, eq=False)
class Proposed:
    V: Array
    values: Array | None = None
    is_right: bool = False


ANSWERS: dict[str, Callable[[Random, Known], Proposed]] = {}


def answer(name: str) -> Callable[[Any], Any]:
    def enter(make: Any) -> Any:
        ANSWERS[name] = make
        return make

    return enter


def spanned(known: Known, K: Array, **more: Any) -> Proposed:
    return Proposed(known.W @ K, **more)


def unit(known: Known, picks: Any) -> Array:
    return np.eye(known.m)[:, picks]


def guards(rng: Random, known: Known) -> int:
    """How many columns behind the answer, 0 to all."""
    return int(rng.integers(0, known.m - known.count + 1))


@answer("right")
def _(rng: Random, known: Known) -> Proposed:
    return spanned(known, unit(known, range(known.count)), is_right=True)


@answer("right, with a guard")
def _(rng: Random, known: Known) -> Proposed:
    few = min(known.m, known.count + 1)
    return spanned(known, unit(known, range(few)), is_right=True)


@answer("right, with guards")
def _(rng: Random, known: Known) -> Proposed:
    few = known.count + guards(rng, known)
    return spanned(known, unit(known, range(few)), is_right=True)


@answer("right, with values")
def _(rng: Random, known: Known) -> Proposed:
    values = known.sign * known.values[: known.count]
    return spanned(known, unit(known, range(known.count)), values=values, is_right=True)


@answer("flipped and permuted")
def _(rng: Random, known: Known) -> Proposed:
    K = unit(known, rng.permutation(known.count)) * rng.choice([-1, 1], known.count)
    return spanned(known, K, is_right=True)


@answer("by LAPACK")
def _(rng: Random, known: Known) -> Proposed:
    """What a user has: eigenvectors in double precision, of one triangle where A has two."""
    case = known.case
    n, A = case.n, np.asarray(case.A, dtype=float)
    B = np.eye(n) if case.B is None else case.B.toarray() if sp.issparse(case.B) else case.B
    B = np.diag(B) if B.ndim == 1 else B
    few = known.count + guards(rng, known)
    Z = np.eye(n) if case.N is None else scipy.linalg.null_space((B @ case.N).T)
    try:
        if case.kind == "gramian" and case.B is None:
            V = Z @ scipy.linalg.svd(A @ Z)[2].T[:, :: -known.sign]
        else:
            A = A.T @ A if case.kind == "gramian" else A
            V = Z @ scipy.linalg.eigh(Z.T @ A @ Z, Z.T @ B @ Z)[1][:, :: known.sign]
    except (np.linalg.LinAlgError, ValueError):
        V = known.W
    return Proposed(V[:, :few], is_right=True)


@answer("turned within the span")
def _(rng: Random, known: Known) -> Proposed:
    Q = np.linalg.qr(rng.standard_normal((known.count, known.count)))[0]
    K = unit(known, range(known.count + guards(rng, known)))
    K[: known.count, : known.count] = Q
    return spanned(known, K, is_right=True)


@answer("guards of nonsense")
def _(rng: Random, known: Known) -> Proposed:
    """The right answer; what follows may be anything."""
    V = known.W[:, : known.count]
    n, kind = len(V), int(rng.integers(8))
    few = int(rng.integers(1, 4))
    if kind == 0 and known.N is not None:
        more = known.N * 10.0 ** rng.uniform(-3, 12)
    elif kind == 1:
        more = np.zeros((n, few))
    elif kind == 2:
        more = V[:, :1] * 10.0 ** rng.uniform(-12, 12)
    elif kind == 3:
        more = known.W[:, -few:]
    elif kind == 4:
        more = known.W @ rng.standard_normal((known.m, few)) * 10.0 ** rng.uniform(-200, 200)
    elif kind == 5:
        more = np.full((n, few), rng.choice([np.nan, np.inf]))
    elif kind == 6:
        more = nearly_the_answer(rng, known, V, few)
    else:
        more = rng.standard_normal((n, few))
    return Proposed(np.hstack([V, more]), is_right=True)


def nearly_the_answer(rng: Random, known: Known, V: Array, few: int) -> Array:
    """Guards of which rounding is left once the answer is taken out of them."""
    other = known.W @ rng.standard_normal((known.m, few))
    columns = V[:, rng.integers(V.shape[1], size=few)]
    return np.asarray(columns + 10.0 ** rng.uniform(-12, -4) * other)


@answer("in single precision")
def _(rng: Random, known: Known) -> Proposed:
    V = known.W[:, : known.count + guards(rng, known)]
    return Proposed(V.astype(np.float32))


@answer("scaled columns")
def _(rng: Random, known: Known) -> Proposed:
    V = known.W[:, : known.count] * 10.0 ** rng.uniform(-9, 1, known.count)
    return Proposed(V * rng.choice([1.0, 1 + 1e-7]))


@answer("last replaced by the next")
def _(rng: Random, known: Known) -> Proposed:
    picks = [*range(known.count - 1), min(known.count, known.m - 1)]
    rest = [known.count - 1, *range(known.count + 1, known.m)] if rng.random() < 0.5 else []
    return spanned(known, unit(known, [*picks, *rest[: guards(rng, known)]]))


@answer("one replaced by any other")
def _(rng: Random, known: Known) -> Proposed:
    picks = rng.permutation(known.m)[: known.count + guards(rng, known)]
    if rng.random() < 0.5 and known.m > known.count:
        picks = np.delete(np.arange(known.m), rng.integers(known.count))
        picks = picks[: known.count + guards(rng, known)]
    return spanned(known, unit(known, picks))


def tilted(rng: Random, known: Known, square: float, i: int, j: int) -> Proposed:
    """Direction i turned towards j by an angle of which this is sin²; the rest as guards."""
    K = np.eye(known.m)
    s, c = np.sqrt(np.clip(square, 0, 1)), np.sqrt(1 - np.clip(square, 0, 1))
    K[[i, j], i], K[[i, j], j] = [c, s], [-s, c]
    few = known.count + guards(rng, known)
    columns = list(range(known.m))
    if j < known.m and rng.random() < 0.5:  # the complement of the tilt is not shown
        columns.remove(j)
    V = known.W @ K[:, columns[: max(few, known.count)]]
    if rng.random() < 0.15:
        V = np.hstack([V[:, : known.count], nearly_the_answer(rng, known, V, 1 + few)])
    return Proposed(V)


def pair(rng: Random, known: Known) -> tuple[int, int]:
    if known.m == known.count:
        return 0, known.m - 1
    i = int(rng.integers(known.count)) if rng.random() < 0.5 else known.count - 1
    far = int(rng.integers(known.count, known.m))
    return i, known.count if rng.random() < 0.5 else far


@answer("just around the tolerance")
def _(rng: Random, known: Known) -> Proposed:
    i, j = pair(rng, known)
    rise = known.values[j] - known.values[i]
    factor = float(rng.choice([0.5, 0.9, 0.99, 1 - 1e-6, 1 + 1e-9, 1.01, 1.1, 2, 4]))
    wanted = factor * known.tolerance * abs(known.optimum)
    return tilted(rng, known, wanted / rise if rise > 0 else 1.0, i, j)


@answer("tilted by any angle")
def _(rng: Random, known: Known) -> Proposed:
    i, j = pair(rng, known)
    return tilted(rng, known, np.sin(10.0 ** rng.uniform(-8.5, 0.2)) ** 2, i, j)


@answer("mostly the next direction")
def _(rng: Random, known: Known) -> Proposed:
    """A little of the right one: residuals look small against a value that is too large."""
    i, j = pair(rng, known)
    return tilted(rng, known, 1 - 10.0 ** rng.uniform(-9, -0.3), i, j)


@answer("noise of any size")
def _(rng: Random, known: Known) -> Proposed:
    few = known.count + guards(rng, known)
    K = unit(known, range(few)) + 10.0 ** rng.uniform(-17, 0.5) * rng.standard_normal(
        (known.m, few)
    )
    return spanned(known, np.linalg.qr(K)[0])


@answer("noise in the last direction")
def _(rng: Random, known: Known) -> Proposed:
    few = known.count + guards(rng, known)
    K = unit(known, range(few))
    K[:, known.count - 1 :] += 10.0 ** rng.uniform(-12, 0) * rng.standard_normal(
        (known.m, few - known.count + 1)
    )
    return spanned(known, np.linalg.qr(K)[0])


@answer("not orthonormal")
def _(rng: Random, known: Known) -> Proposed:
    K = unit(known, range(known.count + guards(rng, known)))
    K = K + 10.0 ** rng.uniform(-12, -1) * rng.standard_normal(K.shape)
    return spanned(known, K)


@answer("some of the excluded directions")
def _(rng: Random, known: Known) -> Proposed:
    V = known.W[:, : known.count + guards(rng, known)].copy()
    foreign = rng.standard_normal((len(V), 1)) if known.N is None else known.N[:, -1:]
    foreign = foreign / np.linalg.norm(foreign) * np.linalg.norm(V[:, 0])
    if rng.random() < 0.2:
        V[:, :1] = foreign
    else:
        V[:, :1] += 10.0 ** rng.uniform(-12, 0) * foreign
    return Proposed(V)


@answer("one column twice")
def _(rng: Random, known: Known) -> Proposed:
    K = unit(known, range(known.count + guards(rng, known)))
    K[:, known.count - 1] = K[:, 0] + 10.0 ** rng.uniform(-17, 0) * rng.standard_normal(known.m)
    return spanned(known, K / np.linalg.norm(K, axis=0))


@answer("wrong values")
def _(rng: Random, known: Known) -> Proposed:
    values = known.sign * known.values[: known.count]
    if known.count > 1 and rng.random() < 0.5:
        values = values[::-1].copy()
    else:
        values = values * (1 + 10.0 ** rng.uniform(-4, 1) * rng.standard_normal(known.count))
    return spanned(known, unit(known, range(known.count)), values=values)


@answer("any orthonormal columns")
def _(rng: Random, known: Known) -> Proposed:
    few = known.count + guards(rng, known)
    return spanned(known, np.linalg.qr(rng.standard_normal((known.m, few)))[0])
