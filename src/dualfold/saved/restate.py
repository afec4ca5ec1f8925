"""What the model of an estimator must answer: the estimator's own problem, stated from the data.

Only the name and the parameters are taken from the file. They say which problem it is about;
whoever asks for a judgement sees them in the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dualfold.estimators as estimators
from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.errors import InvalidInput
from dualfold.estimators.graph_estimator import GraphEstimator
from dualfold.estimators.graph_projection import GraphProjection
from dualfold.estimators.layout import PiecewiseCertificate, side_by_side
from dualfold.estimators.neighborhoods import connected, neighbor_graph
from dualfold.graph import Graph, separate
from dualfold.levels import checked_tolerance
from dualfold.maps.piecewise import PiecewiseMap, RescaledMap
from dualfold.methods.pca import pca
from dualfold.saved.agreement import disagreements
from dualfold.saved.model import BothSides, Model
from dualfold.saved.parts import PlacingMap, parts_of
from dualfold.saved.remodel import Stated, answered
from dualfold.saved.unfolding import rechecked_unfolding

LINEAR = ("PCA", "PointPCA", "ClassicalMDS")
PROJECTIONS = (
    "LocalityPreservingProjection",
    "OrthogonalLPP",
    "NeighborhoodPreservingProjection",
    "OrthogonalNPP",
)
GRAPHS = ("Isomap", "LaplacianEigenmaps", "LocallyLinearEmbedding", "MaximumVarianceUnfolding")
# They change how an answer is found or told, not which one is right.
IDLE = {"n_jobs": None, "verbose": False}


@dataclass(frozen=True)
class Asking:
    """Who asks: the largest gap that passes, and whether random starts come from the system."""

    tolerance: float
    fresh: bool


def rechecked_model(model: Model, X: Any, *, tolerance: float = 1e-4, fresh: bool = False) -> Any:
    """Judge a model that `model_of` made of an estimator, by the rows X that it was fitted on.

    A relative gap up to `tolerance` is "proved"; `fresh` draws random starts from the system.
    Returns the certificate: of a trace problem, an unfolding, or of pieces.
    """
    asking = Asking(checked_tolerance(tolerance), fresh)
    estimator = restated(model)
    data = estimator._checked(X, reset=True)
    if data.shape[1] != len(model.columns):
        raise InvalidInput(
            f"the rows have {data.shape[1]} columns, the model was made for {len(model.columns)}"
        )
    name = type(estimator).__name__
    if name in LINEAR:
        found = answered(_linear(estimator, data, model.map), model.map, **vars(asking))[0]
    elif name in PROJECTIONS:
        found = answered(_projection(estimator, data, model.map), model.map, **vars(asking))[0]
    else:
        found = _of_graph(estimator, data, model, asking)
    scaled = [name for name in ("shift", "scale", "means") if getattr(model, name) is not None]
    return found.doubted(*(f"the model has a {name} of its own" for name in scaled))


def restated(model: Model) -> Any:
    """The estimator whose model this is to be, not fitted."""
    name, settings = model.settings.get("estimator"), model.settings.get("parameters")
    if name not in (*LINEAR, *PROJECTIONS, *GRAPHS):
        raise InvalidInput(
            f"the model is of {name!r}, which states no problem that can be judged again; there "
            f"are {', '.join((*LINEAR, *PROJECTIONS, *GRAPHS))}"
        )
    estimator = getattr(estimators, name)()
    known = estimator.get_params()
    if not isinstance(settings, dict) or not settings.keys() <= known.keys():
        raise InvalidInput(
            "the model does not hold the parameters it was fitted with; save it again"
        )
    if model.settings.get("not_kept"):
        raise InvalidInput(
            f"the model was fitted with {model.settings['not_kept']}, which no file keeps, so its "
            "problem cannot be stated again"
        )
    estimator.set_params(**(settings | {k: v for k, v in IDLE.items() if k in known}))
    if settings.get("radius") is not None:  # files of projections once named both; it decided
        estimator.set_params(n_neighbors=None)
    try:
        estimator._validate_params()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the model's parameters are none of {name}: {error}") from error
    return estimator


def _width(estimator: Any, map_: Any, most: int) -> int:
    """How many coordinates the map must have; where the data decides, as many as it has."""
    stated = estimator.n_components
    if isinstance(stated, int | np.integer) and not isinstance(stated, bool):
        return max(1, min(int(stated), most))
    rows = getattr(getattr(map_, "map", map_), "components", None)
    if rows is None:
        return max(1, min(_coordinates(map_), most))
    return max(1, min(int(rows.shape[0]), most))


def _coordinates(map_: Any) -> int:
    inner = getattr(map_, "map", map_)
    held = inner.place.directions if hasattr(inner, "place") else inner.points
    return int(np.shape(held)[-1])


def _linear(estimator: Any, X: Any, map_: Any) -> Stated:
    count = _width(estimator, map_, min(X.shape))
    standardize = bool(getattr(estimator, "standardize", False))
    problem = pca(X, n_components=count, standardize=standardize)

    def leads_to(embedding: Embedding) -> PlacingMap:
        lift: Any = problem.lift
        linear: PlacingMap = lift.linear_map(embedding.solution.vectors, embedding.values)
        if not getattr(estimator, "whiten", False):
            return linear
        n = X.shape[0]
        return RescaledMap(linear, over=np.sqrt(embedding.values * (n / (n - 1))))

    return Stated(problem, leads_to)


def _projection(estimator: GraphProjection, X: Any, map_: Any) -> Stated:
    graph = neighbor_graph(
        X,
        n_neighbors=estimator.n_neighbors,
        radius=estimator.radius,
        neighborhood=estimator.neighborhood,
        metric=estimator.metric,
    )
    # The space is chosen with the number of coordinates in mind: 1 where "auto" chose it.
    wanted = 1 if estimator.n_components == "auto" else int(estimator.n_components)
    problem = estimator._problem(connected(graph, estimator.pieces), wanted)
    problem = replace(problem, count=_width(estimator, map_, problem.n))
    lift: Any = problem.lift
    return Stated(problem, lambda e: lift.linear_map(e.solution.vectors, e.values))


def _of_graph(estimator: GraphEstimator, X: Any, model: Model, asking: Asking) -> Any:
    graph = estimator._graph(X)
    if graph.n_pieces > 1 and estimator.pieces == "separate":
        return _of_pieces(estimator, graph, model, asking)
    graph = estimator._in_one_piece(graph)
    count = _width(estimator, model.map, graph.n - 1)
    certificate, _ = _of_piece(estimator, graph, model.map, count, model.both_sides, asking)
    return certificate


def _of_piece(
    estimator: Any, graph: Graph, map_: Any, count: int, sides: BothSides | None, asking: Asking
) -> tuple[Any, Embedding | None]:
    """The judgement of one piece's map, and its answer."""
    if type(estimator).__name__ == "MaximumVarianceUnfolding":
        return _unfolded(estimator, graph, map_, sides, asking), None
    stated = Stated(estimator._problem(graph, count), _rule(estimator, graph))
    return answered(stated, map_, **vars(asking))


