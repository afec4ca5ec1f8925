"""Out-of-sample maps: rules that place new rows, and that files can hold."""

from dualfold.maps.linear_map import LinearMap
from dualfold.maps.random_maps import random_map

__all__ = [
    "LinearMap",
    "random_map",
]
