"""New points and back: maps that outlive the points they were made from."""

from dualfold.maps.landmark_map import GeodesicMap
from dualfold.maps.linear_map import LinearMap
from dualfold.maps.local_map import LocalWeightsMap
from dualfold.maps.nystrom_map import NystromMap
from dualfold.maps.out_of_sample import OutOfSampleMap
from dualfold.maps.piecewise_map import PiecewiseMap
from dualfold.maps.random_maps import gaussian_map, orthogonal_map, random_map, sparse_map

__all__ = [
    "GeodesicMap",
    "LinearMap",
    "LocalWeightsMap",
    "NystromMap",
    "OutOfSampleMap",
    "PiecewiseMap",
    "gaussian_map",
    "orthogonal_map",
    "random_map",
    "sparse_map",
]
