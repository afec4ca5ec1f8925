"""First-order methods, each as a pair of players (the accelerated ones: accelerated.py).

    recipe                      y answers with        x moves by      weights   f(x̄_T) − min f ≤
    averaged descent            ∇f(x_t)               OMD             1         LR²/T
    averaged subgradients       ∂f(x_t)               OMD             1         GR/√T
    cumulative descent          ∇f(x̄_t)              OMD             1         GR/√T
    Frank–Wolfe                 ∇f(x̄_{t−1})          BestResp⁺       t         2LD²/(T+1)
    boundary Frank–Wolfe        ∇f(x_t)               FTL             1         ~ log T/T
    extragradient, one call     ∇f(x_t)               OptimisticOMD   1         LR²/T
    Nesterov                    ∇f(x̃_t)              OMD⁺            t         2LR²/(T(T+1))
    Nesterov, infinite memory   ∇f(x̃_t)              FTRL⁺           t         2LR²/(T(T+1))
    heavy ball                  ∇f(x̄_{t−1})          OMD⁺            t         O(LD²/T) on a set
    accelerated proximal        ∇f(x̃_t)              OMD⁺ with ψ     t         2LR²/(T(T+1))
    accelerated by gauge        ∇f(x̃_t)              FTRL⁺, gauge²   t         O(L/T²)
    accelerated, μ-convex       ∇f(x̃_t) − μx̃_t      FTRL⁺, ½μ‖x‖²   A/√κ      linear

R is the distance from the start to a minimiser (`radius`, or how far the set reaches), D the
diameter of the set, G the length of gradients, L their Lipschitz constant, κ = L/μ. The
averages of x (`run.averages`) are the method's iterates as textbooks write them; after
Wang, Abernethy and Levy, "No-regret dynamics in the Fenchel game" (arXiv 2111.11309).
"""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.games.convex_functions import Conjugate, Convex, Indicator
from dualfold.games.convex_sets import WHOLE_SPACE, ConvexSet
from dualfold.games.doubles import doubles, number
from dualfold.games.game import Run, linear_weights
from dualfold.games.players import (
    FTL,
    OMD,
    BestResponse,
    FTLPlus,
    OptimisticOMD,
)
from dualfold.games.recipe import (
    Rate,
    Recipe,
    StartingPoint,
    diameter_of,
    gradient_bound_of,
    gradients_stay_below,
    no_guarantee,
    smoothness_of,
)


def averaged_descent(
    f: Convex, start: Array, *, over: ConvexSet = WHOLE_SPACE, radius: float | None = None
) -> Recipe:
    """Gradient descent with step 1/2L, and the average of x₀ … x_{T−1}.

    LR²/T on all of ℝᵈ. On a set the first point may be worse than smoothness alone allows,
    and R‖∇f(x₀)‖/T is added.
    """
    begin = StartingPoint.from_radius(start, over, radius)
    L, R = smoothness_of(f, "averaged descent"), begin.distance
    steep = 0.0 if over == WHOLE_SPACE else float(np.linalg.norm(f.subgradient(begin.point)))
    return Recipe(
        "averaged gradient descent",
        x_player=OMD(Indicator(over), begin.point, step=1 / (2 * L)),
        y_player=BestResponse(Conjugate(f), begin.point),
        order="x first",
        bound=lambda T: (L * R**2 + R * steep) / T,
        rate=Rate("1/T", -1.0),
        minimiser_ball=begin.minimiser_ball,
    )


def averaged_subgradient_descent(
    f: Convex,
    start: Array,
    *,
    rounds: int,
    over: ConvexSet = WHOLE_SPACE,
    radius: float | None = None,
    gradient_bound: float | None = None,
) -> Recipe:
    """The same for any f, corners included, with the step R/(G√T) of its horizon: GR/√T."""
    begin = StartingPoint.from_radius(start, over, radius)
    y_player = BestResponse(Conjugate(f), begin.point)
    name = "averaged subgradient descent"
    return _mirror_descent(name, y_player, begin, over, rounds, gradient_bound)


def cumulative_descent(
    f: Convex,
    start: Array,
    *,
    rounds: int,
    over: ConvexSet = WHOLE_SPACE,
    radius: float | None = None,
    gradient_bound: float | None = None,
) -> Recipe:
    """Descent along the gradient at the average so far: GR/√T."""
    begin = StartingPoint.from_radius(start, over, radius)
    y_player = FTLPlus(Conjugate(f), begin.point)
    name = "cumulative gradient descent"
    return _mirror_descent(name, y_player, begin, over, rounds, gradient_bound)


