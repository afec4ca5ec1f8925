"""The game itself: payoff, equilibria of any pair, and membership in a subdifferential.

    g(x, y) = ⟨x, y⟩ − f*(y),   f*(y) = sup_{z ∈ K} ⟨z, y⟩ − f(z)

(Tucker, Definitions 6.1, 6.3, 6.5–6.7, Theorem 6.4). Where f has no conjugate in closed
form, or K is a set, the supremum is searched for and bracketed by planes under f.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.theory.games.convex_functions import Convex, Indicator, NoClosedForm
from dualfold.theory.games.convex_sets import WHOLE_SPACE, ConvexSet, Everywhere
from dualfold.theory.games.doubles import doubles
from dualfold.theory.games.minimum_search import least_point, tilted_by


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Distance of a pair (x̂, ŷ) from an equilibrium; computed in doubles, rounding not bounded.

    low, high : inf_x g(x, ŷ) and sup_y g(x̂, y) = f(x̂); the value V* = min f lies between
    epsilon : high − low: the pair is an ε-equilibrium, and f(x̂) − min f ≤ ε (Corollary 6.9)
    """

    low: float
    high: float

    @property
    def epsilon(self) -> float:
        """ε, that holds whatever V* is."""
        return max(self.high - self.low, 0.0)

    def __str__(self) -> str:
        if not np.isfinite(self.low):
            return "no ε: inf_x g(x, y) is −∞; a pair needs y = 0, or x a bounded set"
        return f"an ε-equilibrium, ε = {self.epsilon:.3g}: {self.low:.6g} ≤ min f ≤ {self.high:.6g}"


@dataclass(frozen=True, eq=False)
class ConjugateValue:
    """f*(y) is between `low` and `high`; computed in doubles, rounding not bounded.

    point : where ⟨x, y⟩ − f(x) is `low`; None: not known
    """

    low: float
    high: float
    point: Array | None


@dataclass(frozen=True, eq=False)
class Membership:
    """Whether y ∈ ∂f(x): f(x) + f*(y) − ⟨x, y⟩ ≥ 0 is 0 there and nowhere else (Theorem 6.4).

    low, high : that gap is between these two. y is an ε-subgradient with ε = high; it is no
        subgradient where low > 0
    witness : the point where the plane of y is highest above f, if there is one
    scale : the size of the terms, so what rounding may have left
    """

    low: float
    high: float
    witness: Array | None
    scale: float

    @property
    def holds(self) -> bool:
        """Up to rounding (1e-9 of the terms)."""
        return bool(self.high <= 1e-9 * self.scale < np.inf)

    @property
    def is_refuted(self) -> bool:
        """The witness lies below the plane, by more than rounding."""
        return self.low > 1e-9 * self.scale


def payoff(f: Convex, x: Array, y: Array, *, over: ConvexSet = WHOLE_SPACE) -> float:
    """Evaluate the payoff g(x, y) = ⟨x, y⟩ − f*(y) of the Fenchel game.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    x : ndarray of shape (d,)
        The point.
    y : ndarray of shape (d,)
        The slope.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.

    Returns
    -------
    float
        What x pays to y; f* is the supremum over the set `over`.

    See Also
    --------
    equilibrium : How far a pair is from an equilibrium.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Definition 6.5.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Quadratic, payoff
    >>> payoff(Quadratic(np.eye(1)), np.array([3.0]), np.array([1.0]))  # 3·1 − ½·1²
    2.5
    """
    x, y = doubles(x, "x"), doubles(y, "y")
    return float(np.vdot(x, y)) - _conjugate(f, y, over, x)[0]


def equilibrium(f: Convex, x: Array, y: Array, *, over: ConvexSet = WHOLE_SPACE) -> Equilibrium:
    """Compute how far a pair (x, y) is from an equilibrium of the game of min f.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    x : ndarray of shape (d,)
        The point.
    y : ndarray of shape (d,)
        The slope.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.

    Returns
    -------
    Equilibrium
        Bounds `low` ≤ min f ≤ `high`, and their difference `epsilon`.

    Raises
    ------
    InvalidInput
        If x does not lie in the set.

    See Also
    --------
    payoff : The payoff of a pair.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Definition 6.6 and
       Corollary 6.9.

    Examples
    --------
    >>> from dualfold.games import Ball
    >>> from dualfold.games import HalfSquare
    >>> f = HalfSquare(1.0, np.array([3.0]))  # ½(x − 3)² on [−1, 1]: the minimum is 2, at 1
    >>> equilibrium(f, np.array([1.0]), np.array([-2.0]), over=Ball(1.0)).epsilon
    0.0
    """
    x, y = doubles(x, "x"), doubles(y, "y")
    if not over.contains(x):
        raise InvalidInput("x must lie in the set of the game; project it first")
    low = over.minimum(y) - _conjugate(f, y, WHOLE_SPACE, x, over)[1]
    return Equilibrium(float(low), f.value(x))


