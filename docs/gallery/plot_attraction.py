"""
From eigenmaps to t-SNE: what does attraction do?
=================================================

``attraction`` multiplies the forces that draw neighbours together. 1 is t-SNE, about 4 looks like
UMAP, and without repulsion (∞) the map is that of Laplacian eigenmaps.

**In short:** more attraction draws groups into tighter strands; only the limit, eigenmaps, can be
proved optimal.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import TSNE
from dualfold.data import digits

images = digits()
X, digit = images.points[:900], images.labels[:900]
figure, axes = plt.subplots(2, 2, figsize=(8, 7.4), layout="constrained")
for axis, attraction in zip(axes.flat, (np.inf, 8, 3, 1), strict=True):
    model = TSNE(perplexity=20, attraction=attraction, random_state=0).fit(X)
    axis.scatter(*model.embedding_.T, c=digit, cmap="tab10", s=8)
    words = f"attraction {attraction:g}: {model.certificate_.level}".replace("inf", "∞")
    axis.set(title=words, xticks=[], yticks=[])
plt.show()
