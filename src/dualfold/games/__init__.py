"""First-order methods as two players of one game, with a duality gap at every round.

    from dualfold.games import LeastSquares, nesterov

    run = nesterov(LeastSquares(rows, targets), start, radius=10.0).play(500, tolerance=1e-6)
    run.answer, run.gap[-1]

A problem is a convex function (`Oracle` and `finite_sum` are for functions of your own) over a
set. A recipe chooses two players for it; `play` lets them move and records what each could have
done better (its regret), which is the proof. More than the names below is in the files: functions
(`losses`, `quadratics`, `composites`), sets (`convex_sets`, `polytopes`, `structured_sets`),
recipes (`plain_recipes`, `accelerated_recipes`), `players`, `divergences`, and the textbook methods
for comparison (`textbook_methods`).

What recipes and textbook methods share:

f : the convex function to minimise
start : x₀, where x begins and where the first gradient is taken
over : the set that x may move in (default: all of ℝᵈ)
radius : R, a minimiser lies within it of the start; on all of ℝᵈ the guarantee and the
    duality gap need it, or they are infinite and say so
rounds : T, where the step depends on the number of rounds that will be played
step : the length of a step: the largest that the guarantee allows where it can be left out;
    for textbook methods a number, or a function of the round
gradient_bound : G, no (sub)gradient is longer; taken from f and the set where they know it
minimiser_ball : a ball that is known to hold a minimiser, for the lower bound of the gap
weights : α_t of the rounds: `equal`, `growing`, `Geometric`, any function, or a list
"""

from dualfold.games.accelerated_recipes import (
    accelerated_proximal,
    accelerated_strongly_convex,
    nesterov,
)
from dualfold.games.composites import Oracle, finite_sum
from dualfold.games.convex_functions import Convex, Indicator
from dualfold.games.convex_sets import Ball
from dualfold.games.divergences import Bregman, KullbackLeibler, VonNeumann
from dualfold.games.equilibria import conjugate, equilibrium, membership, payoff
from dualfold.games.losses import Huber, Logistic, norm
from dualfold.games.online_learning import learn
from dualfold.games.plain_recipes import (
    averaged_descent,
    averaged_subgradient_descent,
    frank_wolfe,
)
from dualfold.games.players import FTL, FTRL, OMD
from dualfold.games.polytopes import Box, L1Ball, Simplex
from dualfold.games.quadratics import LeastSquares, Quadratic
from dualfold.games.refutation import refute
from dualfold.games.structured_sets import Spectrahedron
from dualfold.games.textbook_methods import adam, gradient_descent, stochastic_gradient

__all__ = [
    "FTL",
    "FTRL",
    "OMD",
    "Ball",
    "Box",
    "Bregman",
    "Convex",
    "Huber",
    "Indicator",
    "KullbackLeibler",
    "L1Ball",
    "LeastSquares",
    "Logistic",
    "Oracle",
    "Quadratic",
    "Simplex",
    "Spectrahedron",
    "VonNeumann",
    "accelerated_proximal",
    "accelerated_strongly_convex",
    "adam",
    "averaged_descent",
    "averaged_subgradient_descent",
    "conjugate",
    "equilibrium",
    "finite_sum",
    "frank_wolfe",
    "gradient_descent",
    "learn",
    "membership",
    "nesterov",
    "norm",
    "payoff",
    "refute",
    "stochastic_gradient",
]
