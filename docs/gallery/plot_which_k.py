"""
Which k, and is it stable?
==========================

Too many neighbours make short cuts between the layers of a roll, and the map collapses; too few
tear it. We count the neighbours that maps of resampled rows share.

**In short:** take a k with a high share on both lines. Where some samples have a short cut and
others not, maps disagree; where all have it, they agree again on a wrong map, so stability alone
does not decide.
"""

import matplotlib.pyplot as plt

from dualfold import Isomap
from dualfold.data import swiss_roll
from dualfold.quality import repeated_maps, stability, t_similarity

roll = swiss_roll(600, random_state=0)
sizes = (5, 6, 8, 10, 12, 16, 22)
shared, kept = [], []
for k in sizes:
    model = Isomap(n_neighbors=k)
    maps = repeated_maps(
        lambda part, seed, model=model: model.fit_transform(part), roll.points, runs=4, share=0.8
    )
    shared.append(stability(*maps).agreement)
    kept.append(t_similarity(roll.points, model.fit_transform(roll.points)))

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.plot(sizes, shared, "o-", label="shared by maps of resampled rows")
axis.plot(sizes, kept, "s-", label="kept from the table")
axis.set(xlabel="neighbours in the graph", ylabel="share of 10 nearest neighbours", ylim=(0, 1))
axis.set_xticks(sizes)
axis.legend(loc="lower left")
plt.show()