def _rule(estimator: Any, graph: Graph) -> Callable[[Embedding], PlacingMap]:
    def leads_to(embedding: Embedding) -> PlacingMap:
        plain: Any = estimator._map(graph, embedding)
        return _rescaled(estimator, plain, embedding.values)

    return leads_to


def _rescaled(estimator: Any, plain: Any, values: Array) -> Any:
    if getattr(estimator, "diffusion_time", None) is None:
        return plain
    return RescaledMap(plain, times=estimator._stretch(values))


def _unfolded(
    estimator: Any, graph: Graph, map_: Any, sides: BothSides | None, asking: Asking
) -> Any:
    """An unfolding by both its sides; the map's points must be its leading coordinates."""
    points = getattr(map_, "points", np.zeros((0, 0)))
    certificate = rechecked_unfolding(
        graph,
        points,
        sides,
        tolerance=asking.tolerance,
        form=estimator.constraints,
        angles=estimator.angles,
    )
    # `_map` needs only the points of an embedding.
    shown: Any = replace(_NOTHING, points=points)
    return certificate.doubted(*_apart(estimator._map(graph, shown), map_))


_NOTHING: Any = Embedding(np.zeros((0, 0)), np.zeros(0), None, None, None)  # type: ignore[arg-type]


def _apart(mine: Any, stored: Any) -> list[str]:
    return disagreements(parts_of(mine), parts_of(stored))


