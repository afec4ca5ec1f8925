"""The protocol of online convex optimisation (Tucker, Algorithm 3, Definitions 6.10–6.13).

In round t a player names z_t, then the opponent shows a convex loss ℓ_t, and the player pays
α_t ℓ_t(z_t). A prescient player (⁺) is shown ℓ_t before it moves. The regret to z* is

    Σ_{s≤t} α_s ℓ_s(z_s) − Σ_{s≤t} α_s ℓ_s(z*)

and a player has *no regret* when the largest one, divided by A_t = Σ α_s, goes to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from typing import Any, Literal, NamedTuple

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, InvalidInput
from dualfold.theory.games.composites import Linear, Mixture, as_loss
from dualfold.theory.games.convex_functions import Convex, Indicator, PlayerMove
from dualfold.theory.games.divergences import Divergence
from dualfold.theory.games.doubles import number
from dualfold.theory.games.game import Account, PlayerState, Weights, equal_weights, weight_of
from dualfold.theory.games.minimum_search import (
    LeastPoint,
    least_point,
    minimiser_of,
    regularised_minimiser,
)
from dualfold.theory.games.players import FTRL, OMD, BestResponse, FTLPlus, OptimisticOMD, Player


class Past(NamedTuple):
    """Moves, losses and weights that an opponent knows: z₁ … z_t, ℓ₁ … ℓ_{t−1} and α₁ … α_t.

    Against a prescient player, who has not moved yet, z_t is missing.
    """

    points: tuple[Array, ...]
    losses: tuple[Convex, ...]
    weights: tuple[float, ...]


Losses = Iterable[object] | Callable[[Past], object]
ShownKind = Literal["loss", "slope"]


@dataclass(frozen=True, eq=False)
class RegretCurve:
    """Average regret to the best fixed point after t rounds, for some t.

    Attributes
    ----------
    rounds : ndarray of int
        The numbers t.
    low : ndarray
        Lower bound of the regret, as the best point's value is bracketed (`OnlineAccount.best`,
        whose certificate says what is proved of it); what was paid is a sum of doubles.
    high : ndarray
        Upper bound of the regret.
    bound : ndarray
        Promise of theory; infinite where it promises nothing.

    See Also
    --------
    learn : Its account has such a curve.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import FTLPlus, Indicator, Simplex, learn
    >>> leader = FTLPlus(Indicator(Simplex()), np.array([0.5, 0.5]))
    >>> curve = learn(leader, np.array([[1.0, 0.0], [1.0, 0.0]])).average_regret()
    >>> curve.rounds, bool((curve.low <= curve.bound + 1e-9).all())
    (array([1, 2]), True)
    """

    rounds: Array
    low: Array
    high: Array
    bound: Array


@dataclass(frozen=True, eq=False)
class OnlineAccount(Account):
    """Points, losses and payments of a player in online convex optimisation.

    Attributes
    ----------
    part : Convex
        The player's own part φ.
    points : ndarray of shape (rounds, d)
        The points z_t.
    slopes : ndarray of shape (rounds, d)
        Subgradients of the losses at these points.
    costs : ndarray of shape (rounds,)
        The values φ(z_t).
    weights : ndarray of shape (rounds,)
        Weights α_t.
    losses : tuple of Convex
        The losses ℓ_t.
    values : ndarray of shape (rounds,)
        The values ℓ_t(z_t).
    player : Player
        The strategy.

    See Also
    --------
    learn : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import FTL, Box, Indicator, learn
    >>> account = learn(FTL(Indicator(Box(-1.0, 1.0)), np.zeros(1)), np.array([[1.0], [1.0]]))
    >>> account.paid, account.regret(np.array([-1.0]))
    (array([ 0., -1.]), array([1., 1.]))
    """

    losses: tuple[Convex, ...]
    values: Array
    player: Player

    @property
    def paid(self) -> Array:
        """Payment Σ_{s≤t} α_s (ℓ_s(z_s) + φ(z_s)) after each round, φ the player's part."""
        return np.cumsum(self.weights * (self.values + self.costs))

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
        fixed = np.array([loss.value(comparator) for loss in self.losses])
        return self.paid - np.cumsum(self.weights * (fixed + self.part.value(comparator)))

    def best(
        self, rounds: int | None = None, *, relative_tolerance: float = DEFAULT_TOLERANCE
    ) -> LeastPoint:
        """Search for the fixed point that would have paid least, and its mean cost.

        Parameters
        ----------
        rounds : int or None, default=None
            Number of rounds that count, from the first; None counts all.
        relative_tolerance : float, default=1e-4
            Largest gap, relative to the cost, that is called "proved".

        Returns
        -------
        LeastPoint
            The point; its `certificate` says how much less another point could have paid.
        """
        T = len(self.weights) if rounds is None else int(number(rounds, "rounds", least=1))
        shares = self.weights[:T] / self.weights[:T].sum()
        mean = Mixture(tuple(zip(shares.tolist(), self.losses[:T], strict=True)))
        start = np.average(self.points[:T], axis=0, weights=self.weights[:T])
        return least_point(mean, self.part, start, relative_tolerance=relative_tolerance)

    def average_regret(self, rounds: Sequence[int] | None = None) -> RegretCurve:
        """Compute Regret/A_t to the best fixed point of the first t rounds.

        Parameters
        ----------
        rounds : sequence of int or None, default=None
            The numbers t; None takes some twenty, evenly spread on a logarithmic axis.

        Returns
        -------
        RegretCurve
            The average regret, from below and above, and what theory promises.
        """
        T = len(self.weights)
        turns = np.unique(np.geomspace(1, T, min(T, 20)).astype(int) if rounds is None else rounds)
        best = [self.best(int(t)) for t in turns]
        mean = self.paid[turns - 1] / self.totals[turns - 1]
        return RegretCurve(
            turns,
            mean - np.array([least.upper[0] for least in best]),
            mean - np.array([least.lower[0] for least in best]),
            np.array([self._regret_bound(t, least) for t, least in zip(turns, best, strict=True)]),
        )

    def _regret_bound(self, t: int, best: LeastPoint) -> float:
        """Lemma 6.21 and its like for FTRL: (D(z*)/γ + (γ/2β) Σ‖α_sδ_s‖²_*)/A_t, less the sum
        for prescient players; prescient leaders pay nothing at all."""
        player = self.player
        if isinstance(player, FTLPlus | BestResponse):
            return 0.0
        if not isinstance(player, OMD | FTRL) or not isinstance(self.part, Indicator):
            return np.inf
        total = player.divergence.distance(best.point, player.start) / player.step
        if not player.prescient:
            steps = self.weights[:t, None] * self.slopes[:t].reshape(t, -1)
            squares = [
                player.divergence.dual_square(self.part, step.reshape(player.start.shape))
                for step in steps
            ]
            total += player.step / 2 * sum(squares)
        return float(total / self.totals[t - 1])


