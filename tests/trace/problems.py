"""Small problems and trials that bounds are held to their formulas with."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem
from tests.trace.door import Trial

METRICS = [None, "diagonal", "dense", "sparse"]


def path_problem(kind="dense", metric=None, sense="min", *, n=5, ramp=0.0, excluded=True):
    """A path of n rows in some metric; N need not be invariant for what is charged.

    ramp : added along the diagonal of A, unless A is a Gramian
    """
    M = sp.csr_array(np.diff(np.eye(n), axis=0) + 0.25 * np.eye(n - 1, n))
    A = (M.T @ M).toarray() + ramp * np.diag(np.arange(n))
    beside = 0.25 * (np.eye(n, k=1) + np.eye(n, k=-1))
    B = {
        None: None,
        "diagonal": np.array([1.0, 2.0, 1.5, 1.0, 3.0, 0.5])[:n],
        "dense": 2 * np.eye(n) + 0.25,
        "sparse": sp.csr_array(2 * np.eye(n) + beside),
    }[metric]
    A = {"dense": A, "sparse": sp.csr_array(A), "gramian": Gramian(M)}[kind]
    N = np.ones((n, 1)) + 0.125 * np.arange(n)[:, None] if excluded else None
    return TraceProblem(A, B, count=2, sense=sense, excluded=N)


def ramp_problem(kind, metric, sense="min", *, excluded=False):
    """A path of six rows with a ramp on its diagonal."""
    return path_problem(kind, metric, sense, n=6, ramp=0.5, excluded=excluded)


def diagonal_factor(*values, count=2):
    return TraceProblem(Gramian(sp.csr_array(np.diag(np.array(values)))), count=count)


def plain_trial(h, squares=None, skew=0.0, leak=0.0, n=None):
    """Unit vectors as an answer with these values: nothing is rounded."""
    h = np.asarray(h, dtype=float)
    squares = np.zeros(len(h)) if squares is None else np.asarray(squares, dtype=float)
    return Trial(np.eye(n or len(h))[:, : len(h)], h, squares, np.zeros(len(h)), skew, leak)


def lengths(X):
    return np.linalg.norm(X, axis=0)


def columns(problem, seed=0):
    """Two B-orthonormal columns off N."""
    V = problem.without_excluded(np.random.default_rng(seed).normal(size=(problem.n, 2)))
    return V @ np.linalg.inv(np.linalg.cholesky(V.T @ problem.metric.times(V))).T
