"""
From eigenmaps to t-SNE: what does attraction do?
=================================================

More attraction draws neighbours together and gives a map like UMAP's; in the limit only the
attraction is left, and the map is Laplacian eigenmaps, which can be proved optimal.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import TSNE
from dualfold.data import digits

images = digits()
X, digit = images.points[:900], images.labels[:900]
figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
for axis, attraction in zip(axes, (np.inf, 8, 3, 1), strict=True):
    model = TSNE(perplexity=20, attraction=attraction, random_state=0).fit(X)
    axis.scatter(*model.embedding_.T, c=digit, cmap="tab10", s=4)
    words = f"attraction {attraction:g}\n{model.certificate_.level}"
    axis.set(title=words, xticks=[], yticks=[])
plt.show()
