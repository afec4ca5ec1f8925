"""
Four eigenmaps: which neighbourhoods?
=====================================

Laplacian eigenmaps with a fixed number of neighbours or a variable one, with one width for all or
an adaptive one: the four algorithms of Tucker's thesis on a roll that is sampled unevenly.
"""

import warnings

import matplotlib.pyplot as plt

from dualfold import LaplacianEigenmaps
from dualfold.data import oversampled_swiss_roll
from dualfold.quality import t_similarity

roll = oversampled_swiss_roll(800, random_state=0)
figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
for axis, name in zip(axes, ("LE", "ALE", "VLE", "VALE"), strict=True):
    model = LaplacianEigenmaps.named(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = model.fit_transform(roll.points)
    kept = t_similarity(roll.points, points)
    axis.scatter(*points.T, c=roll.color, s=5)
    axis.set(title=f"{name}: {kept:.0%} kept\n{model.certificate_.level}", xticks=[], yticks=[])
plt.show()
