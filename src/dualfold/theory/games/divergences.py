"""What it costs a player to move: Bregman divergences, and the step each of them allows.

    D_c(x) = φ(x) − φ(c) − ⟨∇φ(c), x − c⟩

`step(part, slope, weight, center)` is the x with the least

    ⟨slope, x⟩ + weight·part(x) + D_center(x)

where `part` is the simple part of the game: a set, a norm. Euclid's divergence makes it a
proximal step, the entropy's a multiplicative one, a gauge's a scaled linear minimiser. With
any other differentiable φ (Tucker, Definition 6.17) the step on all of ℝᵈ is
∇φ*(∇φ(c) − slope), in closed form where φ has its `maximiser`; elsewhere it is searched for
(`descend`), and refused where the search does not converge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import kl_div, logsumexp

from dualfold.arrays import Array
from dualfold.errors import InvalidInput, NotConverged
from dualfold.theory.games.convex_functions import Convex, Indicator, Support
from dualfold.theory.games.convex_sets import ConvexSet, Everywhere
from dualfold.theory.games.polytopes import Box, L1Ball, Simplex
from dualfold.theory.games.structured_sets import Product, Spectrahedron

MAX_DESCENT_STEPS = 2_000  # a condition of 1e4 is then no difficulty
VALUE_ROUNDING = 1e-12  # of the values: differences below are rounding


class Divergence(Protocol):
    """A divergence, as players use it: its value, and the best step with it."""

    @property
    def has_closed_steps(self) -> bool:
        """Whether steps are in closed form."""
        ...

    def slope(self, x: Array, center: Array) -> Array:
        """Gradient ∇φ(x) − ∇φ(center) of D_center."""
        ...

    def dual_square(self, part: Convex, slope: Array) -> float:
        """‖slope‖²_*/β, where D is β-strongly convex on the part's set; infinite: not known."""
        ...

    def distance(self, x: Array, center: Array) -> float:
        """D_center(x)."""
        ...

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """Minimise ⟨slope, x⟩ + weight·part(x) + D(x), with D seen from `center`.

        Parameters
        ----------
        part : Convex
            Convex function that is not linearised.
        slope : ndarray
            Linear part.
        weight : float
            Weight of `part`.
        center : ndarray
            Point from which D is seen.

        Returns
        -------
        ndarray
            The minimiser.
        """
        ...


@dataclass(frozen=True)
class Euclidean(Divergence):
    """Half squared distance ½‖x − center‖²; its step is a proximal map, on a set a projection.

    See Also
    --------
    KullbackLeibler : The divergence of the entropy.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Euclidean
    >>> Euclidean().distance(np.array([3.0, 4.0]), np.zeros(2))
    12.5
    """

    has_closed_steps: ClassVar[bool] = True

    def distance(self, x: Array, center: Array) -> float:
        # ½‖x − center‖².
        return float(np.linalg.norm(x - center)) ** 2 / 2

    def slope(self, x: Array, center: Array) -> Array:
        # x − center.
        return x - center

    def dual_square(self, part: Convex, slope: Array) -> float:
        # ‖slope‖²: β is 1.
        return float(np.vdot(slope, slope))

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        # The proximal map of `part`, from `center` against `slope`, with `weight`.
        return part.proximal(center - slope, weight)


