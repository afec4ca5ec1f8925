"""A small trace problem as plain arrays, and the pieces that families of them are made of."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class Case:
    """A trace problem as numbers. With kind "gramian" A is the factor M of MᵀM."""

    A: Array
    kind: str = "dense"  # dense, sparse, operator or gramian
    B: Any = None
    N: Array | None = None
    count: int = 1
    sense: str = "min"

    @property
    def n(self) -> int:
        return int(self.A.shape[1])

    def matrix(self) -> Any:
        """A in the shape that `kind` names."""
        from dualfold.trace import Gramian

        if self.kind == "gramian":
            return Gramian(sp.csr_array(self.A))
        if self.kind == "operator":
            return aslinearoperator(self.A)
        return _some_sparse_form(self.A) if self.kind == "sparse" else self.A

    def problem(self) -> Any:
        from dualfold.trace import TraceProblem

        return TraceProblem(self.matrix(), self.B, self.count, self.sense, self.N)  # type: ignore[arg-type]


def _some_sparse_form(A: Array) -> Any:
    """Rows, columns, or entries of which some come in two halves: all of them the same matrix."""
    form = zlib.crc32(A.tobytes()) % 6
    if form == 0:
        return sp.csc_array(A)
    if form == 1 and A.dtype == float:
        i, j = np.nonzero(A)
        halves = np.r_[A[i, j] / 2, A[i, j] / 2]
        if (2 * (A[i, j] / 2) == A[i, j]).all():
            return sp.coo_array((halves, (np.r_[i, i], np.r_[j, j])), shape=A.shape)
    return sp.csr_array(A)


FAMILIES: dict[str, Callable[[Random], Case]] = {}


def family(name: str) -> Callable[[Callable[[Random], Case]], Callable[[Random], Case]]:
    def enter(draw: Callable[[Random], Case]) -> Callable[[Random], Case]:
        FAMILIES[name] = draw
        return draw

    return enter


def draw(name: str, rng: Random) -> Case:
    """A case of the family; number of directions and, unless it is set, sense at random."""
    case = FAMILIES[name](rng)
    trivial = 0 if case.N is None else int(np.linalg.matrix_rank(case.N, tol=0))
    count = int(rng.integers(1, max(2, min(4, case.n - trivial) + 1)))
    sense = "max" if case.sense == "max" or rng.random() < 0.2 else "min"
    return replace(case, count=count, sense=sense)


# ---- pieces


def size(rng: Random, least: int = 2) -> int:
    """Small, for the judge is slow; one in a hundred is larger."""
    return int(rng.integers(15, 31) if rng.random() < 0.01 else rng.integers(least, 15))


def orthogonal(rng: Random, n: int) -> Array:
    return np.asarray(np.linalg.qr(rng.standard_normal((n, n)))[0])


def with_spectrum(rng: Random, values: Array) -> Array:
    """Symmetric, with nearly these eigenvalues; a third of them stays diagonal."""
    if rng.random() < 0.3:
        return np.diag(rng.permutation(values))
    Q = orthogonal(rng, len(values))
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


def powers(rng: Random, low: float, high: float, n: Any = None) -> Any:
    return 10.0 ** rng.uniform(low, high, n)


def some_kind(rng: Random) -> str:
    return str(rng.choice(["dense", "sparse"]))


def graph(rng: Random, n: int, width: float) -> Array:
    """The weights of a random connected graph, 10^±width."""
    W = np.zeros((n, n))
    for i in range(1, n):
        j = int(rng.integers(i)) if rng.random() < 0.5 else i - 1
        W[i, j] = powers(rng, -width, width)
    extra = np.tril(rng.random((n, n)) < rng.choice([0.0, 0.2, 0.8]), -1)
    W = np.where(extra & (W == 0), powers(rng, -width, width, (n, n)), W)
    return W + W.T


def laplacian(W: Array) -> Array:
    return np.asarray(np.diag(W.sum(axis=1)) - W)


def some_width(rng: Random) -> float:
    return float(rng.choice([0.0, 1.0, 4.0, 8.0]))
