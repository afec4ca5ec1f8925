"""Linear and quadratic programs with both sides proved."""

from dualfold.theory.programs import *  # noqa: F403
from dualfold.theory.programs import __all__ as __all__
