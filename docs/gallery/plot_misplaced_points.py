"""
Which points are misplaced?
===========================

Twenty points of a good map are moved to random places. The audit looks for points whose place
says nothing about their neighbours in the data.

**In short:** ``audit(X, Y).dubious`` marks them, at a stated rate of false alarms. A point that
fell near its true place by chance is not found, and need not be.
"""

import matplotlib.pyplot as plt
import numpy as np

import dualfold
from dualfold import Isomap
from dualfold.data import swiss_roll

rng = np.random.default_rng(0)
roll = swiss_roll(800, random_state=0)
points = Isomap(n_neighbors=8).fit_transform(roll.points)
moved = rng.choice(len(points), 20, replace=False)
points[moved] = rng.uniform(points.min(axis=0), points.max(axis=0), size=(20, 2))
found = dualfold.audit(roll.points, points)
hits = np.intersect1d(np.flatnonzero(found.dubious), moved)
print(f"{found.dubious.sum()} points are dubious, {len(hits)} of the 20 moved ones among them")

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.scatter(*points.T, c=roll.color, s=8)
axis.scatter(
    *points[moved].T, s=60, facecolors="none", edgecolors="black", linewidths=1.2, label="moved"
)
axis.scatter(*points[found.dubious].T, marker="x", c="crimson", s=40, label="dubious")
axis.set(xticks=[], yticks=[])
axis.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
plt.show()
