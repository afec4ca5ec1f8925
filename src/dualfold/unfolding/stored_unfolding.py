"""A stored unfolding judged again: its points, and where stored its factor and dual weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE, checked_tolerance
from dualfold.errors import InvalidInput
from dualfold.graph.graph import Graph
from dualfold.trace.certificate import certify
from dualfold.trace.doubts import FLAT_COLUMN_RATIO, POINT_TOLERANCE, point_doubts, value_doubts
from dualfold.trace.lift import MAX_COORDINATE
from dualfold.trace.problem import TraceProblem
from dualfold.unfolding.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.unfolding.contraction import Contraction, contraction_of
from dualfold.unfolding.problem import Constraints


@dataclass(frozen=True, eq=False)
class BothSides:
    """An unfolding's factor (n×r) and dual weights (n×n), which together prove it."""

    factor: Array
    weights: sp.csr_array

    def of_rows(self, rows: Array) -> BothSides:
        """Both sides of the rows of one piece."""
        last = int(rows.max())
        if len(self.factor) <= last or self.weights.shape[0] <= last:
            raise InvalidInput("the model's unfolding has fewer rows than the data")
        weights: sp.csr_array = self.weights.tocsr()[rows][:, rows]
        return BothSides(self.factor[rows], weights)


def rechecked_unfolding(
    graph: Graph,
    points: object,
    sides: BothSides | None,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    constraints: Constraints = "at_most",
    angles: bool = False,
    relaxation: float | None = None,
) -> UnfoldingCertificate:
    """The certificate of a stored unfolding of `graph`: its points and, where stored, `sides`.

    A relative gap up to `tolerance` is "proved". `constraints`, `angles` and `relaxation` are those
    of `unfold`: they say which problem the points are judged for.

    Without `sides` the points bound the optimum from below and geodesics from above; that is
    rough, and rarely a proof.
    """
    tolerance = checked_tolerance(tolerance)
    contraction = contraction_of(graph, constraints=constraints, angles=angles)
    asked: Any = {"tolerance": tolerance, "most_relaxed": relaxation}
    problem, Y = contraction.problem, _real_table(points, "points")
    if len(Y) != graph.n:
        raise InvalidInput(f"{len(Y)} points are stored and the data has {graph.n} rows")
    first = np.unique(contraction.point_of_row, return_index=True)[1]
    if sides is None:
        equal = np.ones(problem.m)  # any weights bound the optimum, these badly
        certificate = certify_unfolding(problem, _without_overflow(Y[first]), equal, **asked)
        return certificate.with_doubts(*_duplicate_doubts(contraction, first, Y))
    factor, weights = _factor_and_weights(sides, contraction)
    certificate = certify_unfolding(problem, _without_overflow(factor[first]), weights, **asked)
    doubts = _duplicate_doubts(contraction, first, factor) or leading_doubts(factor, Y)
    return certificate.with_doubts(*doubts)


def _real_table(numbers: object, name: str) -> Array:
    table = np.asarray(numbers)
    if table.dtype.kind not in "fiu" or table.ndim != 2:
        raise InvalidInput(
            f"the stored {name} are {table.dtype} of shape {table.shape}; a table of real numbers "
            "is needed"
        )
    return table.astype(float)


def _without_overflow(points: Array) -> Array:
    """NaN in place of numbers whose squares overflow: a certificate refuses them by that."""
    return np.where(np.abs(points) <= MAX_COORDINATE, points, np.nan)


def _factor_and_weights(sides: BothSides, contraction: Contraction) -> tuple[Array, Array]:
    """The factor, and the weight of each edge of the problem."""
    factor, n = _real_table(sides.factor, "unfolding"), len(contraction.point_of_row)
    if len(factor) != n or not sp.issparse(sides.weights) or sides.weights.shape != (n, n):
        raise InvalidInput(
            f"the model holds no unfolding of {n} rows: its factor is {factor.shape}"
        )
    ends = contraction.edges
    weights: sp.csr_array = sides.weights.tocsr()[ends[:, 0], ends[:, 1]]
    weights = weights.toarray() if sp.issparse(weights) else weights  # of no edges it is sparse
    return factor, np.asarray(weights, dtype=float).ravel()


def _duplicate_doubts(contraction: Contraction, first: Array, rows: Array) -> list[str]:
    """Points at distance 0 are one in the problem: each must be where the first of them is."""
    merged = rows[first][contraction.point_of_row]
    size = float(np.abs(rows).max(initial=0.0))
    if np.all(np.abs(rows - merged) <= POINT_TOLERANCE * size):
        return []
    return ["equal points do not lie in one place"]


def leading_doubts(factor: Array, Y: Array) -> list[str]:
    """Why the points are not the leading coordinates of the factor; nothing if they are.

    With factor = UΣWᵀ they are UΣQ for an orthonormal Q (r×d) that maximises tr(QᵀΣ²Q): a trace
    problem of r rows, judged as any other.
    """
    if not (np.abs(factor) <= MAX_COORDINATE).all() or not (np.abs(Y) <= MAX_COORDINATE).all():
        return ["the stored points or the factor hold NaN, infinity or squares that overflow"]
    U, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    negligible = FLAT_COLUMN_RATIO * sizes.max(initial=0.0)
    rank = int(np.sum(sizes > negligible))
    width = min(rank, Y.shape[1])
    if not np.abs(Y[:, width:]).max(initial=0.0) <= negligible:
        return [f"the unfolding has {rank} directions, the stored points have more"]
    if width == 0:
        return []
    U, sizes = U[:, :rank], sizes[:rank]
    Q = (U.T @ Y[:, :width]) / sizes[:, None]
    problem = TraceProblem(np.diag(sizes**2), None, width, "max")
    certificate = certify(problem, Q, tolerance=POINT_TOLERANCE)
    doubts = point_doubts((U * sizes) @ Q, Y[:, :width])[1]
    doubts += value_doubts(problem, Q, Q.T @ (problem.A @ Q), None)
    if certificate.level != "proved":
        doubts += certificate.reasons or ("there may be better directions",)
    words = "the stored points are not the leading coordinates of the model's unfolding"
    return [f"{words}: {'; '.join(doubts)}"] if doubts else []
