"""Isomap, of all points and of landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.fitting.graph_estimator import (
    GRAPH_CONSTRAINTS,
    GraphEstimator,
    eigen_solver,
    shared_fields,
)
from dualfold.fitting.graph_fit import GraphMethod
from dualfold.fitting.solver_choice import seed_of
from dualfold.graph.geodesics import (
    farthest_points,
    geodesic_distances,
    geodesic_kind,
    geodesic_rounding,
    landmarks_at,
)
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece, separate
from dualfold.maps.landmark_map import GeodesicMap, LandmarkLift
from dualfold.methods._mds import (
    MAX_SPECTRUM_ROWS,
    NegativeMass,
    negative_mass,
    unknown_mass_note,
)
from dualfold.trace.lift import ScaledVectorLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.gram import MAX_FLOAT64_ROWS, centred_gram
from dualfold.weights.precision import centred_distances_error, joined_sentences, rounding_sentence

# Up to this many points all geodesics are kept.
MAX_EXACT_ROWS = 10_000


def isomap(graph: Graph, *, n_components: int = 2, dtype: Any = None) -> TraceProblem:
    """Keep the distances along the sheet that the points lie on.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH,   points VΛ^½

    Δ holds the squared lengths of the shortest paths in the graph. A sheet that can be
    laid flat without stretching, with a convex outline, is recovered. Fails where one
    edge cuts across a gap (too many neighbours), around holes, which are blown up, and
    on surfaces such as a sphere that no plane can hold: K then has negative or many
    large eigenvalues. K is one n×n matrix, the only one made, of `dtype`: None is float64 up
    to 4,000 points and float32, half the memory, beyond. What float32 rounds is said by the
    certificate.

    Tenenbaum, de Silva and Langford, "A global geometric framework for nonlinear
    dimensionality reduction" (2000).
    """
    dtype = dtype or (np.float64 if graph.n <= MAX_FLOAT64_ROWS else geodesic_kind(graph))
    distances = geodesic_distances(one_piece(graph), dtype=dtype)
    K = centred_gram(distances, out=distances)
    error = centred_distances_error(K, geodesic_rounding(graph, dtype), K.dtype)
    about = rounding_sentence(error, K, K.dtype)
    return TraceProblem(K, None, n_components, "max", lift=ScaledVectorLift(), about=about)


def landmark_count(n: int) -> int | None:
    """How many landmarks stand for n points; None while all of them are cheap.

    All up to 10,000 (400 MB of float32, seconds); beyond, 2√n of them between 200 and
    1,000, and no more than fill 2 GiB with their geodesics.
    """
    if n <= MAX_EXACT_ROWS:
        return None
    return min(1_000, max(200, int(2 * n**0.5)), 2**29 // n)


def landmark_isomap(graph: Graph, landmarks: Any, *, n_components: int = 2) -> TraceProblem:
    """Isomap of some points, and every other point by its distances to them.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH over the m landmarks,
        points ½Λ^-½Vᵀ(δ̄ − δ_x)

    `landmarks` are row numbers, or what `farthest_points(graph, m)` returned, which
    brings the geodesics along. Memory is m·n. A certificate is about the m×m problem:
    it says nothing about how well m landmarks stand for n points. With every point a
    landmark this is `isomap`.

    de Silva and Tenenbaum, "Global versus local methods in nonlinear dimensionality
    reduction" (2003).
    """
    chosen = landmarks_at(one_piece(graph), landmarks)
    between = chosen.distances[:, chosen.indices].astype(float)
    K = centred_gram((between + between.T) / 2)
    kind = chosen.distances.dtype
    error = centred_distances_error(K, geodesic_rounding(graph, kind), K.dtype)
    about = joined_sentences(
        f"the {len(chosen.indices)} landmarks; the other points are placed by them",
        rounding_sentence(error, K, kind),
    )
    return TraceProblem(K, None, n_components, "max", lift=LandmarkLift(chosen), about=about)


def isomap_problem(
    graph: Graph, n_components: int, *, landmarks: int | str | None, seed: int = 0
) -> TraceProblem:
    """`isomap` or `landmark_isomap`, as `landmarks` says: "auto" by the number of points."""
    count = landmark_count(graph.n) if landmarks == "auto" else landmarks
    if count is None or int(count) >= graph.n:
        return isomap(graph, n_components=n_components)
    corners = farthest_points(graph, max(int(count), n_components + 1), random_state=seed)
    return landmark_isomap(graph, corners, n_components=n_components)


def geodesic_rule(graph: Graph, embedding: Embedding) -> GeodesicMap:
    """New rows by their geodesics to the landmarks, or to all points."""
    return GeodesicMap.of(graph, embedding.problem, embedding.solution.vectors, embedding.values)


@dataclass(eq=False, repr=False, kw_only=True)
class Isomap(GraphEstimator):
    """Keep the distances along the sheet that the points lie on.

    A drop-in for `sklearn.manifold.Isomap`, with landmarks, a choice of neighbourhoods, and a
    certificate. `path_method`, `max_iter` and `neighbors_algorithm` are accepted and chosen by
    us; see `dualfold.methods.isomap` for the problem it solves.

    Parameters
    ----------
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    n_components : int, or "auto": up to the widest eigengap among the first ten
    landmarks : "auto" (exact up to 10,000 points, about 2√n landmarks beyond), None (exact), or
        a number of landmarks, chosen one by one as the farthest from those before
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    metric : by its name in scikit-learn, or "precomputed": X is a square matrix of distances
    p, metric_params : of the metric, as in scikit-learn's neighbours
    pieces : what happens to a graph in several pieces: "join" by the shortest links (with a
        warning), "separate" (each on its own, side by side) or "raise" an error
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius; or the lists of `graph.nearest(X, …)`,
        so that they are not searched again
    eigen_solver : how eigenvectors are found; "arpack" is "lanczos"
    tol : of the solver's residuals, if between 0 and 1e-6; else the default, 1e-6
    random_state : of the solver's start, and of the first landmark
    n_jobs : threads (None: all cores)
    verbose : print each stage and its seconds to standard error

    Attributes
    ----------
    embedding_ : the points, n_samples × n_components
    eigenvalues_ : the value of the problem for each coordinate
    certificate_ : how far from optimal the points can be; print it
    graph_ : the `Graph` that was embedded, links that joined pieces included
    n_connected_components_ : in how many pieces it was before
    n_components_reason_ : why so many, in words, where n_components was "auto"
    nbrs_ : scikit-learn's NearestNeighbors of the data, made when asked for
    dist_matrix_ : the n×n geodesic distances, computed when asked for and not kept
    residual_variance_ : 1 − R² between geodesic and embedded distances
    negative_mass_ : Σ|λ| over the negative eigenvalues of K as a share of all, computed when asked
        for: how far the geodesics are from distances of points in space; NaN beyond 1,500 rows
    negative_mass_note_ : how the share was found, or why it is not known
    landmark_rows_, placing_cost_ : of tables in tiles (`dualfold.scale`): the rows that were
        fitted, and what it costs that they place the others

    Examples
    --------
    >>> from dualfold import Isomap
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(500, random_state=0).points
    >>> model = Isomap(n_neighbors=8).fit(X)
    >>> model.certificate_.level, round(model.residual_variance_, 3)
    ('proved', 0.001)
    >>> model.transform(X[:3]).shape
    (3, 2)
    """

    embeds_some_rows: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = GRAPH_CONSTRAINTS | {
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "path_method": [StrOptions({"auto", "FW", "D"})],
        "neighbors_algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree"})],
        "landmarks": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
    }

    n_neighbors: int | None = 5
    radius: float | None = None
    n_components: int | str = 2
    eigen_solver: str = "auto"
    tol: float = 0
    max_iter: int | None = None
    path_method: str = "auto"
    neighbors_algorithm: str = "auto"
    n_jobs: int | None = None
    metric: Any = "minkowski"
    p: float = 2
    metric_params: dict[str, Any] | None = None
    landmarks: int | str | None = "auto"
    neighborhood: str = "fixed"
    pieces: str = "join"
    random_state: Any = None
    graph: Any = None
    verbose: bool = False

    def _method(self) -> GraphMethod:
        seed = seed_of(self.random_state)
        return GraphMethod(
            problem=partial(isomap_problem, landmarks=self.landmarks, seed=seed),
            rule=geodesic_rule,
            solver=eigen_solver(self),
            **shared_fields(self, some_rows=False),
        )

    @property
    def dist_matrix_(self) -> Array:
        """The geodesic distances between all points, computed when asked for."""
        check_is_fitted(self, "graph_")
        kind = self.embedding_.dtype
        return geodesic_distances(self.graph_, dtype=kind, n_jobs=self.n_jobs)

    @property
    def residual_variance_(self) -> float:
        """1 − R² between geodesic and embedded distances."""
        from dualfold.quality.pair_measures import residual_variance

        check_is_fitted(self, "graph_")
        return float(residual_variance(self.graph_, self.embedding_))

    @property
    def negative_mass_(self) -> float:
        """Σ|λ| over the negative eigenvalues of K as a share of Σ|λ|; NaN where it is not known."""
        return self._negative_mass().share

    @property
    def negative_mass_note_(self) -> str:
        """How `negative_mass_` was found, or why it is not known."""
        return self._negative_mass().note

    def _negative_mass(self) -> NegativeMass:
        check_is_fitted(self, "graph_")
        n = self.graph_.n
        if n > MAX_SPECTRUM_ROWS:
            return NegativeMass(np.nan, unknown_mass_note(n))
        grams = [
            centred_gram(geodesic_distances(piece, dtype=np.float64, n_jobs=self.n_jobs))
            for _, piece in separate(self.graph_)
        ]
        return negative_mass(scipy.linalg.block_diag(*grams), np.zeros(0))

    def reconstruction_error(self) -> float:
        """‖K − YYᵀ‖/n, K the double-centred squared geodesics (scikit-learn's measure)."""
        K = centred_gram(self.dist_matrix_.astype(float))
        total = float(np.einsum("ij,ij->", K, K)) - float(np.sum(self.eigenvalues_**2))
        return float(np.sqrt(max(total, 0.0))) / len(K)
