"""Maps that are updated: rows come and leave, old points stay, and staleness is certified."""

from dualfold.growth.new_rows import BornGroup, NewRows
from dualfold.growth.registration import MovementTest, Registration
from dualfold.growth.updated_map import UpdatedMap, map_of_estimator
from dualfold.growth.verdict import MapVerdict

__all__ = [
    "BornGroup",
    "MapVerdict",
    "MovementTest",
    "NewRows",
    "Registration",
    "UpdatedMap",
    "map_of_estimator",
]
