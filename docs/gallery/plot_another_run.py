"""
t-SNE: what would another run change?
=====================================

The objective of t-SNE has many minima. ``n_starts`` fits from several starts and keeps the best;
the certificate says how far half of the points moved from one result to another.

**In short:** here the groups stay and their places do not: read who is together, not which group
lies beside which.
"""

import matplotlib.pyplot as plt

from dualfold import TSNE
from dualfold.data import digits

images = digits()
X, digit = images.points[:800], images.labels[:800]
model = TSNE(perplexity=20, n_starts=3, init="random", random_state=0).fit(X)
print(model.certificate_)
print("objectives of the starts:", model.certificate_.starts)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for seed, axis in enumerate(axes):
    one = TSNE(perplexity=20, init="random", random_state=seed).fit(X)
    axis.scatter(*one.embedding_.T, c=digit, cmap="tab10", s=7)
    axis.set(title=f"start {seed}: objective {one.kl_divergence_:.3f}", xticks=[], yticks=[])
plt.show()
