"""
What becomes of categories and missing cells?
=============================================

``dualfold.explore`` takes a table as it is: numbers, categories, dates, missing cells. It prints
every decision, and the verdict counts filled cells as what they are: guesses.

**In short:** categories become scaled indicator columns, missing cells are imputed, and kinds of
plants that the table does not name lie apart on the map. The verdict says how sure that is.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import dualfold

rng = np.random.default_rng(0)
kind = rng.choice(["small", "tall", "wide"], 300)
center = {"small": (20, 20), "tall": (20, 45), "wide": (45, 22)}
size = np.array([center[one] for one in kind]) + rng.normal(size=(300, 2)) * 3
plants = pd.DataFrame(
    {
        "width_cm": size[:, 0].round(1),
        "height_cm": size[:, 1].round(1),
        "mass_g": (size.prod(axis=1) / 4 + 20 * rng.normal(size=300)).round(),
        "leaf": np.where(rng.random(300) < 0.8, np.where(kind == "wide", "round", "long"), "mixed"),
        "site": rng.choice(["hill", "valley"], 300),
    }
)
holes = rng.random(plants.shape) < 0.15
found = dualfold.explore(plants.mask(holes))
print(found)

figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
for name in center:
    axis.scatter(*found.points[kind == name].T, s=12, label=name)
axis.set(xlabel="axis 1", ylabel="axis 2", title="a map of a table with 15 % of its cells missing")
axis.legend(title="kind (not in the table)")
plt.show()
