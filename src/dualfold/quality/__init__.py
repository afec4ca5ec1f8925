"""How good a map is, measured on the data and the map alone.

    print(quality.report(X, Y))

Measures are exact by default, in bounded memory, at any size that can be embedded. `sample=`
measures some points and gives a 95 % interval; `per_point=True` gives one number for each point,
so that a map can be coloured by its own reliability. X may be dense, sparse, float32, a memory
map, a `Graph` (its geodesic distances) or distances (`metric="precomputed"`).

Ties: of points that are equally far in X, within the rounding of the distances, a map may take any
as neighbours. Of points that are equally far on the map all orders count, by their mean.
"""

from dualfold.graph.distortion import measured_distortion
from dualfold.quality.class_measures import knn_accuracy, neighborhood_hit, silhouette
from dualfold.quality.column_directions import column_directions
from dualfold.quality.conformal import conformal_p_values
from dualfold.quality.coranking import neighborhood_curve
from dualfold.quality.map_axes import column_correlations
from dualfold.quality.map_comparison import neighbor_agreement, procrustes, repeated_maps, stability
from dualfold.quality.neighborhood_shape import density_correlation, local_distortion
from dualfold.quality.pair_measures import (
    distance_correlation,
    nonmetric_stress,
    residual_variance,
    stress,
)
from dualfold.quality.quality_report import QualityReport, report
from dualfold.quality.ranks import (
    continuity,
    lcmc,
    mean_relative_rank_errors,
    t_similarity,
    trustworthiness,
)
from dualfold.quality.shepard import shepard

__all__ = [
    "QualityReport",
    "column_correlations",
    "column_directions",
    "conformal_p_values",
    "continuity",
    "density_correlation",
    "distance_correlation",
    "knn_accuracy",
    "lcmc",
    "local_distortion",
    "mean_relative_rank_errors",
    "measured_distortion",
    "neighbor_agreement",
    "neighborhood_curve",
    "neighborhood_hit",
    "nonmetric_stress",
    "procrustes",
    "repeated_maps",
    "report",
    "residual_variance",
    "shepard",
    "silhouette",
    "stability",
    "stress",
    "t_similarity",
    "trustworthiness",
]
