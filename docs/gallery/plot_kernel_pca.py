"""
Which gamma, and can a kernel clean images?
===========================================

Kernel PCA with the rbf kernel is PCA if gamma is very small, and shows single rows if it is too
large. In between, few components describe what digits have in common: noisy digits are projected
onto them, and the way back leads to images again.

**In short:** the gamma with the smallest error on rows that were not fitted; there the images have
less noise than PCA leaves with the number of components that suits it best.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import PCA, KernelPCA
from dualfold.data import digits

rng = np.random.default_rng(0)
images = digits().points[:900] / 16
clean, fitted = images[:300], images[300:]
noisy = clean + 0.25 * rng.standard_normal(clean.shape)


def error(rows):
    """Root mean square distance of a pixel from the clean image."""
    return np.sqrt(np.mean((rows - clean) ** 2))


gammas = np.logspace(-4, 1, 11)
errors = []
for gamma in gammas:
    model = KernelPCA(
        40, kernel="rbf", gamma=gamma, fit_inverse_transform=True, inverse="fixed_point", alpha=0.1
    ).fit(fitted)
    errors.append(error(model.inverse_transform(model.transform(noisy))))
best = gammas[int(np.argmin(errors))]
model = KernelPCA(
    40, kernel="rbf", gamma=best, fit_inverse_transform=True, inverse="fixed_point", alpha=0.1
).fit(fitted)
cleaned = model.inverse_transform(model.transform(noisy))
linear = [PCA(count).fit(fitted) for count in range(2, 41, 2)]
by_pca = min(error(one.inverse_transform(one.transform(noisy))) for one in linear)
print(f"gamma {best:.2g}:", model.certificate_)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].semilogx(gammas, errors, "o-", label="kernel PCA, fixed points")
axes[0].axhline(by_pca, ls="--", label="PCA, the best number of components")
axes[0].axhline(error(noisy), ls=":", color="gray", label="as they came")
axes[0].set(xlabel="gamma", ylabel="error of a pixel")
axes[0].legend()
tiles = np.full((3, 10, 6, 10), np.nan)  # images of 8×8 pixels with space around them
for place, stage in enumerate((clean, noisy, cleaned)):
    tiles[place, 1:9, :, 1:9] = stage[:6].reshape(6, 8, 8).transpose(1, 0, 2).clip(0, 1)
axes[1].imshow(tiles.reshape(30, 60), cmap="gray_r")
axes[1].set(xticks=[], yticks=[5, 15, 25], yticklabels=["clean", "noisy", "cleaned"])
plt.show()
