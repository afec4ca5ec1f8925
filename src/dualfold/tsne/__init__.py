"""t-SNE: its objective from all pairs, the descent, and what can be said of its end."""

from dualfold.tsne.certificate import TsneCertificate, certify_tsne
from dualfold.tsne.gradient_descent import Descent, Look, Phase, descended
from dualfold.tsne.objective import Objective, tsne_objective
from dualfold.tsne.problem import TsneProblem

__all__ = [
    "Descent",
    "Look",
    "Objective",
    "Phase",
    "TsneCertificate",
    "TsneProblem",
    "certify_tsne",
    "descended",
    "tsne_objective",
]
