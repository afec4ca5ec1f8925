"""
How do I map a table larger than memory?
========================================

A table on disk is read in tiles: a memory map, Zarr, Parquet or a Dask array.

**In short:** give the memory map to ``fit``; answer and proof are those of the table in memory, up
to rounding.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from dualfold import PCA

rng = np.random.default_rng(0)
shape, scales = (50_000, 20), 0.8 ** np.arange(20)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "table.npy"
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    for start in range(0, len(table), 5000):
        table[start : start + 5000] = rng.normal(size=(5000, 20)) * scales
    table.flush()
    mapped = np.load(path, mmap_mode="r")
    model = PCA(n_components=5).fit(mapped)
    whole = PCA(n_components=5).fit(np.asarray(mapped, dtype=np.float64))
    places = model.transform(mapped[:2000])
print(model.certificate_)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].scatter(*places[:, :2].T, s=3)
axes[0].set(title="the first 2,000 rows", xlabel="axis 1", ylabel="axis 2")
numbers = np.arange(1, 6)
axes[1].plot(numbers, model.explained_variance_, "o", label="read from disk", ms=11)
axes[1].plot(numbers, whole.explained_variance_, "x", label="in memory", ms=8)
axes[1].set(title="variance of each axis", xlabel="axis", xticks=numbers, ylim=(0, None))
axes[1].legend()
plt.show()
