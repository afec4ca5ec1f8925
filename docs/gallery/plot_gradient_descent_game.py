"""
How far from the minimum is gradient descent, at most?
======================================================

Minimising a convex function is a game of two players, and the sum of their regrets bounds the
distance from the minimum. So at every iteration a bound of this distance is known.

**In short:** at most as far as the curve; the players of Nesterov's method have smaller regrets.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold.games import Quadratic, averaged_descent, nesterov

f = Quadratic(np.diag([1.0, 30.0]), np.array([-1.0, 5.0]))
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for recipe, color in ((averaged_descent, "C0"), (nesterov, "C1")):
    run = recipe(f, np.array([2.0, 2.0]), radius=4.0).play(300)
    print(recipe.__name__, run)
    rounds = np.arange(1, len(run.gap) + 1)
    axis.loglog(rounds, run.gap, color=color, label=f"{recipe.__name__}: proved gap")
axis.set(xlabel="round", ylabel="distance from the minimum, at most")
axis.legend()
plt.show()
