"""
What does a hole in the sheet do?
=================================

A roll with a hole. Paths in the graph go around it, edges do not see it, and local combinations
of neighbours stay the same.

**In short:** Isomap widens the sheet at the hole, unfolding draws the sheet out to a narrower
one, and modified LLE leaves the hole as it is, up to the scale of its axes. Each is the proved
optimum of its own problem.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import Isomap, LocallyLinearEmbedding, MaximumVarianceUnfolding
from dualfold.data import holed_swiss_roll

roll = holed_swiss_roll(900, random_state=0)
models = {
    "Isomap": Isomap(n_neighbors=8),
    "maximum variance unfolding": MaximumVarianceUnfolding(n_neighbors=6),
    "modified LLE": LocallyLinearEmbedding(n_neighbors=8, method="modified"),
}
figure, axes = plt.subplots(4, 1, figsize=(7, 8.4), layout="constrained")
axes[0].scatter(*(roll.flat - roll.flat.mean(axis=0)).T, c=roll.color, s=8)
axes[0].set(title="the sheet, {:.0f} × {:.0f}".format(*np.ptp(roll.flat, axis=0)))
for axis, (name, model) in zip(axes[1:], models.items(), strict=True):
    points = model.fit_transform(roll.points)
    points *= np.sign(np.sum(points * (roll.flat - roll.flat.mean(axis=0)), axis=0))
    print(f"{name}: {model.certificate_}")
    axis.scatter(*points.T, c=roll.color, s=8)
    size = "{:.0f} × {:.0f}".format(*np.ptp(points, axis=0)) if "LLE" not in name else "no unit"
    axis.set(title=f"{name}, {size} ({model.certificate_.level})")
for axis in axes[:3]:  # the same scale for all that have one
    axis.set(xlim=(-50, 50), aspect="equal")
plt.setp(axes, xticks=[], yticks=[])
plt.show()
