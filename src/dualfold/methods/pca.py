"""Principal component analysis."""

from __future__ import annotations

from typing import Any

from dualfold.trace.lift import Projected
from dualfold.trace.problem import TraceProblem
from dualfold.weights.gram import scatter


def pca(X: Any, *, n_components: int = 2) -> TraceProblem:
    """The directions along which the data varies most.

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX/n

    Preserves variance: no other linear map to so few dimensions loses less (Eckart and
    Young). Fails to see anything curved; a roll stays rolled. The value of the problem
    is the variance kept (divisor n), its points are H·X·V.

    Pearson, "On lines and planes of closest fit to systems of points in space" (1901).
    """
    total, mean = scatter(X)
    return TraceProblem(total / X.shape[0], None, n_components, "max", lift=Projected(X, mean))
