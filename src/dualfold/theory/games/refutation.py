"""Counterexamples: a search that can refute a claim about a function and never proves one.

With m = s·x + (1 − s)·z between two points and c = s(1 − s)‖x − z‖²/2,

    convex             f(m) ≤ s f(x) + (1 − s) f(z)
    μ-strongly convex  f(m) ≤ s f(x) + (1 − s) f(z) − μc          (Tucker, Definition 6.16)
    L-smooth           |s f(x) + (1 − s) f(z) − f(m)| ≤ Lc

each for all x, z and 0 ≤ s ≤ 1. Strong convexity and smoothness are those of the Euclidean
norm. Only values of f are used, so f may be any Python function; how far its rounding can
move them is then a guess (1e-9 of the values), and a counterexample is one up to that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.inputs import random_generator
from dualfold.theory.games.convex_functions import Convex
from dualfold.theory.games.convex_sets import WHOLE_SPACE, Ball, ConvexSet
from dualfold.theory.games.doubles import doubles, number
from dualfold.theory.games.plane_bound import GUESSED_ROUNDING

Claim = Literal["convex", "strongly convex", "smooth"]


@dataclass(frozen=True, eq=False)
class Refutation:
    """Outcome of a search for counterexamples.

    claim : the claim in words
    x, z, share : the two points and s; the worst that was met, counterexample or not
    excess : by how much the claim fails there (negative: it holds there)
    noise : what rounding of f may have added: bounded for functions of dualfold.games,
        else a guess (1e-9 of the values)
    tries : number of triples (x, z, share) that were evaluated
    """

    claim: str
    x: Array
    z: Array
    share: float
    excess: float
    noise: float
    tries: int

    @property
    def is_refuted(self) -> bool:
        """Whether a counterexample was found."""
        return self.excess > self.noise

    def __str__(self) -> str:
        if not self.is_refuted:
            return f"no counterexample to “{self.claim}” in {self.tries} tries; that proves nothing"
        return (
            f"not {self.claim}: it fails by {self.excess:.3g} between x = {self.x} and "
            f"z = {self.z}, at the share {self.share:.3g} of x"
        )


def refute(
    f: Convex | Callable[[Array], float],
    around: Array,
    *,
    claim: Claim = "convex",
    modulus: float = 0.0,
    over: ConvexSet = WHOLE_SPACE,
    scale: float = 1.0,
    tries: int = 2_000,
    random_state: int = 0,
) -> Refutation:
    """Look for points where a claim about a function fails.

    The search can refute a claim and never proves one.

    Parameters
    ----------
    f : Convex or callable
        The function; any that returns a number.
    around : ndarray of shape (d,)
        Point of its domain; pairs of points are drawn around it.
    claim : {"convex", "strongly convex", "smooth"}, default="convex"
        The claim.
    modulus : float, default=0.0
        The constant μ of strong convexity, or L of smoothness.
    over : ConvexSet, default=Everywhere()
        The set that x may move in; by default all of ℝᵈ.
    scale : float, default=1.0
        Largest width of the pairs; many are far narrower.
    tries : int, default=2000
        Number of pairs; half are drawn, half improve on the worst of these.
    random_state : int, default=0
        Seed of the pairs.

    Returns
    -------
    Refutation
        The worst pair; `is_refuted` says whether the claim fails there.

    See Also
    --------
    membership : Whether a slope is a subgradient.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import refute
    >>> refute(lambda x: float(x[0] ** 3), np.array([0.0]), tries=200).is_refuted
    True
    >>> print(refute(lambda x: float(x[0] ** 4), np.array([0.0]), tries=200))
    no counterexample to “convex” in 200 tries; that proves nothing
    """
    if claim not in ("convex", "strongly convex", "smooth"):
        raise InvalidInput(
            Argument("claim"), f" is 'convex', 'strongly convex' or 'smooth', not {claim!r}"
        )
    middle, value = doubles(around, "around"), _values(f)
    modulus = number(modulus, "modulus")
    if claim == "convex" and modulus:
        raise InvalidInput(Argument("modulus"), " belongs to 'strongly convex' and 'smooth'")
    tries = int(number(tries, "tries", least=2))
    random = random_generator(random_state)
    near = Ball(4 * scale * np.sqrt(middle.size), middle)  # pairs do not wander off
    words = claim if claim == "convex" else f"{claim} with {modulus:.6g}"
    worst: Refutation | None = None
    height = -np.inf
    for turn in range(tries):
        if worst is None or turn < tries // 2:
            x = middle + scale * random.normal(size=middle.shape)
            z = x + scale * 10 ** random.uniform(-3, 0.5) * random.normal(size=middle.shape)
            share = float(random.uniform())
        else:  # near the worst so far, closer together or further apart
            x, z = _pair_near(worst.x, worst.z, random)
            share = float(np.clip(worst.share + 0.1 * random.normal(), 0.0, 1.0))
        x, z = (over.project(near.project(point)) for point in (x, z))
        excess, noise, curve = _excess(value, x, z, share, claim, modulus)
        # The clearer a counterexample the better; until there is one, curvature leads the way.
        now = excess - noise if excess > noise else (excess - noise) / max(curve, 1e-300)
        if worst is None or now > height:
            worst, height = Refutation(words, x, z, share, excess, noise, tries), now
    assert worst is not None
    return worst


def _pair_near(x: Array, z: Array, random: np.random.Generator) -> tuple[Array, Array]:
    """A pair near a pair, of about its length."""
    half = (x - z) / 2
    long = float(np.linalg.norm(half)) / np.sqrt(half.size)
    middle = (x + z) / 2 + long * random.normal(size=x.shape)
    half = 10 ** random.uniform(-0.5, 0.5) * (half + 0.3 * long * random.normal(size=x.shape))
    return middle + half, middle - half


def _values(f: Convex | Callable[[Array], float]) -> Callable[[Array], tuple[float, float]]:
    """f(x), and how far rounding may have moved it."""
    if isinstance(f, Convex) and f.rounding_bounded:

        def value_with_bound(x: Array) -> tuple[float, float]:
            sure, value = f.value_interval(x), f.value(x)
            return value, abs(value - float(sure.mid)) + float(sure.off)

        return value_with_bound
    plain = f.value if isinstance(f, Convex) else f

    def value_with_guess(x: Array) -> tuple[float, float]:
        value = float(plain(x))
        return value, GUESSED_ROUNDING * abs(value) if np.isfinite(value) else 0.0

    return value_with_guess


def _excess(
    value: Callable[[Array], tuple[float, float]],
    x: Array,
    z: Array,
    s: float,
    claim: Claim,
    modulus: float,
) -> tuple[float, float, float]:
    """By how much the inequality fails, what rounding may have to do with it, and c."""
    (value_at_x, first), (value_at_z, last) = value(x), value(z)
    at, here = value(s * x + (1 - s) * z)
    if not (np.isfinite(value_at_x) and np.isfinite(value_at_z)) or np.isnan(at):
        return -np.inf, 0.0, 0.0  # a chord to infinity is above everything
    chord, curve = (
        s * value_at_x + (1 - s) * value_at_z,
        s * (1 - s) * float(np.sum((x - z) ** 2)) / 2,
    )
    noise = first + last + here + 1e-15 * (abs(value_at_x) + abs(value_at_z) + modulus * curve)
    if claim == "smooth":
        return abs(chord - at) - modulus * curve, noise, curve
    return at - chord + modulus * curve, noise, curve
