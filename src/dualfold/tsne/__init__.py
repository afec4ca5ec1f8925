"""t-SNE: its objective from all pairs, the descent, and what can be said of its end."""

from dualfold.tsne.certificate import TsneCertificate, certify_tsne
from dualfold.tsne.gradient_descent import Checkpoint, Descent, Phase, descend
from dualfold.tsne.objective import Objective, tsne_objective
from dualfold.tsne.problem import TsneProblem

__all__ = [
    "Checkpoint",
    "Descent",
    "Objective",
    "Phase",
    "TsneCertificate",
    "TsneProblem",
    "certify_tsne",
    "descend",
    "tsne_objective",
]
