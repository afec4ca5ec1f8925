"""Maximum variance unfolding beside a modelling layer with general solvers, and by size.

Every side is judged by the same certificate, which knows only its points and weights.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.cases import Case, Outcome, Stopwatch, roll

N_NEIGHBORS = 6


def unfolding_problem(X: np.ndarray) -> Any:
    from dualfold.duality import contracted
    from dualfold.graph import joined, knn

    warnings.simplefilter("ignore")
    return contracted(joined(knn(X, N_NEIGHBORS))).problem


def verdict(problem: Any, factor: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    from dualfold.duality import certify_unfolding

    found = certify_unfolding(problem, factor, weights, tolerance=1.0)
    return {"edges": problem.m, "gap": found.gap, "lower": found.lower, "upper": found.upper}


def ours(X: np.ndarray, tol: float = 1e-8) -> Outcome:
    from dualfold.duality import interior_point

    problem = unfolding_problem(X)
    watch = Stopwatch()
    found = interior_point(problem, tol=tol)
    watch("solve")
    facts = verdict(problem, found.factor, found.weights)
    watch("certify")
    return watch.seconds, facts | {"iterations": len(found.history) - 1}


def ours_at_any_size(X: np.ndarray, tol: float = 1e-6) -> Outcome:
    """The whole way from points: neighbours, the solver that fits the size, certificate."""
    from dualfold import MaximumVarianceUnfolding

    warnings.simplefilter("ignore")
    watch = Stopwatch()
    model = MaximumVarianceUnfolding(n_neighbors=N_NEIGHBORS, tol=tol).fit(X)
    watch("fit")
    found = model.certificate_
    facts = {"level": found.level, "gap": found.gap, "lower": found.lower, "upper": found.upper}
    return watch.seconds, facts | {"iterations": model.n_iter_}


def with_cvxpy(X: np.ndarray, solver: str, **settings: Any) -> Outcome:
    import cvxpy as cp

    problem = unfolding_problem(X)
    n, (i, j) = problem.n, problem.edges.T
    watch = Stopwatch()
    K = cp.Variable((n, n), PSD=True)
    lengths = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j]
    short = lengths <= problem.squared
    peer = cp.Problem(cp.Maximize(cp.trace(K)), [cp.sum(K, axis=1) == 0, short])
    peer.solve(solver=solver, **settings)
    watch("solve")
    values, vectors = np.linalg.eigh(K.value)
    factor = vectors * np.sqrt(values.clip(0))
    facts = verdict(problem, factor, np.asarray(short.dual_value).clip(0))
    return watch.seconds, facts | {"status": peer.status}


def cvxpy_clarabel(X: np.ndarray) -> Outcome:
    return with_cvxpy(X, "CLARABEL")


def cvxpy_scs(X: np.ndarray) -> Outcome:
    return with_cvxpy(X, "SCS", max_iters=20_000)


CASES = {
    "unfolding-100": Case(
        "maximum variance unfolding, swiss roll 100, 6 neighbours",
        roll(100),
        {"dualfold": ours, "CVXPY Clarabel": cvxpy_clarabel, "CVXPY SCS": cvxpy_scs},
        "100 times as fast at an equal or smaller gap",
    ),
    "unfolding-300": Case(
        "maximum variance unfolding, swiss roll 300, 6 neighbours",
        roll(300),
        {"dualfold": lambda X: ours(X, 1e-6)},
        "a few seconds",
    ),
    "unfolding-1000": Case(
        "maximum variance unfolding, swiss roll 1,000, 6 neighbours",
        roll(1_000),
        {"dualfold": ours_at_any_size},
        "gap 1e-6 within 2 minutes",
    ),
    "unfolding-5000": Case(
        "maximum variance unfolding, swiss roll 5,000, 6 neighbours",
        roll(5_000),
        {"dualfold": lambda X: ours_at_any_size(X, 1e-3)},
        "gap 1e-3 within 10 minutes",
    ),
    "unfolding-10000": Case(
        "maximum variance unfolding, swiss roll 10,000, 6 neighbours",
        roll(10_000),
        {"dualfold": lambda X: ours_at_any_size(X, 1e-2)},
        "gap 1e-2 within 10 minutes",
    ),
}
