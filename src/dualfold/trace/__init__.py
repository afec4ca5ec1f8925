"""Trace problems, their solutions and certificates."""

from dualfold.trace.certificate import TraceCertificate, certify
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.subspaces import subspace_quotients

__all__ = [
    "Gramian",
    "TraceCertificate",
    "TraceProblem",
    "certify",
    "subspace_quotients",
]
