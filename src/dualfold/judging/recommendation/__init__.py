"""Which method, with how many neighbours and coordinates: measured on the data.

print(dualfold.recommend(X))
"""

from dualfold.judging.recommendation.recommendation import Recommendation
from dualfold.judging.recommendation.recommender import recommend
from dualfold.judging.recommendation.short_cuts import neighbor_scan
from dualfold.quality.dimension_estimates import intrinsic_dimension

__all__ = [
    "Recommendation",
    "intrinsic_dimension",
    "neighbor_scan",
    "recommend",
]
