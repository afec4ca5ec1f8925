"""How good an embedding is, measured on the data and the points alone."""

from dualfold.quality.neighbors import t_similarity

__all__ = ["t_similarity"]
