"""Which rule places new points on the map of each method or estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.embedding import Embedding
from dualfold.errors import InvalidInput
from dualfold.estimators.graph_estimator import GraphEstimator
from dualfold.estimators.linear import LinearEstimator
from dualfold.estimators.mds import ClassicalMDS
from dualfold.estimators.unfolding import MaximumVarianceUnfolding
from dualfold.graph.graph import Graph
from dualfold.maps.landmark import FromLandmarks, GeodesicMap, triangulation
from dualfold.maps.local import LocalWeightsMap
from dualfold.maps.nystrom import NystromMap
from dualfold.maps.piecewise import RescaledMap
from dualfold.saved.model import BothSides, Model
from dualfold.saved.parts import PlacingMap, parts_of
from dualfold.unfolding.unfold import Unfolding
from dualfold.weights.affinity import affinity

# The ridge of local weights, as the estimators have it (scikit-learn's default).
RIDGE = 1e-3


def placing(method: str, graph: Graph | None, embedding: Embedding) -> PlacingMap:
    """The rule of new points for the answer that `dualfold.methods.<method>` led to."""
    lift: Any = getattr(embedding.problem, "lift", None)
    if lift is None and graph is not None:  # an unfolding, which has no eigenvectors
        return by_local_weights(graph, embedding.points)
    vectors, values = embedding.solution.vectors, embedding.values
    if hasattr(lift, "linear_map"):
        linear: PlacingMap = lift.linear_map(vectors, values)
        return linear
    if graph is None:
        raise InvalidInput(f"{method} places new points by its neighbour graph; none was given")
    if method == "isomap":
        corners = lift.landmarks if isinstance(lift, FromLandmarks) else None
        return GeodesicMap(graph, triangulation(embedding.problem, vectors, values), corners)
    if method == "eigenmaps":
        return NystromMap(graph, affinity(graph), vectors, values, "degree")
    return by_local_weights(graph, embedding.points)


def by_local_weights(graph: Graph, points: Any) -> LocalWeightsMap:
    """The rule of methods whose new points are combinations of their neighbours."""
    k = min(graph.n_neighbors or int(graph.lists.counts.max()), graph.n)
    return LocalWeightsMap(graph.points, points, k, RIDGE)


def both_sides(unfolding: Unfolding) -> BothSides:
    """What proves an unfolding, to be kept with its map."""
    return BothSides(unfolding.factor, unfolding.weights)


def model_of(estimator: Any) -> Model:
    """A fitted estimator as a model that can be saved.

    >>> import numpy as np
    >>> from dualfold import Isomap
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> fitted = Isomap(n_neighbors=8).fit(X)
    >>> bool((model_of(fitted).transform(X) == fitted.transform(X)).all())
    True
    """
    name = type(estimator).__name__
    columns = getattr(estimator, "feature_names_in_", None)
    if columns is None:
        columns = [f"column_{place + 1}" for place in range(estimator.n_features_in_)]
    parameters, not_kept = _plain_parameters(estimator)
    sides = None
    if isinstance(estimator, MaximumVarianceUnfolding):
        sides = BothSides(estimator.factor_, estimator.dual_weights_)
    return Model(
        map=_rule_of(estimator),
        method=name,
        columns=tuple(str(column) for column in columns),
        settings={"estimator": name, "parameters": parameters, "not_kept": not_kept},
        certificate=estimator.certificate_.to_dict(),
        both_sides=sides,
    )


def _plain_parameters(estimator: Any) -> tuple[dict[str, Any], list[str]]:
    """What states the estimator's problem again, JSON-ready, and the names of what cannot."""
    kept: dict[str, Any] = {}
    lost = []
    for name, value in estimator.get_params(deep=False).items():
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, bool | int | float | str):
            kept[name] = value
        elif isinstance(value, dict) and not value:
            kept[name] = None
        else:
            lost.append(name)
    return kept, lost


def _rule_of(estimator: Any) -> PlacingMap:
    rule: Any = None
    if isinstance(estimator, ClassicalMDS):
        rule = estimator._map
    elif isinstance(estimator, LinearEstimator):
        rule = estimator._linear_map
        if getattr(estimator, "whiten", False):
            rule = RescaledMap(rule, over=estimator._deviations)
    elif isinstance(estimator, GraphEstimator):
        rule = estimator._placing
        if getattr(estimator, "diffusion_time", None) is not None:
            rule = RescaledMap(rule, times=estimator._stretch(estimator.eigenvalues_))
    parts_of(rule)  # refuses what cannot be saved now, not when the file is written
    return rule
