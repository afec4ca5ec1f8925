"""Which method, with how many neighbours and coordinates: measured on the data.

print(dualfold.recommend(X))
"""

from dualfold.quality.dimension_estimates import intrinsic_dimension
from dualfold.recommendation.recommendation import Recommendation
from dualfold.recommendation.recommender import recommend
from dualfold.recommendation.short_cuts import neighbor_scan

__all__ = [
    "Recommendation",
    "intrinsic_dimension",
    "neighbor_scan",
    "recommend",
]