def membership(f: Convex, x: Array, y: Array, *, over: ConvexSet = WHOLE_SPACE) -> Membership:
    """Decide whether y is a subgradient of f at x.

    By Fenchel and Young f(x) + f*(y) − ⟨x, y⟩ is 0 for subgradients and positive otherwise.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    x : ndarray of shape (d,)
        The point.
    y : ndarray of shape (d,)
        The slope.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.

    Returns
    -------
    Membership
        Bounds of this gap; `holds` or `is_refuted` says which.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Theorem 6.4.

    Examples
    --------
    >>> from dualfold.games import norm
    >>> corner = np.zeros(2)
    >>> membership(norm(1), corner, np.array([0.3, -1.0])).holds
    True
    >>> membership(norm(1), corner, np.array([0.3, -1.1])).is_refuted
    True
    """
    x, y = doubles(x, "x"), doubles(y, "y")
    value, inner = f.value(x), float(np.vdot(x, y))
    low, high, witness = _conjugate(f, y, over, x)
    # The largest distance of the points that were tried: x, and those of a bounded set.
    reach = over.reach(x)
    extent = _size(x) + (reach if np.isfinite(reach) else 0.0)
    scale = abs(value) + extent * (_size(y) + _size(f.subgradient(x)))
    return Membership(value + low - inner, value + high - inner, witness, scale)


def _size(x: Array) -> float:
    return float(np.linalg.norm(x))


def conjugate(
    f: Convex, y: Array, *, over: ConvexSet = WHOLE_SPACE, start: Array | None = None
) -> ConjugateValue:
    """Bracket the conjugate f*(y) = sup ⟨x, y⟩ − f(x) over a set.

    It is in closed form if f has one on all of ℝᵈ, and searched for otherwise.

    Parameters
    ----------
    f : Convex
        The convex function to minimise.
    y : ndarray of shape (d,)
        The slope.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.
    start : ndarray of shape (d,) or None, default=None
        Where the search starts; f must be finite there. None is 0.

    Returns
    -------
    ConjugateValue
        Bounds `low` and `high`, and the `point` that attains `low`.

    See Also
    --------
    membership : Whether y is a subgradient.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Definition 6.1.

    Examples
    --------
    >>> from dualfold.games import Ball, Oracle
    >>> fourth = Oracle(lambda x: (float(x[0] ** 4), 4 * x**3))
    >>> round(conjugate(fourth, np.array([4.0])).low, 6)  # 4x − x⁴ is largest at 1
    3.0
    >>> round(conjugate(fourth, np.array([4.0]), over=Ball(0.5)).high, 6)
    1.9375
    """
    y = doubles(y, "y")
    near = 0.0 * y if start is None else doubles(start, "start")
    return ConjugateValue(*_conjugate(f, y, over, near))


def _conjugate(
    f: Convex, y: Array, over: ConvexSet, start: Array, fallback: ConvexSet | None = None
) -> tuple[float, float, Array | None]:
    """f*(y) from both sides, and where the supremum is (None: not known).

    `fallback` is the set to search over where f has no closed form; the game is the same.
    """
    if isinstance(over, Everywhere):
        try:
            value = f.closed_conjugate(y)
        except NoClosedForm:
            over = over if fallback is None else fallback
        else:
            try:
                return value, value, f.maximiser(y) if np.isfinite(value) else None
            except InvalidInput:
                return value, value, None
    smooth, simple = f.split() if isinstance(over, Everywhere) else (f, Indicator(over))
    least = least_point(tilted_by(smooth, y), simple, simple.proximal(start, 1.0))
    return -float(least.upper[0]), -float(least.lower[0]), least.point
