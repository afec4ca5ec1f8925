"""The methods as scikit-learn estimators."""

from dualfold.estimators.mds import ClassicalMDS
from dualfold.estimators.pca import PCA
from dualfold.estimators.projections import (
    LocalityPreservingProjection,
    NeighborhoodPreservingProjection,
    OrthogonalLPP,
    OrthogonalNPP,
)
from dualfold.estimators.random_projection import RandomProjection

__all__ = [
    "PCA",
    "ClassicalMDS",
    "LocalityPreservingProjection",
    "NeighborhoodPreservingProjection",
    "OrthogonalLPP",
    "OrthogonalNPP",
    "RandomProjection",
]
