# Short import path for users.
from dualfold.models import *  # noqa: F403
from dualfold.models import __all__ as __all__
from dualfold.models import __doc__ as __doc__
