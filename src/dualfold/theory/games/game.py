"""The protocol, the game, and the proof that comes with a run.

x wants ⟨x, y⟩ − f*(y) + ψ(x) small, y wants it large. With weights α, A = Σα and weighted
averages x̄, ȳ,

    f(x̄) + ψ(x̄) − min (f + ψ)  ≤  (regret of x + regret of y) / A

whatever the players do, and every run bounds the minimum from below by

    min_x ⟨ȳ, x⟩ + ψ(x) − (1/A) Σ α_t f*(y_t)

so its duality gap is known at every round, and is a stopping rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, InvalidInput
from dualfold.theory.games.certificate import RunBounds, terms_of, validated_tolerances
from dualfold.theory.games.convex_functions import Conjugate, Convex, PlayerMove
from dualfold.theory.games.convex_sets import Ball
from dualfold.theory.games.doubles import number
from dualfold.theory.games.plane_bound import LowerBound
from dualfold.theory.games.players import Player, SeenLosses

# α_t from t and the total weight A_{t−1} before it, or a list of them.
Weights = Callable[[int, float], float] | Sequence[float] | Array
Order = Literal["x first", "y first"]


def equal_weights(t: int, total: float) -> float:
    """Weigh all rounds alike: α_t = 1.

    Parameters
    ----------
    t : int
        The round, from 1.
    total : float
        Weight of the rounds before.

    Returns
    -------
    float
        The weight 1.
    """
    return 1.0


def linear_weights(t: int, total: float) -> float:
    """Weigh late rounds more: α_t = t.

    Parameters
    ----------
    t : int
        The round, from 1.
    total : float
        Weight of the rounds before.

    Returns
    -------
    float
        The weight t.

    See Also
    --------
    play : Takes it as its weights.

    Examples
    --------
    >>> from dualfold.games import linear_weights
    >>> linear_weights(3, 3.0)
    3.0
    """
    return float(t)


@dataclass(frozen=True)
class GeometricWeights:
    """α₁ = 1, then α_t = share·A_{t−1}: a fixed share of all that came before."""

    share: float

    def __call__(self, t: int, total: float) -> float:
        return 1.0 if t == 1 else self.share * total


def weight_of(weights: Weights, t: int, total: float) -> float:
    """α_t, refused unless it is a positive number."""
    if not callable(weights) and t > len(weights):
        raise InvalidInput(
            f"there are {len(weights)} weights and a round {t}; give one for each round"
        )
    weight = float(weights(t, total) if callable(weights) else weights[t - 1])
    if not 0 < weight < np.inf:
        raise InvalidInput(f"weights are positive numbers, but that of round {t} is {weight}")
    return weight


@dataclass(frozen=True, eq=False)
class Account:
    """Moves and payments of a player: the record of the weighted protocol.

    part : φ, the part of the loss that never changes
    points, slopes : z_t and u_t, one row for each round
    costs, weights : φ(z_t) and α_t
    """

    part: Convex
    points: Array
    slopes: Array
    costs: Array
    weights: Array

    @property
    def totals(self) -> Array:
        """Total weight A_t after each round."""
        return np.cumsum(self.weights)

    @property
    def paid(self) -> Array:
        """Payment Σ_{s≤t} α_s (⟨z_s, u_s⟩ + φ(z_s)) after each round."""
        inner = np.sum((self.points * self.slopes).reshape(len(self.points), -1), axis=1)
        return np.cumsum(self.weights * (inner + self.costs))

    @property
    def average_slopes(self) -> Array:
        """Weighted mean ū_t of the slopes so far, one row for each round."""
        return _running_means(self.slopes, self.weights)

    def regret(self, comparator: Array) -> Array:
        """Compute after each round what was paid, less the cost of always playing one point.

        Parameters
        ----------
        comparator : ndarray of shape (d,)
            The point.

        Returns
        -------
        ndarray of shape (rounds,)
            The regret.
        """
        inner = self.average_slopes.reshape(len(self.weights), -1) @ np.ravel(comparator)
        return self.paid - self.totals * (inner + self.part.value(comparator))


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(RunBounds):
    """A game that was played: points, gaps and regrets; print it.

    Attributes
    ----------
    upper : ndarray of shape (rounds,)
        Upper bound of the objective at the average of each round, whatever rounding does.
    lower : ndarray of shape (rounds,)
        Lower bound of the minimum after each round.
    terms : RunTerms
        What the bounds are about and what they assume.
    x : Account
        What x played and paid.
    y : Account
        What y played and paid.
    averages : ndarray of shape (rounds, d)
        The answer x̄_t after each round.
    x_regret : ndarray of shape (rounds,)
        Regret of x to the best fixed point of the set, or of the stated ball; infinite on ℝᵈ
        without a ball.
    y_regret : ndarray of shape (rounds,)
        Regret of y.

    See Also
    --------
    Recipe : The method whose `play` returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares, nesterov
    >>> run = nesterov(LeastSquares(np.eye(2), np.ones(2)), np.zeros(2), radius=2.0).play(20)
    >>> run.answer.round(2), bool(run.gap[-1] < 0.02), run.rounds
    (array([1., 1.]), True, 20)
    """

    x: Account
    y: Account
    averages: Array
    x_regret: Array
    y_regret: Array

    @property
    def rounds(self) -> int:
        """Number of rounds that were played."""
        return len(self.upper)

    @property
    def answer(self) -> Array:
        """The weighted mean x̄_T of x's points, which the guarantee is about."""
        return np.asarray(self.averages[-1])

    @property
    def equilibrium(self) -> Array:
        """The ε after every round for which the pair of averages is an ε-equilibrium."""
        return (self.x_regret + self.y_regret) / self.x.totals

    @property
    def why_infinite(self) -> str:
        """Advice on what to state if the gap is infinite."""
        return self.terms.why_infinite

    def __str__(self) -> str:
        return f"{self.upper[-1]:.6g} after {self.rounds} rounds{self.sentence()}"


