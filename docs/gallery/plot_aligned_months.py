"""
Who moved between two months?
=============================

Two tables share most of their rows, and five rows changed in between. Separate maps
would be rotated against each other.

**In short:** `AlignedMaps` ties each row to itself in the next table and reports the
rows that moved more than another sample of rows would move them.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import AlignedMaps

rng = np.random.default_rng(3)
sheet = rng.uniform(size=(160, 2)) * [3, 1]
before, after = sheet[:120], sheet[40:].copy()
order = np.argsort(after[:80, 0])
after[order[:5]] = after[order[-5:]] + 0.02  # five rows go to the other end

model = AlignedMaps().fit([before, after], ids=[range(120), range(40, 160)])
print(model.certificate_)
print(model.mu_reason_)

# %%
# Lines lead from the old to the new place of rows that are reported.
pairs, drift = model.links_[0], model.drift_[0]
first, second = model.embeddings_
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True)
for axis, points, title in zip(axes, (first, second), ("before", "after"), strict=True):
    axis.scatter(*points.T, s=8, color="0.6")
    axis.set_title(title)
for i, j in pairs[drift]:
    axes[1].plot(*np.column_stack([first[i], second[j]]), color="C3", linewidth=1)
axes[1].scatter(*second[pairs[drift, 1]].T, s=20, color="C3")
print(f"{drift.sum()} of {len(pairs)} linked rows are reported")
