"""First-order methods as two players of one game, with a duality gap at every round.

    from dualfold.games import LeastSquares, nesterov

    run = nesterov(LeastSquares(rows, targets), start, radius=10.0).play(500, tolerance=1e-6)
    run.answer, run.gap[-1]

A problem is a convex function (`Oracle` and `finite_sum` are for functions of your own) over a
set. A recipe chooses two players for it; `play` lets them move and records what each could have
done better (its regret), which is the proof. The names below stand in these files: functions in
`losses`, `quadratics`, `composites`; sets in `convex_sets`, `polytopes`, `structured_sets`;
recipes in `plain_recipes`, `accelerated_recipes`; `players`, `divergences`; and methods as
textbooks write them in `textbook_methods`.
"""

from dualfold.theory.games.accelerated_recipes import (
    accelerated_by_gauge,
    accelerated_proximal,
    accelerated_strongly_convex,
    heavy_ball,
    nesterov,
    nesterov_infinite_memory,
)
from dualfold.theory.games.composites import HalfSquare, Linear, Oracle, Sum, finite_sum
from dualfold.theory.games.convex_functions import Conjugate, Convex, Indicator, Support
from dualfold.theory.games.convex_sets import Ball, Ellipsoid, Everywhere
from dualfold.theory.games.curves import recipe_curves
from dualfold.theory.games.divergences import Bregman, Euclidean, Gauge, KullbackLeibler, VonNeumann
from dualfold.theory.games.equilibria import conjugate, equilibrium, membership, payoff
from dualfold.theory.games.game import linear_weights, play
from dualfold.theory.games.losses import Entropy, Huber, LargestAffine, Logistic, LogSumExp, norm
from dualfold.theory.games.minimum_search import least_point
from dualfold.theory.games.online_learning import OnlineAccount, RegretCurve, learn
from dualfold.theory.games.plain_recipes import (
    averaged_descent,
    averaged_subgradient_descent,
    boundary_frank_wolfe,
    cumulative_descent,
    extragradient,
    frank_wolfe,
)
from dualfold.theory.games.players import (
    FTL,
    FTRL,
    OMD,
    BestResponse,
    FTLPlus,
    FTRLPlus,
    OMDPlus,
    OptimisticFTL,
    OptimisticOMD,
    Player,
)
from dualfold.theory.games.polytopes import Box, L1Ball, Simplex
from dualfold.theory.games.quadratics import LeastSquares, Quadratic
from dualfold.theory.games.refutation import refute
from dualfold.theory.games.structured_sets import AffineSet, Product, Spectrahedron
from dualfold.theory.games.textbook_methods import (
    accelerated_gradient,
    adagrad,
    adam,
    gradient_descent,
    minibatch,
    momentum,
    rmsprop,
    stochastic_gradient,
)
from dualfold.theory.games.unfolding_dual import EasiestBend, unfolding_bracket, unfolding_game

__all__ = [
    "FTL",
    "FTRL",
    "OMD",
    "AffineSet",
    "Ball",
    "BestResponse",
    "Box",
    "Bregman",
    "Conjugate",
    "Convex",
    "EasiestBend",
    "Ellipsoid",
    "Entropy",
    "Euclidean",
    "Everywhere",
    "FTLPlus",
    "FTRLPlus",
    "Gauge",
    "HalfSquare",
    "Huber",
    "Indicator",
    "KullbackLeibler",
    "L1Ball",
    "LargestAffine",
    "LeastSquares",
    "Linear",
    "LogSumExp",
    "Logistic",
    "OMDPlus",
    "OnlineAccount",
    "OptimisticFTL",
    "OptimisticOMD",
    "Oracle",
    "Player",
    "Product",
    "Quadratic",
    "RegretCurve",
    "Simplex",
    "Spectrahedron",
    "Sum",
    "Support",
    "VonNeumann",
    "accelerated_by_gauge",
    "accelerated_gradient",
    "accelerated_proximal",
    "accelerated_strongly_convex",
    "adagrad",
    "adam",
    "averaged_descent",
    "averaged_subgradient_descent",
    "boundary_frank_wolfe",
    "conjugate",
    "cumulative_descent",
    "equilibrium",
    "extragradient",
    "finite_sum",
    "frank_wolfe",
    "gradient_descent",
    "heavy_ball",
    "learn",
    "least_point",
    "linear_weights",
    "membership",
    "minibatch",
    "momentum",
    "nesterov",
    "nesterov_infinite_memory",
    "norm",
    "payoff",
    "play",
    "recipe_curves",
    "refute",
    "rmsprop",
    "stochastic_gradient",
    "unfolding_bracket",
    "unfolding_game",
]
