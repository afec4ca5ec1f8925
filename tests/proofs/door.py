"""Inner names that fuzzers and the coarse arithmetic enter by, each group with its reason."""

from __future__ import annotations

# Stored maps are forged part by part, and judged as a file is.
from dualfold.methods.maps.out_of_sample import map_from_parts
from dualfold.models import staleness as by_rows
from dualfold.models.trace_answers import certify_points

# Limits of exact arithmetic, to force enclosures.
from dualfold.theory.programs import exact as exact_arithmetic
from dualfold.theory.programs import objective_bounds
from dualfold.trace.lift import ScaledVectorLift

# Modules whose unit of rounding is replaced by a coarse one.
from dualfold.trace.proof import completeness, rounding
from dualfold.trace.proof import dense_inertia as pivots
from dualfold.trace.proof import lehmann_bounds as bounds
from dualfold.trace.proof import random_search as search
from dualfold.trace.proof import routes as proofs
from dualfold.trace.proof import singular_values as singular
from dualfold.trace.proof import trial_directions as trial

# Floors of weights, judged by themselves, and both sides as files hold them.
from dualfold.unfolding.spectral_floor import cholesky_floor, proved_floor
from dualfold.unfolding.stored_unfolding import BothSides, rechecked_unfolding
