# Short import path for users.
from dualfold.theory.games import *  # noqa: F403
from dualfold.theory.games import __all__ as __all__
from dualfold.theory.games import __doc__ as __doc__
