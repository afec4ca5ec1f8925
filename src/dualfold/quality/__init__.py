"""How good an embedding is, measured on the data and the points alone."""

from dualfold.quality.distortion import Distortion, measured_distortion
from dualfold.quality.neighbors import t_similarity

__all__ = ["Distortion", "measured_distortion", "t_similarity"]
from dualfold.quality.distances import residual_variance

__all__ = ["residual_variance", "t_similarity"]
