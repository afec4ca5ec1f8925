"""
Did the decomposition of my texts converge?
===========================================

Truncated SVD of word counts is latent semantic analysis. scikit-learn's default stops after five
random rounds, whatever it has reached by then. Here the residual of each singular vector is drawn
for both.

**In short:** look at the certificate. The last components of the random rounds are still far from
singular vectors, and nothing says so.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn import decomposition

from dualfold import TruncatedSVD

# 1,500 texts of 4,000 words whose frequencies follow Zipf's law; each text has one of 40 subjects,
# which prefers words of its own.
rng = np.random.default_rng(0)
n_texts, n_words, n_subjects = 1_500, 4_000, 40
frequency = 1 / np.arange(1.0, n_words + 1)
preferred = np.array([frequency[rng.permutation(n_words)] for _ in range(n_subjects)])
shares = 0.6 * frequency + 0.4 * preferred[rng.integers(n_subjects, size=n_texts)]
counts = sp.csr_array(rng.poisson(80 * shares / shares.sum(axis=1, keepdims=True)).astype(float))
counts.data = np.log1p(counts.data)


def residuals(model):
    """How far each row of components_ is from a right singular vector, relative to its value."""
    V, squares = model.components_.T, model.singular_values_**2
    return np.linalg.norm(counts.T @ (counts @ V) - V * squares, axis=0) / squares


theirs = decomposition.TruncatedSVD(60, random_state=0).fit(counts)
ours = TruncatedSVD(60).fit(counts)
print(ours.certificate_)

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.semilogy(residuals(theirs), "s", label="five random rounds (scikit-learn's default)")
axis.semilogy(residuals(ours), "o", label="dualfold")
axis.set(xlabel="component", ylabel="relative residual")
axis.legend()
plt.show()
