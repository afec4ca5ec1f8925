"""
When is PCA silently wrong?
===========================

A table with a large mean and a small spread: time stamps, coordinates on a map, sensor readings.
Solvers that form the matrix of products without centring it lose the digits that matter.

**In short:** when the mean is large against the spread. The certificate measures the error
against the centred table, so a wrong answer cannot be called right.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn.decomposition

from dualfold import PCA

rng = np.random.default_rng(0)
spread = rng.normal(size=(2000, 6)) * np.array([1.0, 0.5, 0.2, 0.1, 0.05, 0.02])
offsets = 10.0 ** np.arange(0, 13)
ours, theirs = [], []
for offset in offsets:
    X = spread + offset
    true = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[0] ** 2 / (len(X) - 1)
    pca = PCA(n_components=1).fit(X)
    sklearn_pca = sklearn.decomposition.PCA(n_components=1, svd_solver="covariance_eigh").fit(X)
    ours.append(abs(pca.explained_variance_[0] / true - 1))
    theirs.append(abs(sklearn_pca.explained_variance_[0] / true - 1))
print(pca.certificate_)

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.loglog(offsets, np.maximum(theirs, 1e-16), "o-", label="scikit-learn, covariance_eigh")
axis.loglog(offsets, np.maximum(ours, 1e-16), "s-", label="dualfold")
axis.set(xlabel="mean of the columns", ylabel="relative error of the first variance")
axis.legend()
plt.show()