def frank_wolfe(f: Convex, start: Array, *, over: ConvexSet) -> Recipe:
    """Move by a share 2/(t+1) of the way to the set's best corner; no projection.

    >>> from dualfold.games import Simplex
    >>> from dualfold.games.composites import HalfSquare
    >>> corner = np.array([1.0, 0.0, 0.0])
    >>> run = frank_wolfe(HalfSquare(), corner, over=Simplex()).play(100)
    >>> bool(run.gap[-1] <= 2 * 2 / 101)
    True
    """
    start = doubles(start, "start")
    L, D = smoothness_of(f, "Frank–Wolfe"), diameter_of(start, over, "Frank–Wolfe")
    return Recipe(
        "Frank–Wolfe",
        x_player=BestResponse(Indicator(over), start),
        y_player=FTL(Conjugate(f), start),
        order="y first",
        weights=linear_weights,
        bound=lambda T: 2 * L * D**2 / (T + 1),
        rate=Rate("1/T", -1.0),
    )


def boundary_frank_wolfe(
    f: Convex, start: Array, *, over: ConvexSet, least_gradient: float | None = None
) -> Recipe:
    """Answer all gradients so far by one point of the boundary.

    (ρG²/ℓ)(2 + log T)/T on a set that is curved everywhere (within ρ-balls), as long as
    the mean gradient never gets shorter than ℓ = `least_gradient`: a minimiser inside the
    set breaks that, and the method then stalls. Huang, Lattimore, György and Szepesvári,
    "Following the leader and fast rates in linear prediction" (2016).
    """
    name, start = "boundary Frank–Wolfe", doubles(start, "start")
    if least_gradient is not None:
        least_gradient = number(least_gradient, "least_gradient")
    rho = over.curvature_radius
    if not np.isfinite(rho):
        raise InvalidInput(
            f"{name} needs a set that is curved everywhere (Ball, Ellipsoid); "
            f"{type(over).__name__} has flat parts. frank_wolfe needs none"
        )
    G = gradient_bound_of(f, start, over, None, name)

    def bound_with(ell: float, T: int) -> float:
        if ell == 0:
            return np.inf
        return rho * G**2 / ell * (2 + np.log(T)) / T

    def gradients_stay_away(run: Run) -> str:
        ell = float(np.linalg.norm(run.x.average_slopes, axis=1).min())
        if ell >= (least_gradient or 0.0) and bound_with(ell, run.rounds) < G * over.diameter:
            return ""
        return (
            f"the mean gradient came down to {ell:.2g} (stated: {least_gradient or 'nothing'}), "
            "so nothing is guaranteed; a minimiser inside the set does this. Use frank_wolfe"
        )

    return Recipe(
        name,
        x_player=FTL(Indicator(over), start),
        y_player=BestResponse(Conjugate(f), start),
        order="x first",
        bound=no_guarantee if least_gradient is None else lambda T: bound_with(least_gradient, T),
        rate=Rate("log T/T", -1.0),
        conditions=(gradients_stay_away,),
    )


def extragradient(
    f: Convex, start: Array, *, over: ConvexSet = WHOLE_SPACE, radius: float | None = None
) -> Recipe:
    """Look ahead by the last gradient, step by the true one; one gradient in each round: LR²/T."""
    begin = StartingPoint.from_radius(start, over, radius)
    L, R = smoothness_of(f, "extragradient"), begin.distance
    guess = f.subgradient(begin.point)
    return Recipe(
        "single-call extragradient",
        x_player=OptimisticOMD(Indicator(over), begin.point, step=1 / (2 * L), guess=guess),
        y_player=BestResponse(Conjugate(f), begin.point),
        order="x first",
        bound=lambda T: L * R**2 / T,
        rate=Rate("1/T", -1.0),
        minimiser_ball=begin.minimiser_ball,
    )


def _mirror_descent(
    name: str,
    y_player: BestResponse | FTLPlus,
    begin: StartingPoint,
    over: ConvexSet,
    rounds: int,
    gradient_bound: float | None,
) -> Recipe:
    """OMD with the step of a horizon, against a y-player without regret."""
    assert isinstance(y_player.part, Conjugate)
    rounds, R = int(number(rounds, "rounds", least=1)), begin.distance
    G = gradient_bound_of(y_player.part.of, begin.point, over, gradient_bound, name)
    if not np.isfinite(R):
        raise InvalidInput(
            f"{name} chooses its step by how far a minimiser can be; state ",
            Argument("radius"),
            ", or give a bounded set",
        )
    # Without slopes, or with nowhere to go, any step is right.
    step = R / (G * float(np.sqrt(rounds))) if G > 0 and R > 0 else 1.0
    return Recipe(
        name,
        x_player=OMD(Indicator(over), begin.point, step=step),
        y_player=y_player,
        order="x first",
        bound=lambda T: G * R * (float(np.sqrt(rounds)) / T + 1 / float(np.sqrt(rounds))) / 2,
        rate=Rate("1/√T", -0.5),
        minimiser_ball=begin.minimiser_ball,
        horizon=rounds,
        conditions=(gradients_stay_below(G),),
    )
