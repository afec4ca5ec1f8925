"""Half squares, linear functions, functions of the caller's own, and sums of functions.

A function of the caller's own is a *first-order oracle* (Tucker, Definition 6.15): for x it
returns f(x) and a slope h with f(z) ≥ f(x) + ⟨h, z − x⟩ for all z.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.arithmetic import EPS, OPERATIONS_UNDERFLOW
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    dot,
    interval,
    length,
    upper_product,
    upper_sum,
)
from dualfold.theory.games.convex_functions import Convex, PlayerMove
from dualfold.theory.games.doubles import doubles, number
from dualfold.theory.games.planes import Plane, Share, difference, lower_sum


@dataclass(frozen=True, eq=False)
class HalfSquare(Convex):
    """Half squared distance (weight/2)‖x − center‖²; with weight 1 and center 0 its own conjugate.

    Parameters
    ----------
    weight : float, default=1.0
        Factor of the square, above 0.
    center : ndarray or float, default=0.0
        The least point; one number stands for a vector of it.

    See Also
    --------
    Quadratic : Any quadratic function.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import HalfSquare
    >>> HalfSquare(2.0).value(np.array([3.0, 4.0]))
    25.0
    """

    weight: float = 1.0
    center: Array | float = 0.0
    rounding_bounded = True

    def __post_init__(self) -> None:
        weight = number(self.weight, "the weight of a HalfSquare", above=True)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "center", doubles(self.center, "the center of a HalfSquare"))

    @property
    def smoothness(self) -> float:
        return self.weight

    @property
    def strong_convexity(self) -> float:
        return self.weight

    def value(self, x: Array) -> float:
        return self.weight / 2 * float(np.linalg.norm(x - self.center)) ** 2

    def subgradient(self, x: Array) -> Array:
        return self.weight * (x - self.center)

    def value_interval(self, x: Array) -> Interval:
        away = interval(x) - self.center
        return dot(away, away) * self.weight * 0.5

    def slope_interval(self, x: Array) -> Interval:
        return (interval(x) - self.center) * self.weight

    def maximiser(self, y: Array) -> Array:
        return self.center + y / self.weight

    def proximal(self, x: Array, weight: float) -> Array:
        pull = weight * self.weight
        return (x + pull * self.center) / (1 + pull)


@dataclass(frozen=True, eq=False)
class Sum(Convex):
    """Sum f + ψ of a smooth and a simple part.

    Where f is a `HalfSquare`, the conjugate and the proximal map are proximal maps of ψ; elsewhere
    the conjugate is searched for.

    Parameters
    ----------
    smooth : Convex
        The smooth part f.
    simple : Convex
        The part ψ, with a proximal map.

    See Also
    --------
    accelerated_proximal : Minimises such a sum.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import HalfSquare, Sum, norm
    >>> Sum(HalfSquare(), norm(1)).maximiser(np.array([3.0, 0.5]))
    array([2., 0.])
    """

    smooth: Convex
    simple: Convex

    @property
    def rounding_bounded(self) -> bool:  # type: ignore[override]
        return self.smooth.rounding_bounded and self.simple.rounding_bounded

    @property
    def concavity(self) -> float:
        return upper_sum(self.smooth.concavity, self.simple.concavity)

    @property
    def smoothness(self) -> float:
        return self.smooth.smoothness + self.simple.smoothness

    @property
    def strong_convexity(self) -> float:
        if self.concavity > 0:
            return 0.0
        parts = self.smooth.strong_convexity, self.simple.strong_convexity
        return sum(parts) if 0 in parts else sum(parts) * (1 - EPS)

    def value(self, x: Array) -> float:
        return self.smooth.value(x) + self.simple.value(x)

    def subgradient(self, x: Array) -> Array:
        return self.smooth.subgradient(x) + self.simple.subgradient(x)

    def maximiser(self, y: Array) -> Array:
        half = self._half_square("maximiser of ⟨x, y⟩ − f(x)")
        return self.simple.proximal(half.center + y / half.weight, 1 / half.weight)

    def proximal(self, x: Array, weight: float) -> Array:
        half = self._half_square("proximal map")
        return self.simple.proximal(half.proximal(x, weight), weight / (1 + weight * half.weight))

    def split(self) -> tuple[Convex, Convex]:
        return self.smooth, self.simple

    def cost(self, move: PlayerMove) -> float:
        return self.smooth.cost(move) + self.simple.cost(move)

    def value_interval(self, x: Array) -> Interval:
        return self.smooth.value_interval(x) + self.simple.value_interval(x)

    def outside_distance(self, x: Array) -> float:
        return upper_sum(self.smooth.outside_distance(x), self.simple.outside_distance(x))

    def reach(self, x: Array) -> float:
        return min(self.smooth.reach(x), self.simple.reach(x))

    def plane(self, z: Array) -> Plane:
        one, two = self.smooth.plane(z), self.simple.plane(z)
        slope = interval(one.slope) + two.slope
        slack = upper_sum(one.slack, two.slack, length(slope.off))
        return Plane(lower_sum(one.height, two.height), slope.mid, slack)

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        # ψ carries what the half square's slope at the best point leaves, that one the rest.
        if not isinstance(self.smooth, HalfSquare):
            return super().share(slope, slack, origin)
        best = self.maximiser(-slope)
        part = slope + self.smooth.subgradient(best)
        simple = self.simple.share(part, 0.0, origin)
        rest, off = difference(slope, part)
        total = rest + simple.rest
        left = upper_sum(slack, simple.slack, off, EPS * length(total))
        bowl = self.smooth.share(total, left, origin)
        return Share(lower_sum(simple.bound, bowl.bound), bowl.rest, bowl.slack)

    def _half_square(self, wanted: str) -> HalfSquare:
        if not isinstance(self.smooth, HalfSquare):
            raise self._lacks(wanted)
        return self.smooth


@dataclass(frozen=True, eq=False)
class Flattened(Convex):
    """f − (curvature/2)‖x‖², still convex while curvature ≤ μ."""

    of: Convex
    curvature: float

    def __post_init__(self) -> None:
        if not 0 <= self.curvature <= self.of.strong_convexity:
            raise InvalidInput(
                f"a curvature of {self.curvature:.3g} cannot be taken from a function whose "
                f"strong convexity is {self.of.strong_convexity:.3g}: the rest is not convex"
            )

    @property
    def smoothness(self) -> float:
        return self.of.smoothness - self.curvature

    @property
    def strong_convexity(self) -> float:
        rest = self.of.strong_convexity - self.curvature
        return max(0.0, rest - EPS * self.of.strong_convexity)

    @property
    def rounding_bounded(self) -> bool:  # type: ignore[override]
        return self.of.rounding_bounded

    @property
    def concavity(self) -> float:
        return self.of.concavity

    @property
    def stated_name(self) -> str:
        return self.of.stated_name

    @property
    def assumption(self) -> str:
        return self.of.assumption

    def value_interval(self, x: Array) -> Interval:
        return self.of.value_interval(x) - dot(x, x) * self.curvature * 0.5

    def slope_interval(self, x: Array) -> Interval:
        return self.of.slope_interval(x) - interval(x) * self.curvature

    def value(self, x: Array) -> float:
        return self.of.value(x) - self.curvature / 2 * float(np.linalg.norm(x)) ** 2

    def subgradient(self, x: Array) -> Array:
        return self.of.subgradient(x) - self.curvature * x


@dataclass(frozen=True, eq=False)
class Linear(Convex):
    """Linear function ⟨slope, x⟩, the loss of a game that shows slopes.

    Parameters
    ----------
    slope : ndarray of shape (d,)
        The slope.

    See Also
    --------
    learn : Takes slopes as losses.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Linear
    >>> Linear(np.array([1.0, -2.0])).value(np.array([3.0, 1.0]))
    1.0
    """

    slope: Array
    rounding_bounded = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", doubles(self.slope, "the slope of a linear loss"))

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def gradient_bound(self) -> float:
        return length(self.slope)

    def value(self, x: Array) -> float:
        return float(np.vdot(self.slope, x))

    def subgradient(self, x: Array) -> Array:
        return self.slope

    def value_interval(self, x: Array) -> Interval:
        return dot(self.slope, x)


@dataclass(frozen=True, eq=False)
class Oracle(Convex):
    """Convex function of the caller's own: values and subgradients.

    The caller states that f is convex and that its constants hold. A run names this statement and
    is never called "proved"; values and slopes that contradict it are reported.

    Parameters
    ----------
    function : callable
        Function x ↦ (f(x), a subgradient at x), or x ↦ f(x) if `gradient` is given.
    gradient : callable or None, default=None
        Function x ↦ a subgradient of f at x.
    smoothness : float, default=inf
        Lipschitz constant L of the gradient, if it is known; recipes choose their steps by it.
    strong_convexity : float, default=0.0
        Constant μ such that f − (μ/2)‖x‖² is convex.
    gradient_bound : float, default=inf
        Number G such that no subgradient is longer.

    See Also
    --------
    finite_sum : A sum of such functions.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Definition 6.15.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Oracle
    >>> Oracle(lambda x: (float(x @ x), 2 * x)).value(np.array([3.0, 4.0]))
    25.0
    >>> f = Oracle(lambda x: float(x @ x), lambda x: 2 * x, smoothness=2.0, strong_convexity=2.0)
    >>> f.subgradient(np.array([3.0, 4.0]))
    array([6., 8.])
    """

    function: Callable[[Array], object]
    gradient: Callable[[Array], object] | None = None
    smoothness: float = np.inf
    strong_convexity: float = 0.0
    gradient_bound: float = np.inf

    def __post_init__(self) -> None:
        for given, name in ((self.function, "function"), (self.gradient, "gradient")):
            if not callable(given) and not (given is None and name == "gradient"):
                raise InvalidInput(
                    Argument(name), f" is a Python function of x, not {type(given).__name__}"
                )
        mu = number(self.strong_convexity, "strong_convexity")
        object.__setattr__(self, "strong_convexity", mu)
        constants = {"smoothness": self.smoothness, "gradient_bound": self.gradient_bound}
        for name, stated in constants.items():
            object.__setattr__(self, name, np.inf if stated == np.inf else number(stated, name))
        if mu > self.smoothness:
            raise InvalidInput(
                Argument("strong_convexity"),
                f" is {mu:.4g} and smoothness {self.smoothness:.4g}: no function has μ > L",
            )

    def value(self, x: Array) -> float:
        return self._value_and_slope(x)[0]

    def subgradient(self, x: Array) -> Array:
        return self._value_and_slope(x)[1]

    def _value_and_slope(self, x: Array) -> tuple[float, Array]:
        answer = self.function(x)
        if self.gradient is not None:
            answer = (answer, self.gradient(x))
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise InvalidInput(
                "a loss that is a Python function must return two things, its value and a "
                f"subgradient; this one returned {type(answer).__name__}. Return (f(x), slope), "
                "give Oracle(f, gradient), or one of the functions of dualfold.games"
            )
        height = doubles(answer[0], "the value of a loss", infinite=True)
        if not height.ndim and height == np.inf:  # outside of its domain
            return np.inf, np.full(np.shape(x), np.inf)
        slope = doubles(answer[1], "the subgradient of a loss", infinite=True)
        if height.ndim or slope.shape != np.shape(x):
            raise InvalidInput(
                f"a loss at a point of shape {np.shape(x)} has one number as value and a slope of "
                f"that shape; the shapes are {height.shape} and {slope.shape}"
            )
        return float(height), slope


@dataclass(frozen=True, eq=False)
class Mixture(Convex):
    """Σ share·f over `parts`, pairs of a positive share and a function.

    Mixtures are added, subtracted and multiplied by numbers, so that a player can keep the
    mean of the losses it has seen as if they were slopes. `sample` takes the gradient of some of
    the parts, as stochastic methods do (`finite_sum`).
    """

    parts: tuple[tuple[float, Convex], ...]

    @property
    def n_terms(self) -> int:
        return len(self.parts)

    def sample(self, x: Array, chosen: Array) -> Array:
        parts = [self.parts[i] for i in chosen]
        scale = len(self.parts) / len(parts)
        return np.asarray(scale * sum(share * f.subgradient(x) for share, f in parts))

    def __rmul__(self, factor: float) -> Mixture:
        return Mixture(tuple((factor * share, f) for share, f in self.parts))

    def __add__(self, other: Mixture) -> Mixture:
        shares: dict[int, tuple[float, Convex]] = {}
        for share, f in (*self.parts, *other.parts):
            shares[id(f)] = (shares.get(id(f), (0.0, f))[0] + share, f)
        return Mixture(tuple(shares.values()))

    def __sub__(self, other: Mixture) -> Mixture:
        return self + -1.0 * other

    @property
    def rounding_bounded(self) -> bool:  # type: ignore[override]
        return all(f.rounding_bounded for _, f in self.parts)

    @property
    def smoothness(self) -> float:
        return sum(share * f.smoothness for share, f in self.parts if share)

    @property
    def strong_convexity(self) -> float:
        if self.concavity > 0:
            return 0.0
        total = sum(share * f.strong_convexity for share, f in self.parts)
        return total * (1 - (len(self.parts) + 1) * EPS)

    @property
    def concavity(self) -> float:
        return upper_sum(*(upper_product(share, f.concavity) for share, f in self.parts))

    @property
    def gradient_bound(self) -> float:
        return upper_sum(*(upper_product(share, f.gradient_bound) for share, f in self.parts))

    def value(self, x: Array) -> float:
        return float(sum(share * f.value(x) for share, f in self.parts))

    def subgradient(self, x: Array) -> Array:
        return np.asarray(sum(share * f.subgradient(x) for share, f in self.parts))

    def value_interval(self, x: Array) -> Interval:
        total = Interval(0.0)
        for share, f in self.parts:
            total = total + Interval(float(share)) * f.value_interval(x)
        return total

    def plane(self, z: Array) -> Plane:
        """The sum of their planes; what rounding does to the slope goes into the slack."""
        planes = [(share, f.plane(z)) for share, f in self.parts]
        if len(planes) == 1 and planes[0][0] == 1:
            return planes[0][1]
        height = lower_sum(
            *((Interval(float(share)) * plane.height).low() for share, plane in planes)
        )
        slope = np.asarray(sum(share * plane.slope for share, plane in planes))
        size = np.asarray(sum(abs(share) * np.abs(plane.slope) for share, plane in planes))
        rounding = (len(planes) + 2) * EPS * length(size) + slope.size * OPERATIONS_UNDERFLOW
        slack = upper_sum(rounding, *(upper_product(share, plane.slack) for share, plane in planes))
        return Plane(height, slope, slack)


def finite_sum(terms: Iterable[object]) -> Mixture:
    """Add convex functions, for methods that sample terms.

    Parameters
    ----------
    terms : iterable of Convex or callable
        Functions of `dualfold.games`, or Python functions x ↦ (value, subgradient).

    Returns
    -------
    Mixture
        The sum Σ_n f_n.

    Raises
    ------
    InvalidInput
        If there are no terms.

    See Also
    --------
    stochastic_gradient : Uses one term at a time.
    Oracle : One function.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import finite_sum
    >>> terms = [lambda x, a=a: ((x[0] - a) ** 2 / 2, x - a) for a in (1.0, 2.0, 6.0)]
    >>> f = finite_sum(terms)
    >>> f.value(np.zeros(1)), f.sample(np.zeros(1), np.array([2]))  # 3 times −6
    (20.5, array([-18.]))
    """
    parts = tuple((1.0, as_loss(term, ())) for term in terms)
    if not parts:
        raise InvalidInput(Argument("terms"), " is empty; give the functions that are added")
    return Mixture(parts)


def as_loss(given: object, shape: tuple[int, ...]) -> Convex:
    """A loss as a function: slopes are linear ones, a Python function is an oracle."""
    if isinstance(given, Convex):
        return given
    if callable(given):
        return Oracle(given)
    loss = Linear(np.asarray(given))
    if loss.slope.shape != shape:
        raise InvalidInput(
            f"the slope of a linear loss must have the shape of the player's points, {shape}; its "
            f"shape is {loss.slope.shape}"
        )
    return loss
