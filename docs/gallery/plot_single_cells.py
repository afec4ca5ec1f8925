"""
How do I map single cells in AnnData?
=====================================

A file of cells (``.h5ad``) holds counts, annotations and maps. Estimators take an ``AnnData`` as
they take an array; here we make a small one in which cells go from one kind to another.

**In short:** give it to ``fit``. PCA shows the way from one kind to the other as an arch, and the
first diffusion coordinate orders the cells along it.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import PCA, DiffusionMaps

try:
    from anndata import AnnData
except ImportError:  # pip install 'dualfold[h5ad]'; an array does as well
    AnnData = np.asarray

rng = np.random.default_rng(0)
programs = rng.gamma(0.3, size=(2, 200))  # which genes each kind uses
stage = np.concatenate([np.zeros(150), np.linspace(0, 1, 200), np.ones(150)])
counts = rng.poisson(20 * np.column_stack([1 - stage, stage]) @ programs)
cells = AnnData(np.log1p(counts / counts.sum(axis=1, keepdims=True) * 1e4))

reduced = PCA(n_components=10).fit_transform(cells)
model = DiffusionMaps(n_components=1, n_neighbors=15).fit(reduced)
order = model.embedding_[:, 0] * np.sign(model.embedding_[-1, 0])
print(model.certificate_)
between = (stage > 0) & (stage < 1)
agreement = np.corrcoef(order[between].argsort().argsort(), stage[between].argsort().argsort())
print(f"rank correlation with the true stage, between the ends: {agreement[0, 1]:.3f}")

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
axes[0].scatter(*reduced[:, :2].T, c=stage, s=12)
axes[0].set(title="PCA: an arch", xlabel="axis 1", ylabel="axis 2", xticks=[], yticks=[])
axes[1].scatter(stage, order, c=stage, s=12)
axes[1].set(title="diffusion map", xlabel="true stage", ylabel="first coordinate", yticks=[])
plt.show()
