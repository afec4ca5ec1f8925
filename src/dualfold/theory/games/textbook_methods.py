"""Plain methods, as textbooks write them, with the interface of the recipes.

    gradient_descent(f, start, step=0.1).play(200).answer

Each method is a generator of points; what it remembers are its local variables. Gradients
seen on the way are planes under f, so a plain run has a lower bound and a gap too, where
f is strongly convex or a ball is stated (noisy gradients prove nothing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, InvalidInput
from dualfold.inputs import random_generator
from dualfold.theory.games.certificate import RunBounds, terms_of, validated_tolerances
from dualfold.theory.games.convex_functions import Convex, Indicator, PlayerMove
from dualfold.theory.games.convex_sets import WHOLE_SPACE, Ball, ConvexSet
from dualfold.theory.games.doubles import doubles
from dualfold.theory.games.plane_bound import Bound, LowerBound

Gradient = Callable[[Array], Array]
# A number, or the step of the t-th update, t = 1, 2, …
Step = float | Callable[[int], float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Path(RunBounds):
    """Where a method went: `points[0]` is the start, `points[t]` is after t updates.

    upper, lower : not below f at each point, not above its minimum (−∞: none proved)
    terms : what the verdict is about and what it assumes
    """

    points: Array

    @property
    def rounds(self) -> int:
        """Number of updates that were made."""
        return len(self.points) - 1

    @property
    def answer(self) -> Array:
        """The last point."""
        return np.asarray(self.points[-1])

    @property
    def averages(self) -> Array:
        """The mean of `points[:t+1]` in row t."""
        turns = np.arange(1, len(self.points) + 1)
        return np.asarray(np.cumsum(self.points, axis=0) / turns[:, None])

    def __str__(self) -> str:
        return f"{self.upper[-1]:.6g} after {self.rounds} updates{self.sentence()}"


@dataclass(frozen=True, eq=False)
class DescentMethod:
    """A method on a function, ready to `play`.

    name, f, start : what the method is called, minimises and begins at
    over, minimiser_ball : the set it projects onto, and a ball known to hold a minimiser
    points : from a gradient and a start, the points one after another (the start first)
    gradients : makes the gradient that a run uses; fresh for every run
    exact : whether that is the gradient of f itself
    """

    name: str
    f: Convex
    start: Array
    points: Callable[[Gradient, Array], Iterator[Array]]
    gradients: Callable[[], Gradient]
    exact: bool = True
    over: ConvexSet = WHOLE_SPACE
    minimiser_ball: Ball | None = None

    def play(
        self,
        rounds: int,
        *,
        tolerance: float | None = None,
        relative_tolerance: float = DEFAULT_TOLERANCE,
    ) -> Path:
        """`rounds` updates, or fewer when the gap is `tolerance` before.

        A gap of at most `relative_tolerance` times the minimum is called proved.
        """
        relative_tolerance = validated_tolerances(tolerance, relative_tolerance)
        simple = Indicator(self.over)
        bound, gradient = LowerBound(self.f, simple, self.minimiser_ball), self.gradients()
        points: list[Array] = []
        upper: list[float] = []
        proved: list[Bound] = []

        def recorded_gradient(x: Array) -> Array:
            y = gradient(x)
            if self.exact:
                bound.add(PlayerMove(y, taken_at=x), 1.0)
            return y

        for t, x in enumerate(self.points(recorded_gradient, self.start)):
            points.append(x)
            with np.errstate(all="ignore"):
                upper.append(self.f.value_interval(x).high())
            proved.append(bound.bound())
            best = max(at.in_ball for at in proved)
            close = tolerance is not None and np.nextafter(upper[-1] - best, np.inf) <= tolerance
            if t == rounds or close:
                break
        lower = np.array([at.in_ball for at in proved])
        used = self.minimiser_ball if lower.max() > max(at.free for at in proved) else None
        why = bound.why_infinite() if self.exact else "noisy gradients are no planes under f"
        terms = terms_of(bound, points[-1], relative_tolerance, used, why)
        return Path(points=np.array(points), upper=np.array(upper), lower=lower, terms=terms)


def gradient_descent(
    f: Convex,
    start: Array,
    *,
    step: Step,
    over: ConvexSet = WHOLE_SPACE,
    minimiser_ball: Ball | None = None,
) -> DescentMethod:
    """Gradient descent x ← x − step·∇f(x), projected onto a set if there is one.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    step : float or callable
        Length of a step, or a function of the round.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.
    minimiser_ball : Ball or None, default=None
        A ball that is known to hold a minimiser, for the lower bound of the gap.

    Returns
    -------
    DescentMethod
        The method; its `play` runs it and returns the points, with a gap where one is known.

    See Also
    --------
    averaged_descent : The same with a guarantee.
    stochastic_gradient : One random term at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic, gradient_descent
    >>> gradient_descent(Quadratic(np.eye(1)), np.array([8.0]), step=0.5).play(3).answer
    array([1.])
    """

    def points(gradient: Gradient, x: Array) -> Iterator[Array]:
        for t in count(1):
            yield x
            x = over.project(x - _size(step, t) * gradient(x))

    return _descent("gradient descent", f, start, points, over, minimiser_ball)


def momentum(
    f: Convex, start: Array, *, step: Step, memory: float = 0.9, minimiser_ball: Ball | None = None
) -> DescentMethod:
    """Heavy ball x ← x − step·∇f(x) + memory·(x − x_before).

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    step : float or callable
        Length of a step, or a function of the round.
    memory : float, default=0.9
        Share of the last step that is repeated.
    minimiser_ball : Ball or None, default=None
        A ball that is known to hold a minimiser, for the lower bound of the gap.

    Returns
    -------
    DescentMethod
        The method; its `play` runs it and returns the points, with a gap where one is known.

    See Also
    --------
    accelerated_gradient : The gradient at the point ahead.
    heavy_ball : As a game.

    References
    ----------
    .. [1] B. T. Polyak, "Some methods of speeding up the convergence of iteration methods", USSR
       Computational Mathematics and Mathematical Physics, 4(5), 1–17, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic, momentum
    >>> momentum(Quadratic(np.eye(1)), np.array([8.0]), step=0.5).play(2).answer
    array([-1.6])
    """

    def points(gradient: Gradient, x: Array) -> Iterator[Array]:
        before = x
        for t in count(1):
            yield x
            x, before = x - _size(step, t) * gradient(x) + memory * (x - before), x

    return _descent("momentum", f, start, points, minimiser_ball=minimiser_ball)


def accelerated_gradient(
    f: Convex, start: Array, *, step: Step, memory: float = 0.9, minimiser_ball: Ball | None = None
) -> DescentMethod:
    """Nesterov's accelerated gradient: momentum, with the gradient at the point ahead.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    step : float or callable
        Length of a step, or a function of the round.
    memory : float, default=0.9
        Share of the last step that is repeated.
    minimiser_ball : Ball or None, default=None
        A ball that is known to hold a minimiser, for the lower bound of the gap.

    Returns
    -------
    DescentMethod
        The method; its `play` runs it and returns the points, with a gap where one is known.

    See Also
    --------
    momentum : The gradient at the point itself.
    nesterov : With a guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic, accelerated_gradient
    >>> accelerated_gradient(Quadratic(np.eye(1)), np.array([8.0]), step=0.5).play(2).answer
    array([0.2])
    """

    def points(gradient: Gradient, x: Array) -> Iterator[Array]:
        before = x
        for t in count(1):
            yield x
            ahead = x + memory * (x - before)
            x, before = ahead - _size(step, t) * gradient(ahead), x

    return _descent("accelerated gradient (NAG)", f, start, points, minimiser_ball=minimiser_ball)


def adagrad(
    f: Convex, start: Array, *, step: Step, floor: float = 1e-8, minimiser_ball: Ball | None = None
) -> DescentMethod:
    """Adagrad: steps divided, coordinate by coordinate, by the root of all squared slopes so far.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    step : float or callable
        Length of a step, or a function of the round.
    floor : float, default=1e-8
        Number that is added to the root, for coordinates without a slope.
    minimiser_ball : Ball or None, default=None
        A ball that is known to hold a minimiser, for the lower bound of the gap.

    Returns
    -------
    DescentMethod
        The method; its `play` runs it and returns the points, with a gap where one is known.

    See Also
    --------
    rmsprop : Forgets old slopes.

    References
    ----------
    .. [1] J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online learning and
       stochastic optimization", Journal of Machine Learning Research, 12, 2121–2159, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic, adagrad
    >>> adagrad(Quadratic(np.eye(1)), np.array([8.0]), step=4.0).play(2).answer
    array([2.21114562])
    """

    def points(gradient: Gradient, x: Array) -> Iterator[Array]:
        squares = np.zeros_like(x)
        for t in count(1):
            yield x
            y = gradient(x)
            squares = squares + y**2
            x = x - _size(step, t) * y / (np.sqrt(squares) + floor)

    return _descent("Adagrad", f, start, points, minimiser_ball=minimiser_ball)


def rmsprop(
    f: Convex,
    start: Array,
    *,
    step: Step,
    decay: float = 0.9,
    floor: float = 1e-8,
    minimiser_ball: Ball | None = None,
) -> DescentMethod:
    """RMSprop: Adagrad that forgets old slopes.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    step : float or callable
        Length of a step, or a function of the round.
    decay : float, default=0.9
        Factor of the squared slopes at each step.
    floor : float, default=1e-8
        Number that is added to the root, for coordinates without a slope.
    minimiser_ball : Ball or None, default=None
        A ball that is known to hold a minimiser, for the lower bound of the gap.

    Returns
    -------
    DescentMethod
        The method; its `play` runs it and returns the points, with a gap where one is known.

    See Also
    --------
    adagrad : Forgets nothing.
    adam : With momentum.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic, rmsprop
    >>> rmsprop(Quadratic(np.eye(1)), np.array([8.0]), step=1.0).play(2).answer
    array([3.13795732])
    """

    def points(gradient: Gradient, x: Array) -> Iterator[Array]:
        squares = np.zeros_like(x)
        for t in count(1):
            yield x
            y = gradient(x)
            squares = decay * squares + (1 - decay) * y**2
            x = x - _size(step, t) * y / (np.sqrt(squares) + floor)

    return _descent("RMSprop", f, start, points, minimiser_ball=minimiser_ball)


def adam(
    f: Convex,
    start: Array,
    *,
    step: Step,
    decay: float = 0.9,
    square_decay: float = 0.999,
    floor: float = 1e-8,
    minimiser_ball: Ball | None = None,
) -> DescentMethod:
    """Adam: momentum, with steps scaled by the root mean square of past gradients.

    It can fail to converge, even for convex functions [2]_.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    step : float or callable
        Length of a step, or a function of the round.
    decay : float, default=0.9
        Memory of the gradients.
    square_decay : float, default=0.999
        Memory of their squares.
    floor : float, default=1e-8
        Number that is added to the root of the squares.
    minimiser_ball : Ball or None, default=None
        A ball that is known to hold a minimiser, for the lower bound of the gap.

    Returns
    -------
    DescentMethod
        The method; its `play` runs it and returns the points, with a gap where one is known.

    See Also
    --------
    gradient_descent : Without memory.

    References
    ----------
    .. [1] D. P. Kingma and J. Ba, "Adam: A method for stochastic optimization", International
       Conference on Learning Representations, 2015.
    .. [2] S. J. Reddi, S. Kale and S. Kumar, "On the convergence of Adam and beyond", International
       Conference on Learning Representations, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic
    >>> from dualfold.games import adam
    >>> adam(Quadratic(np.eye(1)), np.array([1.0]), step=0.1).play(1).answer.round(6)
    array([0.9])
    """

    def points(gradient: Gradient, x: Array) -> Iterator[Array]:
        mean, squares = np.zeros_like(x), np.zeros_like(x)
        for t in count(1):
            yield x
            y = gradient(x)
            mean = decay * mean + (1 - decay) * y
            squares = square_decay * squares + (1 - square_decay) * y**2
            root = np.sqrt(squares / (1 - square_decay**t))
            x = x - _size(step, t) * (mean / (1 - decay**t)) / (root + floor)

    return _descent("Adam", f, start, points, minimiser_ball=minimiser_ball)


def minibatch(method: DescentMethod, *, batch_size: int, random_state: int = 0) -> DescentMethod:
    """Replace gradients of a method by those of some random terms, scaled to be right on average.

    Parameters
    ----------
    method : DescentMethod
        A method on a sum: of `LeastSquares`, `Logistic` (their terms are rows), `finite_sum` of
        functions of your own, or any `Convex` with `n_terms` and `sample`.
    batch_size : int
        Number of terms in every step.
    random_state : int, default=0
        Seed of the terms.

    Returns
    -------
    DescentMethod
        The method with such gradients.

    Raises
    ------
    InvalidInput
        If the function is no sum of terms, or has fewer.

    See Also
    --------
    stochastic_gradient : One term in every step.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares, gradient_descent, minibatch
    >>> f = LeastSquares(np.eye(2), np.array([1.0, 2.0]))
    >>> method = gradient_descent(f, np.zeros(2), step=lambda t: 0.5 / t)
    >>> bool(f.value(minibatch(method, batch_size=2).play(20).answer) < 0.1)
    True
    """
    f, n = method.f, method.f.n_terms
    if n == 0:
        raise InvalidInput(
            f"{type(f).__name__} is no sum of terms; LeastSquares, Logistic and finite_sum(terms) "
            "are, and so is a function of your own that has n_terms and sample"
        )
    if not 1 <= batch_size <= n:
        raise InvalidInput(Argument("batch_size"), f" is from 1 to all {n} terms, not {batch_size}")

    def gradients() -> Gradient:
        random = random_generator(random_state)
        return lambda x: f.sample(x, random.choice(n, batch_size, replace=False))

    name = f"{method.name}, batches of {batch_size}"
    return replace(method, name=name, gradients=gradients, exact=False)


def stochastic_gradient(
    f: Convex, start: Array, *, step: Step, random_state: int = 0, over: ConvexSet = WHOLE_SPACE
) -> DescentMethod:
    """Stochastic gradient descent: one random term of a sum at a time.

    Let the step fall, as 1/√t or 1/t: with a constant step the points never converge.

    Parameters
    ----------
    f : Convex
        A function with terms, such as `LeastSquares` or a `finite_sum`.
    start : ndarray of shape (d,)
        The first point x₀, where the first gradient is taken.
    step : float or callable
        Length of a step, or a function of the round.
    random_state : int, default=0
        Seed of the terms.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.

    Returns
    -------
    DescentMethod
        The method; its `play` runs it and returns the points, with a gap where one is known.

    See Also
    --------
    gradient_descent : All terms in every step.

    References
    ----------
    .. [1] H. Robbins and S. Monro, "A stochastic approximation method", Annals of Mathematical
       Statistics, 22(3), 400–407, 1951.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares, stochastic_gradient
    >>> f = LeastSquares(np.eye(2), np.array([1.0, 2.0]))
    >>> run = stochastic_gradient(f, np.zeros(2), step=lambda t: 0.5 / t).play(200)
    >>> bool(f.value(run.answer) < 0.1)
    True
    """
    plain = gradient_descent(f, start, step=step, over=over)
    return minibatch(plain, batch_size=1, random_state=random_state)


def _descent(
    name: str,
    f: Convex,
    start: Array,
    points: Callable[[Gradient, Array], Iterator[Array]],
    over: ConvexSet = WHOLE_SPACE,
    minimiser_ball: Ball | None = None,
) -> DescentMethod:
    start = doubles(start, "start")
    return DescentMethod(
        name, f, start, points, lambda: f.subgradient, over=over, minimiser_ball=minimiser_ball
    )


def _size(step: Step, t: int) -> float:
    return step(t) if callable(step) else step
