"""
Is this group real?
===================

A map made for neighbours may break one even square into islands. The audit finds the groups that an
eye sees on the map and looks for a valley between them in the data themselves.
"""

import matplotlib.pyplot as plt
import numpy as np

import dualfold
from dualfold import TSNE

rng = np.random.default_rng(2)
far = np.repeat([[0.0], [1.4]], 300, axis=0)
tables = {
    "one even square": rng.uniform(size=(600, 2)),
    "two clouds in 20 columns": rng.normal(size=(600, 20)) + far,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, (title, X) in zip(axes, tables.items(), strict=True):
    points = TSNE(perplexity=3, attraction=4, random_state=0).fit_transform(X)
    found = dualfold.audit(X, points)
    print(title)
    for group in found.groups:
        print(f"  group {group.name}, {group.size} points: {group.verdict}")
    axis.scatter(*points.T, s=6)
    words = ", ".join(f"{group.name} {group.verdict}" for group in found.groups)
    axis.set(title=title, xlabel=words, xticks=[], yticks=[])
plt.show()
