"""Internal door: what proofs of games are made of, held to its formulas.

Everything else about games is tested by the names of `dualfold.games`.
"""

from __future__ import annotations

# Modules whose unit of rounding is replaced by a coarse one (tests/proofs/coarse.py).
from dualfold.theory.games import composites, structured_sets, unfolding_dual

# A gap and what may be said of it, for values and bounds that no run would have.
from dualfold.theory.games.certificate import RunBounds, RunTerms

# Functions that recipes and players make of others; their planes and shares are proofs.
from dualfold.theory.games.composites import Flattened, Mixture

# A move as proofs see it, and the class of sets of the caller's own.
from dualfold.theory.games.convex_functions import PlayerMove
from dualfold.theory.games.convex_sets import ConvexSet

# A curve whose slope is known by hand.
from dualfold.theory.games.curves import Curve
from dualfold.theory.games.doubles import doubles

# The descent behind least points and replies to losses, which are infinite somewhere.
from dualfold.theory.games.minimum_search import proximal_descent

# The lower bound of every run, and the sums that it is made of.
from dualfold.theory.games.plane_bound import LowerBound
from dualfold.theory.games.planes import Plane, Share, bowl_minimum, difference, lower_sum
from dualfold.theory.games.recipe import Rate, Recipe

__all__ = [
    "ConvexSet",
    "Curve",
    "Flattened",
    "LowerBound",
    "Mixture",
    "Plane",
    "PlayerMove",
    "Rate",
    "Recipe",
    "RunBounds",
    "RunTerms",
    "Share",
    "bowl_minimum",
    "composites",
    "difference",
    "doubles",
    "lower_sum",
    "proximal_descent",
    "structured_sets",
    "unfolding_dual",
]
