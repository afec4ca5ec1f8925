"""
Labels: supervised projections against LDA
==========================================

LPP and NPP on a graph whose neighbours are of one class learn from labels, and Fisher's
discriminant does, too. Rows that were held out show which of them generalises.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import dualfold
from dualfold.data import digits

images = digits()
parts = train_test_split(images.points, images.labels, test_size=0.5, random_state=0)
train, test, classes, truth = parts
models = {
    "PCA": dualfold.PCA(n_components=2),
    "Fisher's discriminant": dualfold.FisherDiscriminant(n_components=2),
    "supervised LPP": dualfold.LocalityPreservingProjection(n_components=2, supervised=True),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    near = KNeighborsClassifier(10).fit(model.fit(train, classes).transform(train), classes)
    placed = model.transform(test)
    right = near.score(placed, truth)
    print(f"{name}: {right:.0%} of held-out digits named by 10 neighbours; {model.certificate_}")
    axis.scatter(*placed.T, c=truth, cmap="tab10", s=5)
    axis.set(title=f"{name}: {right:.0%}", xticks=[], yticks=[])
plt.show()
