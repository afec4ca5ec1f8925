"""The maps of new points as plain parts (numbers and arrays), and back.

One function for each kind, two ways: `parts_of` takes a map apart, `map_of` puts it together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, DamagedFile, InvalidInput
from dualfold.graph.geodesics import Landmarks, geodesic_distances
from dualfold.graph.graph import Graph
from dualfold.graph.metrics import is_precomputed
from dualfold.maps.landmark import GeodesicMap, Triangulation
from dualfold.maps.linear import LinearMap
from dualfold.maps.local import LocalWeightsMap
from dualfold.maps.neighbor_map import NeighborMap
from dualfold.maps.nystrom import NystromMap
from dualfold.maps.piecewise import PiecewiseMap, RescaledMap
from dualfold.saved import sound
from dualfold.saved.sound_graph import graph_of
from dualfold.weights.affinity import Affinity

PlacingMap = (
    LinearMap
    | GeodesicMap
    | NystromMap
    | LocalWeightsMap
    | NeighborMap
    | PiecewiseMap
    | RescaledMap
)


@dataclass
class Parts:
    """What a model file holds of a map: a kind, plain facts, and arrays by name."""

    kind: str
    facts: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)

    def put(self, name: str, value: Any) -> None:
        """Keep an array, dense or sparse."""
        if sp.issparse(value):
            matrix = sp.csr_array(value)
            self.facts[name] = {"sparse": list(matrix.shape)}
            for part in ("data", "indices", "indptr"):
                self.arrays[f"{name}.{part}"] = getattr(matrix, part)
        elif value is not None:
            self.arrays[name] = np.asarray(value)

    def get(self, name: str) -> Any:
        """The array as it was put, None if it was none."""
        stated = self.facts.get(name)
        if isinstance(stated, dict) and "sparse" in stated:
            parts = [self.arrays.get(f"{name}.{part}") for part in ("data", "indices", "indptr")]
            return sound.sparse(name, parts, stated["sparse"])
        return self.arrays.get(name)

    def put_map(self, name: str, map_: Any) -> None:
        """Keep a map that this one is made of, its arrays under "name."."""
        inner = parts_of(map_)
        self.facts[name] = {"kind": inner.kind, "facts": inner.facts}
        self.arrays |= {f"{name}.{key}": array for key, array in inner.arrays.items()}

    def get_map(self, name: str) -> PlacingMap:
        """The map as it was put."""
        stated = sound.mapping(self.facts, name)
        own = {key: array for key, array in self.arrays.items() if key.startswith(f"{name}.")}
        arrays = {key.removeprefix(f"{name}."): array for key, array in own.items()}
        return map_of(Parts(stated.get("kind", ""), dict(sound.mapping(stated, "facts")), arrays))


def parts_of(map_: Any) -> Parts:
    """A map taken apart."""
    if isinstance(map_, LinearMap):
        parts = Parts("linear")
        for name in ("mean", "components", "scale"):
            parts.put(name, getattr(map_, name))
    elif isinstance(map_, GeodesicMap):
        parts = Parts("geodesic")
        _put_graph(parts, map_.graph)
        parts.put("directions", map_.place.directions)
        parts.put("mean_squares", map_.place.mean_squares)
        if map_.landmarks is not None:
            # Their geodesics, m×n numbers, are found again in seconds: see _geodesic.
            parts.put("landmarks", map_.landmarks.indices)
            parts.facts["landmark_precision"] = str(map_.landmarks.distances.dtype)
    elif isinstance(map_, NystromMap):
        parts = Parts("nystrom", {"constraint": map_.constraint})
        _put_graph(parts, map_.graph)
        rule = map_.affinity
        parts.facts |= {"weights": rule.kind, "width": rule.width, "spread_of": rule.n_neighbors}
        parts.facts["alpha"] = rule.alpha
        for name in ("spread", "degrees"):
            parts.put(name, getattr(rule, name))
        for name in ("points", "values"):
            parts.put(name, getattr(map_, name))
    elif isinstance(map_, LocalWeightsMap):
        parts = Parts("local weights", {"n_neighbors": map_.n_neighbors, "ridge": map_.ridge})
        parts.put("features", map_.features)
        parts.put("points", map_.points)
    elif isinstance(map_, NeighborMap):
        parts = _neighbor_parts(map_)
    elif isinstance(map_, PiecewiseMap):
        parts = _piecewise_parts(map_)
    elif isinstance(map_, RescaledMap):
        parts = Parts("rescaled")
        parts.put_map("map", map_.map)
        parts.put("times", map_.times)
        parts.put("over", map_.over)
    else:
        raise InvalidInput(
            f"a {type(map_).__name__} cannot be saved as data; maps that can are made from "
            "features (not from precomputed distances or affinities), by PCA, MDS, Isomap, "
            "eigenmaps, LLE, t-SNE, unfoldings and linear projections"
        )
    return parts


def _neighbor_parts(map_: NeighborMap) -> Parts:
    _refuse_functions(map_.metric, map_.features)
    names = ("n_neighbors", "perplexity", "metric")
    parts = Parts("neighbours", {name: getattr(map_, name) for name in names})
    endless = map_.attraction == float("inf")  # which JSON has no number for
    parts.facts["attraction"] = None if endless else map_.attraction
    parts.put("features", map_.features)
    parts.put("points", map_.points)
    return parts


def _piecewise_parts(map_: PiecewiseMap) -> Parts:
    _refuse_functions(map_.metric, map_.features)
    alone = [place is None for place in map_.maps]
    parts = Parts("pieces", {"metric": map_.metric, "single_points": alone})
    for name in ("features", "owner", "points", "offsets"):
        parts.put(name, getattr(map_, name))
    for number, place in enumerate(map_.maps):
        if place is not None:
            parts.put_map(f"piece_{number + 1}", place)
    return parts


def _refuse_functions(metric: Any, features: Any) -> None:
    if not isinstance(metric, str) or is_precomputed(metric) or features is None:
        raise InvalidInput(
            "a metric that is a function (or has parameters), precomputed distances, or a graph "
            "without the points it was made of cannot be saved as data, since a model file "
            "never holds code; fit with a metric by its name (",
            Argument("metric", "manhattan"),
            ", …) on features",
        )


def map_of(parts: Parts) -> PlacingMap:
    """The map that was taken apart; DamagedFile where the parts are none of such a map."""
    if not isinstance(parts.kind, str) or parts.kind not in BUILDERS:
        raise DamagedFile(
            f"it has a map of kind {str(parts.kind)[:20]!r}, which this dualfold does not know; "
            f"there are {', '.join(BUILDERS)}"
        )
    return BUILDERS[parts.kind](parts)


def _linear(parts: Parts) -> PlacingMap:
    mean = sound.numbers(parts.get("mean"), "mean", [None])
    components = sound.table(parts.get("components"), "components", [None, len(mean)])
    scale = parts.get("scale")
    if scale is not None:  # infinite where a column did not vary
        sound.numbers(scale, "scale", [len(mean)], above=0, infinite=True)
    return LinearMap(mean, components, scale)


def _geodesic(parts: Parts) -> PlacingMap:
    graph, landmarks, count = _graph(parts), None, None
    chosen = parts.get("landmarks")
    if chosen is not None:
        sound.indices(chosen, "landmarks", [None], graph.n)
        kind = np.dtype(sound.word(parts.facts, "landmark_precision", ("float32", "float64")))
        count = len(chosen)
    m = graph.n if count is None else count
    directions = sound.numbers(parts.get("directions"), "directions", [m, None])
    squares = sound.numbers(parts.get("mean_squares"), "mean_squares", [m])
    if chosen is not None:
        landmarks = Landmarks(chosen, geodesic_distances(graph, chosen, dtype=kind))
    return GeodesicMap(graph, Triangulation(directions, squares), landmarks)


def _nystrom(parts: Parts) -> PlacingMap:
    facts, graph = parts.facts, _graph(parts)
    points = sound.numbers(parts.get("points"), "points", [graph.n, None])
    values = sound.numbers(parts.get("values"), "values", [points.shape[1]])
    constraint = sound.word(facts, "constraint", ("degree", "identity"))
    return NystromMap(graph, _affinity(parts, graph.n), points, values, constraint)


def _affinity(parts: Parts, n: int) -> Affinity:
    """The rule of weights, with what its kind needs."""
    facts = parts.facts
    kind = sound.word(facts, "weights", ("heat", "adaptive", "binary", "density"))
    width = sound.number(facts, "width", above=0, optional=kind != "heat")
    around = sound.whole(facts, "spread_of", 1, n, optional=kind != "density")
    spread, degrees = parts.get("spread"), parts.get("degrees")
    if kind in ("adaptive", "density"):
        least = {"above": 0.0} if kind == "density" else {"least": 0.0}
        sound.numbers(spread, "spread", [n], **least)  # type: ignore[arg-type]
    # Files of earlier versions have no alpha.
    alpha = sound.number({"alpha": 0.0} | facts, "alpha", least=0, most=1)
    if degrees is not None or alpha:
        sound.numbers(degrees, "degrees", [n], least=0)
    return Affinity(kind, width, around, spread, alpha, degrees)  # type: ignore[arg-type]


def _local_weights(parts: Parts) -> PlacingMap:
    features = sound.table(parts.get("features"), "features", [None, None], features=True)
    n = features.shape[0]
    points = sound.numbers(parts.get("points"), "points", [n, None])
    neighbors = sound.whole(parts.facts, "n_neighbors", 1, n)
    ridge = sound.number(parts.facts, "ridge", least=0)
    return LocalWeightsMap(features, points, neighbors, ridge)


def _neighbors(parts: Parts) -> PlacingMap:
    features = sound.table(parts.get("features"), "features", [None, None], features=True)
    n = features.shape[0]
    points = sound.numbers(parts.get("points"), "points", [n, None])
    neighbors = sound.whole(parts.facts, "n_neighbors", 1, n)
    by = sound.number(parts.facts, "perplexity", above=0, optional=True)
    strength = sound.number(parts.facts, "attraction", above=0, optional=True)
    rho = float("inf") if strength is None else strength
    return NeighborMap(features, points, neighbors, by, rho, sound.metric(parts.facts))


def _pieces(parts: Parts) -> PlacingMap:
    alone = parts.facts.get("single_points")
    if not isinstance(alone, list) or not alone or any(type(one) is not bool for one in alone):
        raise DamagedFile("it states its pieces in an unknown form")
    features = sound.table(parts.get("features"), "features", [None, None], features=True)
    n, width = features.shape
    points = sound.numbers(parts.get("points"), "points", [n, None])
    offsets = sound.numbers(parts.get("offsets"), "offsets", [len(alone), points.shape[1]])
    owner = sound.indices(parts.get("owner"), "owner", [n], len(alone))
    maps = tuple(
        None if one else parts.get_map(f"piece_{number + 1}") for number, one in enumerate(alone)
    )
    for one in maps:
        if one is not None and (width_of(one) != width or coordinates_of(one) > points.shape[1]):
            raise DamagedFile("its pieces are of other columns, or have more coordinates than it")
    return PiecewiseMap(features, sound.metric(parts.facts), owner, points, offsets, maps)


def _rescaled(parts: Parts) -> PlacingMap:
    inner = parts.get_map("map")
    for name in ("times", "over"):
        if parts.get(name) is not None:
            sound.numbers(parts.get(name), name, [coordinates_of(inner)])
    return RescaledMap(inner, parts.get("times"), parts.get("over"))


def _inner(map_: Any) -> Any:
    while isinstance(map_, RescaledMap):
        map_ = map_.map
    return map_


def coordinates_of(map_: PlacingMap) -> int:
    """How many coordinates a map has."""
    inner = _inner(map_)
    if isinstance(inner, LinearMap):
        return int(inner.components.shape[0])
    held = inner.place.directions if isinstance(inner, GeodesicMap) else inner.points
    return int(np.shape(held)[-1])


def width_of(map_: PlacingMap) -> int:
    """How many columns the rows have that a map takes."""
    inner = _inner(map_)
    if isinstance(inner, LinearMap):
        return len(inner.mean)
    held = inner.graph.points if isinstance(inner, GeodesicMap | NystromMap) else inner.features
    return int(held.shape[1])


BUILDERS: dict[str, Callable[[Parts], PlacingMap]] = {
    "linear": _linear,
    "geodesic": _geodesic,
    "nystrom": _nystrom,
    "local weights": _local_weights,
    "neighbours": _neighbors,
    "pieces": _pieces,
    "rescaled": _rescaled,
}


def _put_graph(parts: Parts, graph: Graph) -> None:
    _refuse_functions(graph.metric, graph.points)
    parts.facts["graph"] = {
        "kind": graph.kind,
        "metric": graph.metric,
        "n_neighbors": graph.n_neighbors,
        "radius": graph.radius,
        "usual_spread": graph.usual_spread,
        "symmetry": graph.symmetry,
        "links": [[int(i), int(j), float(length)] for i, j, length in graph.links],
        "search": asdict(graph.search),
    }
    parts.put("graph_points", graph.points)
    parts.put("graph_lengths", graph.lengths)
    for name in ("indptr", "indices", "distances"):
        parts.put(f"graph_lists_{name}", getattr(graph.lists, name))


def _graph(parts: Parts) -> Graph:
    facts = sound.mapping(parts.facts, "graph")
    return graph_of(facts, parts.arrays, parts.get("graph_lengths"), parts.get("graph_points"))
