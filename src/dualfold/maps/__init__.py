"""New points and back: maps that outlive the points they were made from."""

from dualfold.maps.landmark_map import (
    GeodesicMap,
    LandmarkLift,
    Triangulation,
    geodesics_to_new,
    triangulation,
)
from dualfold.maps.linear_map import LinearMap
from dualfold.maps.local_map import LocalWeightsMap
from dualfold.maps.nystrom_map import NystromMap
from dualfold.maps.out_of_sample import OutOfSampleMap, map_from_parts
from dualfold.maps.parts import Parts
from dualfold.maps.piecewise_map import PiecewiseMap, RescaledMap
from dualfold.maps.random_maps import gaussian_map, orthogonal_map, random_map, sparse_map

__all__ = [
    "GeodesicMap",
    "LandmarkLift",
    "LinearMap",
    "LocalWeightsMap",
    "NystromMap",
    "OutOfSampleMap",
    "Parts",
    "PiecewiseMap",
    "RescaledMap",
    "Triangulation",
    "gaussian_map",
    "geodesics_to_new",
    "map_from_parts",
    "orthogonal_map",
    "random_map",
    "sparse_map",
    "triangulation",
]
