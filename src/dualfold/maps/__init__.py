"""New points and back: maps that outlive the points they were made from."""

from dualfold.maps.landmark import (
    LandmarkLift,
    GeodesicMap,
    Triangulation,
    geodesics_to_new,
    placed,
    triangulation,
)
from dualfold.maps.linear import LinearMap
from dualfold.maps.local import LocalWeightsMap
from dualfold.maps.nystrom import NystromMap
from dualfold.maps.piecewise import PiecewiseMap, RescaledMap
from dualfold.maps.random import gaussian_map, orthogonal_map, random_map, sparse_map

__all__ = [
    "LandmarkLift",
    "GeodesicMap",
    "LinearMap",
    "LocalWeightsMap",
    "NystromMap",
    "PiecewiseMap",
    "RescaledMap",
    "Triangulation",
    "gaussian_map",
    "geodesics_to_new",
    "orthogonal_map",
    "placed",
    "random_map",
    "sparse_map",
    "triangulation",
]
