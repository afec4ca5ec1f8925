"""The methods as scikit-learn estimators."""

from dualfold.estimators.eigenmaps import LaplacianEigenmaps
from dualfold.estimators.isomap import Isomap
from dualfold.estimators.lle import LocallyLinearEmbedding
from dualfold.estimators.lpp import LocalityPreservingProjection, OrthogonalLPP
from dualfold.estimators.mds import ClassicalMDS
from dualfold.estimators.npp import NeighborhoodPreservingProjection, OrthogonalNPP
from dualfold.estimators.pca import PCA
from dualfold.estimators.point_pca import PointPCA
from dualfold.estimators.random_projection import RandomProjection
from dualfold.estimators.spectral_embedding import SpectralEmbedding
from dualfold.estimators.unfolding import MaximumVarianceUnfolding

__all__ = [
    "PCA",
    "ClassicalMDS",
    "Isomap",
    "LaplacianEigenmaps",
    "LocalityPreservingProjection",
    "LocallyLinearEmbedding",
    "MaximumVarianceUnfolding",
    "NeighborhoodPreservingProjection",
    "OrthogonalLPP",
    "OrthogonalNPP",
    "PointPCA",
    "RandomProjection",
    "SpectralEmbedding",
]
