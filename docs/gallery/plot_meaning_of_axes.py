"""
What do the axes mean?
======================

An axis of PCA is a combination of columns. Its loadings say which columns it goes along, and a
biplot draws them as arrows.

**In short:** ``loadings_frame()`` has a number for each column and axis, the covariance of the
column with the axis scaled to variance 1; the certificate proves that no other two axes hold more
variance. ``dualfold.data.prepare`` reads a table as the command line does, and
``set_output`` returns data frames.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dualfold import PCA
from dualfold.data import Reading, prepare

rng = np.random.default_rng(0)
kind = rng.choice(["gull", "tern", "skua"], 200)
size = np.array([{"gull": 1.0, "tern": 0.6, "skua": 1.2}[one] for one in kind])
size = size + 0.1 * rng.normal(size=200)
depth = rng.normal(size=200) + 1.5 * (kind == "tern")
birds = pd.DataFrame(
    {
        "ring_id": np.arange(1000, 1200),
        "wing_cm": (40 * size + 3 * rng.normal(size=200)).round(1),
        "mass_g": (900 * size + 120 * rng.normal(size=200)).round(),
        "dive_m": (3 + depth).round(1),
        "bill_mm": (45 + 3 * depth + 10 * size + 2 * rng.normal(size=200)).round(1),
        "kind": kind,
    }
)
table = prepare(birds, Reading(color="kind", mixed="numbers", standardize=True))
print(*table.notices, sep="\n")
X = pd.DataFrame(table.X, columns=table.names)
model = PCA(n_components=2).set_output(transform="pandas").fit(X)
points = model.transform(X)  # a data frame with the columns pca0 and pca1
print(model.loadings_frame().round(2), model.certificate_, sep="\n")

figure, axis = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
for name in ("gull", "tern", "skua"):
    axis.scatter(*points[kind == name].to_numpy().T, s=12, label=name)
for name, arrow in zip(X.columns, 2 * model.loadings_, strict=True):
    axis.annotate("", arrow, (0, 0), arrowprops={"arrowstyle": "->", "color": "black"})
    below = name == "wing_cm"  # its arrow ends beside that of mass_g
    axis.annotate(name, arrow, fontweight="bold", va="top" if below else "bottom")
shares = [f"{share:.0%} of the variance" for share in model.explained_variance_ratio_]
axis.set(
    xlabel=f"axis 1: {shares[0]}",
    ylabel=f"axis 2: {shares[1]}",
    title="birds, and the columns as arrows",
)
axis.legend()
plt.show()
