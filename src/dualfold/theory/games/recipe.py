"""What a recipe is: two players, their weights, and the guarantee that follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, ConditionFails, InvalidInput, warn
from dualfold.theory.games.convex_functions import Convex
from dualfold.theory.games.convex_sets import Ball, ConvexSet, Everywhere
from dualfold.theory.games.doubles import doubles, number
from dualfold.theory.games.game import Order, Run, Weights, equal_weights, play
from dualfold.theory.games.players import Player

# Reads a run and says what condition of the guarantee it broke; "" for none.
Condition = Callable[[Run], str]


@dataclass(frozen=True)
class Rate:
    """T^exponent · factor^T, up to a constant (and a logarithm where the words say so)."""

    words: str
    exponent: float = 0.0
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class Recipe:
    """A first-order method as a pair of players; `play` runs it.

    `nesterov`, `frank_wolfe` and the other recipes return one.

    Attributes
    ----------
    name : str
        Name of the method.
    x_player : Player
        Strategy of x.
    y_player : Player
        Strategy of y.
    order : {"x first", "y first"}
        Who moves first in a round.
    bound : callable
        Guarantee: f(x̄_T) − min f is at most bound(T); infinite if something was not stated.
    rate : Rate
        Shape of the bound, as a power of T or a factor for each round.
    weights : callable or sequence of float
        Weights α_t of the rounds.
    minimiser_ball : Ball or None
        The ball that was stated to hold a minimiser.
    horizon : int or None
        Number of rounds that the step was chosen for.
    conditions : tuple of callable
        What a run must keep for the bound to hold.

    See Also
    --------
    Run : What `play` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares, nesterov
    >>> recipe = nesterov(LeastSquares(np.eye(2), np.ones(2)), np.zeros(2), radius=2.0)
    >>> recipe.name, round(recipe.bound(20), 6)
    ('Nesterov, one memory', 0.019048)
    """

    name: str
    x_player: Player
    y_player: Player
    order: Order
    bound: Callable[[int], float]
    rate: Rate
    weights: Weights = equal_weights
    minimiser_ball: Ball | None = None
    horizon: int | None = None
    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if not np.isfinite(self.x_player.part.value(self.x_player.start)):
            raise InvalidInput(
                f"{self.name} must start in its own set, but the start is outside; project it first"
            )

    def play(
        self,
        rounds: int | None = None,
        *,
        tolerance: float | None = None,
        relative_tolerance: float = DEFAULT_TOLERANCE,
    ) -> Run:
        """Play the game and record what each player could have done better.

        Parameters
        ----------
        rounds : int or None, default=None
            Number of rounds; None takes the horizon.
        tolerance : float or None, default=None
            Duality gap at which it stops; None plays all rounds.
        relative_tolerance : float, default=1e-4
            Largest gap, relative to the minimum, that is called "proved".

        Returns
        -------
        Run
            The points, the gap after each round, and a certificate.

        Raises
        ------
        InvalidInput
            If neither `rounds` nor a horizon is given.

        Warns
        -----
        ConditionFails
            If the run contradicts a condition of the guarantee.
        """
        rounds = self.horizon if rounds is None else rounds
        if rounds is None:
            raise InvalidInput(f"how many rounds? {self.name} has no horizon of its own")
        run = play(
            self.x_player,
            self.y_player,
            weights=self.weights,
            rounds=rounds,
            order=self.order,
            minimiser_ball=self.minimiser_ball,
            tolerance=tolerance,
            relative_tolerance=relative_tolerance,
        )
        for condition in (_refuted_constants, *self.conditions):
            words = condition(run)
            if words:
                warn(ConditionFails(f"{self.name}: {words}"))
        return run


@dataclass(frozen=True, eq=False)
class StartingPoint:
    """Where x begins, and what is known of the way from there to a minimiser.

    point : x₀ as doubles, exactly
    distance : R, no minimiser is further; infinite where nothing was stated
    minimiser_ball : the ball that was stated to hold a minimiser, if one was
    """

    point: Array
    distance: float
    minimiser_ball: Ball | None = None

    @classmethod
    def from_radius(cls, start: Array, over: ConvexSet, radius: float | None) -> StartingPoint:
        """A start with the stated radius, else with how far the set reaches from it."""
        point = doubles(start, "start")
        if radius is None:
            return cls(point, over.reach(point))
        return cls(point, number(radius, "radius"), Ball(radius, point))


def _refuted_constants(run: Run) -> str:
    return run.contradiction or run.terms.refuted_smoothness


def no_guarantee(rounds: int) -> float:
    """The bound of recipes without a guarantee."""
    return np.inf


def diameter_of(start: Array, over: ConvexSet, method: str) -> float:
    diameter = min(over.diameter, 2 * over.reach(start))
    if not np.isfinite(diameter):
        raise InvalidInput(
            f"{method} needs a bounded set, since it moves to its corners; "
            f"{type(over).__name__} has no finite diameter. Take a Ball that holds a minimiser"
        )
    return diameter


# A function of rows that are all 0 has this much by underflow: 1/L would be no length.
MIN_SMOOTHNESS = 1e-290


def smoothness_of(f: Convex, method: str) -> float:
    if not MIN_SMOOTHNESS < f.smoothness < np.inf:
        raise InvalidInput(
            f"{method} takes steps of the size 1/L, but {type(f).__name__} has "
            f"L = {f.smoothness}; state it (Oracle(f, gradient, smoothness=L)), or take "
            "averaged_subgradient_descent, which needs no smoothness"
        )
    return f.smoothness


def gradient_bound_of(
    f: Convex, start: Array, over: ConvexSet, stated: float | None, method: str
) -> float:
    """G: stated, or known of f, or of a smooth f on a bounded set."""
    if stated is not None:
        return number(stated, "gradient_bound")
    local = np.inf
    if np.isfinite(f.smoothness) and not isinstance(over, Everywhere):
        local = float(np.linalg.norm(f.subgradient(start))) + f.smoothness * over.reach(start)
    bound = min(f.gradient_bound, local)
    if not np.isfinite(bound):
        raise InvalidInput(
            f"{method} chooses its step by how long gradients can be, which is not known for "
            f"{type(f).__name__} on {type(over).__name__}; state ",
            Argument("gradient_bound"),
        )
    return bound


def gradients_stay_below(bound: float) -> Condition:
    """The guarantee needs no more than this of the gradients that were seen."""

    def condition(run: Run) -> str:
        longest = float(np.linalg.norm(run.x.slopes.reshape(run.rounds, -1), axis=1).max())
        if longest <= bound * (1 + 1e-12):
            return ""
        return f"a gradient of length {longest:.3g} was met, gradient_bound is {bound:.3g}"

    return condition
