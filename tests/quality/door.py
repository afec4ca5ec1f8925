"""Names inside the room of quality that its tests need, each with its reason.

Everything else is tested by the public names of `dualfold.quality`.
"""

from __future__ import annotations

# Names of axes, close axes, far rows: judgements say them in words.
from dualfold.quality.axis_meanings import axis_meanings

# How far new rows are from old ones, beside their p-values.
from dualfold.quality.conformal import compared_rows
from dualfold.quality.coranking import co_ranking

# Intervals are held to Clopper and Pearson, to random weights and to simulations.
from dualfold.quality.estimate import (
    Estimate,
    drawn_rows,
    estimate_of_mean,
    estimate_of_pair_sums,
    interval_of_means,
    measured_weights,
    sample_size,
)
from dualfold.quality.foreign_rows import ForeignRows
from dualfold.quality.map_axes import close_axes, far_rows
from dualfold.quality.neighborhood_shape import correlation_of_densities

# Words of a verdict and where they change.
from dualfold.quality.picture import MEASURE_MEANINGS, Picture, mean_picture, verdict_of

# Ranks by counting are held to sorting, their error to its formula.
from dualfold.quality.rank_counts import (
    SLACK_SHARE,
    PackedPoints,
    Ranks,
    RisingLimits,
    euclidean_ranks,
    given_ranks,
    rank_thresholds,
)
from dualfold.quality.ranks import neighbor_ranks, picture_of
from dualfold.quality.space import space_of, subspace
from dualfold.quality.tied_lists import kept_by_size
