"""The maps of new points as plain parts (numbers and arrays), and back.

One function a kind, two ways: `parts_of` takes a map apart, `map_of` puts it together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.graph.geodesics import Landmarks, geodesic_distances
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.search import Search
from dualfold.maps.landmark import GeodesicMap, Triangulation
from dualfold.maps.linear import LinearMap
from dualfold.maps.local import LocalWeightsMap
from dualfold.maps.nystrom import NystromMap
from dualfold.weights.affinity import Affinity

Array = np.ndarray[Any, np.dtype[Any]]
PlacingMap = LinearMap | GeodesicMap | NystromMap | LocalWeightsMap


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
            return sp.csr_array((data, indices, indptr), shape=tuple(stated["sparse"]))
        return self.arrays.get(name)


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
        for name, array in (("spread", rule.spread), ("points", map_.points)):
            parts.put(name, array)
        parts.put("values", map_.values)
    elif isinstance(map_, LocalWeightsMap):
        parts = Parts("local weights", {"n_neighbors": map_.n_neighbors, "ridge": map_.ridge})
        parts.put("features", map_.features)
        parts.put("points", map_.points)
    else:
        raise InvalidInput(
            f"a {type(map_).__name__} cannot be saved; there are linear, geodesic, Nyström and "
            "local weights maps of features"
        )
    return parts


def map_of(parts: Parts) -> PlacingMap:
    """The map that was taken apart."""
    if parts.kind not in BUILDERS:
        raise InvalidInput(
            f"the model has a map of kind {parts.kind!r}, which this dualfold does not know; "
            f"there are {', '.join(BUILDERS)}"
        )
    try:
        return BUILDERS[parts.kind](parts)
    except (KeyError, TypeError) as error:
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
    rule = Affinity(facts["weights"], facts["width"], facts["spread_of"], parts.get("spread"))
    points, values = parts.arrays["points"], parts.arrays["values"]
    return NystromMap(_graph(parts), rule, points, values, facts["constraint"])


def _local_weights(parts: Parts) -> PlacingMap:
    facts = parts.facts
    features, points = parts.get("features"), parts.arrays["points"]
    return LocalWeightsMap(features, points, facts["n_neighbors"], facts["ridge"])


BUILDERS: dict[str, Callable[[Parts], PlacingMap]] = {
    "linear": _linear,
    "geodesic": _geodesic,
    "nystrom": _nystrom,
    "local weights": _local_weights,
}


def _put_graph(parts: Parts, graph: Graph) -> None:
    if not isinstance(graph.metric, str) or graph.points is None:
        raise InvalidInput(
            "a graph with a metric that is a function, or without the points it was made of, "
            "cannot be saved as data; use a metric by name and features"
        )
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
    lists = (parts.arrays[f"graph_lists_{name}"] for name in ("indptr", "indices", "distances"))
    return Graph(
        lengths=parts.get("graph_lengths"),
        lists=Lists(*lists),
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