class PlayerState:
    """A player in a game, with the losses it has seen and the moves it has made."""

    def __init__(self, player: Player) -> None:
        self.player, self.seen = player, SeenLosses()
        self.moves: list[PlayerMove] = []
        self.slopes: list[Array] = []

    def move(self, weight: float, shown: Array | None) -> PlayerMove:
        """The next move; `shown` is this round's slope if the opponent has moved."""
        prescient = self.player.prescient
        if prescient and shown is None:
            raise InvalidInput(
                f"{type(self.player).__name__} is prescient: it answers this round's loss and "
                "must move second; change the order"
            )
        known = self.seen.after(shown, weight) if prescient and shown is not None else self.seen
        self.moves.append(self.player.move(known, weight))
        return self.moves[-1]

    def learn(self, slope: Array, weight: float) -> None:
        """Take note of the round's slope."""
        self.slopes.append(slope)
        self.seen = replace(self.seen.after(slope, weight), previous=self.moves[-1])

    def account(self, weights: Sequence[float]) -> Account:
        """Account of what the player played and paid."""
        return Account(
            self.player.part,
            np.array([move.point for move in self.moves]),
            np.array(self.slopes),
            np.array([self.player.part.cost(move) for move in self.moves]),
            np.array(weights),
        )


class RoundRecorder:
    """Records after every round the average of x, and bounds from both sides."""

    def __init__(self, f: Convex, simple: Convex, minimiser_ball: Ball | None) -> None:
        self.f, self.simple = f, simple
        self.bound = LowerBound(f, simple, minimiser_ball)
        self.averages: list[Array] = []
        self.values: list[float] = []
        self.upper: list[float] = []
        self.lower: list[float] = []
        self.free: list[float] = []
        self.responses: list[float] = []

    def write(self, x: PlayerMove, y: PlayerMove, weight: float) -> None:
        """Record one round."""
        share = weight / (self.bound.weight + weight)
        last = self.averages[-1] if self.averages else np.zeros_like(x.point)
        average = last + share * (x.point - last)
        self.averages.append(average)
        self.bound.add(y, weight)
        self.values.append(self.f.value(average))
        with np.errstate(all="ignore"):
            self.upper.append(
                (self.f.value_interval(average) + self.simple.value_interval(average)).high()
            )
        bound = self.bound.bound()
        self.free.append(bound.free)
        self.lower.append(bound.in_ball)
        self.responses.append(bound.response)

    @property
    def gap(self) -> float:
        """Not below the gap that the run will state, so that the last one keeps the promise."""
        return float(np.nextafter(self.upper[-1] - max(self.lower), np.inf))


