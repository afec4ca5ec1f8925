"""The least point of any convex function plus a simple part, with a bound from below.

Players that follow a leader need it, and so does the regret to the best fixed point.
Smooth functions are descended with momentum (Beck and Teboulle, "A fast iterative
shrinkage-thresholding algorithm", 2009); where that stalls, at corners, planes under the
function are collected (a proximal bundle: Kiwiel, "Proximity control in bundle methods",
1990). With planes h_i + ⟨g_i, x⟩ under f and any shares w of them,

    f(x) + part(x)  ≥  Σ w_i h_i + min_z ⟨Σ w_i g_i, z⟩ + part(z)

so whichever shares were found, the bound is one (`plane_bound.LowerBound`, rounding included).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import InvalidInput, NotConverged
from dualfold.kernels.arithmetic import EPS
from dualfold.theory.games.certificate import RunBounds, terms_of
from dualfold.theory.games.composites import Linear, Mixture
from dualfold.theory.games.convex_functions import Convex, PlayerMove
from dualfold.theory.games.divergences import (
    VALUE_ROUNDING,
    Divergence,
    Euclidean,
    proximal_descent,
)
from dualfold.theory.games.plane_bound import LowerBound

MAX_PLANE_STEPS = 200
MAX_PLANES = 60
CENTER_FREE_STEP = 1e6  # from this length of a step on the center hardly matters
MAX_SHARES_STEPS = 100
# Of values and slopes: a smooth descent that has converged leaves at most this.
CONVERGED_TOLERANCE = 1e-6
# Of slopes: what the planes of a search may leave at a least point, corners included.
STATIONARY_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False, kw_only=True)
class LeastPoint(RunBounds):
    """A point and what is proved of it; `certificate` is the verdict.

    point : where the function plus its part is least, as far as was found
    upper, lower : one entry each: not below its value, not above the least value
    """

    point: Array

    def __str__(self) -> str:
        return f"{self.upper[-1]:.6g}{self.sentence()}"


def least_point(
    f: Convex, part: Convex, start: Array, *, relative_tolerance: float = DEFAULT_TOLERANCE
) -> LeastPoint:
    """Search for the point where f + part is least, and bound the least value from below.

    Parameters
    ----------
    f : Convex
        The convex function.
    part : Convex
        A simple part, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        Where the search begins.
    relative_tolerance : float, default=1e-4
        Largest gap, relative to the least value, that is called "proved".

    Returns
    -------
    LeastPoint
        The point, its value, a lower bound, and a certificate.

    Raises
    ------
    InvalidInput
        If slopes contradict values: the function is not convex.

    See Also
    --------
    nesterov : A method with a guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Indicator, LargestAffine, Simplex, least_point
    >>> corner = LargestAffine(np.array([[3.0, 0.0], [0.0, 1.0]]))
    >>> least_point(corner, Indicator(Simplex()), np.array([0.5, 0.5])).point.round(6)
    array([0.25, 0.75])
    """
    point, planes = _search(f, part, start)
    bound = LowerBound(f, part, None)
    for at, share in planes:
        bound.add(PlayerMove(f.subgradient(at), taken_at=at), share)
    lower = bound.bound().free
    with np.errstate(all="ignore"):
        upper = (f.value_interval(point) + part.value_interval(point)).high()
    if lower > upper + 1e-6 * (1 + abs(upper)):
        raise InvalidInput(
            f"the function is not convex: its slopes exclude values below {lower:.6g}, and it has "
            f"{upper:.6g}; check its subgradient (dualfold.games.refute looks for "
            "counterexamples)"
        )
    terms = terms_of(bound, point, relative_tolerance, None, bound.why_infinite())
    return LeastPoint(point=point, upper=np.array([upper]), lower=np.array([lower]), terms=terms)


def minimiser_of(f: Convex, part: Convex, start: Array) -> Array:
    """Where f + part is least, without a bound; refused where the search ended elsewhere.

    At a least point the planes of the search have a mean slope that `part` pushes back: a
    proximal step against it moves nothing.
    """
    point, planes = _search(f, part, start)
    slopes, shares = [f.subgradient(at) for at, _ in planes], [share for _, share in planes]
    mean = np.average(slopes, axis=0, weights=shares)
    left = float(np.linalg.norm(part.proximal(point - mean, 1.0) - point))
    left += EPS * float(np.linalg.norm(point))  # far out rounding hides all moves
    if not left <= STATIONARY_TOLERANCE * (1 + float(np.linalg.norm(f.subgradient(start)))):
        raise NotConverged(
            "no least point was found: the function may fall without end; give the "
            "player a bounded set, or a start nearer to the least point",
            solution=point,
        )
    return point


def maximiser_of(f: Convex, y: Array) -> Array:
    """Where ⟨x, y⟩ − f(x) is largest, searched for from 0."""
    smooth, simple = f.split()
    start = simple.proximal(0.0 * y, 1.0)
    if not np.isfinite(smooth.value(start)):
        raise InvalidInput(
            f"{type(f).__name__} is infinite at 0, where the search for its conjugate begins; "
            "dualfold.games.conjugate takes another start"
        )
    return minimiser_of(tilted_by(smooth, y), simple, start)


def tilted_by(f: Convex, y: Array) -> Mixture:
    """f(x) − ⟨x, y⟩."""
    return Mixture(((1.0, f), (1.0, Linear(-y))))


def regularised_minimiser(
    f: Convex, part: Convex, weight: float, divergence: Divergence, center: Array
) -> Array:
    """The x with the least f(x) + weight·part(x) + D_center(x)."""
    # The same minimiser as that of (f + D)/weight + part.
    total = _Regularised(f, divergence, center, weight)
    x, converged = proximal_descent(total.value, total.subgradient, part.proximal, center)
    if not converged and not divergence.has_closed_steps:
        return minimiser_of(total, part, x)
    return x if converged else _Bundle(f, part, center, divergence, weight).minimiser_near_center()


@dataclass(frozen=True, eq=False)
class _Regularised(Convex):
    """(f + D_center)/weight."""

    f: Convex
    divergence: Divergence
    center: Array
    weight: float

    def value(self, x: Array) -> float:
        return (self.f.value(x) + self.divergence.distance(x, self.center)) / self.weight

    def subgradient(self, x: Array) -> Array:
        return (self.f.subgradient(x) + self.divergence.slope(x, self.center)) / self.weight


def _search(f: Convex, part: Convex, start: Array) -> tuple[Array, list[tuple[Array, float]]]:
    """A point, and where to take planes under f, with their shares."""
    x, converged = proximal_descent(f.value, f.subgradient, part.proximal, start)
    bundle = _Bundle(f, part, x, Euclidean(), 1.0)
    # At a corner steps may have ended below the rounding of x, as if there were none left.
    if converged and not bundle.leaves_gap(float(np.linalg.norm(f.subgradient(start)))):
        return x, [(x, 1.0)]
    return bundle.minimiser(), bundle.weighted_points()


def _best_shares(loss: Callable[[Array], tuple[float, Array]], shares: Array) -> Array:
    """The least of a smooth convex loss over the simplex, as far as SciPy finds it."""
    from scipy.optimize import minimize  # a slow import that nothing else here needs

    ones = np.ones(len(shares))
    answer = minimize(
        loss,
        shares,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(shares),
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: ones},
        options={"ftol": 1e-15, "maxiter": MAX_SHARES_STEPS},
    )
    kept = np.where(answer.x > 1e-12, answer.x, 0.0)
    whole = np.isfinite(kept).all() and kept.sum() > 0
    return np.asarray(kept / kept.sum()) if whole else shares


class _Bundle:
    """Planes under f, and the least point of the largest of them plus part and divergence."""

    def __init__(
        self, f: Convex, part: Convex, center: Array, divergence: Divergence, weight: float
    ) -> None:
        # In units of the first slope, since SciPy's tolerances are absolute.
        self.unit = float(np.linalg.norm(f.subgradient(center))) or 1.0
        self.f, self.part, self.divergence = f, part, divergence
        self.weight = weight / self.unit
        self.center = center
        self.points: list[Array] = []
        self.slopes = np.zeros((0, *np.shape(center)))
        self.heights = self.shares = np.zeros(0)
        self._add(center)

    def leaves_gap(self, steep: float) -> bool:
        """Whether the first plane leaves a gap above rounding; `steep` is a usual slope."""
        total = self._total(self.center)
        return bool(
            CONVERGED_TOLERANCE * (abs(total) + steep / self.unit) < total - self._floor() < np.inf
        )

    def minimiser_near_center(self) -> Array:
        """The least f + weight·part + D_center, the center staying where it is."""
        best, low, point = np.inf, -np.inf, self.center
        for _ in range(MAX_PLANE_STEPS):
            x, bound = self._model(self.unit)
            low = max(low, bound)
            value = self.f.value(x) / self.unit + self._rest(x, self.unit)
            if value < best:
                best, point = value, x
            if best - low <= 1e3 * VALUE_ROUNDING * (1 + abs(best)):
                break
            self._add(x)
        return point

    def minimiser(self) -> Array:
        """The least f + weight·part: each step is the model's, near the best point so far."""
        step, low, idle = 1.0, -np.inf, 0
        best = self._total(self.center)
        for _ in range(MAX_PLANE_STEPS):
            x, _ = self._model(step)
            top = float(self._planes(x).max()) + self.weight * self.part.cost(PlayerMove(x))
            promised = best - top
            low = max(low, self._floor())
            small = 1e3 * VALUE_ROUNDING * (1 + abs(best))
            if best - low <= small or (promised <= small and step > CENTER_FREE_STEP):
                break
            if promised <= small:
                step *= 10  # nothing is left nearby; what the planes prove is about all points
                continue
            self._add(x)
            value = self._total(x)
            if value <= best - 0.1 * promised and value < best:
                self.center, best, idle = x, value, 0
                step *= 4
            else:
                idle += 1
                step /= 2 if idle % 4 == 0 else 1
        return self.center

    def weighted_points(self) -> list[tuple[Array, float]]:
        """The points whose planes carry the model, with their shares."""
        pairs = zip(self.points, self.shares.tolist(), strict=True)
        return [(point, share) for point, share in pairs if share > 1e-9]

    def _add(self, x: Array) -> None:
        slope, value = self.f.subgradient(x) / self.unit, self.f.value(x) / self.unit
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            raise InvalidInput(
                "a loss is infinite, or has no finite slope, at a point that its player may "
                "choose; give the player a set inside the loss's domain"
            )
        if len(self.points) >= MAX_PLANES:
            kept = np.sort(np.argsort(-self.shares, kind="stable")[: MAX_PLANES - 1])
            self.points = [self.points[i] for i in kept]
            self.slopes, self.heights = self.slopes[kept], self.heights[kept]
            self.shares = self.shares[kept] / self.shares[kept].sum()
        self.points.append(x)
        self.slopes = np.concatenate([self.slopes, slope[None]])
        self.heights = np.append(self.heights, value - float(np.vdot(slope, x)))
        self.shares = np.append(self.shares, 1.0 if len(self.points) == 1 else 0.0)

    def _model(self, step: float) -> tuple[Array, float]:
        """The model's least point with D/step, and its value: a bound for the fixed problem."""

        def x_of(w: Array) -> Array:
            slope = np.tensordot(w, self.slopes, 1)
            return self.divergence.step(self.part, step * slope, step * self.weight, self.center)

        def loss(w: Array) -> tuple[float, Array]:
            x = x_of(w)
            planes = self._planes(x)
            return -float(w @ planes) - self._rest(x, step), -planes

        if len(self.shares) > 1:
            self.shares = _best_shares(loss, self.shares)
        return x_of(self.shares), -loss(self.shares)[0]

    def _planes(self, x: Array) -> Array:
        return self.heights + self.slopes.reshape(len(self.heights), -1) @ np.ravel(x)

    def _rest(self, x: Array, step: float) -> float:
        moved = self.divergence.distance(x, self.center) / step
        return self.weight * self.part.cost(PlayerMove(x)) + moved

    def _total(self, x: Array) -> float:
        return self.f.value(x) / self.unit + self.weight * self.part.cost(PlayerMove(x))

    def _floor(self) -> float:
        """Lower bound of f + weight·part by the planes, in units, without rounding."""
        try:
            slope = np.tensordot(self.shares, self.slopes, 1)
            least = -self.weight * self.part.closed_conjugate(-slope / self.weight)
        except InvalidInput:
            return -np.inf
        return float(self.shares @ self.heights) + least
