"""
Can I use my own graph and my own distances?
============================================

Any symmetric sparse matrix of lengths is a graph, and any matrix of distances a table: here roads
between places of a city with a river that only two bridges cross.

**In short:** yes, by ``graph=`` and ``metric="precomputed"``; by road the banks of the river are
far apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.sparse import coo_array
from scipy.spatial import Delaunay

import dualfold
from dualfold import ClassicalMDS, Isomap

rng = np.random.default_rng(3)
places = rng.uniform(size=(400, 2))
places = places[np.abs(places[:, 1] - 0.5) > 0.04]
edges = np.vstack([Delaunay(places).simplices[:, [a, b]] for a, b in ((0, 1), (1, 2), (0, 2))])
edges = np.unique(np.sort(edges, axis=1), axis=0)
lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
crosses = (places[edges[:, 0], 1] < 0.5) != (places[edges[:, 1], 1] < 0.5)
middle = places[edges].mean(axis=1)[:, 0]
bridge = (np.abs(middle - 0.2) < 0.03) | (np.abs(middle - 0.8) < 0.03)
road = (lengths < 0.15) & (~crosses | bridge)
graph = coo_array((lengths[road], edges[road].T), shape=(len(places),) * 2)
graph = (graph + graph.T).tocsr()

model = Isomap(graph=graph).fit(places)
distances = dualfold.graph.geodesic_distances(model.graph_, dtype=np.float64)
scaled = ClassicalMDS(metric="precomputed").fit(distances)
print(model.certificate_, scaled.certificate_, sep="\n")
by_road = scaled.embedding_ @ orthogonal_procrustes(scaled.embedding_, places)[0]  # turned only

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].plot(*places[edges[road]].T, color="silver", lw=0.7, zorder=0)
for axis, points, title in ((axes[0], places, "the city"), (axes[1], by_road, "by road")):
    axis.scatter(*points.T, c=places[:, 1], cmap="viridis", s=14)
    axis.set(title=title, xticks=[], yticks=[], aspect="equal")
plt.show()
