"""Maximum variance unfolding as an estimator."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.errors import Argument, DisconnectedGraph, InvalidInput
from dualfold.estimators.graph_estimator import GRAPH_CONSTRAINTS
from dualfold.estimators.some_rows import SolvableRows
from dualfold.graph import Graph
from dualfold.graph.metrics import is_precomputed
from dualfold.graph.pieces import pieces_in_words
from dualfold.maps.local import LocalDistancesMap, LocalWeightsMap
from dualfold.maps.out_of_sample import OutOfSampleMap
from dualfold.methods.mvu import mvu
from dualfold.unfolding.certificate import UnfoldingCertificate
from dualfold.unfolding.connections import Connections, connections
from dualfold.unfolding.contraction import Contraction
from dualfold.unfolding.solution import Record
from dualfold.unfolding.solvers.unfolder import Unfolder, refuse_minutes
from dualfold.unfolding.stored_unfolding import BothSides, rechecked_unfolding

# So many rows are unfolded in a minute whatever their graph is.
FEW = 400


class MaximumVarianceUnfolding(SolvableRows):
    """Pull the points apart as far as the edges of their neighbour graph let them.

    A semidefinite program, solved with its dual, so that the answer comes with two
    numbers between which the optimum lies. scikit-learn has no counterpart.

    Parameters
    ----------
    n_components : coordinates of the embedding; the answer itself has as many as it needs
        (`factor_`), and `variance_outside_` is the share that the others hold
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    metric : by its name in scikit-learn, or "precomputed": X is a square matrix of distances
    p, metric_params, graph : as for the other graph methods
    constraints : edges may be "at_most" as long as in the data, or "equal" to that: what is
        proved is then about exactly the lengths of the answer, within 1e-9 of d² of the data's
        (up to 2,000 edges to `tol`, half a minute for 1,000; with more the gap is 1e-4 to 2e-3,
        7,000 take twenty minutes, and it may stay "unresolved")
    relaxation : None, or a share of d² by which equal lengths may differ: another, softer problem,
        and the certificate says so
    angles : also keep the distances between neighbours of a common point
    solver : "interior_point" (to about 9,000 edges, eight digits), "low_rank" (any number, where
        the graph has small separators, as sheets have), "landmark" (any graph, some percent), or
        "auto": the interior point up to 1,000 edges, low rank beyond, the others where it fails
    tol : relative gap at which the solver stops
    max_iter : its most iterations; None leaves it to the solver
    tolerance : the largest relative gap that the certificate calls "proved", whatever the solver;
        with a larger one its level is "within", and it says within how many percent
    pieces : what happens to a graph in several pieces: "join" by the shortest links (with a
        warning), "separate" (each on its own, side by side) or "raise" an error
    landmarks : unfold so many rows, drawn at random, and place the others as new points; None
        takes all rows, or as many as can be unfolded in a minute ("auto" solver, edges "at_most"
        as long, `max_iter` None; a warning and the certificate say how many)
    reg : the ridge of the local weights that place new points
    random_state : of the landmarks that "low_rank" and "landmark" begin with
    n_jobs : threads (None: all cores)
    verbose : print each stage and its seconds to standard error

    Attributes
    ----------
    embedding_, eigenvalues_ : the leading coordinates, and the eigenvalues of K for them
    factor_ : n×r with K = factor_·factor_ᵀ, of the rows that were unfolded
    dual_weights_ : symmetric sparse matrix of the dual weights, of the same rows
    certificate_ : `level`, `lower`, `upper`, `gap`, `feasibility` and the optimality conditions
    solver_ : the name of the solver whose answer this is
    unfoldings_ : the `Unfolding` of each piece, the largest first
    history_, n_iter_ : a `Record` for each iteration, and their number
    variance_outside_ : share of tr K that is not in `embedding_`
    graph_, n_connected_components_, nbrs_ : as for the other graph methods
    landmarks_, rows_ : the rows that were unfolded; None for all
    left_out_ : None, since no row is left out of the problem for being far away
    landmark_rows_, placing_cost_ : of tables in tiles (`dualfold.scale`): the rows that were
        fitted, and what it costs that they place the others

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import MaximumVarianceUnfolding
    >>> t = np.linspace(0, 3, 30)
    >>> spiral = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = MaximumVarianceUnfolding(n_components=1, n_neighbors=2).fit(spiral)
    >>> model.certificate_.level
    'proved'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        key: rule
        for key, rule in GRAPH_CONSTRAINTS.items()
        if key not in ("eigen_solver", "n_components")
    } | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "constraints": [StrOptions({"at_most", "equal"})],
        "angles": ["boolean"],
        "solver": [StrOptions({"auto", "interior_point", "low_rank", "landmark"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "relaxation": [Interval(Real, 0, 1, closed="neither"), None],
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "landmarks": [Interval(Integral, 3, None, closed="left"), None],
        "reg": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int | None = 6,
        radius: float | None = None,
        constraints: str = "at_most",
        angles: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        relaxation: float | None = None,
        tolerance: float = 1e-4,
        reg: float = 1e-3,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        neighborhood: str = "fixed",
        pieces: str = "join",
        graph: Any = None,
        landmarks: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.constraints = constraints
        self.angles = angles
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.relaxation = relaxation
        self.tolerance = tolerance
        self.reg = reg
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.neighborhood = neighborhood
        self.pieces = pieces
        self.graph = graph
        self.landmarks = landmarks
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _problem(self, graph: Graph, count: int) -> Contraction:
        problem = mvu(
            graph,
            n_components=count,
            constraints=self.constraints,  # type: ignore[arg-type]
            angles=self.angles,
        )
        return self._said(problem)

    def _each_once(self, graph: Graph) -> Array | None:
        """Copies of a row are one point of the problem anyway, with a mass."""
        return None

    def _refuse_hopeless(self, problem: Contraction) -> None:
        if self._drawable(problem.problem.n) and self.landmarks is None:
            refuse_minutes(problem.problem)

    def _drawable(self, count: int) -> bool:
        asked = self.solver != "auto" or self.max_iter is not None or self.constraints == "equal"
        return not asked and count > FEW and self.pieces == "join" and self._has_rule()

    def _all_rows(self) -> Argument:
        return Argument("solver", "low_rank")

    def _solver(self) -> Unfolder:
        return Unfolder(
            solver=self.solver,  # type: ignore[arg-type]
            tol=self.tol,
            max_iter=self.max_iter,
            relaxation=self.relaxation,
            random_state=self._seed(),
            callback=_shown if self.verbose else None,
        )

    def _keep_answers(self, parts: list[tuple[Array, Embedding | None]]) -> None:
        found = [(rows, part.solution) for rows, part in parts if part is not None]
        self.unfoldings_ = tuple(unfolding for _, unfolding in found)
        n, width = sum(len(rows) for rows, _ in parts), sum(u.factor.shape[1] for _, u in found)
        # Pieces know nothing of each other: each has columns of its own.
        self.factor_, start = np.zeros((n, width)), 0
        entries = [(np.zeros(0), np.zeros(0, int), np.zeros(0, int))]
        for rows, unfolding in found:
            end = start + unfolding.factor.shape[1]
            self.factor_[rows, start:end], start = unfolding.factor, end
            own: Any = unfolding.weights.tocoo()
            entries.append((own.data, rows[own.row], rows[own.col]))
        data, first, second = map(np.concatenate, zip(*entries, strict=True))
        self.dual_weights_ = sp.csr_array(sp.coo_array((data, (first, second)), shape=(n, n)))
        self.history_ = tuple(record for _, u in found for record in u.solution.history)
        self.n_iter_ = max([1, *(len(u.solution.history) - 1 for _, u in found)])
        self.solver_ = found[0][1].solution.solver if found else "nothing to unfold"
        total = float(np.sum(self.factor_**2))
        kept = sum(float(np.sum(part.values)) for _, part in parts if part is not None)
        self.variance_outside_ = max(0.0, 1 - kept / total) if total else 0.0

    def _in_one_piece(self, graph: Graph) -> Graph:
        if self.pieces == "raise" and graph.n_pieces > 1:
            raise DisconnectedGraph(
                pieces_in_words(graph),
                ". Nothing ties the pieces together, so their variance is unbounded and the "
                "problem has no answer; ",
                Argument("pieces", "join"),
                " joins them by their shortest links, ",
                Argument("pieces", "separate"),
                " unfolds each on its own",
            )
        return super()._in_one_piece(graph)

    def judged_points(
        self,
        graph: Graph,
        points: Any,
        *,
        tolerance: float = 1e-4,
        sides: BothSides | None = None,
    ) -> UnfoldingCertificate:
        """The certificate of points that are to be the leading coordinates of a graph's unfolding.

        sides : its factor and dual weights, without which little can be proved
        """
        certificate = rechecked_unfolding(
            graph,
            points,
            sides,
            tolerance=tolerance,
            form=self.constraints,  # type: ignore[arg-type]
            angles=self.angles,
        )
        return certificate.narrowed(self.about_rows())

    def _map(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        return self.map_of_points(graph, embedding.points)

    def map_of_points(self, graph: Graph, points: Array) -> OutOfSampleMap:
        """The map of new rows that follows from points of a graph."""
        k = min(self.n_neighbors or int(np.median(graph.lists.counts)), graph.n)
        if is_precomputed(graph.metric):
            return LocalDistancesMap(graph.points, points, k, self.reg)
        return LocalWeightsMap(graph.points, points, k, self.reg)

    def connections(self) -> Connections:
        """What duality says about this unfolding, Isomap, LLE and eigenmaps, as numbers."""
        check_is_fitted(self, "embedding_")
        if len(self.unfoldings_) != 1:
            raise InvalidInput(
                "the connections are those of one unfolding and this model has "
                f"{len(self.unfoldings_)}, one for each piece; use ",
                Argument("pieces", "join"),
            )
        return connections(self.unfoldings_[0], n_components=self.n_components)


def _shown(record: Record) -> None:
    print(
        f"[MaximumVarianceUnfolding] {record.iteration}: {record.lower:.8g} … {record.upper:.8g}, "
        f"gap {record.gap:.1e}, {record.seconds:.1f} s",
        file=sys.stderr,
    )
