"""Solvers of trace problems: frozen settings with `solve` and `attempt`."""

from dualfold.trace.solvers.auto import Auto
from dualfold.trace.solvers.dense import Dense
from dualfold.trace.solvers.factored import Factored
from dualfold.trace.solvers.gradient import Gradient, PaperGradient
from dualfold.trace.solvers.lanczos import Lanczos
from dualfold.trace.solvers.preconditioned import Preconditioned

__all__ = [
    "Auto",
    "Dense",
    "Factored",
    "Gradient",
    "Lanczos",
    "PaperGradient",
    "Preconditioned",
]
