"""Maximum variance unfolding."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array, Metric, Seed
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.graph import Graph
from dualfold.methods import parameters
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext
from dualfold.methods.fitting.graph_estimator import (
    GRAPH_CONSTRAINTS,
    GraphEstimator,
    answer_settings,
    shared_fields,
)
from dualfold.methods.fitting.graph_fit import FewerRows, GraphFit, GraphMethod
from dualfold.methods.fitting.rules import local_map, local_rule
from dualfold.methods.fitting.solver_choice import seed_of
from dualfold.methods.maps.out_of_sample import OutOfSampleMap
from dualfold.methods.parameters import GivenGraph
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
    """Maximum variance unfolding (MVU) as a semidefinite program.

    The problem is::

        maximise tr K  subject to  K ⪰ 0,  K1 = 0,  K_ii + K_jj − 2K_ij ≤ (or =) d_ij²
        on the edges;  points VΛ^½ of the leading eigenvectors of K

    where d_ij are the edge lengths.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.
    constraints : {"at_most", "equal"}, default="at_most"
        Edges are "at_most" as long as in the data, or "equal" to that.
    angles : bool, default=False
        Whether to keep the distances between neighbours of a common row, too.

    Returns
    -------
    Contraction
        The problem; `dualfold.embed` solves it. Rows at distance 0 are one point of it.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    See Also
    --------
    MaximumVarianceUnfolding : The estimator.
    dualfold.unfolding.unfold : Solves the problem of a graph.

    Notes
    -----
    A surface without holes is laid flat, and a hole is not stretched as by Isomap [1]_. The dual
    problem [2]_ has one weight for each edge. An edge that cuts across a gap ties its two sides
    together. A graph in several pieces has no answer: the pieces could move apart for ever.

    References
    ----------
    .. [1] K. Q. Weinberger and L. K. Saul, "Unsupervised learning of image manifolds by
       semidefinite programming", Proceedings of the IEEE Conference on Computer Vision and Pattern
       Recognition, 2, 988–995, 2004.
    .. [2] L. Xiao, J. Sun and S. Boyd, "A duality view of spectral methods for dimensionality
       reduction", Proceedings of the 23rd International Conference on Machine Learning, 1041–1048,
       2006.

    Examples
    --------
    A path of 6 points, one apart, has the largest variance when it is straight, 17.5:

    >>> import numpy as np
    >>> from dualfold import embed
    >>> from dualfold.graph import radius
    >>> from dualfold.methods import mvu
    >>> turn = np.linspace(0, 2, 6)
    >>> arc = np.column_stack([np.cos(turn), np.sin(turn)]) / (2 * np.sin(0.2))
    >>> answer = embed(mvu(radius(arc, 1.1), n_components=1))
    >>> print(answer.values.round(3), answer.certificate.level)
    [17.5] proved
    """
    return contraction_of(graph, constraints=constraints, angles=angles, n_components=n_components)


# This many rows are unfolded in a minute whatever their graph is.
MAX_QUICK_ROWS = 400


@dataclass(eq=False, repr=False, kw_only=True)
class MaximumVarianceUnfolding(GraphEstimator):
    """Maximum variance unfolding (MVU): spread the points as far as their edges allow.

    A semidefinite program is solved together with its dual, so that the answer comes with two
    numbers between which the optimum lies. scikit-learn has no counterpart.

    Parameters
    ----------
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" keeps those before the widest eigengap of K.

        The answer itself has as many as it needs (`factor_`); `variance_outside_` is the share that
        the others hold.
    n_neighbors : int ≥ 1 or None, default=6
        Number of nearest rows that each row is linked to; None if a `radius` is given.
    radius : float ≥ 0 or None, default=None
        Link each row to all rows within this distance, instead of a fixed number of nearest rows.
    constraints : {"at_most", "equal"}, default="at_most"
        "at_most" lets no edge become longer than in the data; "equal" keeps all edge lengths, which
        takes much longer to prove.

        Equal lengths are proved for exactly the lengths of the rows. Given distances may contradict
        each other by their rounding, and then the certificate is "unresolved".
    angles : bool, default=False
        Whether to keep the distances between neighbours of a common row, too.
    solver : {"auto", "interior_point", "landmark", "low_rank"}, default="auto"
        "interior_point" is for some thousand edges, to eight digits; "low_rank" for any number,
        fastest where the graph has small separators, as on a surface; "landmark" for any graph,
        within some percent; "auto" takes the first up to 1,000 edges, the second beyond, and
        another one where that fails.
    tol : float ≥ 0, default=1e-06
        Relative gap at which the solver stops.
    max_iter : int ≥ 1 or None, default=None
        Maximum number of iterations; None leaves it to the solver.
    relaxation : float in (0, 1) or None, default=None
        Share of d² by which equal lengths may differ: another, softer problem, as the certificate
        says. None is the problem itself.
    tolerance : float in [0, 1], default=0.0001
        Largest relative gap that the certificate calls "proved"; with a larger gap its level is
        "within".
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
    neighborhood : {"fixed", "variable"}, default="fixed"
        "fixed" gives the same number of neighbours to each row; "variable" gives fewer to rows in
        sparse places.
    pieces : {"join", "raise", "separate"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "separate" embeds each piece by itself, side by side;
        "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours of the rows of X that are known already, so that none are searched: a
        `dualfold.Graph`, a sparse matrix of edge lengths, or the lists that
        `dualfold.graph.nearest` returns. Lists are used where they are long enough and the metric
        is Euclidean; a graph replaces `n_neighbors` and `radius`.
    landmarks : int ≥ 3 or None, default=None
        Number of rows, drawn at random, that are unfolded; they place the other rows. None unfolds
        all rows, or as many as take about a minute, with a warning.

        None draws rows only with `solver="auto"`, `constraints="at_most"`, `max_iter=None` and
        `pieces="join"`.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn rows, and of the landmarks that "low_rank" and "landmark" begin with; None
        means 0, so that runs agree.
    verbose : bool or int, default=False
        Whether to print each stage and its seconds to standard error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of K for the coordinates.
    factor_ : ndarray of shape (n_unfolded, rank)
        F with K = FFᵀ, for the rows that were unfolded.
    dual_weights_ : sparse matrix of shape (n_unfolded, n_unfolded)
        Dual weights of the edges, symmetric.
    certificate_ : UnfoldingCertificate or PiecewiseCertificate
        Both bounds (`lower`, `upper`), the gap between them, and the optimality conditions; print
        it.
    solver_ : str
        Name of the solver whose answer this is.
    unfoldings_ : tuple of Unfolding
        The unfolding of each piece, the largest first.
    history_ : tuple of Record
        One record for each iteration.
    n_iter_ : int
        Number of iterations.
    variance_outside_ : float
        Share of tr K that is not in `embedding_`.
    graph_ : Graph
        The neighbour graph that was embedded, with the edges that joined its pieces.
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
    nbrs_ : sklearn.neighbors.NearestNeighbors
        Neighbour search over the fitted rows, made when it is asked for.
    n_components_reason_ : str
        Why there are so many coordinates, in words; only with `n_components="auto"`.
    landmarks_ : ndarray of int or None
        The rows that were drawn as landmarks; None if all rows were used.
    rows_ : ndarray of int or None
        The rows that the problem is about; None for all rows.
    left_out_ : ndarray of int
        Empty: no row is left out for being far away.
    landmark_rows_ : ndarray of int
        The rows that were fitted; only for tables in tiles (`dualfold.scale`).
    placing_cost_ : PlacingCost or None
        What it costs that the fitted rows place all others, measured on held-out rows; only for
        tables in tiles.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    Isomap : Keeps shortest-path distances.
    dualfold.unfolding.unfold : The unfolding of a graph.
    dualfold.methods.mvu : The problem that this estimator solves.

    Notes
    -----
    With edge lengths d_ij, unfolding [1]_ solves the first problem and its dual [2]_::

        maximise tr K          K ⪰ 0,  K1 = 0,  K_ii + K_jj − 2K_ij ≤ d_ij² on edges
        minimise Σ w_ij d_ij²  w ≥ 0,  λ₂(L(w)) ≥ 1

    and the points are the leading coordinates of K. `transform` places new rows by local weights.

    **Proof.** The points, scaled into their edges, give a lower bound of the largest variance, and
    the dual weights, with a proved λ₂, an upper one; both include rounding errors. The level is
    "proved" where they differ by at most `tolerance`, else "within".

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). For m edges "interior_point" takes
    O(m³) operations a step and O(m²) memory; "low_rank" a sparse factorisation a step, or some
    hundred products with a sparse matrix; "landmark" O(n·l) memory for l landmarks. Many rows
    without a shape of few dimensions are unfolded by a sample only (`landmarks`).

    **Failure.** An edge that cuts across a gap ties its two sides together. Images and other rows
    whose graph has no small separators take longer: minutes from 10,000 rows on. Coordinates
    beyond `n_components` may hold much of the variance: see `variance_outside_`.

    References
    ----------
    .. [1] K. Q. Weinberger and L. K. Saul, "Unsupervised learning of image manifolds by
       semidefinite programming", Proceedings of the IEEE Conference on Computer Vision and Pattern
       Recognition, 2, 988–995, 2004.
    .. [2] L. Xiao, J. Sun and S. Boyd, "A duality view of spectral methods for dimensionality
       reduction", Proceedings of the 23rd International Conference on Machine Learning, 1041–1048,
       2006.

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

    _parameter_constraints: ClassVar[parameters.Constraints] = {
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
    metric: Metric = "minkowski"
    p: float = 2
    metric_params: dict[str, object] | None = None
    neighborhood: str = "fixed"
    pieces: str = "join"
    graph: GivenGraph = None
    landmarks: int | None = None
    n_jobs: int | None = None
    random_state: Seed = None
    verbose: bool = False

    def _method(self, context: FitContext = NO_CONTEXT) -> GraphMethod:
        shared = shared_fields(
            self, context, copies=True
        )  # copies are one point of the problem, with a mass
        asked = self.solver != "auto" or self.max_iter is not None or self.constraints == "equal"
        drawable = not asked and self.pieces == "join" and shared["rows"].has_features

        def can_draw(count: int) -> bool:
            return drawable and count > MAX_QUICK_ROWS

        def refuse(problem: Contraction) -> None:
            if self.landmarks is None and can_draw(problem.problem.n):
                refuse_minutes(problem.problem)

        solver = Unfolder(
            solver=self.solver,  # type: ignore[arg-type]
            tol=self.tol,
            max_iter=self.max_iter,
            relaxation=self.relaxation,
            random_state=seed_of(self.random_state),
            callback=print_record if self.verbose else None,
        )
        return GraphMethod(
            problem=self._problem,
            rule=partial(local_rule, estimator=self),
            answer=answer_settings(self, solver),
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
        embedded: list[tuple[Array, Any]] = [
            (rows, answer.embedding) for rows, answer in fit.parts if answer is not None
        ]
        self.unfoldings_ = tuple(unfolding for _, unfolding in embedded)
        n = sum(len(rows) for rows, _ in fit.parts)
        width = sum(unfolding.factor.shape[1] for _, unfolding in embedded)
        # Pieces know nothing of each other: each has columns of its own.
        self.factor_, start = np.zeros((n, width)), 0
        entries = [(np.zeros(0), np.zeros(0, int), np.zeros(0, int))]
        for rows, unfolding in embedded:
            end = start + unfolding.factor.shape[1]
            self.factor_[rows, start:end], start = unfolding.factor, end
            entries_of_piece: Any = unfolding.weights.tocoo()
            entries.append(
                (entries_of_piece.data, rows[entries_of_piece.row], rows[entries_of_piece.col])
            )
        data, first, second = map(np.concatenate, zip(*entries, strict=True))
        self.dual_weights_ = sp.csr_array(sp.coo_array((data, (first, second)), shape=(n, n)))
        self.history_ = tuple(record for _, u in embedded for record in u.solution.history)
        self.n_iter_ = max([1, *(len(u.solution.history) - 1 for _, u in embedded)])
        self.solver_ = embedded[0][1].solution.solver if embedded else "nothing to unfold"
        total = float(np.sum(self.factor_**2))
        kept = sum(float(np.sum(unfolding.values)) for _, unfolding in embedded)
        self.variance_outside_ = max(0.0, 1 - kept / total) if total else 0.0

    def judged_points(
        self,
        graph: Graph,
        points: ArrayLike,
        *,
        tolerance: float = DEFAULT_TOLERANCE,
        sides: BothSides | None = None,
        scope: str = "",
    ) -> UnfoldingCertificate:
        """Certify points as the leading coordinates of a graph's unfolding.

        It does not matter how the points were found.

        Parameters
        ----------
        graph : Graph
            Neighbour graph in one piece.
        points : array-like of shape (n_samples, n_components)
            Points to certify.
        tolerance : float, default=0.0001
            Largest relative gap that is "proved".
        sides : BothSides or None, default=None
            Factor and dual weights, without which little can be proved.
        scope : str, default=""
            Which rows the graph is about, in words.

        Returns
        -------
        UnfoldingCertificate
            The certificate.
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
        """Return the rule for new rows that follows from the points of a graph.

        Parameters
        ----------
        graph : Graph
            Neighbour graph.
        points : ndarray of shape (n_samples, n_components)
            Points of its rows.

        Returns
        -------
        OutOfSampleMap
            New rows by local weights of their neighbours.
        """
        return local_map(graph, points, self)

    def connections(self) -> Connections:
        """Return what duality says about this unfolding, Isomap, LLE and eigenmaps.

        Returns
        -------
        Connections
            The relations between the four methods, as numbers.

        Raises
        ------
        InvalidInput
            If the graph was embedded in several pieces.
        """
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
