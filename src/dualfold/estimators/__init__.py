"""The methods as scikit-learn estimators."""

from dualfold.estimators.eigenmaps import LaplacianEigenmaps, SpectralEmbedding
from dualfold.estimators.isomap import Isomap
from dualfold.estimators.lle import LocallyLinearEmbedding
from dualfold.estimators.mds import ClassicalMDS
from dualfold.estimators.pca import PCA
from dualfold.estimators.point_pca import PointPCA
from dualfold.estimators.projections import (
    LocalityPreservingProjection,
    NeighborhoodPreservingProjection,
    OrthogonalLPP,
    OrthogonalNPP,
)
from dualfold.estimators.random_projection import RandomProjection
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
