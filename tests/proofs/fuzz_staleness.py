"""Random maps that grow, judged: is what is said of their staleness true?

    python -m tests.proofs.fuzz_staleness --count 1000 --seed 0

The seed is that of the environment (DUALFOLD_FUZZ_SEED) where none is given. The judge solves the
problem of all rows as a dense eigenproblem, and computes the gap or the angles from it.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.linalg
import scipy.sparse as sp

import dualfold
from dualfold.errors import DualfoldError
from tests.proofs.door import by_rows

KINDS = ("normal", "clusters", "ties", "copies", "grid", "apart", "float32", "offset", "huge",
         "tiny", "circle", "heavy", "thin", "bridge", "square", "born", "counts")  # fmt: skip
METHODS = ("eigenmaps", "eigenmaps", "diffusion", "lle", "lle", "isomap", "mds", "pca", "kernel",
           "lpp", "npp", "svd", "famd", "correspondence")  # fmt: skip


def rows_of(kind: str, random: Any) -> Any:
    """A small table of one kind."""
    n, columns = int(random.integers(14, 61)), int(random.integers(2, 6))
    X = random.normal(size=(n, columns))
    turn = 2 * np.pi * np.arange(n) / n
    made = {
        "clusters": lambda: X + 3.0 * (np.arange(n) % 3)[:, None],
        "ties": lambda: np.round(X),
        "copies": lambda: np.where((np.arange(n) % 3 == 0)[:, None], X[:1], X),
        "grid": lambda: random.permutation(
            np.stack([np.arange(n) % 5, np.arange(n) // 5], 1) + 0.0
        ),
        "apart": lambda: X + 50.0 * (np.arange(n) % 2)[:, None],
        "float32": lambda: X.astype(np.float32),
        "offset": lambda: X + 10.0 ** random.integers(2, 8),
        "huge": lambda: X * 10.0 ** random.integers(3, 100),
        "tiny": lambda: X * 10.0 ** -float(random.integers(3, 100)),
        "circle": lambda: random.permutation(np.stack([np.cos(turn), np.sin(turn)], 1)),
        "heavy": lambda: random.standard_t(1.5, size=(n, columns)),
        "thin": lambda: X * 10.0 ** -np.arange(0.0, 2 * columns, 2),
        # Two groups that one row joins; eigenvalues that differ by little; a group at the end.
        "bridge": lambda: X / 4 + np.clip(np.arange(n) - n // 2, -1, 1)[:, None] * 3.0,
        "square": lambda: random.permutation(
            np.stack([np.arange(n) % 7, np.arange(n) // 7], 1)
            * [1, 1 + 10.0 ** -random.integers(1, 12)]
        ),
        "born": lambda: X + 20.0 * (np.arange(n) > 0.85 * n)[:, None] * np.eye(columns)[0],
        "counts": lambda: random.poisson(0.7, size=(n, columns)).astype(float),
    }
    return made[kind]() if kind in made else X


def estimator_of(method: str, random: Any) -> Any:
    """An estimator with random parameters."""
    k, d = int(random.integers(3, 9)), int(random.integers(1, 4))

    def one(*words: Any) -> Any:
        return words[int(random.integers(len(words)))]

    near = {"n_components": d, "n_neighbors": k}
    if random.random() < 0.2:
        near["neighborhood"] = "variable"
    made = {
        "eigenmaps": lambda: dualfold.LaplacianEigenmaps(
            **near,
            weights=one("adaptive", "heat", "binary"),
            constraint=one("degree", "identity"),
        ),
        "diffusion": lambda: dualfold.DiffusionMaps(**near, alpha=one(0.0, 0.5, 1.0)),
        "lle": lambda: dualfold.LocallyLinearEmbedding(
            **(near | {"n_neighbors": k + d * (d + 3) // 2}),
            method=one("standard", "standard", "modified", "hessian", "ltsa"),
        ),
        "isomap": lambda: dualfold.Isomap(**near, landmarks=None),
        "mds": lambda: dualfold.ClassicalMDS(n_components=d),
        "pca": lambda: dualfold.PCA(n_components=min(d, 2), standardize=one(False, True)),
        "kernel": lambda: dualfold.KernelPCA(
            n_components=d, kernel=one("linear", "rbf", "poly"), landmarks=None
        ),
        "lpp": lambda: dualfold.LocalityPreservingProjection(n_components=1, n_neighbors=k),
        "npp": lambda: dualfold.NeighborhoodPreservingProjection(n_components=1, n_neighbors=k),
        "svd": lambda: dualfold.TruncatedSVD(n_components=1),
        "famd": lambda: dualfold.FAMD(n_components=1),
        "correspondence": lambda: dualfold.CorrespondenceAnalysis(n_components=1),
    }
    return made[method]()


@contextmanager
def heard(said: list[Any]) -> Any:
    """Keep problems and frozen vectors that staleness is asked of."""
    plain = by_rows.vector_staleness

    def listening(problem: Any, frozen: Any, *more: Any, **named: Any) -> Any:
        said.append((problem, np.asarray(frozen, dtype=float)))
        return plain(problem, frozen, *more, **named)

    with patch.object(by_rows, "vector_staleness", listening):
        yield


def true_distance(problem: Any, frozen: Any) -> tuple[float, float, float]:
    """The gap or the mean sin², how far it may be off, and the relative eigengap at the cut."""
    n, d, unit = problem.n, problem.count, np.eye(problem.n)
    A = problem.A.toarray() if sp.issparse(problem.A) else np.asarray(problem.A @ unit)
    B = np.asarray(problem.metric.times(unit))
    balance = 1 / np.sqrt(np.diag(B))
    A, B = balance[:, None] * A * balance, balance[:, None] * B * balance
    A = A.astype(float) / max(np.abs(A).max(), np.finfo(float).tiny)
    L = np.linalg.cholesky((B + B.T) / 2)
    C = scipy.linalg.solve_triangular(L, A, lower=True)
    C = scipy.linalg.solve_triangular(L, C.T, lower=True)
    F, N = L.T @ (frozen / balance[:, None]), L.T @ (problem.excluded_columns / balance[:, None])
    if N.shape[1]:
        Q = scipy.linalg.null_space(N.T)
        C, F = Q.T @ C @ Q, Q.T @ F
    w, U = np.linalg.eigh(problem.sign * (C + C.T) / 2)
    V = np.linalg.qr(F / np.linalg.norm(F, axis=0))[0]
    apart = (w[d] - w[d - 1]) / np.abs(w).max() if len(w) > d else np.inf
    blur = n * 1e-15 * np.linalg.cond(L) ** 2 * np.abs(w).max()
    if problem.sense == "max":
        best = -w[:d].sum()
        return (best + np.trace(V.T @ (C + C.T) / 2 @ V) * -1) / best, blur / best, apart
    rest = V - U[:, :d] @ (U[:, :d].T @ V)
    sine = float(np.linalg.norm(rest))
    slack = blur / max(w[d] - w[d - 1], 1e-300) if len(w) > d else 0.0
    return sine**2 / d, slack * (sine + slack), apart


def false_claims(stale: Any, problem: Any, frozen: Any) -> list[str]:
    """What a certificate of staleness says that is not true."""
    if stale.level not in ("proved", "within"):
        return []
    true, off, apart = true_distance(problem, frozen)
    false = []
    if stale.measure == "angles" and apart < 1e-13:
        false.append(f"angles to a span that is not determined (eigengap {apart:.1e})")
    if true - off > stale.gap * (1 + 1e-9):
        false.append(f"gap {stale.gap!r} below the truth {true!r}")
    if true + off < stale.at_least * (1 - 1e-9):
        false.append(f"at least {stale.at_least!r} above the truth {true!r}")
    if stale.level == "proved" and not stale.gap <= stale.tolerance:
        false.append("proved beyond the tolerance")
    return false


def _changed_on(grown: Any, X: Any, name: str, random: Any) -> tuple[Any, str]:
    """The map after rows left, after a fit or not, and after further rows came."""
    if random.random() < 0.3:
        grown = grown.extend(without=random.choice(len(X), 3, replace=False))
    if random.random() < 0.3:
        grown, name = grown.refit(), f"{name} refit"
    if random.random() < 0.4:
        more = X[random.choice(len(X), 4)] * (1 + 0.01 * random.normal(size=(4, X.shape[1])))
        if name.startswith("correspondence"):
            more = np.round(more) + 1
        grown, name = grown.extend(more, without=[1]), f"{name} extended"
    return grown, name


def judged(seed: int, number: int) -> tuple[str, str, list[str]]:
    """The name of a random case, the level of its staleness, and what is false about it."""
    random = np.random.default_rng([seed, number])
    kind, method = str(random.choice(KINDS)), str(random.choice(METHODS))
    X = rows_of(kind, random)
    if method == "correspondence":
        X = np.abs(np.round(5 * X / (np.abs(X).max() or 1))) + 1
    cut = int(random.integers(max(10, len(X) // 2), len(X)))
    said: list[Any] = []
    name = f"{method} {kind}"
    with warnings.catch_warnings(), heard(said):
        warnings.simplefilter("ignore")
        try:
            old = estimator_of(method, random).fit(X[:cut])
            grown = old.extend(X[cut:], old=X[:cut])
        except DualfoldError:
            return name, "refused", []
        try:
            grown, name = _changed_on(grown, X, name, random)
        except DualfoldError:
            return name, "refused", []
        said.clear()
        stale = grown.staleness_
    if not said:
        return name, stale.level, []
    return name, stale.level, false_claims(stale, *said[-1])


def main(arguments: list[str] | None = None) -> int:
    """Judge random cases; the exit code says whether all that was said is true."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("DUALFOLD_FUZZ_SEED", "0")))
    given = parser.parse_args(arguments)
    levels: Counter[str] = Counter()
    false = 0
    for number in range(given.count):
        name, level, claims = judged(given.seed, number)
        levels[level] += 1
        false += bool(claims)
        for claim in claims:
            print(f"seed {given.seed}, case {number} ({name}): {claim}")
    print(f"{given.count} cases, {false} with a false claim; levels: {dict(levels)}")
    return int(false > 0)


if __name__ == "__main__":
    sys.exit(main())
