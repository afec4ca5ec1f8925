"""
January's map is on the wall: is it still right in February?
============================================================

``extend`` adds rows to a fitted map. Old points stay where they are, new rows are placed, and two
things are judged: how far the frozen map is from the best map of all rows (``staleness_``), and
whether the new rows are of the kind of the old ones (``new_rows_``).

**In short:** rows of the same kind leave the verdict at "keep"; a group that January did not have
is named, and ``refit`` lays the new map over the old one.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import Isomap
from dualfold.data import swiss_roll

roll = swiss_roll(1300, random_state=0)
january, february = roll.points[:1000], roll.points[1000:]
model = Isomap(n_neighbors=10).fit(january)

usual = model.extend(february)
print("the same kind of rows:", usual.verdict())
print(usual.staleness_)

# Thirty rows of a kind that January did not have, inside the roll.
born = np.random.default_rng(1).normal([0.0, 10.0, 3.0], 0.4, size=(30, 3))
grown = model.extend(np.vstack([february, born]))
print("with a new group:", grown.verdict())

again = grown.refit()
print(again.registration_)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained", sharex=True, sharey=True)
group = np.arange(grown.n_rows) >= 1300
maps = {"same kind": usual, "frozen": grown, "fitted again": again}
for axis, (title, map_) in zip(axes, maps.items(), strict=True):
    points = map_.embedding_
    axis.scatter(*points[:1000].T, c="0.75", s=5)
    axis.scatter(*points[1000:1300].T, s=7)
    if len(points) > 1300:
        axis.scatter(*points[group].T, s=9)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()
