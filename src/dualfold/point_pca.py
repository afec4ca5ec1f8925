"""PCA by descent on points or directions, with the forces between points."""

from dualfold.theory.point_pca import *  # noqa: F403
from dualfold.theory.point_pca import __all__ as __all__
