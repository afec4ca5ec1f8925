"""Solvers of the unfolding problem: exact and dense, of low rank, and by landmarks."""

from dualfold.unfolding.solvers.interior_point import interior_point
from dualfold.unfolding.solvers.unfolder import Unfolder

__all__ = ["Unfolder", "interior_point"]