@dataclass(frozen=True)
class KullbackLeibler:
    """Divergence of the entropy: Σ x log(x/center) − x + center.

    Its step multiplies by exp(−slope). Points are ≥ 0 in any set: all positive vectors in ℝᵈ, those
    with sum ≤ radius in `L1Ball` (regret is still that to the whole ball), those between the sides
    of a `Box`.

    See Also
    --------
    OMD : Takes it as its divergence.
    VonNeumann : The same for matrices.

    Notes
    -----
    On a simplex it is 1/total-strongly convex in the ℓ1 norm, so slopes count by their largest
    entry only: the regret grows with √(log d) for d entries.

    References
    ----------
    .. [1] A. Beck and M. Teboulle, "Mirror descent and nonlinear projected subgradient methods for
       convex optimization", Operations Research Letters, 31(3), 167–175, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Indicator, KullbackLeibler, Simplex
    >>> slope, center = np.array([np.log(2.0), 0.0]), np.array([0.5, 0.5])
    >>> KullbackLeibler().step(Indicator(Simplex()), slope, 1.0, center).round(6)
    array([0.333333, 0.666667])
    """

    has_closed_steps: ClassVar[bool] = True

    def distance(self, x: Array, center: Array) -> float:
        """Compute Σ x log(x/center) − x + center.

        Parameters
        ----------
        x : ndarray
            The point.
        center : ndarray
            The centre.

        Returns
        -------
        float
            The divergence.
        """
        return float(np.sum(kl_div(x, center)))

    def slope(self, x: Array, center: Array) -> Array:
        """Compute log(x/center), the gradient of the divergence in x.

        Parameters
        ----------
        x : ndarray
            The point.
        center : ndarray
            The centre.

        Returns
        -------
        ndarray
            The gradient.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(x / center)

    def dual_square(self, part: Convex, slope: Array) -> float:
        """Bound the cost of a slope: total·max|slope|² if Σx ≤ total.

        By Cauchy and Schwarz (Σ|v|)² ≤ Σx·Σv²/x. On a box it is high·‖slope‖², since φ'' = 1/x ≥
        1/high.

        Parameters
        ----------
        part : Convex
            The simple part of the game, which says where points lie.
        slope : ndarray
            The slope.

        Returns
        -------
        float
            The squared dual norm, divided by the modulus of strong convexity.
        """
        of = part.of if isinstance(part, Indicator) else None
        if isinstance(of, Box):
            return float(np.max(of.high)) * float(np.vdot(slope, slope))
        total = np.inf
        if isinstance(of, Simplex | L1Ball):
            total = of.total if isinstance(of, Simplex) else of.radius
        return float(total * np.abs(slope).max() ** 2)

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """Multiply the centre by exp(−slope) and bring it into the set.

        Parameters
        ----------
        part : Convex
            The simple part of the game: an `Indicator` of a set, or a norm.
        slope : ndarray
            The slope.
        weight : float
            Weight of the part.
        center : ndarray
            The centre of the divergence.

        Returns
        -------
        ndarray
            The point of the step.
        """
        if isinstance(part, Support) and isinstance(part.of, Box):
            # On x ≥ 0 the largest ⟨x, y⟩ is linear: it is taken at the upper side.
            slope, part = slope + weight * part.of.high, Indicator(Everywhere())
        if not isinstance(part, Indicator):
            raise _no_entropic_step(part)
        with np.errstate(divide="ignore"):
            return _entropic_projection(part.of, np.log(center) - slope)


def _entropic_projection(of: ConvexSet, exponents: Array) -> Array:
    """The point of a set with the least divergence from exp(exponents)."""
    if isinstance(of, Product):
        pieces = np.split(exponents, np.cumsum(of.sizes)[:-1])
        return np.concatenate(
            [_entropic_projection(part, piece) for part, piece in zip(of.sets, pieces, strict=True)]
        )
    if isinstance(of, Simplex):
        return np.asarray(of.total * np.exp(exponents - logsumexp(exponents)))
    with np.errstate(over="ignore"):
        free = np.exp(exponents)
    if isinstance(of, Everywhere):
        return np.asarray(free)
    if isinstance(of, L1Ball):
        return (
            free if free.sum() <= of.radius else _entropic_projection(Simplex(of.radius), exponents)
        )
    if isinstance(of, Box) and np.all(of.high >= 0):
        return np.clip(free, np.maximum(of.low, 0.0), of.high)  # entry by entry, so a clip
    raise _no_entropic_step(of)


def _no_entropic_step(given: object) -> InvalidInput:
    return InvalidInput(
        f"the entropy's step has no closed form on {type(given).__name__}; use Simplex, L1Ball, "
        "Box or Everywhere (with x ≥ 0), a Product of these, or norm(1); or Bregman of another φ"
    )


@dataclass(frozen=True, eq=False)
class Gauge(Divergence):
    """Half squared gauge ½gauge(x)² of a set around 0; its step needs no projection.

    The least ⟨slope, x⟩ + ½gauge(x)² over K is min(1, h)·v with v the linear minimiser of K
    and h = −⟨slope, v⟩. There is no center but 0.

    Parameters
    ----------
    of : ConvexSet
        The set, with a gauge: `Ball` or `Ellipsoid`.

    See Also
    --------
    accelerated_by_gauge : The method that takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ball, Gauge
    >>> Gauge(Ball(2.0)).distance(np.array([3.0, 4.0]), np.zeros(2))
    3.125
    """

    of: ConvexSet
    has_closed_steps: ClassVar[bool] = True

    def distance(self, x: Array, center: Array) -> float:
        # ½gauge(x)²; the center is 0.
        return self.of.gauge(x) ** 2 / 2

    def slope(self, x: Array, center: Array) -> Array:
        # Not in closed form.
        raise InvalidInput("a gauge has no gradient here; players with it take slopes, not losses")

    def dual_square(self, part: Convex, slope: Array) -> float:
        # ‖slope‖²/β, β the strong convexity of ½gauge².
        beta = self.of.gauge_convexity
        return float(np.vdot(slope, slope)) / beta if beta else np.inf

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        # A linear minimiser of the set for `slope`, scaled; no `part`, `weight`, `center` here.
        corner = self.of.minimiser(slope)
        return min(1.0, -float(np.vdot(slope, corner))) * corner


@dataclass(frozen=True, eq=False)
class Bregman:
    """Bregman divergence D_c(x) = φ(x) − φ(c) − ⟨∇φ(c), x − c⟩ of any differentiable φ.

    Its step is searched for if φ has no closed form.

    Parameters
    ----------
    of : Convex
        The function φ, for example an `Oracle`.

    See Also
    --------
    KullbackLeibler : The divergence of the entropy, in closed form.

    References
    ----------
    .. [1] L. M. Bregman, "The relaxation method of finding the common point of convex sets and its
       application to the solution of problems in convex programming", USSR Computational
       Mathematics and Mathematical Physics, 7(3), 200–217, 1967.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Bregman, Oracle
    >>> burg = Oracle(lambda x: (-float(np.log(x).sum()), -1 / x))  # Itakura and Saito
    >>> round(Bregman(burg).distance(np.array([2.0]), np.array([1.0])), 6)
    0.306853
    """

    of: Convex
    has_closed_steps: ClassVar[bool] = False

    def distance(self, x: Array, center: Array) -> float:
        """Compute the divergence of x from the centre.

        Parameters
        ----------
        x : ndarray
            The point.
        center : ndarray
            The centre.

        Returns
        -------
        float
            The divergence.
        """
        fall = float(np.vdot(self.of.subgradient(center), x - center))
        return self.of.value(x) - self.of.value(center) - fall

    def slope(self, x: Array, center: Array) -> Array:
        """Compute ∇φ(x) − ∇φ(center), the gradient of the divergence in x.

        Parameters
        ----------
        x : ndarray
            The point.
        center : ndarray
            The centre.

        Returns
        -------
        ndarray
            The gradient.
        """
        return self.of.subgradient(x) - self.of.subgradient(center)

    def dual_square(self, part: Convex, slope: Array) -> float:
        """Compute ‖slope‖²/β, with β the strong convexity of φ.

        Parameters
        ----------
        part : Convex
            The simple part of the game, which says where points lie.
        slope : ndarray
            The slope.

        Returns
        -------
        float
            The squared dual norm, divided by the modulus of strong convexity.
        """
        beta = self.of.strong_convexity
        return float(np.vdot(slope, slope)) / beta if beta else np.inf

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """Compute the x with the least ⟨slope, x⟩ + weight·part(x) + D_center(x).

        Parameters
        ----------
        part : Convex
            The simple part of the game: an `Indicator` of a set, or a norm.
        slope : ndarray
            The slope.
        weight : float
            Weight of the part.
        center : ndarray
            The centre of the divergence.

        Returns
        -------
        ndarray
            The point of the step.
        """
        target = self.of.subgradient(center) - slope
        if isinstance(part, Indicator) and isinstance(part.of, Everywhere):
            try:
                return self.of.maximiser(target)
            except InvalidInput:
                pass  # no closed form: searched for below
        x, converged = proximal_descent(
            lambda x: (self.of.value(x) - float(np.vdot(target, x))) / weight,
            lambda x: (self.of.subgradient(x) - target) / weight,
            part.proximal,
            center,
        )
        if not converged:
            raise NotConverged(
                "the step with this φ was not found: φ must be differentiable and strongly convex "
                "where the player moves; start the player inside φ's domain, or give φ a maximiser",
                solution=x,
            )
        return x


@dataclass(frozen=True)
class VonNeumann:
    """Divergence of positive definite matrices: tr(X log X − X log C − X + C).

    On the spectrahedron its step is total·exp(log C − slope)/tr(…), and it is 1/total-strongly
    convex in the sum of the absolute eigenvalues.

    See Also
    --------
    Spectrahedron : The set that it suits.
    KullbackLeibler : The same for vectors.

    References
    ----------
    .. [1] K. Tsuda, G. Rätsch and M. K. Warmuth, "Matrix exponentiated gradient updates for on-line
       learning and Bregman projection", Journal of Machine Learning Research, 6, 995–1018, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import VonNeumann
    >>> round(VonNeumann().distance(np.eye(2) / 2, np.eye(2) / 2), 9) + 0.0
    0.0
    """

    has_closed_steps: ClassVar[bool] = True

    def distance(self, x: Array, center: Array) -> float:
        """Compute tr(X log X − X log C − X + C).

        Parameters
        ----------
        x : ndarray
            The point.
        center : ndarray
            The centre.

        Returns
        -------
        float
            The divergence.
        """
        values = np.linalg.eigvalsh(x)
        entropy = float(np.sum(values * np.log(np.maximum(values, 1e-300))))
        return (
            entropy
            - float(np.vdot(_matrix_logarithm(center), x))
            - float(np.trace(x) - np.trace(center))
        )

    def slope(self, x: Array, center: Array) -> Array:
        """Compute log X − log C, the gradient of the divergence in X.

        Parameters
        ----------
        x : ndarray
            The point.
        center : ndarray
            The centre.

        Returns
        -------
        ndarray
            The gradient.
        """
        return _matrix_logarithm(x) - _matrix_logarithm(center)

    def dual_square(self, part: Convex, slope: Array) -> float:
        """Compute total·λ², with λ the largest absolute eigenvalue of the slope.

        Parameters
        ----------
        part : Convex
            The simple part of the game, which says where points lie.
        slope : ndarray
            The slope.

        Returns
        -------
        float
            The squared dual norm, divided by the modulus of strong convexity.
        """
        of = part.of if isinstance(part, Indicator) else None
        total = of.total if isinstance(of, Spectrahedron) else np.inf
        return float(total * np.abs(np.linalg.eigvalsh((slope + slope.T) / 2)).max() ** 2)

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """Compute exp(log C − slope), scaled to the trace of the set.

        Parameters
        ----------
        part : Convex
            The simple part of the game: an `Indicator` of a set, or a norm.
        slope : ndarray
            The slope.
        weight : float
            Weight of the part.
        center : ndarray
            The centre of the divergence.

        Returns
        -------
        ndarray
            The point of the step.
        """
        if not (isinstance(part, Indicator) and isinstance(part.of, Spectrahedron | Everywhere)):
            raise InvalidInput(
                "the step of matrix entropy has a closed form on Spectrahedron and Everywhere "
                "(all positive definite matrices); use one of these"
            )
        values, vectors = np.linalg.eigh(_matrix_logarithm(center) - (slope + slope.T) / 2)
        if isinstance(part.of, Everywhere):
            return np.asarray((vectors * np.exp(values)) @ vectors.T)
        share = np.exp(values - values.max())
        return np.asarray((vectors * (part.of.total * share / share.sum())) @ vectors.T)


def _matrix_logarithm(matrix: Array) -> Array:
    """The logarithm of a positive definite matrix; what rounding made ≤ 0 is next to 0."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.log(np.maximum(values, 1e-300))) @ vectors.T)


