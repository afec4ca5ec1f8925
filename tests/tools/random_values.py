"""Random tables and values, right ones and wrong ones, for `random_calls`."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dualfold import graph


def words(text: str) -> list[str]:
    """A list of words, in less space."""
    return text.split()


METRICS = words(
    "euclidean l2 manhattan cosine chebyshev correlation hamming jaccard precomputed minkowski "
    "haversine mahalanobis seuclidean canberra braycurtis nonsense"
)
SHAPES = words("cloud cloud cloud sheet grid duplicates constant equal line far")
ANYTHING = (None, "text", 3, (), [], {}, True, object(), [[1, 2], [3]], [["a"]], 1j, b"x", np.nan)
POWERS = (-1000, -560, -500, 480, 540, 900)


class Draw:
    """Random values of one call.

    hostile : the chance of a wrong one; n, width : rows and columns of tables
    told : what was drawn, in words; plain_only : whether tables are arrays or CSR
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([seed, 32])
        self.hostile = float(self.rng.choice([0.0, 0.0, 0.05, 0.2]))
        self.n = int(self.rng.choice([0, 1, 2, 3, 4, 6, 12, 30, 30, 60, 60, 60, 60, 110]))
        self.width = int(self.rng.choice([1, 2, 3, 4, 8, 40]))
        self.told: list[str] = []
        self.plain_only = False

    def one_of(self, choices: Any) -> Any:
        """One of some values."""
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return bool(self.rng.random() < p)

    def tell(self, name: str, given: dict[str, Any]) -> None:
        """Remember a call."""
        shown = (f"{key}={' '.join(str(value).split())[:40]}" for key, value in given.items())
        self.told.append(f"{name}({', '.join(shown)})")

    def numbers(self, n: int | None = None, width: int | None = None, units: bool = True) -> Any:
        """A table of doubles: a cloud, a sheet, few values, duplicates, constant columns, units."""
        n, width = self.n if n is None else n, self.width if width is None else width
        X = self.rng.standard_normal((n, width)) * 10.0 ** self.rng.integers(-2, 3)
        kind = self.one_of(SHAPES)
        if kind == "sheet":
            X = X @ np.diag(0.1 ** np.arange(width))
        elif kind == "grid":
            X = np.round(X)
        elif kind == "duplicates" and n:
            X = X[self.rng.integers(max(1, n // 3), size=n)]
        elif kind == "constant":
            X[:, : (width + 1) // 2] = 7.0
        elif kind == "equal":
            X[:] = 1.5
        elif kind == "line":
            X = np.outer(np.arange(n), np.ones(width))
        elif kind == "far":
            X = X + 1e8
        if units and self.chance(0.1):
            X, kind = np.ldexp(X, self.one_of(POWERS)), f"{kind} in units"
        if units and self.chance(self.hostile) and X.size and not self.plain_only:
            X.flat[int(self.rng.integers(X.size))] = self.one_of([np.nan, np.inf, -np.inf, 1e308])
        self.told.append(f"{n}×{width} {kind}")
        return X

    def table(self, n: int | None = None, width: int | None = None) -> Any:
        """The same as an array of some type, a frame, a sparse matrix; or something else."""
        if self.chance(self.hostile / 4) and not self.plain_only:
            self.told.append("anything")
            return self.one_of(ANYTHING)
        X = self.numbers(max(1, self.n) if self.plain_only else n, width)
        kinds = ["float32", "csr", "fortran"] if self.plain_only else list(KINDS)
        kind = self.one_of(["plain"] * (1 + len(kinds) // 3) + kinds)
        self.told.append(kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return X if kind == "plain" else KINDS[kind](X, self)

    def distances(self) -> Any:
        """Square distances, sometimes those of near rows alone."""
        X = self.rng.standard_normal((self.n, 3))
        D = np.linalg.norm(X[:, None] - X[None], axis=2)
        return sp.csr_array(np.where(D < 2.0, D, 0)) if self.chance(0.2) else D

    def graph(self) -> Any:
        """A graph of 12 rows or more, perhaps in pieces."""
        X = self.rng.standard_normal((max(12, self.n), self.width))
        X[: len(X) // 2] += 50 * self.chance(0.2)
        X = X[self.rng.integers(6, size=len(X))] if self.chance(0.1) else X
        return graph.knn(X, int(self.rng.integers(2, 8)))

    def whole(self) -> int:
        """An integer: small ones mostly."""
        return int(self.one_of([1, 1, 2, 2, 3, 5, 10, 0, -1, self.n, self.n - 1, 10**6]))

    def real(self) -> float:
        """A float: between 0 and 10 mostly."""
        if self.chance(self.hostile):
            return float(self.one_of([np.nan, np.inf, -1.0, 1e300, 1e-300]))
        return float(self.one_of([0.0, 1e-6, 0.1, 0.5, 1.0, 2.0, 7.5, self.rng.random()]))

    def seed(self) -> Any:
        """A random state of some kind."""
        wrong = [-1, "text"] if self.chance(self.hostile) else []
        return self.one_of([None, 0, 7, np.int64(3), *wrong])

    def labels(self) -> Any:
        """A class for each row, in some type."""
        if self.chance(self.hostile):
            return self.one_of(ANYTHING)
        codes = self.rng.integers(self.one_of([1, 2, 3, 60]), size=self.n)
        return self.one_of([codes, codes.astype(str), list(codes), codes / 2, codes > 0])


def _frame(X: Any, draw: Draw) -> Any:
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    if draw.chance(0.3) and len(X):
        frame["word"] = [draw.one_of(["a", "b", None]) for _ in range(len(X))]
    return frame


def _integers(X: Any, draw: Draw) -> Any:
    kind = draw.one_of(["int8", "int64", "uint8", "int32", "bool"])
    return np.clip(np.nan_to_num(X), -100, 100).astype(kind)


def _sparse(X: Any) -> Any:
    return np.where(np.abs(X) > 0.5, X, 0)


KINDS: dict[str, Any] = {
    "float32": lambda X, draw: X.astype(np.float32),
    "float16": lambda X, draw: X.astype(np.float16),
    "integers": _integers,
    "frame": _frame,
    "csr": lambda X, draw: sp.csr_array(_sparse(X)),
    "csr32": lambda X, draw: sp.csr_matrix(_sparse(X).astype(np.float32)),
    "csc": lambda X, draw: sp.csc_matrix(X),
    "coo": lambda X, draw: sp.coo_array(_sparse(X)),
    "list": lambda X, draw: X.tolist(),
    "fortran": lambda X, draw: np.asfortranarray(X),
    "strided": lambda X, draw: X[::-1],
    "masked": lambda X, draw: np.ma.masked_array(X, np.abs(X) > 2),
    "objects": lambda X, draw: X.astype(object),
    "longdouble": lambda X, draw: X.astype(np.longdouble),
    "flat": lambda X, draw: X.ravel(),
    "cube": lambda X, draw: X[:, :, None],
}


def parameter_value(draw: Draw, name: str, kinds: Any) -> Any:
    """A value for a parameter of an estimator, from scikit-learn's constraints."""
    if draw.chance(draw.hostile / 6):
        return draw.one_of(ANYTHING)
    if name == "graph":
        return draw.graph() if draw.chance(0.7) else draw.distances()
    if name == "metric":
        return draw.one_of([*METRICS, lambda a, b: float(np.abs(a - b).sum())])
    kind: Any = draw.one_of(kinds)
    if kind is None or kind == "random_state":
        return None if kind is None else draw.seed()
    if hasattr(kind, "options"):
        return "other" if draw.chance(draw.hostile / 4) else draw.one_of(sorted(kind.options))
    if hasattr(kind, "closed"):
        return interval_value(draw, name, kind)
    if kind in ("boolean", "verbose"):
        return draw.chance(0.5)
    if kind is Integral:
        return draw.one_of([-2, -1, 1, 2, 3, 10**6, 0])
    if kind in (str, dict, list, tuple):
        return kind()
    if "callable" in str(kind):
        return lambda *given, **more: None
    return draw.numbers(draw.n, 2) if draw.chance(0.7) else draw.rng.integers(0, 4, size=2)


def interval_value(draw: Draw, name: str, kind: Any) -> Any:
    low = 0.0 if kind.left is None else float(kind.left)
    high = low + 12 if kind.right is None else min(float(kind.right), low + 12)
    outside = draw.chance(draw.hostile / 2)
    if kind.type is Integral:
        least = int(low) + (kind.closed in ("right", "neither"))
        most = least + (30 if name in ("max_iter", "gradient_rounds") else 8)
        return least - 1 if outside else int(draw.rng.integers(least, most + 1))
    if outside:
        return draw.one_of([low - 0.1, high + 1.0, float("nan"), float("inf")])
    inner = low + (high - low) * draw.rng.random()
    edges = [1e100] * (kind.right is None) + [low] * (kind.closed in ("both", "left"))
    return draw.one_of([inner, inner, low + 1e-3, *edges])
