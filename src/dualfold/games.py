"""Convex minimisation as a game of two players, with what its rounds prove."""

from dualfold.theory.games import *  # noqa: F403
from dualfold.theory.games import __all__ as __all__
