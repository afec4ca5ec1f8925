"""First-order methods as two players of one game, with a duality gap at every round.

    from dualfold.games import LeastSquares, nesterov

    run = nesterov(LeastSquares(rows, targets), start, radius=10.0).play(500, tolerance=1e-6)
    run.answer, run.gap[-1]

A problem is a convex function (`losses`, `convex`; `Oracle` and `finite_sum` are for functions
of your own) over a set (`sets`). A recipe chooses two
`players` for it; `play` lets them move and records what each could have done better (its
regret), which is the proof. `descent` has the textbook methods, for comparison.

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
    accelerated_by_gauge,
    accelerated_proximal,
    accelerated_strongly_convex,
    heavy_ball,
    nesterov,
    nesterov_infinite_memory,
)
from dualfold.games.certificate import GameCertificate
from dualfold.games.composites import (
    Flattened,
    HalfSquare,
    Linear,
    Mixture,
    Oracle,
    Sum,
    finite_sum,
)
from dualfold.games.convex_functions import (
    Conjugate,
    Convex,
    Indicator,
    Move,
    Support,
)
from dualfold.games.convex_sets import Ball, ConvexSet, Ellipsoid, Everywhere
from dualfold.games.curves import Curve, gap_curve, horizon_curve, recipe_curves
from dualfold.games.divergences import (
    Bregman,
    Divergence,
    Euclidean,
    Gauge,
    KullbackLeibler,
    VonNeumann,
)
from dualfold.games.equilibria import (
    ConjugateValue,
    Equilibrium,
    Membership,
    conjugate,
    equilibrium,
    membership,
    payoff,
)
from dualfold.games.game import Account, GeometricWeights, Run, equal_weights, linear_weights, play
from dualfold.games.losses import Entropy, Huber, LargestAffine, Logistic, LogSumExp, norm
from dualfold.games.minimum_search import LeastPoint, least_point
from dualfold.games.online_learning import OnlineAccount, Past, RegretCurve, learn
from dualfold.games.plain_recipes import (
    averaged_descent,
    averaged_subgradient_descent,
    boundary_frank_wolfe,
    cumulative_descent,
    extragradient,
    frank_wolfe,
)
from dualfold.games.players import (
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
    SeenLosses,
)
from dualfold.games.polytopes import Box, L1Ball, Simplex
from dualfold.games.quadratics import LeastSquares, Quadratic
from dualfold.games.recipe import Rate, Recipe
from dualfold.games.refutation import Refutation, refute
from dualfold.games.structured_sets import AffineSet, Product, Spectrahedron
from dualfold.games.textbook_methods import (
    DescentMethod,
    Path,
    accelerated_gradient,
    adagrad,
    adam,
    gradient_descent,
    minibatch,
    momentum,
    rmsprop,
    stochastic_gradient,
)
from dualfold.games.unfolding_dual import EasiestBend, unfolding_bracket, unfolding_game

__all__ = [
    "FTL",
    "FTRL",
    "OMD",
    "Account",
    "AffineSet",
    "Ball",
    "BestResponse",
    "Box",
    "Bregman",
    "Conjugate",
    "ConjugateValue",
    "Convex",
    "ConvexSet",
    "Curve",
    "DescentMethod",
    "Divergence",
    "EasiestBend",
    "Ellipsoid",
    "Entropy",
    "Equilibrium",
    "Euclidean",
    "Everywhere",
    "FTLPlus",
    "FTRLPlus",
    "Flattened",
    "GameCertificate",
    "Gauge",
    "GeometricWeights",
    "HalfSquare",
    "Huber",
    "Indicator",
    "KullbackLeibler",
    "L1Ball",
    "LargestAffine",
    "LeastPoint",
    "LeastSquares",
    "Linear",
    "LogSumExp",
    "Logistic",
    "Membership",
    "Mixture",
    "Move",
    "OMDPlus",
    "OnlineAccount",
    "OptimisticFTL",
    "OptimisticOMD",
    "Oracle",
    "Past",
    "Path",
    "Player",
    "Product",
    "Quadratic",
    "Rate",
    "Recipe",
    "Refutation",
    "RegretCurve",
    "Run",
    "SeenLosses",
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
    "equal_weights",
    "equilibrium",
    "extragradient",
    "finite_sum",
    "frank_wolfe",
    "gap_curve",
    "gradient_descent",
    "heavy_ball",
    "horizon_curve",
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
