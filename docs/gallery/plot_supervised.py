"""
Do labels help a projection?
============================

Fisher's discriminant and LPP on a graph of neighbours of one class learn from labels; PCA does
not. A tenth of the digits is the training set, and the others show what generalises.

**In short:** yes, where labelled rows are few and coordinates are two; Fisher's discriminant then
needs ``shrinkage``.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import dualfold
from dualfold.data import digits

images = digits()
train, test, classes, truth = train_test_split(
    images.points, images.labels, train_size=0.1, stratify=images.labels, random_state=0
)
models = {
    "PCA": dualfold.PCA(n_components=2),
    "Fisher's discriminant": dualfold.FisherDiscriminant(n_components=2, shrinkage="auto"),
    "supervised LPP": dualfold.LocalityPreservingProjection(
        n_components=2, n_neighbors=8, supervised=True
    ),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    near = KNeighborsClassifier(5).fit(model.fit(train, classes).transform(train), classes)
    placed = model.transform(test)
    right = near.score(placed, truth)
    print(f"{name}: {right:.0%} of held-out digits named by 5 neighbours; {model.certificate_}")
    axis.scatter(*placed.T, c=truth, cmap="tab10", s=6)
    axis.set(title=f"{name}: {right:.0%} named right", xticks=[], yticks=[])
plt.show()
