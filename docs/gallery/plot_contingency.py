"""
Whose profile is like whose?
============================

A table counts the eye and hair colours of 5,387 children in Caithness, Scotland, which R. A. Fisher
analysed in 1940. Correspondence analysis puts eyes and hair on one map.

**In short:** the first axis runs from fair to black hair and from blue to dark eyes, and holds most
of the dependence. A row lies on the side of the columns in which its share is above the average;
other distances between a row and a column have no meaning.
"""

import matplotlib.pyplot as plt
import pandas as pd

from dualfold import CorrespondenceAnalysis

table = pd.DataFrame(
    {
        "fair": [326, 688, 343, 98],
        "red": [38, 116, 84, 48],
        "medium": [241, 584, 909, 403],
        "dark": [110, 188, 412, 681],
        "black": [3, 4, 26, 85],
    },
    index=["blue", "light", "medium", "dark"],
)
model = CorrespondenceAnalysis().fit(table)
print(model.certificate_)

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
sides = (("eyes", model.embedding_, table.index), ("hair", model.column_embedding_, table.columns))
for mark, up, (kind, points, names) in zip("os", (6, -13), sides, strict=True):
    axis.scatter(*points.T, marker=mark, s=40, label=kind)
    for name, place in zip(names, points, strict=True):
        axis.annotate(name, place, xytext=(5, up), textcoords="offset points")
shares = model.explained_inertia_ratio_
axis.set(xlabel=f"axis 1 ({shares[0]:.0%} of the inertia)", ylabel=f"axis 2 ({shares[1]:.0%})")
axis.set_aspect("equal", adjustable="datalim")
axis.legend()
plt.show()