def learn(
    player: Player,
    losses: Losses,
    weights: Weights = equal_weights,
    *,
    rounds: int | None = None,
    shown: ShownKind = "loss",
) -> OnlineAccount:
    """Play online convex optimisation: one player against losses that come one by one.

    In round t the player names z_t, sees the loss ℓ_t, and pays α_t·ℓ_t(z_t).

    Parameters
    ----------
    player : Player
        The strategy, for example `FTL`, `FTRL` or `OMD`.
    losses : iterable or callable
        One loss for each round; or an opponent, a function that is called with the past (`points`
        and `losses` so far) and returns the loss of the round. A loss is an array (a slope), a
        function of `dualfold.games`, or a Python function z ↦ (value, subgradient).
    weights : callable or sequence of float, default=equal_weights
        Weights α_t of the rounds: a function or a list.
    rounds : int or None, default=None
        Number of rounds; an opponent needs it, and of a list it takes the first ones.
    shown : {"loss", "slope"}, default="loss"
        Whether the player sees the whole loss or only its slope at z_t, which makes every step
        cheap (not for prescient players).

    Returns
    -------
    OnlineAccount
        Points, losses and payments; `regret` and `average_regret` compare with fixed points.

    Raises
    ------
    InvalidInput
        If a loss is of no known kind, or `rounds` is missing.

    See Also
    --------
    FTL : Follow the leader.
    OMD : Mirror descent.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Algorithm 3.
    .. [2] E. Hazan, "Introduction to online convex optimization", Foundations and Trends in
       Optimization, 2(3–4), 157–325, 2016.

    Examples
    --------
    >>> from dualfold.games import Indicator, Simplex
    >>> from dualfold.games import FTLPlus
    >>> leader = FTLPlus(Indicator(Simplex()), np.array([0.5, 0.5]))
    >>> account = learn(leader, np.array([[1.0, 0.0], [1.0, 0.0]]))
    >>> account.regret(np.array([0.5, 0.5]))
    array([-0.5, -1. ])
    """
    if shown not in ("loss", "slope"):
        raise InvalidInput(Argument("shown"), f" is 'loss' or 'slope', not {shown!r}")
    if shown == "slope" and player.prescient:
        raise InvalidInput(
            f"{type(player).__name__} moves after it has seen the loss, so there is no point yet "
            "to take a slope at; show it the 'loss'"
        )
    start = np.asarray(player.start, dtype=float)
    if isinstance(player.part, Indicator) and not player.part.of.contains(start):
        raise InvalidInput(
            "the player's start lies outside of its set; project it first (set.project(start))"
        )
    state = PlayerState(_among_losses(replace(player, start=start)))
    met: list[Convex] = []
    given: list[float] = []
    for t, opponent in enumerate(_opponents(losses, rounds), start=1):
        given.append(weight_of(weights, t, sum(given)))
        if not player.prescient:
            state.move(given[-1], None)
        points = tuple(move.point for move in state.moves)
        met.append(as_loss(opponent(Past(points, tuple(met), tuple(given))), start.shape))
        if player.prescient:
            state.move(given[-1], _shown_loss(state, met[-1], None))
        at = state.moves[-1].point if shown == "slope" else None
        state.learn(_shown_loss(state, met[-1], at), given[-1])
    return _online_account(player, state.moves, met, given)


