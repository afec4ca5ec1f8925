"""scikit-learn's SpectralEmbedding, certified."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import Tags, check_symmetric
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array, Rows, Seed
from dualfold.embedding import embed
from dualfold.errors import Argument, DualfoldWarning, InvalidInput, RowNumbers, warn
from dualfold.graph import nearest
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import (
    CallbackSupportMixin,
    Estimator,
    Statement,
    fit_any_table,
    fit_stage,
)
from dualfold.methods.fitting.solver_choice import solver_named
from dualfold.methods.parameters import Constraints
from dualfold.trace.problem import TraceProblem


@dataclass(eq=False, repr=False)
class SpectralEmbedding(CallbackSupportMixin, BaseEstimator):
    """Spectral embedding as scikit-learn has it, with eigenvalues and a certificate.

    A drop-in replacement for `sklearn.manifold.SpectralEmbedding`, with the same affinities (½(A +
    Aᵀ), self-loops included), parameters and coordinates. A graph in several pieces is embedded as
    it is, with scikit-learn's warning, and new rows are not placed: `LaplacianEigenmaps` does
    better at both.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of coordinates.
    affinity : callable or {"nearest_neighbors", "precomputed", "precomputed_nearest_neighbors", \
            "rbf"}, default="nearest_neighbors"
        "nearest_neighbors" links each row to its nearest ones; "rbf" is exp(−gamma·‖x − y‖²)
        between all rows.

        "precomputed" means that X is a matrix of affinities, "precomputed_nearest_neighbors" that X
        is a sparse matrix of distances to neighbours; a function of X returns the affinities.
    gamma : float ≥ 0 or None, default=None
        Factor gamma of rbf affinities; None is 1/n_features.
    random_state : int, RandomState instance or None, default=None
        Ignored; the result does not depend on it.
    eigen_solver : {"amg", "arpack", "lobpcg"} or None, default=None
        Ignored; the solver is chosen by the predicted work.
    eigen_tol : float ≥ 0 or "auto", default="auto"
        Relative residual at which the solver stops; "auto" is 1e-10.
    n_neighbors : int ≥ 1 or None, default=None
        Number of nearest neighbours, the row itself among them; None is a tenth of the rows.
    n_jobs : int or None, default=None
        Number of threads of the neighbour search; None uses all cores.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    affinity_matrix_ : ndarray or sparse matrix of shape (n_samples, n_samples)
        The affinities.
    n_neighbors_ : int
        Number of neighbours; only with `affinity="nearest_neighbors"`.
    gamma_ : float
        Factor gamma; only with `affinity="rbf"`.
    eigenvalues_ : ndarray of shape (n_components,)
        Value of the problem for each coordinate.
    certificate_ : TraceCertificate
        How far from the optimum the points can be; print it.
    n_connected_components_ : int
        Number of pieces of the graph.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    LaplacianEigenmaps : The same method, which joins pieces and places new rows.

    Notes
    -----
    With the affinities W and L = Deg − W, spectral embedding [1]_ solves::

        minimise tr(VᵀLV)  subject to  VᵀDegV = I,  VᵀDeg1 = 0

    and the points are V.

    **Proof.** The certificate bounds the gap to the optimum from the eigenvectors and a count of
    the eigenvalues below them (the signs of the pivots of a factorisation). It is proved, rounding
    errors included; for graphs that are too large to factorise it is "measured": true except with a
    stated probability.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). With "rbf" the affinities are a
    dense n×n matrix. The eigenvectors come from a sparse factorisation where the graph has small
    separators (about O(n^1.5) operations and O(n log n) memory for rows on a surface), else from
    products with the sparse matrix, O(n·k) each for k neighbours.

    **Failure.** A graph in several pieces gives coordinates that are constant on each piece. The
    default number of neighbours, a tenth of the rows, is large for large tables.

    References
    ----------
    .. [1] U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing, 17(4),
       395–416, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import SpectralEmbedding
    >>> turn = np.arange(12) * np.pi / 6
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> model = SpectralEmbedding(n_neighbors=3).fit(ring)
    >>> print(model.eigenvalues_.round(4), model.certificate_.level)
    [0.134 0.134] proved
    """

    _accepts_sparse: ClassVar[bool] = True
    _instead_of_tiles: ClassVar[str] = (
        "LaplacianEigenmaps reads tiles: it embeds some rows, which place the others"
    )
    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "affinity": [
            StrOptions(
                {"nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"}
            ),
            callable,
        ],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
        "eigen_solver": [StrOptions({"arpack", "lobpcg", "amg"}), None],
        "eigen_tol": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [None, Integral],
    }

    n_components: int = 2
    _: KW_ONLY
    affinity: Any = "nearest_neighbors"
    gamma: float | None = None
    random_state: Seed = None
    eigen_solver: str | None = None
    eigen_tol: Any = "auto"
    n_neighbors: int | None = None
    n_jobs: int | None = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed, or affinities, as `affinity` says.
        y : object, default=None
            Ignored.

        Returns
        -------
        Self
            The fitted estimator.
        """
        fit_any_table(self, X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Embed the rows of X and return their points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed, or affinities, as `affinity` says.
        y : object, default=None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The points.
        """
        return np.asarray(self.fit(X).embedding_)

    verbose: ClassVar[bool] = False
    supervised: ClassVar[bool] = False
    plot = Estimator.plot
    statement = Estimator.statement
    _checked_rows = Estimator._checked_rows
    _fit_tiles = Estimator._fit_tiles
    _uses_labels = Estimator._uses_labels

    def _fit(self, X: Rows, context: FitContext) -> None:
        with fit_stage(self, "affinities"):
            W = self.affinity_matrix_ = self._affinities(X)
        problem, pieces = _problem_of_affinities(W, self.n_components)
        self.n_connected_components_ = pieces
        if pieces > 1:
            warn(
                DualfoldWarning(
                    "Graph is not fully connected, spectral embedding may not work as expected."
                )
            )
        # Drop-ins are compared by digits: tighter than the default.
        tol = 1e-10 if self.eigen_tol == "auto" else float(self.eigen_tol)
        with fit_stage(self, "solution and certificate"):
            embedding = embed(problem, solver=solver_named("auto", tol))
        self.embedding_ = embedding.points.astype(X.dtype)
        self.eigenvalues_ = embedding.values
        self.certificate_ = embedding.certificate

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        problem, _ = _problem_of_affinities(self._affinities(X), self.n_components)
        return Statement(problem, _refuse_new_rows)

    def _affinities(self, X: Rows) -> Any:
        if callable(self.affinity):
            return _given_affinities(self.affinity(X), X.shape[0])
        if self.affinity == "precomputed":
            return check_symmetric(X)  # averages with its transpose and warns, as scikit-learn does
        if self.affinity == "nearest_neighbors" and sp.issparse(X):
            warn(
                UserWarning(
                    "Nearest neighbors affinity currently does not support sparse input, "
                    "falling back to rbf affinity"
                )
            )
            self.affinity = "rbf"
        if self.affinity == "rbf":
            from sklearn.metrics.pairwise import rbf_kernel

            self.gamma_ = self.gamma if self.gamma is not None else 1.0 / X.shape[1]
            return rbf_kernel(X, gamma=self.gamma_)
        return self._neighbor_affinities(X)

    def _neighbor_affinities(self, X: Rows) -> sp.csr_matrix:
        """½(A + Aᵀ) of each point's nearest neighbours, itself among them."""
        n = X.shape[0]
        chosen = self.n_neighbors if self.n_neighbors is not None else max(n // 10, 1)
        if self.affinity == "precomputed_nearest_neighbors":
            from sklearn.neighbors import NearestNeighbors

            finder = NearestNeighbors(n_neighbors=self.n_neighbors, metric="precomputed").fit(X)
            A = finder.kneighbors_graph(X=X, mode="connectivity")
            return 0.5 * (A + A.T)
        self.n_neighbors_ = chosen
        listed = np.arange(n)[:, None]
        if chosen > 1:
            others = nearest(X, chosen - 1, n_jobs=self.n_jobs).indices
            listed = np.hstack([listed, others])
        indptr = np.arange(0, n * chosen + 1, chosen)
        A = sp.csr_matrix((np.ones(n * chosen, X.dtype), listed.ravel(), indptr), shape=(n, n))
        return 0.5 * (A + A.T)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity in (
            "precomputed",
            "precomputed_nearest_neighbors",
        )
        return tags


def _given_affinities(W: Any, n: int) -> Any:
    """Affinities from a function of the user's; refused unless they are finite numbers."""
    numbers = W.data if sp.issparse(W) else np.asarray(W)
    if np.shape(W) != (n, n) or numbers.dtype.kind not in "fiub" or not np.isfinite(numbers).all():
        raise InvalidInput(
            Argument("affinity"),
            f" must return {n}×{n} finite numbers, a row and a column for each row of X; it "
            f"returned a {type(W).__name__} of shape {np.shape(W)}",
        )
    return W


def _refuse_new_rows(answer: Any) -> Any:
    raise InvalidInput(
        "SpectralEmbedding places no new points; LaplacianEigenmaps does, and is the same "
        "method with another choice of weights"
    )


def _problem_of_affinities(W: Any, count: int) -> tuple[TraceProblem, int]:
    """min tr(VᵀLV), VᵀDegV = I, Vᵀ Deg 1 = 0 for given affinities; and how many pieces."""
    W = sp.csr_array(W, dtype=float)
    W = sp.csr_array(W - sp.diags_array(W.diagonal()))  # a self-loop moves nothing
    W.eliminate_zeros()
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if (degrees < 0).any():
        row = int(np.argmin(degrees))
        raise InvalidInput(
            Argument("affinity"),
            ": those of ",
            RowNumbers(row),
            f" add up to {degrees[row]:.3g}; they are "
            "likenesses and must be 0 or more, so turn distances or correlations into such first, "
            "as exp(−d²) or 1 + r",
        )
    laplacian = sp.csr_array(sp.diags_array(degrees) - W)
    pieces = int(connected_components(W, directed=False)[0])
    degrees[degrees == 0] = 1.0  # a lone point, as scikit-learn has it
    if W.nnz > W.shape[0] ** 2 // 4:
        laplacian = laplacian.toarray()
    return TraceProblem(laplacian, degrees, count, "min", excluded=np.ones(W.shape[0])), pieces
