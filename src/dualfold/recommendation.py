"""Which method, with how many neighbours and coordinates: measured on the data."""

from dualfold.judging.recommendation import *  # noqa: F403
from dualfold.judging.recommendation import __all__ as __all__
