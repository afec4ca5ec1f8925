"""The door of the tests of `methods`: names of inner files that they hold to their definitions."""

from __future__ import annotations

from dualfold.methods.maps.attraction_map import AttractionMap  # the rule, without a fit
from dualfold.methods.points.checks import neighbors_kept  # counted by brute force
from dualfold.methods.points.descent import descend  # bits on any number of threads
from dualfold.methods.points.fit import (  # a method with other forces
    DescentSettings,
    PointsMethod,
    fit_points,
)
from dualfold.methods.points.forces import Forces
from dualfold.methods.points.judgement import force_balance
from dualfold.methods.points.neighbors import NeighborSettings
from dualfold.methods.points.objective import unproved_objective
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.schedule import Phase, Schedule, late_phases
from dualfold.methods.points.starts import given_start, principal_points
from dualfold.methods.points.tsne.attraction import DoubleAttraction, PackedAttraction
from dualfold.methods.points.tsne.forces import STUDENT
from dualfold.methods.points.tsne.grid import LEAST_SPACING
from dualfold.methods.points.tsne.repulsion import ByGrid, ByPairs, ByTree

__all__ = [
    "LEAST_SPACING",
    "STUDENT",
    "AttractionMap",
    "AttractionProblem",
    "ByGrid",
    "ByPairs",
    "ByTree",
    "DescentSettings",
    "DoubleAttraction",
    "Forces",
    "NeighborSettings",
    "PackedAttraction",
    "Phase",
    "PointsMethod",
    "Schedule",
    "descend",
    "fit_points",
    "force_balance",
    "given_start",
    "late_phases",
    "neighbors_kept",
    "principal_points",
    "unproved_objective",
]
