"""
Can forces between points find PCA?
===================================

The gradient of the classical scaling objective moves points as springs do: data pull, the map
pushes.

**In short:** yes: from random places the points arrive at PCA's map, and the certificate proves
it.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import PCA, PointPCA
from dualfold.data import digits
from dualfold.point_pca import point_forces

images = digits()
X, digit = images.points[:300], images.labels[:300]
start = np.random.default_rng(0).normal(size=(300, 2)) * 10
moved = PointPCA(n_components=2, random_state=0).fit(X)
exact = PCA(n_components=2).fit_transform(X)
print(moved.certificate_)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
pull = point_forces(X, start).descent
axes[0].quiver(*start.T, *pull.T, digit, cmap="tab10", width=0.003)
axes[0].set(title="forces at random places", xticks=[], yticks=[])
signs = np.sign((moved.embedding_ * exact).sum(axis=0))
axes[1].scatter(*(moved.embedding_ * signs).T, c=digit, cmap="tab10", s=14)
axes[1].scatter(*exact.T, facecolors="none", edgecolors="black", s=44, lw=0.5)
axes[1].set(title="where they end; circles: PCA", xticks=[], yticks=[])
plt.show()
