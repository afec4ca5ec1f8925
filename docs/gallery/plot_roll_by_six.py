"""
A roll by six methods: solved, but the right problem?
=====================================================

All six answers are the best of their own problem, and the certificates prove it. Whether the
problem suits the data is another question.

**In short:** look at the share of neighbours kept: Isomap and unfolding fit a roll, the others
solve another problem perfectly.
"""

import matplotlib.pyplot as plt

from dualfold import PCA, ClassicalMDS, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding
from dualfold import MaximumVarianceUnfolding as Unfolding
from dualfold.data import swiss_roll
from dualfold.quality import t_similarity

roll = swiss_roll(600, random_state=1)
models = {
    "PCA": PCA(n_components=2),
    "classical MDS": ClassicalMDS(n_components=2),
    "Isomap": Isomap(n_neighbors=8),
    "LLE": LocallyLinearEmbedding(n_neighbors=8),
    "eigenmaps": LaplacianEigenmaps(n_neighbors=8),
    "unfolding": Unfolding(n_neighbors=6),
}
figure, axes = plt.subplots(2, 3, figsize=(10, 6.5), layout="constrained")
for axis, (name, model) in zip(axes.flat, models.items(), strict=True):
    points = model.fit_transform(roll.points)
    kept = t_similarity(roll.points, points)
    axis.scatter(*points.T, c=roll.color, s=8)
    words = f"{name}: {model.certificate_.level}\n{kept:.0%} of neighbours kept"
    axis.set(title=words, xticks=[], yticks=[])
    print(f"{name:14} {model.certificate_.level:8} {kept:.2f}")
plt.show()
