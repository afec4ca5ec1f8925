"""
Does the map of a turning object close to a circle?
===================================================

An object turns once around, and each image is a row of 900 pixels. The only thing that changes is
the angle, so the rows lie on a closed curve.

**In short:** a method that keeps neighbours finds the circle; the curve of PCA crosses itself.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import PCA, LaplacianEigenmaps

rng = np.random.default_rng(0)
blobs = rng.normal(size=(12, 3)) * [1, 1, 0.5]  # a rigid body of twelve spots
angles = np.linspace(0, 2 * np.pi, 300, endpoint=False)
grid = np.stack(np.meshgrid(*[np.linspace(-2.5, 2.5, 30)] * 2), axis=-1)


def image(angle):
    """The spots seen from the side after a turn around the upright axis."""
    across = np.cos(angle) * blobs[:, 0] + np.sin(angle) * blobs[:, 1]
    seen = np.column_stack([across, blobs[:, 2]])
    return np.exp(-((grid[:, :, None] - seen) ** 2).sum(-1) / 0.3).sum(-1).ravel()


images = np.array([image(angle) for angle in angles])
models = {"PCA": PCA(n_components=2), "eigenmaps": LaplacianEigenmaps(n_neighbors=6)}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
axes[0].imshow(np.vstack(images[[0, 37, 75]].reshape(3, 30, 30)[:, 8:-8]), cmap="gray_r")
axes[0].set(title="three of the images", xticks=[], yticks=[])
for axis, (name, model) in zip(axes[1:], models.items(), strict=True):
    axis.scatter(*model.fit_transform(images).T, c=angles, cmap="hsv", s=10)
    axis.set(title=f"{name} ({model.certificate_.level})", xticks=[], yticks=[], aspect="equal")
plt.show()
