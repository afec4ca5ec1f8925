"""
Which neighbour map has a proved bound?
=======================================

t-SNE's objective has no known bound. A neighbour map minimises a similar objective, with
attraction between neighbours and repulsion between all points, whose optimum can be bounded from
below.

**In short:** ``NeighborMap``; its certificate says by how many percent a better map could improve
the objective, at most.
"""

import matplotlib.pyplot as plt

from dualfold import NeighborMap
from dualfold.data import digits

images = digits()
X, digit = images.points[:150], images.labels[:150]
model = NeighborMap(tolerance=0.05).fit(X)
proof = model.certificate_
print(proof)
print(f"objective {proof.value:.5g}, no map is below {proof.bound:.5g}")

figure, axis = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
axis.scatter(*model.embedding_.T, c=digit, cmap="tab10", s=22)
axis.set(
    title=f"{proof.level}: no map is better by more than {proof.gap:.1%}", xticks=[], yticks=[]
)
plt.show()
