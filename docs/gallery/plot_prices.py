"""
What is one more hour worth? A linear program and its dual
==========================================================

A workshop makes three products from wood and hours. The dual variables are prices: what one more
hour would earn.

**In short:** the price is the slope of the best profit, and falls where wood becomes scarce. The
certificate checks both answers against each other and trusts no solver.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold.programs import LinearProgram, solve_program

profit = np.array([30.0, 45.0, 24.0])
needs = np.array([[2.0, 4.0, 1.0], [3.0, 2.0, 2.0]])  # wood and hours for one piece of each
hours = np.linspace(10, 180, 35)
answers = [
    solve_program(LinearProgram(profit, needs, [100.0, h], nonnegative=3, sense="max"))
    for h in hours
]
print(answers[10].certificate)
best = [profit @ answer.point for answer in answers]
price = [answer.multipliers[1] for answer in answers]

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].plot(hours, best)
axes[0].set(xlabel="hours", ylabel="best profit", ylim=(0, None))
axes[1].step(hours, price, where="mid")
axes[1].set(xlabel="hours", ylabel="price of one more hour (dual)", ylim=(0, None))
plt.show()
