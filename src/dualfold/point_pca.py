# Short import path for users.
from dualfold.theory.point_pca import *  # noqa: F403
from dualfold.theory.point_pca import __all__ as __all__
from dualfold.theory.point_pca import __doc__ as __doc__
