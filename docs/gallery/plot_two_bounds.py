"""
How near is the optimum? Unfolding's two bounds
===============================================

Every feasible unfolding has a variance that is a lower bound of the optimum; every dual point
gives an upper bound.

**In short:** as near as the two bounds are, and a smaller tolerance brings them together.
"""

import matplotlib.pyplot as plt
import numpy as np

import dualfold
from dualfold.data import s_curve

curve = s_curve(150, random_state=0)
graph = dualfold.graph.knn(curve.points, 5)
tolerances = 10.0 ** -np.arange(1, 8)
proofs = [dualfold.unfolding.unfold(graph, tol=tol).certificate for tol in tolerances]
for tol, proof in zip(tolerances, proofs, strict=True):
    print(f"asked for {tol:.0e}: between {proof.lower:.4f} and {proof.upper:.4f}, {proof.level}")

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
gaps = [proof.gap for proof in proofs]
axis.loglog(tolerances, tolerances, color="grey", lw=0.8, label="what was asked for")
axis.loglog(tolerances, gaps, "o-", label="proved gap")
axis.invert_xaxis()
axis.set(xlabel="tolerance", ylabel="relative gap between the bounds")
axis.legend()
plt.show()
