"""Accelerated methods: the y-player predicts that x will not move, which is nearly true.

All of them weigh round t by t (or geometrically) and answer at

    x̃_t = (A_{t−1} x̄_{t−1} + α_t x_{t−1}) / A_t

the average that would follow if x repeated itself. The heavy ball answers at x̄_{t−1}
instead, which is why it can fail.
"""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import ConditionFails, InPython, InvalidInput, warn
from dualfold.theory.games.composites import Flattened, HalfSquare, Sum
from dualfold.theory.games.convex_functions import Conjugate, Convex, Indicator
from dualfold.theory.games.convex_sets import WHOLE_SPACE, ConvexSet
from dualfold.theory.games.divergences import Gauge
from dualfold.theory.games.doubles import doubles, number
from dualfold.theory.games.game import GeometricWeights, linear_weights
from dualfold.theory.games.players import FTL, FTRLPlus, OMDPlus, OptimisticFTL
from dualfold.theory.games.recipe import Rate, Recipe, StartingPoint, smoothness_of


def nesterov(
    f: Convex,
    start: Array,
    *,
    over: ConvexSet = WHOLE_SPACE,
    radius: float | None = None,
    step: float | None = None,
) -> Recipe:
    """Nesterov's accelerated gradient method with one memory, as a game.

    After T rounds f(x̄) − min f is at most R²/(step·T(T + 1)).

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
    step : float or None, default=None
        Length of a step, at most 1/(2L) for the smoothness L; None takes 1/(2L).

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If f is not smooth, or the step is out of its range.

    See Also
    --------
    accelerated_strongly_convex : A factor in every round, if f is strongly convex.
    accelerated_proximal : The sum of f and a norm.

    References
    ----------
    .. [1] J.-K. Wang, J. Abernethy and K. Y. Levy, "No-regret dynamics in the Fenchel game: A
       unified framework for algorithmic convex optimization", Mathematical Programming, 205,
       203–268, 2024 (arXiv:2111.11309).
    .. [2] Y. Nesterov, "A method for solving the convex programming problem with convergence rate
       O(1/k²)", Soviet Mathematics Doklady, 27, 372–376, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic, nesterov
    >>> f = Quadratic(np.diag([1.0, 100.0]), np.array([-1.0, 0.0]))
    >>> run = nesterov(f, np.zeros(2), radius=2.0).play(1000, tolerance=1e-3)
    >>> print(run)
    -0.499441 after 37 rounds, proved optimal to 0.00056 (0.0012 of the minimum)
    """
    begin = StartingPoint.from_radius(start, over, radius)
    return _one_memory("Nesterov, one memory", f, Indicator(over), begin, step)


def nesterov_infinite_memory(
    f: Convex,
    start: Array,
    *,
    over: ConvexSet = WHOLE_SPACE,
    radius: float | None = None,
    step: float | None = None,
) -> Recipe:
    """Nesterov's method with each step from the start by all gradients, as a game.

    On ℝᵈ its points are those of `nesterov`; the guarantee is the same.

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
    step : float or None, default=None
        Length of a step, at most 1/(2L) for the smoothness L; None takes 1/(2L).

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If f is not smooth, or the step is out of its range.

    See Also
    --------
    nesterov : Steps from the last point.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares, nesterov_infinite_memory
    >>> f = LeastSquares(np.eye(2), np.ones(2))
    >>> bool(f.value(nesterov_infinite_memory(f, np.zeros(2), radius=2.0).play(20).answer) <= 0.02)
    True
    """
    name, begin = "Nesterov, infinite memory", StartingPoint.from_radius(start, over, radius)
    step, R = _accelerated_step(f, step, name), begin.distance
    return Recipe(
        name,
        x_player=FTRLPlus(Indicator(over), begin.point, step=step),
        y_player=OptimisticFTL(Conjugate(f), begin.point),
        order="y first",
        weights=linear_weights,
        bound=lambda T: R**2 / (step * T * (T + 1)),
        rate=Rate("1/T²", -2.0),
        minimiser_ball=begin.minimiser_ball,
    )


