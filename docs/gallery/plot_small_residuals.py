"""
How do small residuals lie?
===========================

An iterative solver returns eigenvectors with tiny residuals, and still one can be missing.
Counting the eigenvalues below a height (the inertia of a factorisation) finds that out. Here we
leave one out on purpose.

**In short:** residuals say that each vector is an eigenvector, not that it is the one you asked
for; the certificate of the right map says proved, of the wrong one failed.
"""

import matplotlib.pyplot as plt

import dualfold
from dualfold.data import swiss_roll

roll = swiss_roll(1000, random_state=0)
graph = dualfold.graph.knn(roll.points, 10)
four = dualfold.embed(dualfold.methods.eigenmaps(graph, n_components=4)).solution.vectors
problem = dualfold.methods.eigenmaps(graph, n_components=2)

right, wrong = four[:, [0, 1]], four[:, [0, 2]]
proved, failed = dualfold.certify(problem, right), dualfold.certify(problem, wrong)
print("right:", proved)
print("wrong:", failed)
print("largest residuals:", max(proved.residuals), max(failed.residuals))

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, points, title in ((axes[0], right, "proved"), (axes[1], wrong, "failed: one is missing")):
    axis.scatter(*points.T, c=roll.color, s=8)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()
