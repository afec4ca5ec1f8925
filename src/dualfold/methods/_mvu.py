"""Maximum variance unfolding."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, InvalidInput
from dualfold.fitting.graph_estimator import GRAPH_CONSTRAINTS, GraphEstimator, shared_fields
from dualfold.fitting.graph_fit import FewerRows, GraphFit, GraphMethod
from dualfold.fitting.rules import local_map, local_rule
from dualfold.fitting.solver_choice import seed_of
from dualfold.graph.graph import Graph
from dualfold.maps.out_of_sample import OutOfSampleMap
from dualfold.unfolding.certificate import UnfoldingCertificate
from dualfold.unfolding.connections import Connections, connections
from dualfold.unfolding.contraction import Contraction, contraction_of
from dualfold.unfolding.problem import Constraints
from dualfold.unfolding.solution import Record
from dualfold.unfolding.solvers.unfolder import Unfolder, refuse_minutes
from dualfold.unfolding.stored_unfolding import BothSides, rechecked_unfolding


def mvu(
    graph: Graph,
    *,
    n_components: int = 2,
    constraints: Constraints = "at_most",
    angles: bool = False,
) -> Contraction:
    """Pull the points as far apart as the edges of their graph let them.

        maximise tr K  subject to  K ⪰ 0,  K1 = 0,  K_ii + K_jj − 2K_ij ≤ (or =) d_ij²
        on the edges;  points VΛ^½ of the leading eigenvectors of K

    `constraints` says whether edges are "at_most" as long as in the data or "equal" to that
    (proved for exactly these lengths where they are those of rows); `angles` also keeps the
    distances between neighbours of a common point. A sheet without holes is laid flat, and a hole
    is not blown up as by Isomap. Fails where one edge cuts across a gap, which then pins the two
    sides together; a graph in several pieces has no answer at all (they could fly apart for
    ever).

    Weinberger and Saul, "Unsupervised learning of image manifolds by semidefinite
    programming" (2004); Xiao, Sun and Boyd, "A duality view of spectral methods for
    dimensionality reduction" (2006).
    """
    return contraction_of(graph, constraints=constraints, angles=angles, n_components=n_components)


# This many rows are unfolded in a minute whatever their graph is.
MAX_QUICK_ROWS = 400


@dataclass(eq=False, repr=False, kw_only=True)
class MaximumVarianceUnfolding(GraphEstimator):
    """Pull the points apart as far as the edges of their neighbour graph let them.

    A semidefinite program, solved with its dual, so that the answer comes with two
    numbers between which the optimum lies. scikit-learn has no counterpart.

    Parameters
    ----------
    n_components : coordinates of the embedding, or "auto": those before the widest eigengap of K.
        The answer itself has as many as it needs (`factor_`), and `variance_outside_` is the share
        that the others hold
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    metric : by its name in scikit-learn, or "precomputed": X is a square matrix of distances
    p, metric_params, graph : as for the other graph methods
    constraints : edges may be "at_most" as long as in the data, or "equal" to that. What is proved
        is about exactly the lengths of the rows (a gap of 1e-7 to 1e-4 for some hundred edges in
        seconds, 2e-3 for 1,000 in a minute; thousands take many minutes). Of distances that are
        given as numbers it may stay "unresolved": rounded ones may contradict each other
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
    n_components_reason_ : why so many coordinates, with n_components="auto"
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
        key: rule for key, rule in GRAPH_CONSTRAINTS.items() if key != "eigen_solver"
    } | {
        "constraints": [StrOptions({"at_most", "equal"})],
        "angles": ["boolean"],
        "solver": [StrOptions({"auto", "interior_point", "low_rank", "landmark"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "relaxation": [Interval(Real, 0, 1, closed="neither"), None],
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "landmarks": [Interval(Integral, 3, None, closed="left"), None],
        "reg": [Interval(Real, 0, None, closed="left")],
    }

    n_components: int | str = 2
    n_neighbors: int | None = 6
    radius: float | None = None
    constraints: str = "at_most"
    angles: bool = False
    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int | None = None
    relaxation: float | None = None
    tolerance: float = DEFAULT_TOLERANCE
    reg: float = 1e-3
    metric: Any = "minkowski"
    p: float = 2
    metric_params: dict[str, Any] | None = None
    neighborhood: str = "fixed"
    pieces: str = "join"
    graph: Any = None
    landmarks: int | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False

    def _method(self) -> GraphMethod:
        shared = shared_fields(
            self, copies=True
        )  # copies are one point of the problem, with a mass
        asked = self.solver != "auto" or self.max_iter is not None or self.constraints == "equal"
        drawable = not asked and self.pieces == "join" and shared["rows"].has_features

        def can_draw(count: int) -> bool:
            return drawable and count > MAX_QUICK_ROWS

        def refuse(problem: Contraction) -> None:
            if self.landmarks is None and can_draw(problem.problem.n):
                refuse_minutes(problem.problem)

        return GraphMethod(
            problem=self._problem,
            rule=partial(local_rule, estimator=self),
            solver=Unfolder(
                solver=self.solver,  # type: ignore[arg-type]
                tol=self.tol,
                max_iter=self.max_iter,
                relaxation=self.relaxation,
                random_state=seed_of(self.random_state),
                callback=print_record if self.verbose else None,
            ),
            fewer_rows=FewerRows(refuse, can_draw, Argument("solver", "low_rank")),
            why_connected=(
                ". Nothing ties the pieces together, so their variance is unbounded and the "
                "problem has no answer"
            ),
            **shared,
        )

    def _problem(self, graph: Graph, count: int) -> Contraction:
        constraints: Any = self.constraints
        return mvu(graph, n_components=count, constraints=constraints, angles=self.angles)

    def _keep(self, fit: GraphFit) -> None:
        super()._keep(fit)
        found: list[tuple[Array, Any]] = [
            (rows, answer.embedding) for rows, answer in fit.parts if answer is not None
        ]
        self.unfoldings_ = tuple(unfolding for _, unfolding in found)
        n = sum(len(rows) for rows, _ in fit.parts)
        width = sum(unfolding.factor.shape[1] for _, unfolding in found)
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
        kept = sum(float(np.sum(unfolding.values)) for _, unfolding in found)
        self.variance_outside_ = max(0.0, 1 - kept / total) if total else 0.0

    def judged_points(
        self,
        graph: Graph,
        points: Any,
        *,
        tolerance: float = DEFAULT_TOLERANCE,
        sides: BothSides | None = None,
        scope: str = "",
    ) -> UnfoldingCertificate:
        """The certificate of points that are to be the leading coordinates of a graph's unfolding.

        tolerance : the largest gap that is "proved"
        sides : its factor and dual weights, without which little can be proved
        scope : which rows the graph is about, in words
        """
        certificate = rechecked_unfolding(
            graph,
            points,
            sides,
            tolerance=tolerance,
            constraints=self.constraints,  # type: ignore[arg-type]
            angles=self.angles,
            relaxation=self.relaxation,
        )
        return certificate.with_scope(scope)

    def map_of_points(self, graph: Graph, points: Array) -> OutOfSampleMap:
        """The map of new rows that follows from points of a graph."""
        return local_map(graph, points, self)

    def connections(self) -> Connections:
        """What duality says about this unfolding, Isomap, LLE and eigenmaps, as numbers."""
        check_is_fitted(self, "embedding_")
        if len(self.unfoldings_) != 1:
            raise InvalidInput(
                "the connections are those of one unfolding and this model has "
                f"{len(self.unfoldings_)}, one for each piece; use ",
                Argument("pieces", "join"),
            )
        return connections(self.unfoldings_[0], n_components=self.embedding_.shape[1])


def print_record(record: Record) -> None:
    print(
        f"[MaximumVarianceUnfolding] {record.iteration}: {record.lower:.8g} … {record.upper:.8g}, "
        f"gap {record.gap:.1e}, {record.seconds:.1f} s",
        file=sys.stderr,
    )
