"""Classical multidimensional scaling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from dualfold.arrays import Array
from dualfold.data.labels import Labels
from dualfold.embedding import Embedding, embed
from dualfold.errors import Argument, InPython, InvalidInput
from dualfold.fitting.dimension import MAX_AUTO_COMPONENTS, cut_at_eigengap
from dualfold.fitting.estimator import (
    Estimator,
    Statement,
    asked_count,
    checked_rows,
    linear_statement,
)
from dualfold.fitting.linear import normalize_signs
from dualfold.fitting.solver_choice import solver_to_last_digits
from dualfold.fitting.tiles import TiledRows, tiled_rows
from dualfold.graph.metrics import is_precomputed, metric_distances, refuse_other_width
from dualfold.maps.landmark_map import DistancesMap, Triangulation
from dualfold.maps.linear_map import LinearMap
from dualfold.methods._pca import centred_problem
from dualfold.trace.lift import ScaledVectorLift
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import with_signs
from dualfold.weights.gram import (
    centred_gram,
    mean_squares,
    refuse_asymmetry,
    small_as_float64,
    symmetrize,
)
from dualfold.weights.precision import centred_distances_error, joined_sentences, rounding_sentence


def mds(X: Any, *, n_components: int = 2) -> TraceProblem:
    """Keep the Euclidean distances between the rows of X.

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX       (D×D)
                                                  A = HXXᵀH      (n×n)

    The two have the same eigenvalues, and the scaled eigenvectors of the second are the
    projections H·X·V by those of the first: classical scaling of Euclidean distances *is* PCA.
    The smaller one is taken, or its products where both are too large. For other distances
    see `mds_of_distances`.

    Torgerson, "Multidimensional scaling: theory and method" (1952).
    """
    return centred_problem(X, n_components, 1)


def mds_of_distances(distances: Any, *, n_components: int = 2) -> TraceProblem:
    """Points whose inner products match those that the distances imply.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH,   points VΛ^½

    Minimises the strain ‖K − YYᵀ‖. Distances that no Euclidean points have give K
    negative eigenvalues; directions with λ ≤ 0 get no extent. Δ is the mean of the squares
    there and back, which differ where distances were rounded.
    """
    K = centred_gram(small_as_float64(distances))
    symmetric = symmetrize(K)
    about = joined_sentences(
        symmetric, rounding_sentence(centred_distances_error(K, 0.0, K.dtype), K, K.dtype)
    )
    return TraceProblem(K, None, n_components, "max", lift=ScaledVectorLift(), about=about)


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
    """Points whose inner products match those that the distances imply.

    A drop-in for `sklearn.manifold.ClassicalMDS`. Euclidean distances between the rows
    of X are never computed: classical scaling of them is PCA, and the smaller of the
    D×D covariance and n×n Gram matrices is all that is formed. Other distances need
    the n×n matrix.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    metric : a name or function of `sklearn.metrics.pairwise_distances`, or "precomputed"
    metric_params : further arguments of the metric

    Attributes
    ----------
    embedding_, eigenvalues_ : as in scikit-learn; a direction with λ ≤ 0 has no extent
    dissimilarity_matrix_ : computed when asked for, and not kept
    certificate_ : how far from optimal the directions can be
    negative_mass_ : Σ|λ| over negative eigenvalues as a share of all: how far the distances
        are from any points in space (0: they are Euclidean); nan where not known
    negative_mass_note_ : how the share was found, or what is known instead
    n_components_, n_components_reason_ : how many, and for "auto" why, in words

    Examples
    --------
    The distances between the corners of a rectangle of 3 by 4:

    >>> from dualfold import ClassicalMDS
    >>> distances = [[0, 3, 4, 5], [3, 0, 5, 4], [4, 5, 0, 3], [5, 4, 3, 0]]
    >>> model = ClassicalMDS(metric="precomputed").fit(distances)
    >>> print(model.eigenvalues_.round(6), model.certificate_.level)
    [16.  9.] proved
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "metric": [str, callable],
        "metric_params": [dict, None],
    }

    n_components: int | str = 2
    _: KW_ONLY
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None

    def _fit(self, X: Any, labels: Labels | None) -> None:
        n = X.shape[0]
        if self.n_components != "auto" and int(self.n_components) > n:
            raise InvalidInput(
                Argument("n_components", self.n_components),
                " asks for more coordinates than there are points, which is ",
                InPython("n_samples="),
                f"{n}; lower ",
                Argument("n_components"),
            )
        self._training = X
        if self._in_space:
            embedding = self._fit_features(X)
            self._know_nothing_negative()
        else:
            embedding = self._fit_distances(self.dissimilarity_matrix_)
        self.certificate_ = embedding.certificate
        self._place_points(embedding, X.dtype)

    def _fit_features(self, X: Any) -> Embedding:
        """PCA; the map of the features serves new points."""
        embedding = self._answer(mds(X, n_components=self._count(min(X.shape))))
        lift: Any = embedding.problem.lift
        self._map = lift.linear_map(embedding.solution.vectors, embedding.values)
        return embedding

    def _fit_tiles(self, rows: TiledRows, y: Any) -> None:
        """Euclidean distances of features alone: PCA from the tiles' scatter matrices."""
        if not self._in_space:
            raise InvalidInput(
                Argument("metric", self.metric),
                " needs the distances of all pairs of rows, and X is a table in tiles; ",
                Argument("metric", "euclidean"),
                " needs none",
            )
        moments = rows.moments()
        count = self._count(min(moments.count, rows.width))
        embedding = self._answer(replace(moments.scaled_problem(None, 1), count=count))
        lift: Any = embedding.problem.lift
        found = lift.linear_map(embedding.solution.vectors, embedding.values)
        self._map = LinearMap(found.mean, normalize_signs(found.components))
        self._know_nothing_negative()
        self.certificate_ = embedding.certificate
        kept = len(embedding.values)
        self.n_components_ = kept if self.n_components == "auto" else int(self.n_components)
        self.eigenvalues_ = np.pad(embedding.values, (0, self.n_components_ - kept))

    def _know_nothing_negative(self) -> None:
        self.negative_mass_ = 0.0
        self.negative_mass_note_ = "0: the distances are those of points in space"

    def _fit_distances(self, distances: Array) -> Embedding:
        """Eigenvectors of K = −½HΔH; column means of Δ serve new points."""
        problem = mds_of_distances(distances, n_components=self._count(len(distances)))
        embedding = self._answer(problem)
        self._mean_squares = mean_squares(distances)
        mass = negative_mass(problem.A, embedding.values)
        self.negative_mass_, self.negative_mass_note_ = mass.share, mass.note
        self._map = None
        return embedding

    def _answer(self, problem: TraceProblem) -> Embedding:
        solver = solver_to_last_digits(problem)
        found = embed(problem, solver=solver)
        embedding, self.n_components_reason_ = cut_at_eigengap(found, self.n_components)
        return embedding

    def _count(self, most: int) -> int:
        wanted = MAX_AUTO_COMPONENTS if self.n_components == "auto" else int(self.n_components)
        return min(wanted, most)

    def _place_points(self, embedding: Embedding, dtype: Any) -> None:
        """The points with signs as scikit-learn has them; coordinates past the rank are 0."""
        points, values = embedding.points, embedding.values
        signs = np.where((with_signs(points) == points).all(axis=0), 1.0, -1.0)
        if self._map is not None:
            self._map = LinearMap(self._map.mean, self._map.components * signs[:, None])
        kept = points.shape[1]
        self.n_components_ = kept if self.n_components == "auto" else int(self.n_components)
        placed = np.zeros((len(points), self.n_components_))
        placed[:, :kept] = points * signs
        self.embedding_ = placed.astype(dtype, copy=False)
        self.eigenvalues_ = np.concatenate([values, np.zeros(self.n_components_ - kept)])

    def placing_map(self) -> Callable[[Any], Array]:
        """Features: the linear map. Distances δ (squared): y = ½Λ⁻¹Yᵀ(δ̄ − δ)."""
        check_is_fitted(self)
        if self._map is not None:
            missing = self.n_components_ - len(self._map.components)
            if not missing:
                return self._map
            rows = np.pad(self._map.components, ((0, missing), (0, 0)))
            return LinearMap(self._map.mean, rows)
        real = self.eigenvalues_ > 0
        scales = np.where(real, 0.5 / np.where(real, self.eigenvalues_, 1.0), 0.0)
        place = Triangulation(self.embedding_.astype(float) * scales, self._mean_squares)
        return DistancesMap(self._to_training, place)

    def _to_training(self, X: Any) -> Array:
        """Distances from new points to the fitted ones."""
        return X if is_precomputed(self.metric) else self._distances(X, self._training)

    def _statement(self, X: Any, count: int, labels: Labels | None) -> Statement:
        if self._in_space:
            return linear_statement(mds(X, n_components=asked_count(self, count, min(X.shape))))
        distances = X if is_precomputed(self.metric) else self._distances(X, None)
        asked = asked_count(self, count, len(distances))
        return Statement(mds_of_distances(distances, n_components=asked), _no_rule)

    def inverse_transform(self, X: Any) -> Array:
        """The points nearest to the mean with those coordinates; Euclidean features only."""
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

    def _distances(self, X: Any, others: Any) -> Array:
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

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        if self._in_space:
            return super()._checked_rows(X, reset=reset)
        given = is_precomputed(self.metric)
        checked = checked_rows(self, X, reset=reset, sparse=not given)
        if given and reset:
            refuse_asymmetry(checked)
        return checked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = is_precomputed(self.metric)
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = not given
        return tags


def _no_rule(answer: Embedding) -> Any:
    raise InvalidInput(
        "points that were scaled from distances are placed by distances; no file keeps that rule"
    )
