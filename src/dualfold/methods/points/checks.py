"""Checks after a descent: neighbours kept, interruptions, and maps that collapse."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.errors import Argument, Interrupted, PointsCollapse, warn
from dualfold.graph import nearest
from dualfold.graph.graph import Lists
from dualfold.methods.points.descent import INTERRUPTED, Descent
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.starts import spectral_map

# Neighbours of a row that are looked for in the map.
COUNTED_NEIGHBORS = 10


def neighbors_kept(lists: Lists, points: Array, n_jobs: int | None = None) -> float:
    """The share of the first 10 listed neighbours that are among the 10 nearest in the map.

    NaN where some row lists fewer, or there are no more rows.
    """
    n = len(points)
    if (
        n <= COUNTED_NEIGHBORS
        or lists.counts.min() < COUNTED_NEIGHBORS
        or not np.isfinite(points).all()
    ):
        return float("nan")
    theirs = lists.first(COUNTED_NEIGHBORS).indices.reshape(n, COUNTED_NEIGHBORS)
    ours = nearest(np.asarray(points, dtype=float), COUNTED_NEIGHBORS, n_jobs=n_jobs).indices
    both = np.sort(np.hstack([theirs, ours]), axis=1)  # a list holds no row twice
    return float((both[:, 1:] == both[:, :-1]).sum() / (n * COUNTED_NEIGHBORS))


def warn_of_interruption(run: Descent, asked: int) -> None:
    """`Interrupted` where Ctrl-C ended the descent."""
    if run.why == INTERRUPTED:
        warn(
            Interrupted(
                f"Ctrl-C ended the descent after {run.rounds} of {asked} iterations; the map is "
                "the one that it had reached. Fit again for one whose forces balance"
            )
        )


def warn_of_collapse(problem: AttractionProblem, points: Array) -> None:
    """`PointsCollapse` where all points lie on one spot, or attraction leaves too few coordinates.

    With λ_1 = 0, …, λ_{d+1} the first eigenvalues of L = (n − 1)(Deg − P), coordinate d shrinks
    from some ρ on that falls with λ_{d+1} (`Forces.collapse_attraction`). Rayleigh quotients of the
    map are never below them, so that most maps show without an eigen-solve that they are far from
    it.
    """
    rho, d, forces = problem.attraction, problem.count, problem.forces
    if not np.ptp(points, axis=0).any():
        warn(
            PointsCollapse(
                f"all {problem.n} points of the map lie on one spot, where nothing pushes them "
                "apart: the rows are the same, or the start was. Look at how the data was read"
            )
        )
        return
    if rho <= 1 or problem.n <= d + 1:
        return
    Y = np.asarray(points, dtype=float) - np.asarray(points, dtype=float).mean(axis=0)
    Q, sizes, _ = np.linalg.svd(Y, full_matrices=False)
    if sizes[-1] > 1e-3 * sizes[0]:
        quotients = scipy.linalg.eigvalsh(Q.T @ (problem.laplacian() @ Q))
        if rho < forces.collapse_attraction(quotients[-1]):
            return
    critical = forces.collapse_attraction(float(spectral_map(problem, d).values[-1]))
    if rho < critical:
        return
    left = {1: "to a point", 2: "to a line"}.get(d, f"to fewer than {d} coordinates")
    warn(
        PointsCollapse(
            Argument("attraction", rho),
            f" is not below {forces.collapse_formula}{critical:.3g}, from where on maps of these "
            f"affinities collapse {left}; lower it, or take ",
            Argument("attraction", float("inf")),
            ", which returns the eigenmaps that it leads to",
        )
    )
