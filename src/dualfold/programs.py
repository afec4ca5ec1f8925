# Short import path for users.
from dualfold.theory.programs import *  # noqa: F403
from dualfold.theory.programs import __all__ as __all__
from dualfold.theory.programs import __doc__ as __doc__