def _online_account(
    player: Player, moves: list[PlayerMove], losses: list[Convex], weights: list[float]
) -> OnlineAccount:
    """The account of all rounds."""
    if not losses:
        raise InvalidInput(Argument("losses"), " is empty; give a loss for each round")
    points = [move.point for move in moves]
    return OnlineAccount(
        part=player.part,
        points=np.array(points),
        slopes=np.array([f.subgradient(z) for f, z in zip(losses, points, strict=True)]),
        costs=np.array([player.part.cost(move) for move in moves]),
        weights=np.array(weights),
        losses=tuple(losses),
        values=np.array([f.value(z) for f, z in zip(losses, points, strict=True)]),
        player=player,
    )


def _opponents(losses: Losses, rounds: int | None) -> Iterator[Callable[[Past], object]]:
    """For each round the function that returns its loss."""
    if rounds is not None:
        rounds = int(number(rounds, "rounds", least=1))
    if callable(losses):
        if rounds is None:
            raise InvalidInput(
                Argument("rounds"), " must be given where an opponent chooses the losses"
            )
        return repeat(losses, rounds)
    if isinstance(losses, Convex):
        raise InvalidInput(
            Argument("losses"), " is one function; give a list with a loss for each round"
        )
    return (lambda past, loss=loss: loss for loss in islice(losses, rounds))  # type: ignore[misc]


def _shown_loss(state: PlayerState, loss: Convex, at: Array | None) -> Any:
    """Loss as the player is shown it: a slope, or the loss itself as a mixture of one.

    Slopes seen before a loss that has none become linear losses then.
    """
    if at is not None:
        return loss.subgradient(at)
    if isinstance(loss, Linear) and not isinstance(state.seen.mean, Mixture):
        return loss.slope
    if not isinstance(state.seen.mean, Mixture):
        mean, last = (Mixture(((1.0, Linear(u)),)) for u in (state.seen.mean, state.seen.last))
        state.seen = replace(state.seen, mean=mean, last=last)
    return Mixture(((1.0, loss),))


def _among_losses(player: Player) -> Player:
    """Strategy of a player, whose slopes may be mixtures of losses."""
    changes: dict[str, Any] = {"part": _PartAmongLosses(player.part, player.start)}
    if isinstance(player, FTRL | OMD | OptimisticOMD):
        changes["divergence"] = _StepsAmongLosses(player.divergence)
    return replace(player, **changes)


class _PartAmongLosses(Convex):
    """A player's part φ; a reply to a mixture is searched for, from the last one on."""

    def __init__(self, part: Convex, near: Array) -> None:
        self.part, self.near = part, near

    def first_move(self, start: Array) -> PlayerMove:
        return self.part.first_move(start)

    def reply(self, slope: Any) -> PlayerMove:
        if not isinstance(slope, Mixture):
            return self.part.reply(slope)
        self.near = minimiser_of(slope, self.part, self.near)
        return PlayerMove(self.near)


@dataclass(frozen=True)
class _StepsAmongLosses:
    """A divergence whose step may be along a mixture of losses."""

    of: Divergence

    def step(self, part: Any, slope: Any, weight: float, center: Array) -> Array:
        if isinstance(slope, Mixture):
            return regularised_minimiser(slope, part.part, weight, self.of, center)
        return self.of.step(part.part, slope, weight, center)
