"""Out-of-sample maps: rules that place new rows, and that files can hold."""

from dualfold.maps.linear_map import LinearMap
from dualfold.maps.profile_map import ProfileMap
from dualfold.maps.random_maps import random_map

__all__ = [
    "LinearMap",
    "ProfileMap",
    "random_map",
]
