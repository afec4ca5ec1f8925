"""Convex programs with both sides: a point, its multipliers, and the gap between them."""

from dualfold.duality.interior_point import interior_point
from dualfold.duality.solution import Record, UnfoldingSolution
from dualfold.duality.unfolding import UnfoldingProblem

__all__ = ["Record", "UnfoldingProblem", "UnfoldingSolution", "interior_point"]
