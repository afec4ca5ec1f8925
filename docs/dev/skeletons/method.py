"""Plain eigenmaps: a skeleton of a graph method.

Copy it to src/dualfold/methods/_yours.py, write your problem, your rule for new rows and your
parameters, then add a row to src/dualfold/descriptions/ and run `python docs/generated.py`.
ARCHITECTURE.md has the recipe; tests/workflows/test_skeletons.py takes this file through it.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from dualfold.fitting.graph_estimator import (
    GRAPH_CONSTRAINTS,
    GraphEstimator,
    eigen_solver,
    shared_fields,
)
from dualfold.fitting.graph_fit import GraphMethod
from dualfold.fitting.rules import local_rule
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.trace.problem import TraceProblem
from dualfold.weights.affinity import weighted_laplacian


def plain_eigenmaps(graph: Graph, *, n_components: int = 2) -> TraceProblem:
    """What the method keeps, in one line.

        minimise tr(VᵀLV)  subject to  VᵀV = I,  Vᵀ1 = 0          (the optimisation problem)

    What the letters stand for. What an answer preserves, and when the method fails. The graph is
    one piece here: pieces are joined or embedded one by one before.

    Authors, "Title" (year).
    """
    laplacian, _ = weighted_laplacian(one_piece(graph), weights="binary")
    return TraceProblem(laplacian, None, n_components, "min", excluded=np.ones(graph.n))


@dataclass(eq=False, repr=False)
class PlainEigenmaps(GraphEstimator):
    """What the method keeps, in one line.

    See `plain_eigenmaps` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    reg : the ridge of the local weights that place new points
    metric : by its name in scikit-learn, or "precomputed": X is a square matrix of distances
    p, metric_params : of the metric, as in scikit-learn's neighbours
    pieces : what happens to a graph in several pieces: "join", "separate" or "raise"
    eigen_solver, tol, random_state : how eigenvectors are found
    n_jobs : threads (None: all cores)
    graph : a precomputed neighbour graph over the rows of X
    verbose : print each stage and its seconds to standard error

    Attributes
    ----------
    embedding_ : the points, n_samples × n_components
    eigenvalues_ : the value of the problem for each coordinate
    certificate_ : how far from optimal the points can be; print it
    graph_, n_connected_components_ : the graph that was embedded, and its pieces before
    """

    embeds_some_rows: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = GRAPH_CONSTRAINTS | {
        "reg": [Interval(Real, 0, None, closed="left")],
    }

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    reg: float = 1e-3
    metric: Any = "minkowski"
    p: float = 2
    metric_params: dict[str, Any] | None = None
    pieces: str = "join"
    eigen_solver: str = "auto"
    tol: float = 0.0
    random_state: Any = None
    n_jobs: int | None = None
    graph: Any = None
    verbose: bool = False

    def _method(self) -> GraphMethod:
        return GraphMethod(
            problem=lambda graph, count: plain_eigenmaps(graph, n_components=count),
            rule=partial(local_rule, estimator=self),
            solver=eigen_solver(self),
            **shared_fields(self, some_rows=False),
        )