def _of_pieces(estimator: Any, graph: Graph, model: Model, asking: Asking) -> Any:
    """Every piece by its own problem, then how they lie side by side."""
    stored: Any = model.map
    stored = stored.map if isinstance(stored, RescaledMap) else stored
    found = list(separate(graph))
    if not isinstance(stored, PiecewiseMap) or len(stored.maps) != len(found):
        raise InvalidInput(f"the data has {len(found)} pieces, the model has another number")
    certificates: list[Any] = []
    parts: list[tuple[Array, Any]] = []
    maps: list[Any] = []
    for number, (rows, part) in enumerate(found):
        place: Any = stored.maps[number]
        if len(rows) == 1 or place is None:
            if not (len(rows) == 1 and place is None):
                raise InvalidInput(f"piece {number + 1} has {len(rows)} points in the data")
            parts.append((rows, None))
            maps.append(None)
            continue
        widest = _width(estimator, stored.maps[0], graph.n - 1)
        count, sides = min(widest, part.n - 1), _sides_of(model.both_sides, rows)
        # A stretch by diffusion comes after the pieces were laid side by side.
        plain = _without_stretch(estimator)
        certificate, answer = _of_piece(plain, part, place, count, sides, asking)
        if answer is None:
            answer = replace(_NOTHING, points=getattr(place, "points", np.zeros((len(rows), 0))))
        certificates.append(certificate)
        parts.append((rows, answer))
        maps.append(plain._map(part, answer) if answer.problem is not None else place)
    whole = PiecewiseCertificate.of(certificates)
    if whole.level == "failed":  # a piece without an answer has no place either
        return whole
    return whole.doubted(*_laid_out(estimator, graph, model, parts, maps))


def _laid_out(estimator: Any, graph: Graph, model: Model, parts: Any, maps: Any) -> list[str]:
    """What is wrong with the places of the pieces."""
    answers = [answer for _, answer in parts if answer is not None]
    width = answers[0].points.shape[1] if answers else 1
    if any(len(rows) != len(a.points) for rows, a in parts if a is not None):
        return ["a piece does not have the points of the data"]
    layout = side_by_side(parts, graph.n, width)
    plain: Any = PiecewiseMap(
        graph.points, graph.metric, graph.piece_of, layout.points, layout.offsets, tuple(maps)
    )
    values = answers[0].values if answers else np.zeros(1)
    return _apart(_rescaled(estimator, plain, values), model.map)


def _without_stretch(estimator: Any) -> Any:
    if getattr(estimator, "diffusion_time", None) is None:
        return estimator
    return type(estimator)(**(estimator.get_params() | {"diffusion_time": None}))


def _sides_of(sides: BothSides | None, rows: Array) -> BothSides | None:
    if sides is None:
        return None
    if len(sides.factor) <= int(rows.max()) or sides.weights.shape[0] <= int(rows.max()):
        raise InvalidInput("the model's unfolding has fewer rows than the data")
    weights: Any = sides.weights.tocsr()[rows][:, rows]
    return BothSides(sides.factor[rows], weights)
