# Short import path for users.
from dualfold.data.text import *  # noqa: F403
from dualfold.data.text import __all__ as __all__
from dualfold.data.text import __doc__ as __doc__
