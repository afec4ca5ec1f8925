# Short import path for users.
from dualfold.judging.recommendation import *  # noqa: F403
from dualfold.judging.recommendation import __all__ as __all__
from dualfold.judging.recommendation import __doc__ as __doc__
