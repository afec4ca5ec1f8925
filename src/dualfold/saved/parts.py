"""The maps of new points as plain parts (numbers and arrays), and back.

One function a kind, two ways: `parts_of` takes a map apart, `map_of` puts it together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.geodesics import Landmarks, geodesic_distances
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.metrics import is_precomputed
from dualfold.graph.search import Search
from dualfold.kernels.sparse import rows_are_sound
from dualfold.maps.landmark import GeodesicMap, Triangulation
from dualfold.maps.linear import LinearMap
from dualfold.maps.local import LocalWeightsMap
from dualfold.maps.nystrom import NystromMap
from dualfold.maps.piecewise import PiecewiseMap, RescaledMap
from dualfold.weights.affinity import Affinity

PlacingMap = LinearMap | GeodesicMap | NystromMap | LocalWeightsMap | PiecewiseMap | RescaledMap


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
            data, indices, indptr = (
                self.arrays[f"{name}.{p}"] for p in ("data", "indices", "indptr")
            )
            shape = tuple(int(size) for size in stated["sparse"])
            _refuse_rows(name, indptr, indices, shape)
            return sp.csr_array((data, indices, indptr), shape=shape)
        return self.arrays.get(name)

    def put_map(self, name: str, map_: Any) -> None:
        """Keep a map that this one is made of, its arrays under "name."."""
        inner = parts_of(map_)
        self.facts[name] = {"kind": inner.kind, "facts": inner.facts}
        self.arrays |= {f"{name}.{key}": array for key, array in inner.arrays.items()}

    def get_map(self, name: str) -> PlacingMap:
        """The map as it was put."""
        own = {key: array for key, array in self.arrays.items() if key.startswith(f"{name}.")}
        arrays = {key.removeprefix(f"{name}."): array for key, array in own.items()}
        return map_of(Parts(self.facts[name]["kind"], self.facts[name]["facts"], arrays))


def _refuse_rows(name: str, indptr: Array, indices: Array, shape: tuple[int, ...]) -> None:
    """Rows of a sparse matrix that point outside of it: C would read there."""
    if not rows_are_sound(indptr, indices, shape) or indptr[-1] != len(indices):
        raise InvalidInput(f"the model's part {name!r} is no sparse matrix of shape {shape}")


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
            "eigenmaps, LLE, unfoldings and linear projections"
        )
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
    """The map that was taken apart."""
    if parts.kind not in BUILDERS:
        raise InvalidInput(
            f"the model has a map of kind {parts.kind!r}, which this dualfold does not know; "
            f"there are {', '.join(BUILDERS)}"
        )
    try:
        return BUILDERS[parts.kind](parts)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InvalidInput(f"the model file lacks a part ({error}); save it again") from error


def _linear(parts: Parts) -> PlacingMap:
    return LinearMap(parts.arrays["mean"], parts.get("components"), parts.get("scale"))


def _geodesic(parts: Parts) -> PlacingMap:
    graph = _graph(parts)
    chosen = parts.get("landmarks")
    landmarks = None
    if chosen is not None:
        kind = np.dtype(parts.facts["landmark_precision"])
        landmarks = Landmarks(chosen, geodesic_distances(graph, chosen, dtype=kind))
    place = Triangulation(parts.arrays["directions"], parts.arrays["mean_squares"])
    return GeodesicMap(graph, place, landmarks)


def _nystrom(parts: Parts) -> PlacingMap:
    facts = parts.facts
    rule = Affinity(
        facts["weights"],
        facts["width"],
        facts["spread_of"],
        parts.get("spread"),
        facts.get("alpha", 0.0),  # files of earlier versions have none
        parts.get("degrees"),
    )
    points, values = parts.arrays["points"], parts.arrays["values"]
    return NystromMap(_graph(parts), rule, points, values, facts["constraint"])


def _local_weights(parts: Parts) -> PlacingMap:
    facts = parts.facts
    features, points = parts.get("features"), parts.arrays["points"]
    return LocalWeightsMap(features, points, facts["n_neighbors"], facts["ridge"])


def _pieces(parts: Parts) -> PlacingMap:
    maps = tuple(
        None if alone else parts.get_map(f"piece_{number + 1}")
        for number, alone in enumerate(parts.facts["single_points"])
    )
    owner, points, offsets = (parts.arrays[name] for name in ("owner", "points", "offsets"))
    features, metric = parts.get("features"), parts.facts["metric"]
    return PiecewiseMap(features, metric, owner, points, offsets, maps)


def _rescaled(parts: Parts) -> PlacingMap:
    return RescaledMap(parts.get_map("map"), parts.get("times"), parts.get("over"))


BUILDERS: dict[str, Callable[[Parts], PlacingMap]] = {
    "linear": _linear,
    "geodesic": _geodesic,
    "nystrom": _nystrom,
    "local weights": _local_weights,
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
    facts = parts.facts["graph"]
    search = facts["search"] | {"recall_interval": tuple(facts["search"]["recall_interval"])}
    indptr, indices, distances = (
        parts.arrays[f"graph_lists_{name}"] for name in ("indptr", "indices", "distances")
    )
    lengths = parts.get("graph_lengths")
    n = lengths.shape[0]
    _refuse_rows("graph_lists", indptr, indices, (n, n))
    if lengths.shape != (n, n) or distances.shape != indices.shape:
        raise InvalidInput("the model's graph does not have one row and column a point")
    return Graph(
        lengths=lengths,
        lists=Lists(indptr, indices, distances),
        search=Search(**search),
        kind=facts["kind"],
        points=parts.get("graph_points"),
        metric=facts["metric"],
        n_neighbors=facts["n_neighbors"],
        radius=facts["radius"],
        usual_spread=facts["usual_spread"],
        symmetry=facts["symmetry"],
        links=tuple((int(i), int(j), float(length)) for i, j, length in facts["links"]),
    )
