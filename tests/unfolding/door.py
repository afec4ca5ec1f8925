"""Internal door: arithmetic of unfoldings' bounds, which tests hold to its formula.

Everything else about unfoldings is tested by the names of `dualfold.unfolding`.
"""

from __future__ import annotations

# Modules whose unit of rounding is replaced by a coarse one (tests/proofs/coarse.py).
from dualfold.unfolding import bounds, spectral_floor

# One side of a bracket at a time: what it pays for rounding, against fractions and theorems.
from dualfold.unfolding.bounds import (
    EdgeFit,
    contradiction_share,
    dual_value,
    edge_fit,
    feasible_scale,
    own_lengths_value,
    upper_bound,
)

# Numbers in words, which must stay on the safe side of what they round.
from dualfold.unfolding.certificate import rounded_down_text, rounded_up_text

# Existence of points with exactly the lengths asked: statements in whole numbers.
from dualfold.unfolding.congruence import congruent_parts, deciding_pairs, exact_dependencies
from dualfold.unfolding.feasible import feasible_value

# Powers of 2 in which bounds are computed, so that scaling rounds nothing.
from dualfold.unfolding.problem import in_units

# A tie between weights, decided by the last of them on every processor.
from dualfold.unfolding.solution import BestSides

# Springs alone: points whose lengths are off by a little and that reach more than is allowed.
from dualfold.unfolding.solvers.precise_path import precise_solution

# Floors under λ₂, one way at a time.
from dualfold.unfolding.spectral_floor import (
    cholesky_floor,
    eigenvalues_below,
    lowest_pairs,
    precise_floor,
    proved_floor,
)

# Both sides as a model file holds them, and the judgement of what it holds.
from dualfold.unfolding.stored_unfolding import BothSides, leading_doubts, rechecked_unfolding

__all__ = [
    "BestSides",
    "BothSides",
    "EdgeFit",
    "bounds",
    "cholesky_floor",
    "congruent_parts",
    "contradiction_share",
    "deciding_pairs",
    "dual_value",
    "edge_fit",
    "eigenvalues_below",
    "exact_dependencies",
    "feasible_scale",
    "feasible_value",
    "in_units",
    "leading_doubts",
    "lowest_pairs",
    "own_lengths_value",
    "precise_floor",
    "precise_solution",
    "proved_floor",
    "rechecked_unfolding",
    "rounded_down_text",
    "rounded_up_text",
    "spectral_floor",
    "upper_bound",
]
