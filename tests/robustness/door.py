"""Names inside rooms that tests of damaged input need: readers, stored answers, starts."""

from __future__ import annotations

from dualfold.data.array_files import matrix_market, sparse_table
from dualfold.exploration.plan import Plan
from dualfold.methods.maps.local_map import LocalWeightsMap
from dualfold.methods.points.starts import principal_points
from dualfold.models.trace_answers import certify_points
from dualfold.scale import placing
from dualfold.scale.rows import plain_rows
from dualfold.trace.solvers import preconditioned
from dualfold.unfolding.stored_unfolding import rechecked_unfolding
from dualfold.weights.column_moments import column_deviations
