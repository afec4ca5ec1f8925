"""Each method states one trace problem: a row of the method table."""

from dualfold.methods.eigenmaps import eigenmaps
from dualfold.methods.isomap import isomap, landmark_isomap
from dualfold.methods.mds import mds, mds_of_distances
from dualfold.methods.pca import pca

__all__ = ["eigenmaps", "isomap", "landmark_isomap", "mds", "mds_of_distances", "pca"]
