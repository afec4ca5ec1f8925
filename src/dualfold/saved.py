"""Fitted maps that last: stored as files, judged again, updated as rows come and leave."""

from dualfold.models import *  # noqa: F403
from dualfold.models import __all__ as __all__
