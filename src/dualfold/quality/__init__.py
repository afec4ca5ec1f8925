"""How good an embedding is, measured on the data and the points alone."""

from dualfold.quality.distances import residual_variance
from dualfold.quality.distortion import Distortion, measured_distortion
from dualfold.quality.neighbors import t_similarity

__all__ = ["Distortion", "measured_distortion", "residual_variance", "t_similarity"]
