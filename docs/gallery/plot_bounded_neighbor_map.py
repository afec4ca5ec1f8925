"""
A neighbour map with a proved bound
===================================

t-SNE's objective has no known bound. A neighbour map minimises a similar objective whose optimum
can be bounded from below, so its certificate says how far from the best it is.
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
axis.scatter(*model.embedding_.T, c=digit, cmap="tab10", s=16)
axis.set(title=f"{proof.level}: gap {proof.gap:.1%}", xticks=[], yticks=[])
plt.show()
