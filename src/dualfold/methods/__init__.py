"""Each method states one trace problem: a row of the method table."""

from dualfold.methods.eigenmaps import eigenmaps
from dualfold.methods.hessian_lle import hessian_lle
from dualfold.methods.lle import lle
from dualfold.methods.ltsa import ltsa
from dualfold.methods.mds import mds, mds_of_distances
from dualfold.methods.modified_lle import modified_lle
from dualfold.methods.pca import pca

__all__ = [
    "eigenmaps",
    "hessian_lle",
    "lle",
    "ltsa",
    "mds",
    "mds_of_distances",
    "modified_lle",
    "pca",
]
