"""
Single cells in AnnData
=======================

A file of cells (``.h5ad``) holds counts, annotations and maps. dualfold reads its matrices as they
are stored; here we make a small one in which cells go from one kind to another.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import PCA, DiffusionMaps

try:
    import anndata
except ImportError:
    anndata = None
    print("anndata is missing: pip install 'dualfold[h5ad]'")

rng = np.random.default_rng(0)
programs = rng.gamma(0.3, size=(2, 200))  # which genes each kind uses
path = np.concatenate([np.zeros(150), np.linspace(0, 1, 200), np.ones(150)])
mixture = np.column_stack([1 - path, path])
counts = rng.poisson(20 * mixture @ programs)

logs = np.log1p(counts / counts.sum(axis=1, keepdims=True) * 1e4)
if anndata is not None:
    cells = anndata.AnnData(logs, obsm={"X_pca": PCA(n_components=10).fit_transform(logs)})
    reduced = cells.obsm["X_pca"]
else:
    reduced = PCA(n_components=10).fit_transform(logs)
model = DiffusionMaps(n_components=2, n_neighbors=15, coordinates="independent")
points = model.fit_transform(reduced)
print(model.certificate_)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, Y, title in ((axes[0], reduced[:, :2], "PCA"), (axes[1], points, "diffusion maps")):
    axis.scatter(*Y.T, c=path, s=8)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()