def heavy_ball(
    f: Convex, start: Array, *, over: ConvexSet = WHOLE_SPACE, step: float | None = None
) -> Recipe:
    """Momentum with the gradient at the last iterate, as a game.

    On a bounded set of diameter D, f(x̄) − min f is at most R²/(step·T(T + 1)) + 2LD²/(T + 1)
    after T rounds. Without one nothing of the kind is true: the iterates can circle for ever, and
    a warning says so.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.
    step : float or None, default=None
        Length of a step; None takes 1/(4L).

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If f is not smooth.

    Warns
    -----
    ConditionFails
        If the set is not bounded.

    See Also
    --------
    nesterov : The gradient ahead, with a guarantee everywhere.
    momentum : As textbooks write it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ball, LeastSquares, heavy_ball
    >>> f = LeastSquares(np.eye(2), np.ones(2))
    >>> bool(f.value(heavy_ball(f, np.zeros(2), over=Ball(2.0)).play(20).answer) <= 0.1)
    True
    """
    L, start = smoothness_of(f, "heavy ball"), doubles(start, "start")
    step = 1 / (4 * L) if step is None else number(step, "step", above=True)
    R, D = over.reach(start), min(over.diameter, 2 * over.reach(start))
    if not np.isfinite(D):
        warn(
            ConditionFails(
                "heavy ball has no guarantee without a bounded set, and there are functions on "
                "which it stalls; give ",
                InPython("over=Ball(...)"),
                ", or take nesterov",
            )
        )
    return Recipe(
        "heavy ball",
        x_player=OMDPlus(Indicator(over), start, step=step),
        y_player=FTL(Conjugate(f), start),
        order="y first",
        weights=linear_weights,
        bound=lambda T: R**2 / (step * T * (T + 1)) + 2 * L * D**2 / (T + 1),
        rate=Rate("1/T", -1.0),
    )


def accelerated_proximal(
    f: Convex,
    simple: Convex,
    start: Array,
    *,
    radius: float | None = None,
    step: float | None = None,
) -> Recipe:
    """Nesterov's method for f + ψ, with ψ by its proximal map, as a game.

    After T rounds the gap is at most R²/(step·T(T + 1)).

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    simple : Convex
        The function ψ with a proximal map, for example `norm(1)`.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    radius : float or None, default=None
        A minimiser lies within this distance of the start. On all of ℝᵈ the guarantee and the
        duality gap need it; without it they are infinite.
    step : float or None, default=None
        Length of a step, at most 1/(2L) for the smoothness L of f; None takes 1/(2L).

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If f is not smooth, or ψ has no proximal map.

    See Also
    --------
    nesterov : Without ψ.

    References
    ----------
    .. [1] J.-K. Wang, J. Abernethy and K. Y. Levy, "No-regret dynamics in the Fenchel game: A
       unified framework for algorithmic convex optimization", Mathematical Programming, 205,
       203–268, 2024 (arXiv:2111.11309).
    .. [2] A. Beck and M. Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear
       inverse problems", SIAM Journal on Imaging Sciences, 2(1), 183–202, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares, accelerated_proximal, norm
    >>> f = LeastSquares(np.eye(2), np.array([3.0, 0.5]))
    >>> run = accelerated_proximal(f, norm(1), np.zeros(2), radius=4.0).play(25)
    >>> run.answer.round(1)
    array([2., 0.])
    """
    begin = StartingPoint.from_radius(start, WHOLE_SPACE, radius)
    return _one_memory("accelerated proximal", f, simple, begin, step)


