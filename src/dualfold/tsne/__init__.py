"""t-SNE: its objective from all pairs, the descent, and what can be said of its end."""

from dualfold.tsne.certificate import TsneCertificate, certify_tsne
from dualfold.tsne.objective import tsne_objective
from dualfold.tsne.problem import TsneProblem

__all__ = [
    "TsneCertificate",
    "TsneProblem",
    "certify_tsne",
    "tsne_objective",
]
