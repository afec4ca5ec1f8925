"""
Is this group real?
===================

A map made for neighbours may break one even square into islands. The audit finds the groups that
an eye sees on the map and looks for a valley between them in the data themselves.

**In short:** the islands of the square are torn or undecided, and none of them is a group of the
data. The two clouds are groups of the data.
"""

import matplotlib.pyplot as plt
import numpy as np

import dualfold
from dualfold import TSNE

rng = np.random.default_rng(1)
far = np.repeat([[0.0], [1.4]], 300, axis=0)
tables = {
    "one even square": rng.uniform(size=(600, 2)),
    "two clouds in 20 columns": rng.normal(size=(600, 20)) + far,
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for axis, (title, X) in zip(axes, tables.items(), strict=True):
    points = TSNE(perplexity=5, attraction=4, random_state=0).fit_transform(X)
    found = dualfold.audit(X, points)
    print(title)
    for code, group in enumerate(found.groups):
        print(f"  {group.name}, {group.size} points: {group.verdict}")
        members = points[found.map_groups.codes == code]
        axis.scatter(*members.T, s=8, label=f"{group.name}: {group.verdict}")
    axis.set(title=title, xticks=[], yticks=[])
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, markerscale=2)
plt.show()
