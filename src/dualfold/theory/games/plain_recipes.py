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
from dualfold.theory.games.convex_functions import Conjugate, Convex, Indicator
from dualfold.theory.games.convex_sets import WHOLE_SPACE, ConvexSet
from dualfold.theory.games.doubles import doubles, number
from dualfold.theory.games.game import Run, linear_weights
from dualfold.theory.games.players import (
    FTL,
    OMD,
    BestResponse,
    FTLPlus,
    OptimisticOMD,
)
from dualfold.theory.games.recipe import (
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
    """Gradient descent with step 1/(2L) and averaged points, as a game.

    After T rounds f(x̄) − min f is at most LR²/T on all of ℝᵈ; on a set R‖∇f(x₀)‖/T is added.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.
    radius : float or None, default=None
        A minimiser lies within this distance of the start. On all of ℝᵈ the guarantee and the
        duality gap need it; without it they are infinite.

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If f is not smooth.

    See Also
    --------
    averaged_subgradient_descent : Functions with corners.
    nesterov : A faster rate.

    References
    ----------
    .. [1] J.-K. Wang, J. Abernethy and K. Y. Levy, "No-regret dynamics in the Fenchel game: A
       unified framework for algorithmic convex optimization", Mathematical Programming, 205,
       203–268, 2024 (arXiv:2111.11309).

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares, averaged_descent
    >>> f = LeastSquares(np.eye(2), np.ones(2))
    >>> run = averaged_descent(f, np.zeros(2), radius=2.0).play(20)
    >>> bool(f.value(run.answer) <= 0.2)
    True
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
    """Subgradient descent with step R/(G√T) and averaged points, as a game.

    After T rounds f(x̄) − min f is at most GR/√T. It takes any convex f, also one with corners.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    rounds : int
        Number T of rounds that the step is chosen for.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.
    radius : float or None, default=None
        A minimiser lies within this distance of the start. On all of ℝᵈ the guarantee and the
        duality gap need it; without it they are infinite.
    gradient_bound : float or None, default=None
        Number G such that no subgradient is longer; None takes it from f and the set.

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If no G or R is known.

    See Also
    --------
    averaged_descent : Smooth functions.

    References
    ----------
    .. [1] J.-K. Wang, J. Abernethy and K. Y. Levy, "No-regret dynamics in the Fenchel game: A
       unified framework for algorithmic convex optimization", Mathematical Programming, 205,
       203–268, 2024 (arXiv:2111.11309).
    .. [2] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Lemma 6.22.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ball, averaged_subgradient_descent, norm
    >>> recipe = averaged_subgradient_descent(
    ...     norm(1), np.ones(2), rounds=20, over=Ball(2.0), gradient_bound=1.5
    ... )
    >>> bool(norm(1).value(recipe.play().answer) <= recipe.bound(20))
    True
    """
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
    """Descend along the gradient at the average so far, as a game.

    After T rounds f(x̄) − min f is at most GR/√T.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    rounds : int
        Number T of rounds that the step is chosen for.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.
    radius : float or None, default=None
        A minimiser lies within this distance of the start. On all of ℝᵈ the guarantee and the
        duality gap need it.
    gradient_bound : float or None, default=None
        Number G such that no subgradient is longer; None takes it from f and the set.

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If no G or R is known.

    See Also
    --------
    averaged_subgradient_descent : The gradient at the last point.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ball, cumulative_descent, norm
    >>> recipe = cumulative_descent(
    ...     norm(1), np.ones(2), rounds=20, over=Ball(2.0), gradient_bound=1.5
    ... )
    >>> bool(norm(1).value(recipe.play().answer) <= recipe.bound(20))
    True
    """
    begin = StartingPoint.from_radius(start, over, radius)
    y_player = FTLPlus(Conjugate(f), begin.point)
    name = "cumulative gradient descent"
    return _mirror_descent(name, y_player, begin, over, rounds, gradient_bound)


def frank_wolfe(f: Convex, start: Array, *, over: ConvexSet) -> Recipe:
    """Frank–Wolfe method: move a share 2/(t + 1) of the way to the set's best point, as a game.

    It needs no projection. After T rounds f(x̄) − min f is at most 2LD²/(T + 1) on a set of
    diameter D.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    over : ConvexSet
        The bounded set that x moves in.

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If f is not smooth or the set is not bounded.

    See Also
    --------
    averaged_descent : A method with projections.

    References
    ----------
    .. [1] J.-K. Wang, J. Abernethy and K. Y. Levy, "No-regret dynamics in the Fenchel game: A
       unified framework for algorithmic convex optimization", Mathematical Programming, 205,
       203–268, 2024 (arXiv:2111.11309).
    .. [2] M. Jaggi, "Revisiting Frank–Wolfe: Projection-free sparse convex optimization",
       Proceedings of the 30th International Conference on Machine Learning, 427–435, 2013.

    Examples
    --------
    >>> from dualfold.games import Simplex
    >>> from dualfold.games import HalfSquare
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
    """Answer all gradients so far by one point of the boundary, as a game.

    After T rounds the gap is at most (ρG²/ℓ)(2 + log T)/T on a set that is curved everywhere
    (within ρ-balls), as long as the mean gradient never gets shorter than ℓ. A minimiser inside
    the set breaks that, and the method then stalls.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    over : ConvexSet
        The set, curved everywhere: `Ball` or `Ellipsoid`.
    least_gradient : float or None, default=None
        The number ℓ; without it there is no guarantee.

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If the set has flat parts.

    See Also
    --------
    frank_wolfe : Takes any bounded set.

    References
    ----------
    .. [1] R. Huang, T. Lattimore, A. György and C. Szepesvári, "Following the leader and fast rates
       in linear prediction: Curved constraint sets and other regularities", Advances in Neural
       Information Processing Systems, 29, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ball, HalfSquare, boundary_frank_wolfe
    >>> f = HalfSquare(1.0, np.array([3.0, 0.0]))
    >>> recipe = boundary_frank_wolfe(f, np.zeros(2), over=Ball(1.0), least_gradient=1.0)
    >>> recipe.play(20).answer.round(2)
    array([0.95, 0.  ])
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
    """Look ahead by the last gradient and step by the true one, as a game.

    It takes one gradient in each round; after T rounds f(x̄) − min f is at most LR²/T.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.
    radius : float or None, default=None
        A minimiser lies within this distance of the start. On all of ℝᵈ the guarantee and the
        duality gap need it; without it they are infinite.

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If f is not smooth.

    See Also
    --------
    averaged_descent : Without looking ahead.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares, extragradient
    >>> f = LeastSquares(np.eye(2), np.ones(2))
    >>> bool(f.value(extragradient(f, np.zeros(2), radius=2.0).play(20).answer) <= 0.2)
    True
    """
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
