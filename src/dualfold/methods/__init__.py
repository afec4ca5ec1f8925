"""Each method states one trace problem: a row of the method table.

(A random projection optimises nothing; it is here for company and says so.)
"""

from dualfold.methods.eigenmaps import eigenmaps
from dualfold.methods.lpp import lpp, orthogonal_lpp
from dualfold.methods.mds import mds, mds_of_distances
from dualfold.methods.npp import npp, orthogonal_npp
from dualfold.methods.pca import pca
from dualfold.methods.random_projection import johnson_lindenstrauss_size, random_projection

__all__ = [
    "eigenmaps",
    "johnson_lindenstrauss_size",
    "lpp",
    "mds",
    "mds_of_distances",
    "npp",
    "orthogonal_lpp",
    "orthogonal_npp",
    "pca",
    "random_projection",
]
