"""
What changes if I change the import?
====================================

Replace scikit-learn's class by that of dualfold and fit the same table.

**In short:** the map stays the same up to signs and rounding, and a certificate proves it.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn.decomposition
from sklearn.datasets import load_digits

from dualfold import PCA

X, digit = load_digits(return_X_y=True)
theirs = sklearn.decomposition.PCA(n_components=2).fit_transform(X)
model = PCA(n_components=2)
ours = model.fit_transform(X)
print(model.certificate_)
signs = np.sign((ours * theirs).sum(axis=0))
print("largest difference:", np.abs(ours * signs - theirs).max())

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, points, title in zip(
    axes, (theirs, ours * signs), ("scikit-learn", "dualfold"), strict=True
):
    axis.scatter(*points.T, c=digit, cmap="tab10", s=4)
    axis.set(title=title, xlabel="axis 1", ylabel="axis 2")
plt.show()
