"""Classical multidimensional scaling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from dualfold.arrays import Array, DType, Metric, Rows
from dualfold.embedding import Embedding, embed
from dualfold.errors import Argument, InPython, InvalidInput
from dualfold.graph.metrics import is_precomputed, metric_distances, refuse_other_width
from dualfold.methods._pca import centred_problem
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.dimension import MAX_AUTO_COMPONENTS, cut_at_eigengap
from dualfold.methods.fitting.estimator import (
    Estimator,
    Statement,
    asked_count,
    checked_rows,
    linear_statement,
)
from dualfold.methods.fitting.linear import normalize_signs
from dualfold.methods.fitting.solver_choice import solver_to_last_digits
from dualfold.methods.fitting.tiles import TiledRows, tiled_rows
from dualfold.methods.fitting.weighted_fit import fit_transform_with_weights, fit_with_weights
from dualfold.methods.maps.landmark_map import DistancesMap, Triangulation
from dualfold.methods.maps.linear_map import LinearMap
from dualfold.methods.parameters import Constraints
from dualfold.trace.lift import ScaledVectorLift, WeightedVectorLift
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import with_signs
from dualfold.weights.gram import (
    centre_by_masses,
    centred_gram,
    mean_squares,
    refuse_asymmetry,
    small_as_float64,
    symmetrize,
)
from dualfold.weights.precision import (
    centred_distances_error,
    joined_sentences,
    rounding_sentence,
    weighted_centring_error,
)
from dualfold.weights.row_passes import numeric_table
from dualfold.weights.row_weights import (
    counting_weights,
    present_rows,
    validated_weights,
    weighted_rows,
    weights_of_all_rows,
)


def mds(X: Any, *, n_components: int = 2, sample_weight: ArrayLike | None = None) -> TraceProblem:
    """Classical scaling of Euclidean distances between rows, as a trace problem.

    The problem is::

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX       (D×D)
                                                  A = HXXᵀH      (n×n)

    where H = I − 11ᵀ/n centres. Both matrices have the same eigenvalues, and the points are HXV:
    classical scaling of Euclidean distances is PCA. The smaller matrix is used, or its products
    where both are too large.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; sparse matrices are taken, too.
    n_components : int, default=2
        Number of coordinates.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts: then A = Σ w(x − x̄)(x − x̄)ᵀ with the weighted mean x̄.

    Returns
    -------
    TraceProblem
        The problem.

    See Also
    --------
    ClassicalMDS : The estimator.
    mds_of_distances : The same for any distances.
    pca : The same problem with the divisor n.

    Notes
    -----
    No distance is computed [1]_. The cost is that of `pca`: O(n·D·min(n, D)) operations.

    References
    ----------
    .. [1] W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika, 17(4),
       401–419, 1952.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.methods import mds
    >>> answer = embed(mds([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [4.0, 3.0]]))
    >>> print(answer.values, answer.certificate.level)
    [16.  9.] proved
    """
    data, weights = weighted_rows(numeric_table(X), sample_weight)
    return centred_problem(data, n_components, 1, weights=weights)


def mds_of_distances(
    distances: Any, *, n_components: int = 2, sample_weight: ArrayLike | None = None
) -> TraceProblem:
    """Classical scaling of given distances as a trace problem.

    The problem is::

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH,   points VΛ^½

    where Δ holds the squared distances and H = I − 11ᵀ/n centres. The points minimise the strain ‖K
    − YYᵀ‖. Where the distances between two rows differ in the two directions, Δ is the mean of
    their squares.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_samples)
        Square matrix of distances.
    n_components : int, default=2
        Number of coordinates.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts. With the masses m = w/Σw, H is I − 1mᵀ, and K has the entry
        √(w_iw_j)·K_ij: the points, VΛ^½ divided by √w, minimise Σ w_iw_j(K_ij − ⟨y_i, y_j⟩)². The
        problem is about the rows whose weight is not 0.

    Returns
    -------
    TraceProblem
        The problem.

    See Also
    --------
    ClassicalMDS : The estimator.
    mds : Euclidean distances between rows, without computing them.

    Notes
    -----
    K is a dense n×n matrix. Distances that no points in space have [1]_ give K negative
    eigenvalues; coordinates with λ ≤ 0 are 0.

    References
    ----------
    .. [1] W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika, 17(4),
       401–419, 1952.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.methods import mds_of_distances
    >>> distances = [[0, 3, 4, 5], [3, 0, 5, 4], [4, 5, 0, 3], [5, 4, 3, 0]]
    >>> print(embed(mds_of_distances(distances)).values.round(6))
    [16.  9.]
    """
    if sample_weight is not None:
        return _weighted_problem(np.asarray(distances, dtype=float), n_components, sample_weight)
    K = centred_gram(small_as_float64(distances))
    symmetric = symmetrize(K)
    about = joined_sentences(
        symmetric, rounding_sentence(centred_distances_error(K, 0.0, K.dtype), K, K.dtype)
    )
    return TraceProblem(K, None, n_components, "max", lift=ScaledVectorLift(), about=about)


def _weighted_problem(
    distances: Array, count: int, sample_weight: ArrayLike | None
) -> TraceProblem:
    """Problem with weights: √w(I − 1mᵀ)K(I − m1ᵀ)√w, which centres K again, by the masses m."""
    given = validated_weights(sample_weight, len(distances))
    weights = counting_weights(given)
    K = centred_gram(present_rows(present_rows(distances, given).T, given).T)
    symmetric = symmetrize(K)
    error = float(weights.values.max()) * centred_distances_error(K, 0.0, K.dtype)
    error += weighted_centring_error(K, weights.total)
    centre_by_masses(K, weights)
    about = joined_sentences(symmetric, rounding_sentence(error, K, K.dtype), weights.about)
    return TraceProblem(K, None, count, "max", lift=WeightedVectorLift(weights.roots), about=about)


# All eigenvalues of a matrix this large take about half a second.
MAX_SPECTRUM_ROWS = 1_500


@dataclass(frozen=True)
class NegativeMass:
    """Σ|λ| over the negative eigenvalues as a share of Σ|λ| (nan: unknown), and a word."""

    share: float
    note: str


def negative_mass(K: Array, largest: Array) -> NegativeMass:
    """The negative mass of K, without its whole spectrum where two sums decide it.

    With P and N the sums over positive and negative eigenvalues, P − N = tr K. When the
    `largest` eigenvalues have all of ‖K‖²_F = Σλ², every other one is 0. Else a small K
    is decomposed, and of a large one the bound N ≥ Σ largest − tr K is given.
    """
    trace = float(np.trace(K, dtype=float))
    left = float(np.einsum("ij,ij->", K, K, dtype=float)) - float(np.square(largest).sum())
    # ‖K‖² carries rounding of its n² terms; √ of it bounds what an eigenvalue can be.
    rounding = 64 * np.finfo(K.dtype).eps * float(np.square(largest).sum())
    if abs(left) <= rounding and not (largest < 0).any():
        return NegativeMass(0.0, "0: the coordinates have all of the norm of the matrix")
    if len(K) <= MAX_SPECTRUM_ROWS:
        values = scipy.linalg.eigvalsh(K.astype(float, copy=False))
        # Rounding of LAPACK: eigenvalues this close to 0 have no sign.
        values = values[np.abs(values) > 8 * np.finfo(K.dtype).eps * len(K) * np.abs(values).max()]
        whole = float(np.abs(values).sum())
        share = float(-values[values < 0].sum()) / whole if whole else 0.0
        return NegativeMass(share, f"{share:.3g}, from all eigenvalues")
    positive = float(largest[largest > 0].sum())
    least = max(0.0, positive - trace)
    # N/(P + N) with P = N + tr K grows with N, so the least N gives the least share.
    bound = least / (2 * least + trace) if least > 0 else 0.0
    return NegativeMass(
        float("nan"),
        f"{unknown_mass_note(len(K))}; at least {bound:.3g}",
    )


def unknown_mass_note(n: int) -> str:
    """Why the negative mass of n points is not known."""
    return f"unknown: it takes all {n} eigenvalues (done up to {MAX_SPECTRUM_ROWS})"


@dataclass(eq=False, repr=False)
class ClassicalMDS(Estimator):
    """Classical multidimensional scaling: points whose inner products fit the distances.

    A drop-in replacement for `sklearn.manifold.ClassicalMDS`. Euclidean distances between rows are
    never computed, since classical scaling of them is PCA. Other distances need their n×n matrix.

    Parameters
    ----------
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" keeps those before the widest eigengap among the first ten.
    metric : str or callable, default="euclidean"
        Distance between rows, by its name in `sklearn.metrics.pairwise_distances`; "precomputed"
        means that X is a square matrix of distances.

        A function of two rows is a metric, too.
    metric_params : dict or None, default=None
        Further arguments of the metric, by name.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the coordinates; a coordinate with λ ≤ 0 is 0 for all rows.
    certificate_ : TraceCertificate
        How far from the optimum the coordinates can be; print it.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        Distances between the fitted rows; computed when asked for, and not kept.
    negative_mass_ : float
        Share of Σ|λ| that negative eigenvalues hold: 0 if the distances are those of points in
        space; NaN where it is not known.
    negative_mass_note_ : str
        How `negative_mass_` was found, or what is known instead.
    n_components_ : int
        Number of coordinates.
    n_components_reason_ : str or None
        Why there are so many coordinates, in words; None unless `n_components="auto"`.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    PCA : The same points, from rows.
    Isomap : The same with distances along a surface.
    dualfold.methods.mds_of_distances : The problem that this estimator solves.

    Notes
    -----
    With K = −½HΔH, where Δ holds the squared distances and H = I − 11ᵀ/n centres, classical scaling
    [1]_ solves::

        maximise tr(VᵀKV)  subject to  VᵀV = I

    and its points are VΛ^½. They minimise the strain ‖K − YYᵀ‖.

    **Proof.** The certificate bounds the gap to the optimum, rounding errors included.

    **Weights.** With `fit(X, sample_weight=w)` H is I − 1wᵀ/Σw, and the points minimise
    Σ w_iw_j(K_ij − ⟨y_i, y_j⟩)². A common factor of w changes the eigenvalues, which it multiplies,
    and nothing else.

    **Cost.** Euclidean distances: O(n·D·min(n, D)) operations and one matrix of min(n, D)² numbers,
    as PCA. Other distances: O(n²·D) operations and n² numbers. `transform` with other distances
    needs those between the new and the fitted rows.

    **Failure.** Distances that no points in space have (`negative_mass_` above 0) cannot be kept.
    Large distances count most; near neighbours may be far apart on the map.

    References
    ----------
    .. [1] W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika, 17(4),
       401–419, 1952.

    Examples
    --------
    The distances between the corners of a rectangle of 3 by 4:

    >>> from dualfold import ClassicalMDS
    >>> distances = [[0, 3, 4, 5], [3, 0, 5, 4], [4, 5, 0, 3], [5, 4, 3, 0]]
    >>> model = ClassicalMDS(metric="precomputed").fit(distances)
    >>> print(model.eigenvalues_.round(6), model.certificate_.level)
    [16.  9.] proved
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "metric": [str, callable],
        "metric_params": [dict, None],
    }

    n_components: int | str = 2
    _: KW_ONLY
    metric: Metric = "euclidean"
    metric_params: dict[str, object] | None = None

    fit = fit_with_weights
    fit_transform = fit_transform_with_weights

    def _fit(self, X: Rows, context: FitContext) -> None:
        weights = context.weights
        n = X.shape[0] if weights is None else int(np.count_nonzero(weights))
        if self.n_components != "auto" and int(self.n_components) > n:
            raise InvalidInput(
                Argument("n_components", self.n_components),
                " asks for more coordinates than there are points, which is ",
                InPython("n_samples="),
                f"{n}; lower ",
                Argument("n_components"),
            )
        self._training = X
        self._weights = None if weights is None else weights_of_all_rows(weights)
        if self._in_space:
            embedding = self._fit_features(X, n, weights)
            self._know_nothing_negative()
        else:
            embedding = self._fit_distances(self.dissimilarity_matrix_, n, weights)
        self.certificate_ = embedding.certificate
        self._place_points(embedding, X.dtype)
        if weights is not None:  # rows of weight 0 are placed, too
            self.embedding_ = self.placing_map()(X).astype(X.dtype, copy=False)

    def _fit_features(self, X: Rows, n: int, weights: Array | None) -> Embedding:
        """PCA; the map of the features serves new points."""
        count = self._count(min(n, X.shape[1]))
        embedding = self._answer(mds(X, n_components=count, sample_weight=weights))
        lift: Any = embedding.problem.lift
        self._map = lift.linear_map(embedding.solution.vectors, embedding.values)
        return embedding

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        """Euclidean distances of features alone: PCA from the tiles' scatter matrices."""
        if not self._in_space:
            raise InvalidInput(
                Argument("metric", self.metric),
                " needs the distances of all pairs of rows, and X is a table in tiles; ",
                Argument("metric", "euclidean"),
                " needs none",
            )
        moments = rows.moments(context.weights)
        count = self._count(min(moments.rows, rows.width))
        embedding = self._answer(replace(moments.scaled_problem(None, 1), count=count))
        lift: Any = embedding.problem.lift
        linear = lift.linear_map(embedding.solution.vectors, embedding.values)
        self._map = LinearMap(linear.mean, normalize_signs(linear.components))
        self._know_nothing_negative()
        self.certificate_ = embedding.certificate
        kept = len(embedding.values)
        self.n_components_ = kept if self.n_components == "auto" else int(self.n_components)
        self.eigenvalues_ = np.pad(embedding.values, (0, self.n_components_ - kept))

    def _know_nothing_negative(self) -> None:
        self.negative_mass_ = 0.0
        self.negative_mass_note_ = "0: the distances are those of points in space"

    def _fit_distances(self, distances: Array, n: int, weights: Array | None) -> Embedding:
        """Eigenvectors of K = −½HΔH; column means of Δ serve new points."""
        problem = mds_of_distances(distances, n_components=self._count(n), sample_weight=weights)
        embedding = self._answer(problem)
        self._mean_squares = mean_squares(distances, self._weights)
        mass = negative_mass(problem.A, embedding.values)
        self.negative_mass_, self.negative_mass_note_ = mass.share, mass.note
        self._map = None
        return embedding

    def _answer(self, problem: TraceProblem) -> Embedding:
        solver = solver_to_last_digits(problem)
        whole = embed(problem, solver=solver)
        embedding, self.n_components_reason_ = cut_at_eigengap(whole, self.n_components)
        return embedding

    def _count(self, most: int) -> int:
        wanted = MAX_AUTO_COMPONENTS if self.n_components == "auto" else int(self.n_components)
        return min(wanted, most)

    def _place_points(self, embedding: Embedding, dtype: DType) -> None:
        """The points with signs as scikit-learn has them; coordinates past the rank are 0."""
        points, values = embedding.points, embedding.values
        signs = np.where((with_signs(points) == points).all(axis=0), 1.0, -1.0)
        if self._map is not None:
            self._map = LinearMap(self._map.mean, self._map.components * signs[:, None])
        kept = points.shape[1]
        self.n_components_ = kept if self.n_components == "auto" else int(self.n_components)
        rows = slice(None) if self._weights is None else self._weights > 0
        placed = np.zeros((self._training.shape[0], self.n_components_))
        placed[rows, :kept] = points * signs
        self.embedding_ = placed.astype(dtype, copy=False)
        self.eigenvalues_ = np.concatenate([values, np.zeros(self.n_components_ - kept)])

    def placing_map(self) -> Callable[[Rows], Array]:
        """Return the rule that places new rows.

        Euclidean distances have a linear map. Other distances δ (squared) to the fitted rows give
        the point ½Λ⁻¹Yᵀ(δ̄ − δ).

        Returns
        -------
        callable
            A function of an array of rows, or of distances to the fitted rows, that returns points.
        """
        check_is_fitted(self)
        if self._map is not None:
            missing = self.n_components_ - len(self._map.components)
            if not missing:
                return self._map
            rows = np.pad(self._map.components, ((0, missing), (0, 0)))
            return LinearMap(self._map.mean, rows)
        real = self.eigenvalues_ > 0
        scales = np.where(real, 0.5 / np.where(real, self.eigenvalues_, 1.0), 0.0)
        anchors = self.embedding_.astype(float) * scales
        if self._weights is not None:
            anchors *= self._weights[:, None]
        triangulation = Triangulation(anchors, self._mean_squares)
        return DistancesMap(self._to_training, triangulation)

    def _to_training(self, X: Rows) -> Array:
        """Distances from new points to the fitted ones."""
        given = is_precomputed(self.metric)
        return np.asarray(X) if given else self._distances(X, self._training)

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        weights = context.weights
        n = X.shape[0] if weights is None else int(np.count_nonzero(weights))
        if self._in_space:
            asked = asked_count(self, count, min(n, X.shape[1]))
            return linear_statement(mds(X, n_components=asked, sample_weight=weights))
        distances = X if is_precomputed(self.metric) else self._distances(X, None)
        asked = asked_count(self, count, n)
        problem = mds_of_distances(distances, n_components=asked, sample_weight=weights)
        return Statement(problem, _no_rule)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows whose coordinates are those of X.

        Among all such rows it is the one nearest to the mean. Only `metric="euclidean"` has a way
        back.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Points of the map.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows in the space of the data.

        Raises
        ------
        InvalidInput
            If the metric is not Euclidean.
        """
        check_is_fitted(self)
        rows = tiled_rows(X)
        if rows is not None:
            return rows.inverse_transform_with(self)
        if self._map is None:
            raise InvalidInput(
                Argument("metric", self.metric),
                " places points by distances, and no features can be read off them; only ",
                Argument("metric", "euclidean"),
                " has a way back",
            )
        points = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        kept = self._map.components.shape[0]
        return self._map.decode(points[:, :kept]).astype(points.dtype, copy=False)

    @property
    def dissimilarity_matrix_(self) -> Array:
        """The n×n distances of the fitted points."""
        if not hasattr(self, "_training"):
            raise AttributeError("dissimilarity_matrix_ is there after fit, but of tables in tiles")
        if is_precomputed(self.metric):
            return np.asarray(self._training)
        return self._distances(self._training, None)

    def _distances(self, X: Rows, others: Any) -> Array:
        params = self.metric_params or {}
        refuse_other_width(self.metric, params, X.shape[1])
        return metric_distances(X, others, self.metric, **params)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    @property
    def _in_space(self) -> bool:
        return (
            isinstance(self.metric, str) and self.metric == "euclidean" and not self.metric_params
        )

    def _checked_rows(self, X: Any, *, reset: bool) -> Rows:
        if self._in_space:
            return super()._checked_rows(X, reset=reset)
        given = is_precomputed(self.metric)
        checked = checked_rows(self, X, reset=reset, sparse=not given)
        if given and reset:
            refuse_asymmetry(checked)
        return checked

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = is_precomputed(self.metric)
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = not given
        return tags


def _no_rule(answer: Embedding) -> Any:
    raise InvalidInput(
        "points that were scaled from distances are placed by distances; no file keeps that rule"
    )
