"""The methods as scikit-learn estimators."""

from dualfold.estimators.eigenmaps import LaplacianEigenmaps, SpectralEmbedding
from dualfold.estimators.isomap import Isomap
from dualfold.estimators.lle import LocallyLinearEmbedding

__all__ = ["Isomap", "LaplacianEigenmaps", "LocallyLinearEmbedding", "SpectralEmbedding"]