def play(
    x_player: Player,
    y_player: Player,
    *,
    weights: Weights = equal_weights,
    rounds: int,
    order: Order,
    minimiser_ball: Ball | None = None,
    tolerance: float | None = None,
    relative_tolerance: float = DEFAULT_TOLERANCE,
) -> Run:
    """Play the game that x's part ψ and y's part f* define, min over x of f + ψ.

    Parameters
    ----------
    x_player : Player
        Strategy of x, whose part is ψ.
    y_player : Player
        Strategy of y, whose part is `Conjugate(f)`.
    weights : callable or sequence of float, default=equal_weights
        Weights α_t, from t and the weight A_{t−1} of the rounds before, or a list.
    rounds : int
        Number of rounds.
    order : {"x first", "y first"}
        Who moves first; a prescient player moves second.
    minimiser_ball : Ball or None, default=None
        A ball that is known to hold a minimiser, for problems on all of ℝᵈ.
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
        If y does not play on a conjugate, or the order or a weight is none.

    See Also
    --------
    nesterov : Two players with their guarantee.
    learn : One player against losses.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Definition 6.7.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import (
    ...     FTL, BestResponse, Conjugate, HalfSquare, Indicator, Simplex, linear_weights, play
    ... )
    >>> corner = np.array([1.0, 0.0])
    >>> run = play(
    ...     BestResponse(Indicator(Simplex()), corner),
    ...     FTL(Conjugate(HalfSquare()), corner),
    ...     weights=linear_weights,
    ...     rounds=50,
    ...     order="y first",
    ... )
    >>> bool(run.gap[-1] <= 2 * 2 / 51)
    True
    """
    if not isinstance(y_player.part, Conjugate):
        raise InvalidInput("y plays on a conjugate: give it Conjugate(f)")
    if order not in ("x first", "y first"):
        raise InvalidInput(Argument("order"), f" is 'x first' or 'y first', not {order!r}")
    number(rounds, "rounds", least=1)
    relative_tolerance = validated_tolerances(tolerance, relative_tolerance)
    f, simple = y_player.part.of, x_player.part
    record = RoundRecorder(f, simple, minimiser_ball)
    x_state, y_state = PlayerState(x_player), PlayerState(y_player)
    played: list[float] = []
    for t in range(1, rounds + 1):
        played.append(weight_of(weights, t, record.bound.weight))
        record.write(*_round(x_state, y_state, played[-1], order), played[-1])
        if tolerance is not None and record.gap <= tolerance:
            break
    x_account, y_account = x_state.account(played), y_state.account(played)
    used = minimiser_ball if max(record.lower) > max(record.free) else None
    why = record.bound.why_infinite()
    return Run(
        x=x_account,
        y=y_account,
        averages=np.array(record.averages),
        upper=np.array(record.upper),
        lower=np.array(record.lower),
        x_regret=x_account.paid - x_account.totals * np.array(record.responses),
        y_regret=y_account.paid + y_account.totals * np.array(record.values),
        terms=terms_of(record.bound, record.averages[-1], relative_tolerance, used, why),
    )


def _round(
    x_state: PlayerState, y_state: PlayerState, weight: float, order: Order
) -> tuple[PlayerMove, PlayerMove]:
    """Both moves of a round; x's slope is y, y's slope is −x."""
    if order == "x first":
        x = x_state.move(weight, None)
        y = y_state.move(weight, -x.point)
    else:
        y = y_state.move(weight, None)
        x = x_state.move(weight, y.point)
    x_state.learn(y.point, weight)
    y_state.learn(-x.point, weight)
    return x, y


def _running_means(rows: Array, weights: Array) -> Array:
    """Weighted running means, by updates: sums of geometric weights would overflow first."""
    means = np.empty_like(rows, dtype=float)
    mean, total = np.zeros_like(rows[0], dtype=float), 0.0
    for t, (row, weight) in enumerate(zip(rows, weights, strict=True)):
        total += weight
        mean = mean + (weight / total) * (row - mean)
        means[t] = mean
    return means
