"""How good an embedding is, measured on the data and the points alone."""

from dualfold.quality.distances import residual_variance
from dualfold.quality.neighbors import t_similarity

__all__ = ["residual_variance", "t_similarity"]
