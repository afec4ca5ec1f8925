"""
May a stranger open my model?
=============================

A stored model is plain arrays and text with a certificate.

**In short:** yes: nothing in the file can run, and the opened model places new rows exactly as the
original does.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from dualfold import Isomap
from dualfold.data import s_curve
from dualfold.saved import load_model, model_of, save_model

curve, new = s_curve(500, random_state=0), s_curve(60, random_state=1)
model = Isomap(n_neighbors=8).fit(curve.points)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "curve.dualfold"
    save_model(path, model_of(model))
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")
    opened = load_model(path)
placed = opened.transform(new.points)
print("the same bits:", np.array_equal(placed, model.transform(new.points)))

figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
axis.scatter(*model.embedding_.T, c=curve.color, s=6)
axis.scatter(*placed.T, c=new.color, s=45, edgecolors="black", linewidths=0.7)
axis.set(title="new rows, placed by the stored model", xticks=[], yticks=[])
plt.show()
