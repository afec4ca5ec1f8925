"""First-order methods as two players of one game, with a duality gap at every round.

    from dualfold.theory.games import LeastSquares, nesterov

    run = nesterov(LeastSquares(rows, targets), start, radius=10.0).play(500, tolerance=1e-6)
    run.answer, run.gap[-1]

A problem is a convex function (`Oracle` and `finite_sum` are for functions of your own) over a
set. A recipe chooses two players for it; `play` lets them move and records what each could have
done better (its regret), which is the proof. More than the names below is in the files: functions
(`losses`, `quadratics`, `composites`), sets (`convex_sets`, `polytopes`, `structured_sets`),
recipes (`plain_recipes`, `accelerated_recipes`), `players`, `divergences`, and the textbook methods
for comparison (`textbook_methods`). Recipes and methods there take the arguments of the public
ones.
"""

from dualfold.theory.games.accelerated_recipes import (
    accelerated_proximal,
    accelerated_strongly_convex,
    nesterov,
)
from dualfold.theory.games.composites import Oracle, finite_sum
from dualfold.theory.games.convex_functions import Convex, Indicator
from dualfold.theory.games.convex_sets import Ball
from dualfold.theory.games.divergences import Bregman, KullbackLeibler, VonNeumann
from dualfold.theory.games.equilibria import conjugate, equilibrium, membership, payoff
from dualfold.theory.games.losses import Huber, norm
from dualfold.theory.games.online_learning import learn
from dualfold.theory.games.plain_recipes import (
    averaged_descent,
    averaged_subgradient_descent,
    frank_wolfe,
)
from dualfold.theory.games.players import FTL, FTRL, OMD
from dualfold.theory.games.polytopes import Box, L1Ball, Simplex
from dualfold.theory.games.quadratics import LeastSquares, Quadratic
from dualfold.theory.games.refutation import refute
from dualfold.theory.games.structured_sets import Spectrahedron
from dualfold.theory.games.textbook_methods import gradient_descent, stochastic_gradient

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
    "Oracle",
    "Quadratic",
    "Simplex",
    "Spectrahedron",
    "VonNeumann",
    "accelerated_proximal",
    "accelerated_strongly_convex",
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
