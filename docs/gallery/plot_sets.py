"""
Which recipes are alike?
========================

A recipe is a set of ingredients. Jaccard's distance is the share of the ingredients of two recipes
that only one of them has. The Euclidean distance counts these ingredients, whatever the length of
the recipes. So all short recipes are near one another, whatever is in them.

**In short:** for tables of 0 and 1 take ``metric="jaccard"``. By the Euclidean distance the place
along each arm is the length of a recipe, and the short ones of all kitchens meet in the middle.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import Isomap

# 300 recipes of three kitchens: 60 ingredients of each kitchen, and 15 that all of them use.
rng = np.random.default_rng(0)
kitchen = np.repeat(np.arange(3), 100)
length = rng.integers(4, 31, size=300)
recipes = np.zeros((300, 195), dtype=bool)
for row, (which, count) in enumerate(zip(kitchen, length, strict=True)):
    common = count // 2
    recipes[row, rng.choice(15, common, replace=False)] = True
    own = np.arange(15 + 60 * which, 75 + 60 * which)
    recipes[row, rng.choice(own, count - common, replace=False)] = True

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for axis, metric in zip(axes, ("jaccard", "euclidean"), strict=True):
    points = Isomap(n_neighbors=15, metric=metric).fit_transform(recipes)
    axis.scatter(*points.T, c=kitchen, cmap="tab10", s=2 * length, alpha=0.8)
    axis.set(title=metric, xticks=[], yticks=[])

# %%
# Colours are kitchens, and large points are long recipes.
plt.show()
