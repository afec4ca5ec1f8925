"""Names inside the room of models that its tests need, each with its reason.

Everything else is tested by the public names of `dualfold.saved`.
"""

from __future__ import annotations

# Series of tables without change, which the drift of a series is held against.
from dualfold.models.aligned_links import things_of
from dualfold.models.resampled_series import MAX_OVERLAP, series_without_change

# Stored answers to a problem, beside the problem itself and no estimator.
from dualfold.models.trace_answers import certify_points
