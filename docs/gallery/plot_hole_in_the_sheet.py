"""
What does a hole in the sheet do?
=================================

Isomap's distances go around a hole, so it stretches the map there; unfolding only keeps the lengths
of edges and stays near the sheet. Both answers are proved: it is the problems that differ.
"""

import matplotlib.pyplot as plt

from dualfold import Isomap, MaximumVarianceUnfolding
from dualfold.data import holed_swiss_roll

roll = holed_swiss_roll(900, random_state=0)
models = {
    "Isomap": Isomap(n_neighbors=8),
    "maximum variance unfolding": MaximumVarianceUnfolding(n_neighbors=6),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
axes[0].scatter(*roll.flat.T, c=roll.color, s=8)
axes[0].set(title="the sheet", xticks=[], yticks=[])
for axis, (name, model) in zip(axes[1:], models.items(), strict=True):
    points = model.fit_transform(roll.points)
    print(f"{name}: {model.certificate_}")
    axis.scatter(*points.T, c=roll.color, s=8)
    axis.set(title=f"{name} ({model.certificate_.level})", xticks=[], yticks=[], aspect="equal")
plt.show()