def proximal_descent(
    value: Callable[[Array], float],
    slope: Callable[[Array], Array],
    proximal: Callable[[Array, float], Array],
    start: Array,
    most_steps: int = MAX_DESCENT_STEPS,
) -> tuple[Array, bool]:
    """Proximal descent with momentum, steps by backtracking, restarted where it turns back.

    The second result is whether only rounding was left. At corners its steps vanish, and it
    returns False.
    """
    x = ahead = proximal(start, 1.0)
    curve, memory, first = 1.0, 1.0, 0.0
    for _ in range(most_steps):
        at, y = value(ahead), slope(ahead)
        if not (np.isfinite(at) and np.isfinite(y).all()):
            if ahead is x:
                return x, False
            ahead, memory = x, 1.0  # momentum left the domain
            continue
        curve *= 0.9  # the step may grow again
        while True:
            new = proximal(ahead - y / curve, 1 / curve)
            move = new - ahead
            square = float(np.vdot(move, move))
            risen = value(new) - at - float(np.vdot(y, move)) - curve / 2 * square
            if risen <= 0 or curve > 1e15:
                break
            # Below the rounding of values only slopes tell how much f bends.
            if (
                risen <= VALUE_ROUNDING * abs(at)
                and np.vdot(slope(new) - y, move) <= curve * square
            ):
                break
            curve *= 2
        length = curve * np.sqrt(square)
        first = first or float(length)
        if curve > 1e9 * (1 + first):  # no smooth function bends like this
            return x, False
        if length <= 1e-9 * (first + float(np.linalg.norm(y))):
            return new, True
        turned = float(np.vdot(ahead - new, new - x)) > 0
        memory, before = (1.0, 1.0) if turned else ((1 + np.sqrt(1 + 4 * memory**2)) / 2, memory)
        ahead = new + (before - 1) / memory * (new - x)
        x = new
    return x, False
