"""t-SNE: the problem, its objective from all pairs, and what a certificate can say of a map."""

from dualfold.methods.points.tsne.certificate import (
    TsneCertificate,
    certify_tsne,
    tsne_objective,
)
from dualfold.methods.points.tsne.problem import TsneProblem

__all__ = [
    "TsneCertificate",
    "TsneProblem",
    "certify_tsne",
    "tsne_objective",
]
