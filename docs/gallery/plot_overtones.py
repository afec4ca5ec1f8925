"""
Why is my eigenmap a curve?
===========================

On a long strip the second eigenvector is an overtone of the first: it goes along the strip again,
only faster.

**In short:** because two coordinates that are functions of one another draw a curve;
``coordinates="independent"`` takes eigenvectors that are no function of the earlier ones, and the
proof then covers all eigenvectors that were computed.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from dualfold import LaplacianEigenmaps

strip = np.random.default_rng(0).uniform(size=(1000, 2)) / [1, 3]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns that coordinate 2 is an overtone
    first = LaplacianEigenmaps().fit(strip)
chosen = LaplacianEigenmaps(coordinates="independent").fit(strip)
print("eigenvectors, counted from 0:", chosen.coordinates_)
print(chosen.certificate_)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
pictures = {"the strip": strip, "first two": first.embedding_, "independent": chosen.embedding_}
for axis, (title, points) in zip(axes, pictures.items(), strict=True):
    axis.scatter(*points.T, c=strip[:, 0], s=6)
    axis.set(title=title, xticks=[], yticks=[])
axes[0].set_aspect("equal")
plt.show()
