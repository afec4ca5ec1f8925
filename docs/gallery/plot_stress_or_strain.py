"""
Stress or strain: which map fits the distances best?
====================================================

Classical scaling fits inner products (strain), ``MDS`` the distances themselves (stress). Here each
distance between crossings of a street grid was measured with an error of some 10 %.

**In short:** stress draws the grid better. Strain compares squares of distances, so that errors of
long distances count most. Stress is not convex; still the certificate proves that no other map in
the plane fits these distances better.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist

from dualfold import MDS, ClassicalMDS

rng = np.random.default_rng(1)
crossings = np.stack(np.meshgrid(np.arange(20.0), np.arange(10.0)), axis=-1).reshape(-1, 2)
errors = np.triu(np.exp(0.1 * rng.normal(size=(200, 200))), 1)
distances = cdist(crossings, crossings) * (errors + errors.T)

strain = ClassicalMDS(metric="precomputed").fit(distances)
stress = MDS(metric="precomputed").fit(distances)
print(stress.certificate_)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for axis, model, name in zip(axes, (strain, stress), ("strain", "stress"), strict=True):
    true, found, off = procrustes(crossings, model.embedding_)
    streets = found.reshape(10, 20, 2)
    axis.plot(streets[:, :, 0], streets[:, :, 1], color="0.75", lw=0.8)
    axis.plot(streets[:, :, 0].T, streets[:, :, 1].T, color="0.75", lw=0.8)
    axis.scatter(*found.T, c=np.linalg.norm(found - true, axis=1), s=14, vmin=0, vmax=0.02)
    level = model.certificate_.level
    axis.set(title=f"least {name}, {level}: off by {np.sqrt(off):.1%}", xticks=[], yticks=[])
    axis.set_aspect("equal")
plt.show()
