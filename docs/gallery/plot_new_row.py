"""
Does this new row belong here?
==============================

A model places any row, also one that has nothing to do with the table. A conformal p-value says
how unusual a new row is beside the rows of the map.

**In short:** look at its p-value: below 0.05 about once in 20 times if the row was drawn like the
rows of the table, far more often for rows from elsewhere.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import Isomap
from dualfold.data import swiss_roll
from dualfold.quality import conformal_p_values

roll = swiss_roll(800, random_state=0)
model = Isomap(n_neighbors=8).fit(roll.points)
usual = swiss_roll(100, random_state=1).points
foreign = np.random.default_rng(0).uniform(roll.points.min(0), roll.points.max(0), size=(100, 3))
p_usual, p_foreign = (conformal_p_values(roll.points, rows) for rows in (usual, foreign))
print(
    f"p ≤ 0.05: {np.mean(p_usual <= 0.05):.0%} of usual rows, "
    f"{np.mean(p_foreign <= 0.05):.0%} of rows from nowhere"
)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].scatter(*model.embedding_.T, c="silver", s=5)
for rows, p, color in ((usual, p_usual, "C0"), (foreign, p_foreign, "C1")):
    axes[0].scatter(*model.transform(rows).T, c=color, s=16)
    axes[1].plot(np.sort(p), np.linspace(0, 1, len(p)), color=color)
axes[0].set(title="all are placed", xticks=[], yticks=[])
axes[1].axvline(0.05, color="grey", lw=0.8)
axes[1].set(title="p-values", xlabel="p", ylabel="share of rows with at most this p")
axes[1].legend(["drawn as the table", "uniform in its box", "0.05"])
plt.show()
