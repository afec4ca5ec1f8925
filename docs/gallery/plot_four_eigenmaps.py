"""
Four eigenmaps: which neighbourhoods?
=====================================

Laplacian eigenmaps with a fixed number of neighbours or a variable one (V), with one kernel width
for all or an adaptive one (A): the four algorithms of Tucker's thesis on a roll that is sampled
unevenly.

**In short:** all four are proved, and the choice of the graph decides what they keep: here an
adaptive width with a fixed number of neighbours keeps the most.
"""

import warnings

import matplotlib.pyplot as plt

from dualfold import LaplacianEigenmaps
from dualfold.data import oversampled_swiss_roll
from dualfold.quality import t_similarity

roll = oversampled_swiss_roll(800, random_state=0)
figure, axes = plt.subplots(2, 2, figsize=(8, 6.4), layout="constrained")
for axis, name in zip(axes.flat, ("LE", "ALE", "VLE", "VALE"), strict=True):
    model = LaplacianEigenmaps.named(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = model.fit_transform(roll.points)
    kept = t_similarity(roll.points, points)
    axis.scatter(*points.T, c=roll.color, s=8)
    axis.set(
        title=f"{name}: {model.certificate_.level}, {kept:.0%} of neighbours kept",
        xticks=[],
        yticks=[],
    )
plt.show()
