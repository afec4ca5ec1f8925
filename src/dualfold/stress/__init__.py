"""Points whose distances are nearest to given ones: least stress, metric and non-metric."""

from dualfold.stress.certificate import StressCertificate, certify_stress
from dualfold.stress.majorization import descend
from dualfold.stress.problem import StressProblem, stress_problem

__all__ = ["StressCertificate", "StressProblem", "certify_stress", "descend", "stress_problem"]
