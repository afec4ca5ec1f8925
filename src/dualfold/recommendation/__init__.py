"""Which method, with how many neighbours and coordinates: measured on the data.

    print(dualfold.recommend(X))

What the functions share: X is a table of numbers, `random_state` the seed of the subsamples and
`n_jobs` the number of threads (None: all cores).
"""

from dualfold.quality.dimension_estimates import (
    Dimension,
    intrinsic_dimension,
    levina_bickel,
    two_nn,
)
from dualfold.recommendation.recommendation import Recommendation, recommend
from dualfold.recommendation.short_cuts import NeighborScan, ScanRow, neighbor_scan
from dualfold.recommendation.trial import Candidate

__all__ = [
    "Candidate",
    "Dimension",
    "NeighborScan",
    "Recommendation",
    "ScanRow",
    "intrinsic_dimension",
    "levina_bickel",
    "neighbor_scan",
    "recommend",
    "two_nn",
]
