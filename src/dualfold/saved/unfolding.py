"""A second look at a stored unfolding: its points, and where kept its factor and dual weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.certificate import checked_tolerance
from dualfold.errors import InvalidInput
from dualfold.graph.graph import Graph
from dualfold.saved.doubts import NO_EXTENT, SAME, displaced, value_doubts
from dualfold.saved.model import BothSides
from dualfold.saved.recheck import LARGEST
from dualfold.trace.certificate import certify
from dualfold.trace.problem import TraceProblem
from dualfold.unfolding.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.unfolding.contraction import Contraction, contraction_of
from dualfold.unfolding.problem import Constraints


def rechecked_unfolding(
    graph: Graph,
    points: Any,
    sides: BothSides | None,
    *,
    tolerance: float = 1e-4,
    constraints: Constraints = "at_most",
    angles: bool = False,
) -> UnfoldingCertificate:
    """Judge a stored unfolding of `graph`: its points and, where kept, its dual weights (`sides`).

    A relative gap up to `tolerance` is "proved". `constraints` and `angles` are those of `unfold`.

    Without `sides` the points bound the optimum from below and geodesics from above; that is
    rough, and rarely a proof.
    """
    tolerance = checked_tolerance(tolerance)
    contraction = contraction_of(graph, constraints=constraints, angles=angles)
    problem, Y = contraction.problem, _real(points, "points")
    if len(Y) != graph.n:
        raise InvalidInput(f"{len(Y)} points are stored and the data has {graph.n} rows")
    first = np.unique(contraction.place, return_index=True)[1]
    if sides is None:
        equal = np.ones(problem.m)  # any weights bound the optimum, these badly
        shown = _at_scale(Y[first])
        certificate = certify_unfolding(problem, shown, equal, tolerance=tolerance)
        return certificate.doubted(*_split_copies(contraction, first, Y))
    factor, weights = _of_sides(sides, contraction)
    certificate = certify_unfolding(problem, _at_scale(factor[first]), weights, tolerance=tolerance)
    doubts = _split_copies(contraction, first, factor) or _not_leading(factor, Y)
    return certificate.doubted(*doubts)


def _real(numbers: Any, name: str) -> Array:
    found = np.asarray(numbers)
    if found.dtype.kind not in "fiu" or found.ndim != 2:
        raise InvalidInput(
            f"the stored {name} are {found.dtype} of shape {found.shape}; a table of real numbers "
            "is needed"
        )
    return found.astype(float)


def _at_scale(points: Array) -> Array:
    """NaN in place of numbers whose squares overflow: a certificate refuses them by that."""
    return np.where(np.abs(points) <= LARGEST, points, np.nan)


def _of_sides(sides: BothSides, contraction: Contraction) -> tuple[Array, Array]:
    """The factor, and the weight of each edge of the problem."""
    factor, n = _real(sides.factor, "unfolding"), len(contraction.place)
    if len(factor) != n or not sp.issparse(sides.weights) or sides.weights.shape != (n, n):
        raise InvalidInput(
            f"the model holds no unfolding of {n} rows: its factor is {factor.shape}"
        )
    ends = contraction.edges
    return factor, np.asarray(sides.weights.tocsr()[ends[:, 0], ends[:, 1]], dtype=float).ravel()


def _split_copies(contraction: Contraction, first: Array, rows: Array) -> list[str]:
    """Points at distance 0 are one in the problem: each must be where the first of them is."""
    one = rows[first][contraction.place]
    size = float(np.abs(rows).max(initial=0.0))
    if np.all(np.abs(rows - one) <= SAME * size):
        return []
    return ["equal points do not lie in one place"]


def _not_leading(factor: Array, Y: Array) -> list[str]:
    """Why the points are not the leading coordinates of the factor; nothing if they are.

    With factor = UΣWᵀ they are UΣQ for an orthonormal Q (r×d) that maximises tr(QᵀΣ²Q): a trace
    problem of r rows, judged as any other.
    """
    if not (np.abs(factor) <= LARGEST).all() or not (np.abs(Y) <= LARGEST).all():
        return ["the stored points or the factor hold NaN, infinity or squares that overflow"]
    U, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    rank = int(np.sum(sizes > NO_EXTENT * sizes.max(initial=0.0)))
    kept = min(rank, Y.shape[1])
    rest = np.abs(Y[:, kept:]).max(initial=0.0)
    if not rest <= NO_EXTENT * sizes.max(initial=0.0):
        return [f"the unfolding has {rank} directions, the stored points have more"]
    if kept == 0:
        return []
    U, sizes = U[:, :rank], sizes[:rank]
    Q = (U.T @ Y[:, :kept]) / sizes[:, None]
    problem = TraceProblem(np.diag(sizes**2), None, kept, "max")
    certificate = certify(problem, Q, tolerance=SAME)
    _, apart = displaced((U * sizes) @ Q, Y[:, :kept])
    doubts = [*apart, *value_doubts(problem, Q, Q.T @ (problem.A @ Q), None)]
    if certificate.level != "proved":
        doubts += certificate.reasons or ("there may be better directions",)
    words = "the stored points are not the leading coordinates of the model's unfolding"
    return [f"{words}: {'; '.join(doubts)}"] if doubts else []
