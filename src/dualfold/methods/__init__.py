"""Each method states one trace problem: a row of the method table.

(A random projection optimises nothing; it is here for company and says so.)

What they share:

graph : the neighbours, from `dualfold.graph`
n_components : number of coordinates, d
ridge : what steadies reconstruction weights, as a share of the local trace
weights, width : of edges: "heat" exp(−‖x−y‖²/width²) (None: the root mean square length),
    "binary" or "density"
"""

from dualfold.methods.eigenmaps import eigenmaps
from dualfold.methods.hessian_lle import hessian_lle
from dualfold.methods.isomap import isomap, landmark_count, landmark_isomap
from dualfold.methods.lle import lle
from dualfold.methods.lpp import lpp, orthogonal_lpp
from dualfold.methods.ltsa import ltsa
from dualfold.methods.mds import mds, mds_of_distances
from dualfold.methods.modified_lle import modified_lle
from dualfold.methods.mvu import mvu, unfolded
from dualfold.methods.npp import npp, orthogonal_npp
from dualfold.methods.pca import pca
from dualfold.methods.random_projection import johnson_lindenstrauss_size, random_projection

__all__ = [
    "eigenmaps",
    "hessian_lle",
    "isomap",
    "johnson_lindenstrauss_size",
    "landmark_count",
    "landmark_isomap",
    "lle",
    "lpp",
    "ltsa",
    "mds",
    "mds_of_distances",
    "modified_lle",
    "mvu",
    "npp",
    "orthogonal_lpp",
    "orthogonal_npp",
    "pca",
    "random_projection",
    "unfolded",
]
