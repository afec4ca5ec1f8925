"""Laplacian eigenmaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.errors import InvalidInput
from dualfold.fitting.coordinates import CoordinateSettings, eigenvalue_scale
from dualfold.fitting.graph_estimator import (
    LEFT_OUT_CONSTRAINTS,
    GraphEstimator,
    eigen_solver,
    shared_fields,
)
from dualfold.fitting.graph_fit import GraphMethod
from dualfold.fitting.rules import near_mean, nystrom_rule
from dualfold.graph import from_affinities
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.maps.attraction_map import AttractionMap
from dualfold.trace.lift import DiffusionLift, Scale
from dualfold.trace.problem import TraceProblem
from dualfold.weights.affinity import Weights, affinity, weighted_laplacian

Constraint = Literal["degree", "identity"]


def eigenmaps(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    constraint: Constraint = "degree",
) -> TraceProblem:
    """Keep neighbours close, near ones most.

        minimise tr(VᵀLV)  subject to  VᵀDegV = I,  VᵀDeg1 = 0      ("degree": Lv = λ·Deg·v)
                                       VᵀV = I,     Vᵀ1 = 0         ("identity": Lv = λv)

    `constraint` chooses between them: "degree" is Belkin and Niyogi's normalised map, "identity"
    is LE of Tucker's paper (Proposition 3.2). L = Deg − W with weights W by "heat"
    (exp(−‖x_i − x_j‖²/width²); the default width is the root mean square edge length),
    "adaptive" (a width at each point, the default of the estimator: outliers keep their edges),
    "binary", "density" (widths that follow the local density) or "precomputed" (those of
    `graph.from_affinities`). With "identity", Tucker's ALE is
    density on fixed neighbourhoods, VLE heat on variable ones, and his fourth algorithm density on
    variable ones. The graph is one piece here: pieces are joined or embedded one by
    one before, else all but one of them would collapse to points. A long strip gives
    harmonics of its long direction first: coordinates 1 and 2 then lie on a curve. That is
    the method, not the solver.

    Belkin and Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
    representation" (2003); Tucker, "Dimensionality reduction and the Fenchel game", §3.
    """
    laplacian, degrees = weighted_laplacian(one_piece(graph), weights=weights, width=width)
    B = degrees if constraint == "degree" else None
    return TraceProblem(laplacian, B, n_components, "min", excluded=np.ones(graph.n))


def eigenmaps_problem(
    graph: Graph,
    n_components: int,
    *,
    weights: Weights,
    width: float | None,
    constraint: Constraint,
    time: float | None,
) -> TraceProblem:
    """`eigenmaps`, with coordinates after a `time` of diffusion where one is given."""
    problem = eigenmaps(
        graph, n_components=n_components, weights=weights, width=width, constraint=constraint
    )
    return problem if time is None else replace(problem, lift=DiffusionLift(time))


def diffused_scale(time: float) -> Callable[[Graph, TraceProblem], DiffusionLift]:
    """The scale of coordinates after a `time` of diffusion."""
    return lambda graph, problem: DiffusionLift(time)


@dataclass(eq=False, repr=False)
class LaplacianEigenmaps(GraphEstimator):
    """Keep neighbours close, near ones most.

    With its defaults Belkin and Niyogi's, Lv = λ·Deg·v; `LaplacianEigenmaps.named("LE")`, "VLE",
    "ALE" and "VALE" are those of Tucker's paper, Lv = λv. `dualfold.methods.eigenmaps` states both.

    Parameters
    ----------
    n_components : int or "auto" (the widest eigengap among the first ten)
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    weights : "adaptive" (each point has a width of its own), "heat" (one width for all), "binary",
        "density" (scaled by the local density), or "precomputed": X is then a square matrix of
        affinities
    width : kernel width of heat weights; None is the root mean square edge length, or more where
        the longest edge would weigh nothing
    constraint : "degree" (normalised, Lv = λ·Deg·v: Belkin and Niyogi's) or "identity" (Lv = λv:
        Tucker's)
    coordinates : "first" eigenvectors, or "independent" ones: those among the first 6 (20, 50 where
        these are overtones) that keep most neighbours, scaled by 1/√λ; or a list of
        their numbers, from 0
    diffusion_time : t scales coordinate k by (1 − λ_k)^t, as `DiffusionMaps` does; None is 0
    metric : by its name in scikit-learn, or "precomputed": X is a square matrix of distances
    p, metric_params : of the metric, as in scikit-learn's neighbours
    pieces : what happens to a graph in several pieces: "join" by the shortest links (with a
        warning), "separate" (each on its own, side by side) or "raise" an error
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius; or the lists of `graph.nearest(X, …)`,
        so that they are not searched again
    left_out : rows that are no part of the problem and are placed as new ones are; None looks
        for small groups that hang on the others by so little that they would rule a coordinate,
        () keeps all rows in
    eigen_solver : how eigenvectors are found; "arpack" is "lanczos"
    tol : of the solver's residuals, if between 0 and 1e-6; else the default, 1e-6
    random_state : of the solver's start
    n_jobs : threads (None: all cores)
    verbose : print each stage and its seconds to standard error

    Attributes
    ----------
    embedding_ : the points, n_samples × n_components
    eigenvalues_ : the value of the problem for each coordinate
    certificate_ : how far from optimal the points can be; print it
    coordinates_ : the numbers, from 0, of the eigenvectors that are the coordinates
    graph_ : the `Graph` that was embedded, links that joined pieces included
    n_connected_components_ : in how many pieces it was before
    left_out_, rows_ : the rows left out of the problem, and those that are in it (None: all)
    landmarks_ : None, since all rows that are in the problem make the graph
    n_components_reason_ : why so many, in words, where n_components was "auto"
    nbrs_ : scikit-learn's NearestNeighbors of the data, made when asked for
    landmark_rows_, placing_cost_ : of tables in tiles (`dualfold.scale`): the rows that were
        fitted, and what it costs that they place the others

    Examples
    --------
    A ring of 12 points, each linked to the next, has the eigenvalue 1 − cos 30° twice:

    >>> import numpy as np
    >>> from dualfold import LaplacianEigenmaps
    >>> turn = np.arange(12) * np.pi / 6
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> model = LaplacianEigenmaps(n_neighbors=2, weights="binary").fit(ring)
    >>> print(model.eigenvalues_.round(4), model.certificate_.level)
    [0.134 0.134] proved
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = LEFT_OUT_CONSTRAINTS | {
        "weights": [StrOptions({"adaptive", "heat", "binary", "density", "precomputed"})],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "constraint": [StrOptions({"degree", "identity"})],
        "diffusion_time": [Interval(Real, 0, None, closed="left"), None],
    }

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    weights: str = "adaptive"
    width: float | None = None
    constraint: str = "degree"
    diffusion_time: float | None = None
    coordinates: Any = "first"
    metric: Any = "minkowski"
    p: float = 2
    metric_params: dict[str, Any] | None = None
    pieces: str = "join"
    eigen_solver: str = "auto"
    tol: float = 0.0
    random_state: Any = None
    n_jobs: int | None = None
    graph: Any = None
    left_out: Any = None
    verbose: bool = False

    @classmethod
    def named(cls, name: str, **others: Any) -> Self:
        """Tucker's algorithms with the paper's numbers of neighbours, and their normalised forms.

        "LE" (fixed 10, heat), "ALE" (fixed 20, density), "VLE" (variable 18, heat), "VALE"
        (variable 18, density): the paper names the first three and describes the last. They are
        bottom eigenvectors of L, Lv = λv (Proposition 3.2). "normalised LE" and so on solve
        Lv = λ·Deg·v instead: the map of Belkin and Niyogi, and this class without a name.
        """
        settings: dict[str, dict[str, Any]] = {
            "LE": {"n_neighbors": 10, "weights": "heat"},
            "ALE": {"n_neighbors": 20, "weights": "density"},
            "VLE": {"n_neighbors": 18, "neighborhood": "variable", "weights": "heat"},
            "VALE": {"n_neighbors": 18, "neighborhood": "variable", "weights": "density"},
        }
        plain = name.removeprefix("normalised ")
        if plain not in settings:
            raise InvalidInput(
                f"there is no algorithm {name!r}; there are {', '.join(settings)} (Lv = λv) and "
                "the same with 'normalised ' before the name (Lv = λ·Deg·v)"
            )
        constraint = "identity" if plain == name else "degree"
        return cls(**(settings[plain] | {"constraint": constraint, "left_out": ()} | others))

    def _method(self) -> GraphMethod:
        shared, solver, time = shared_fields(self), eigen_solver(self), self.diffusion_time
        scale = eigenvalue_scale if time is None else diffused_scale(time)
        weights: Any = self.weights
        constraint: Any = self.constraint
        if weights == "precomputed":
            shared["graph"] = _graph_of_affinities
        return GraphMethod(
            problem=partial(
                eigenmaps_problem,
                weights=weights,
                width=self.width,
                constraint=constraint,
                time=time,
            ),
            rule=self._rule,
            solver=solver,
            coordinates=CoordinateSettings(
                self.coordinates, self.n_components, solver, self.tolerance, scale
            ),
            leaves_groups_out=True,
            **shared,
        )

    def _rule(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        if self.weights == "precomputed":
            return _refuse_new_affinities
        rule = affinity(graph, weights=self.weights, width=self.width)  # type: ignore[arg-type]
        first = isinstance(self.coordinates, str) and self.coordinates == "first"
        scale: Scale | None = None if first else eigenvalue_scale(graph, embedding.problem)
        if self.diffusion_time is not None:
            scale = DiffusionLift(self.diffusion_time)
        return nystrom_rule(graph, embedding, rule, self.constraint, scale)

    def second_rule(self, graph: Any, points: Array, landmarks: Any) -> AttractionMap | None:
        """New rows at the mean of a few nearest landmarks."""
        return near_mean(self, graph, points, landmarks)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = "precomputed" in (self.metric, self.weights)
        return tags


def _graph_of_affinities(X: Any, given: Any) -> Graph:
    return from_affinities(X)


def _refuse_new_affinities(X: Any) -> Array:
    raise InvalidInput(
        "new points cannot be placed when the affinities were given; fit on features instead"
    )
