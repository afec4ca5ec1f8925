"""The methods as scikit-learn estimators."""

from dualfold.estimators.eigenmaps import LaplacianEigenmaps, SpectralEmbedding

__all__ = ["LaplacianEigenmaps", "SpectralEmbedding"]
