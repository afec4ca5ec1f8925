"""Plain eigenmaps: a skeleton of a graph method.

Copy it to src/dualfold/methods/_yours.py, write your problem, your rule for new rows and your
parameters, then add a row to src/dualfold/methods/descriptions/ and run `python docs/generated.py`.
ARCHITECTURE.md has the recipe; tests/workflows/test_skeletons.py takes this file through it.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from dualfold.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext
from dualfold.methods.fitting.graph_estimator import (
    GRAPH_CONSTRAINTS,
    GraphEstimator,
    answer_settings,
    eigen_solver,
    shared_fields,
)
from dualfold.methods.fitting.graph_fit import GraphMethod
from dualfold.methods.fitting.rules import local_rule
from dualfold.trace import TraceProblem
from dualfold.weights import weighted_laplacian


def plain_eigenmaps(graph: Graph, *, n_components: int = 2) -> TraceProblem:
    """Name of the method, as a trace problem.

    The problem is::

        minimise tr(VᵀLV)  subject to  VᵀV = I,  Vᵀ1 = 0

    What the letters stand for, and what the points are.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.

    Returns
    -------
    TraceProblem
        The problem.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    See Also
    --------
    PlainEigenmaps : The estimator.

    Notes
    -----
    What an answer preserves [1]_, what it costs, and when the method fails.

    References
    ----------
    .. [1] A. Author and B. Author, "Title", Journal, volume(number), pages, year.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import radius
    >>> plain_eigenmaps(radius(np.arange(6.0)[:, None], 1.0)).count
    2
    """
    laplacian, _ = weighted_laplacian(one_piece(graph), weights="binary")
    return TraceProblem(laplacian, None, n_components, "min", excluded=np.ones(graph.n))


@dataclass(eq=False, repr=False)
class PlainEigenmaps(GraphEstimator):
    """Name of the method: what it keeps, in one line.

    What is special about it, and whose estimator it replaces.

    Parameters
    ----------
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" keeps those before the widest eigengap among the first ten.
    n_neighbors : int ≥ 1 or None, default=10
        Number of nearest rows that each row is linked to; None if a `radius` is given.
    radius : float ≥ 0 or None, default=None
        Link each row to all rows within this distance, instead of a fixed number of nearest rows.
    neighborhood : {"fixed", "variable"}, default="fixed"
        "fixed" gives the same number of neighbours to each row; "variable" gives fewer to rows in
        sparse places.
    reg : float ≥ 0, default=0.001
        Ridge of the local weights that place new rows, as a share of the local trace.
    metric : str or callable, default="minkowski"
        Distance between rows, by its name in scikit-learn; "precomputed" means that X is a square
        matrix of distances.

        A function of two rows is a metric, too.
    p : float ≥ 1, default=2
        Power of the Minkowski metric: 2 is the Euclidean, 1 the Manhattan distance. Other metrics
        ignore it.
    metric_params : dict or None, default=None
        Further arguments of the metric, by name.
    pieces : {"join", "raise", "separate"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "separate" embeds each piece by itself, side by side;
        "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`.
    eigen_solver : {"auto", "arpack", "dense", "factored", "lanczos", "preconditioned"}, \
            default="auto"
        How eigenvectors are computed: "auto" chooses by the predicted work; "arpack" is another
        name of "lanczos".

        "dense" calls LAPACK, "lanczos" needs products with the matrix only, "factored" factorises
        the shifted sparse matrix, and "preconditioned" uses algebraic multigrid or an incomplete
        factorisation.
    tol : float ≥ 0, default=0.0
        Relative residual at which the solver stops, if it lies between 0 and 1e-6; any other value
        means 1e-6.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's start; None means 0, so that runs agree.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours of the rows of X that are known already, so that none are searched: a
        `dualfold.Graph`, a sparse matrix of edge lengths, or the lists that
        `dualfold.graph.nearest` returns. Lists are used where they are long enough and the metric
        is Euclidean; a graph replaces `n_neighbors` and `radius`.
    verbose : bool or int, default=False
        Whether to print each stage and its seconds to standard error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Value of the problem for each coordinate.
    certificate_ : TraceCertificate or PiecewiseCertificate
        How far from the optimum the points can be; print it. With `pieces="separate"` it holds the
        certificates of the pieces.
    graph_ : Graph
        The neighbour graph that was embedded, with the edges that joined its pieces.
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
    n_components_reason_ : str
        Why there are so many coordinates, in words; only with `n_components="auto"`.
    nbrs_ : sklearn.neighbors.NearestNeighbors
        Neighbour search over the fitted rows, made when it is asked for.

    See Also
    --------
    plain_eigenmaps : The problem that this estimator solves.

    Notes
    -----
    The problem in a formula [1]_.

    **Proof.** What the certificate says.

    **Cost.** Operations and memory.

    **Failure.** When the map is not what one hopes for.

    References
    ----------
    .. [1] A. Author and B. Author, "Title", Journal, volume(number), pages, year.

    Examples
    --------
    >>> from dualfold.data import swiss_roll
    >>> PlainEigenmaps(n_neighbors=8).fit(swiss_roll(100, random_state=0).points).certificate_.level
    'proved'
    """

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

    def _method(self, context: FitContext = NO_CONTEXT) -> GraphMethod:
        return GraphMethod(
            problem=lambda graph, count: plain_eigenmaps(graph, n_components=count),
            rule=partial(local_rule, estimator=self),
            answer=answer_settings(self, eigen_solver(self, context)),
            **shared_fields(self, context, some_rows=False),
        )