def accelerated_by_gauge(f: Convex, dimension: int, *, over: ConvexSet) -> Recipe:
    """Accelerate without projections on a set that is strongly convex around 0, as a game.

    The regulariser is ½gauge², whose step is a shortened linear minimiser; it starts at 0. After T
    rounds f(x̄) − min f is at most 2L/(βT(T + 1)), β the strong convexity of ½gauge². A set with
    flat parts has none.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    dimension : int
        Number of coordinates.
    over : ConvexSet
        The set: `Ball` around 0, or `Ellipsoid`.

    Returns
    -------
    Recipe
        The method as a pair of players; its `play` runs it and returns the points and a
        certificate.

    Raises
    ------
    InvalidInput
        If f is not smooth, or the set is not strongly convex around 0.

    See Also
    --------
    frank_wolfe : Takes any bounded set.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ball, LeastSquares, accelerated_by_gauge
    >>> f = LeastSquares(np.eye(2), np.ones(2))
    >>> bool(f.value(accelerated_by_gauge(f, 2, over=Ball(2.0)).play(20).answer) <= 0.03)
    True
    """
    L, beta = smoothness_of(f, "acceleration by gauge"), over.gauge_convexity
    if beta <= 0:
        raise InvalidInput(
            f"acceleration by gauge needs a set that is strongly convex around 0 (Ball(r), "
            f"Ellipsoid(axes)); {type(over).__name__} is not. frank_wolfe takes any bounded set"
        )
    start, step = np.zeros(dimension), beta / (2 * L)
    return Recipe(
        "accelerated by gauge",
        x_player=FTRLPlus(Indicator(over), start, step=step, divergence=Gauge(over)),
        y_player=OptimisticFTL(Conjugate(f), start),
        order="y first",
        weights=linear_weights,
        bound=lambda T: 1 / (step * T * (T + 1)),
        rate=Rate("1/T²", -2.0),
    )


def accelerated_strongly_convex(
    f: Convex, start: Array, *, over: ConvexSet = WHOLE_SPACE, radius: float | None = None
) -> Recipe:
    """Accelerated gradient method for a strongly convex function, as a game.

    After T rounds f(x̄) − min f is at most ½(L − μ)R²(1 − 1/(1 + √κ))^(T−1), with κ = L/μ.

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
        If f is not smooth or not strongly convex.

    See Also
    --------
    nesterov : Any smooth function.

    References
    ----------
    .. [1] J.-K. Wang, J. Abernethy and K. Y. Levy, "No-regret dynamics in the Fenchel game: A
       unified framework for algorithmic convex optimization", Mathematical Programming, 205,
       203–268, 2024 (arXiv:2111.11309).

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic, accelerated_strongly_convex
    >>> f = Quadratic(np.diag([1.0, 10.0]), np.array([-1.0, 0.0]))
    >>> run = accelerated_strongly_convex(f, np.zeros(2), radius=2.0).play(20)
    >>> bool(run.gap[-1] < 0.1)
    True
    """
    L, mu = smoothness_of(f, "strongly convex acceleration"), f.strong_convexity
    if not 0 < mu < L:
        raise InvalidInput(
            f"strongly convex acceleration needs 0 < μ < L, but μ = {mu:.3g} and L = {L:.3g}; "
            "nesterov needs no μ, and a function with μ = L is solved by one step of 1/L"
        )
    begin = StartingPoint.from_radius(start, over, radius)
    R, root = begin.distance, float(np.sqrt(L / mu))
    factor = 1 - 1 / (1 + root)
    return Recipe(
        "accelerated, strongly convex",
        x_player=FTRLPlus(Sum(HalfSquare(mu), Indicator(over)), begin.point, step=1 / (L - mu)),
        y_player=OptimisticFTL(Conjugate(Flattened(f, mu)), begin.point),
        order="y first",
        weights=GeometricWeights(1 / root),
        bound=lambda T: (L - mu) * R**2 / 2 * factor ** (T - 1),
        rate=Rate("linear", factor=factor),
        minimiser_ball=begin.minimiser_ball,
    )


def _one_memory(
    name: str, f: Convex, simple: Convex, begin: StartingPoint, step: float | None
) -> Recipe:
    step, R = _accelerated_step(f, step, name), begin.distance
    return Recipe(
        name,
        x_player=OMDPlus(simple, begin.point, step=step),
        y_player=OptimisticFTL(Conjugate(f), begin.point),
        order="y first",
        weights=linear_weights,
        bound=lambda T: R**2 / (step * T * (T + 1)),
        rate=Rate("1/T²", -2.0),
        minimiser_ball=begin.minimiser_ball,
    )


def _accelerated_step(f: Convex, step: float | None, method: str) -> float:
    longest = 1 / (2 * smoothness_of(f, method))
    if step is not None and not 0 < step <= longest * (1 + 1e-12):
        raise InvalidInput(f"the step of {method} is at most 1/2L = {longest:.3g}, not {step:.3g}")
    return longest if step is None else step
