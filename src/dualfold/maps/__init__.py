"""New points and back: maps that outlive the points they were made from."""

from dualfold.maps.linear import LinearMap
from dualfold.maps.nystrom import NystromMap
from dualfold.maps.random import gaussian_map, orthonormal_map, random_map, sparse_map

__all__ = ["LinearMap", "NystromMap", "gaussian_map", "orthonormal_map", "random_map", "sparse_map"]
