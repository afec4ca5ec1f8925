"""Out-of-sample maps: rules that place new rows, and that files can hold."""

from dualfold.maps.linear_map import LinearMap
from dualfold.maps.local_map import LocalWeightsMap
from dualfold.maps.nystrom_map import NystromMap
from dualfold.maps.out_of_sample import OutOfSampleMap
from dualfold.maps.random_maps import random_map

__all__ = [
    "LinearMap",
    "LocalWeightsMap",
    "NystromMap",
    "OutOfSampleMap",
    "random_map",
]
