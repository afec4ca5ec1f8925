"""Each method states one trace problem: a row of the method table."""

from dualfold.methods.eigenmaps import eigenmaps
from dualfold.methods.mds import mds, mds_of_distances
from dualfold.methods.pca import pca

__all__ = ["eigenmaps", "mds", "mds_of_distances", "pca"]
