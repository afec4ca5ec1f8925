"""The players: strategies of online learning, each a line or two.

In round t a player plays z_t and pays α_t(⟨z_t, u_t⟩ + φ(z_t)). Its part φ never
changes, its opponent sets the slope u_t: for x, φ is the simple part ψ of the problem and
u = y; for y, φ is the conjugate f* and u = −x. So the same nine strategies serve both.

A player with a ⁺ is prescient: it moves second and has seen u_t. That is the *only*
difference between FTL and FTL⁺, FTRL and FTRL⁺, OMD and OMD⁺, and the code says so.

part, start : φ, and the point of x's space to start from
step : η or γ, how strongly the losses act
divergence : what a move away from a point costs; half the squared distance by default
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from dualfold.arrays import Array
from dualfold.theory.games.composites import Linear, Mixture, as_loss
from dualfold.theory.games.convex_functions import Convex, Indicator, NoClosedForm, PlayerMove
from dualfold.theory.games.convex_sets import Everywhere
from dualfold.theory.games.divergences import Divergence, Euclidean
from dualfold.theory.games.doubles import doubles, number
from dualfold.theory.games.minimum_search import minimiser_of


@dataclass(frozen=True, eq=False)
class Regulariser:
    """Any convex R in place of a divergence (Tucker, Algorithm 4: FTRL[R, η]).

    Steps weigh R itself, whatever their center is. R may have corners, and its least point may lie
    outside of the player's set.
    `FTRL.from_regulariser` starts a player at the least point of the set; seen from there,
    R(x) − R(center) ≥ 0 takes the place of a divergence.
    """

    of: Convex
    has_closed_steps: ClassVar[bool] = False

    def distance(self, x: Array, center: Array) -> float:
        """R(x) − R(center)."""
        return self.of.value(x) - self.of.value(center)

    def slope(self, x: Array, center: Array) -> Array:
        """A subgradient of R."""
        return self.of.subgradient(x)

    def dual_square(self, part: Convex, slope: Array) -> float:
        """‖slope‖²/β, β the strong convexity of R."""
        beta = self.of.strong_convexity
        return float(np.vdot(slope, slope)) / beta if beta else np.inf

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """The x with the least ⟨slope, x⟩ + weight·part(x) + R(x), searched for from `center`."""
        if isinstance(part, Indicator) and isinstance(part.of, Everywhere):
            with suppress(NoClosedForm):
                return self.of.maximiser(-slope)
        tilted = Mixture(((1 / weight, self.of), (1 / weight, Linear(slope))))
        return minimiser_of(tilted, part, center)

    def least_point(self, part: Convex, near: Array) -> Array:
        """Where R is least in the set of `part`; all of ℝᵈ where `part` is no set."""
        of = part if isinstance(part, Indicator) else Indicator(Everywhere())
        return self.step(of, np.zeros_like(near), 1.0, of.proximal(near, 1.0))


@dataclass(frozen=True, eq=False)
class SeenLosses:
    """Losses that a player knows when it moves.

    rounds, weight : how many losses it has seen, and their total weight A
    mean : the weighted mean of their slopes, or of the losses themselves (a `Mixture`) once
        one was shown that is not linear (`learn`)
    last, last_weight : the newest slope and its weight
    previous : the player's own last move
    """

    rounds: int = 0
    weight: float = 0.0
    mean: Any = field(default_factory=lambda: np.zeros(1))
    last: Any = field(default_factory=lambda: np.zeros(1))
    last_weight: float = 0.0
    previous: PlayerMove | None = None

    def after(self, slope: Array, weight: float) -> SeenLosses:
        """Seen losses with one more."""
        total = self.weight + weight
        mean = slope if self.rounds == 0 else self.mean + (weight / total) * (slope - self.mean)
        return replace(
            self,
            rounds=self.rounds + 1,
            weight=total,
            mean=mean,
            last=slope,
            last_weight=weight,
        )


@dataclass(frozen=True, eq=False)
class Player:
    """Strategy for the losses ⟨z, u_t⟩ + part(z), starting from `start`: the base class.

    A strategy of your own defines `strategy`, or `move` where it needs no first move.

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        A point of x's space for either side: x plays it, y answers with the gradient there.

    See Also
    --------
    play : Two players against each other.
    learn : One player against losses.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import FTL, Box, Indicator, Player
    >>> leader = FTL(Indicator(Box(-1.0, 1.0)), np.zeros(1))
    >>> isinstance(leader, Player), leader.prescient
    (True, False)
    """

    part: Convex
    start: Array
    prescient: ClassVar[bool] = False

    def move(self, seen: SeenLosses, weight: float) -> PlayerMove:
        """Choose the move of a round.

        Parameters
        ----------
        seen : SeenLosses
            What was seen so far.
        weight : float
            Weight of the round.

        Returns
        -------
        PlayerMove
            The move.
        """
        return self.part.first_move(self.start) if seen.rounds == 0 else self.strategy(seen, weight)

    def strategy(self, seen: SeenLosses, weight: float) -> PlayerMove:
        """Choose the move once something has been seen.

        Parameters
        ----------
        seen : SeenLosses
            What was seen so far.
        weight : float
            Weight of the round.

        Returns
        -------
        PlayerMove
            The move.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class FTL(Player):
    """Follow the leader: the best point for all losses seen.

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first point.

    See Also
    --------
    FTRL : With a regulariser.
    learn : Plays it against losses.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Algorithm 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import FTL, Box, Indicator, learn
    >>> leader = FTL(Indicator(Box(-1.0, 1.0)), np.zeros(1))
    >>> learn(leader, np.array([[1.0], [1.0], [-3.0], [0.0]])).points.ravel()
    array([ 0., -1., -1.,  1.])
    """

    def strategy(self, seen: SeenLosses, weight: float) -> PlayerMove:
        return self.part.reply(seen.mean)


@dataclass(frozen=True, eq=False)
class FTLPlus(FTL):
    """FTL⁺: follow the leader, this round's loss included. For y: ∇f(x̄_t).

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first point.

    See Also
    --------
    FTL : Has not seen this round's loss.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Box, FTLPlus, Indicator, learn
    >>> leader = FTLPlus(Indicator(Box(-1.0, 1.0)), np.zeros(1))
    >>> learn(leader, np.array([[1.0], [-3.0]])).points.ravel()
    array([-1.,  1.])
    """

    prescient = True


@dataclass(frozen=True, eq=False)
class OptimisticFTL(Player):
    """Follow the leader, counting the last loss as if it came again. For y: ∇f(x̃_t).

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first point.

    See Also
    --------
    FTL : Counts what it has seen, once.
    nesterov : A method in which y plays it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Box, Indicator, OptimisticFTL, learn
    >>> leader = OptimisticFTL(Indicator(Box(-1.0, 1.0)), np.zeros(1))
    >>> learn(leader, np.array([[1.0], [-3.0], [0.0]])).points.ravel()
    array([ 0., -1.,  1.])
    """

    def strategy(self, seen: SeenLosses, weight: float) -> PlayerMove:
        share = weight / (seen.weight + weight)
        return self.part.reply(seen.mean + share * (seen.last - seen.mean))


@dataclass(frozen=True, eq=False)
class BestResponse(Player):
    """BestResp⁺: the best point for this round's loss alone. For y: ∂f(x_t).

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first point.

    See Also
    --------
    FTLPlus : Counts all losses.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import BestResponse, Box, Indicator, learn
    >>> player = BestResponse(Indicator(Box(-1.0, 1.0)), np.zeros(1))
    >>> learn(player, np.array([[1.0], [-3.0], [2.0]])).points.ravel()
    array([-1.,  1., -1.])
    """

    prescient = True

    def strategy(self, seen: SeenLosses, weight: float) -> PlayerMove:
        return self.part.reply(seen.last)


@dataclass(frozen=True, eq=False)
class FTRL(Player):
    """Follow the regularised leader: argmin Σ α_s ℓ_s(z) + D_start(z)/step.

    `FTRL.from_regulariser` takes any convex R(z) in place of D_start(z).

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first point.
    step : float
        Step η: how strongly losses act.
    divergence : Divergence, default=Euclidean()
        Divergence that measures how far points move.

    See Also
    --------
    FTL : Without a regulariser.
    OMD : Steps from the last point.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Algorithm 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import FTRL, Box, Indicator, learn
    >>> careful = FTRL(Indicator(Box(-1.0, 1.0)), np.zeros(1), step=0.5)
    >>> learn(careful, np.array([[1.0], [1.0], [1.0]])).points.ravel()
    array([ 0. , -0.5, -1. ])
    """

    step: float
    divergence: Divergence = field(default_factory=Euclidean)

    @classmethod
    def from_regulariser(cls, R: object, part: Convex, near: Array, *, step: float) -> Self:
        """Make FTRL[R, η] with any convex R: argmin Σ α_s ℓ_s(z) + R(z)/step.

        Parameters
        ----------
        R : Convex or callable
            The regulariser; a Python function x ↦ (value, subgradient), too.
        part : Convex
            The player's own part φ, often an `Indicator` of a set.
        near : ndarray of shape (d,)
            Point that searches start at.
        step : float
            Step η: how strongly losses act.

        Returns
        -------
        FTRL
            The player; its start is the least point of R.

        Examples
        --------
        >>> from dualfold.games import Box, Indicator
        >>> from dualfold.games import HalfSquare
        >>> far = HalfSquare(1.0, np.array([3.0, 0.0]))  # its least point is outside of the box
        >>> FTRL.from_regulariser(far, Indicator(Box(-1.0, 1.0)), np.zeros(2), step=0.1).start
        array([1., 0.])
        """
        near, step = doubles(near, "near"), number(step, "step", above=True)
        divergence = Regulariser(as_loss(R, near.shape))
        start = divergence.least_point(part, near)
        return cls(part, start, step=step, divergence=divergence)

    def strategy(self, seen: SeenLosses, weight: float) -> PlayerMove:
        pull = self.step * seen.weight
        return PlayerMove(self.divergence.step(self.part, pull * seen.mean, pull, self.start))


@dataclass(frozen=True, eq=False)
class FTRLPlus(FTRL):
    """FTRL⁺: follow the regularised leader, this round's loss included.

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first point.
    step : float
        Step η: how strongly losses act.
    divergence : Divergence, default=Euclidean()
        Divergence that measures how far points move.

    See Also
    --------
    FTRL : Has not seen this round's loss.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Box, FTRLPlus, Indicator, learn
    >>> player = FTRLPlus(Indicator(Box(-1.0, 1.0)), np.zeros(1), step=0.5)
    >>> learn(player, np.array([[1.0], [1.0]])).points.ravel()
    array([-0.5, -1. ])
    """

    prescient = True


@dataclass(frozen=True, eq=False)
class OMD(Player):
    """Online mirror descent: argmin α ℓ(z) + D_previous(z)/step, with ℓ the last loss.

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first point.
    step : float
        Step η: how strongly losses act.
    divergence : Divergence, default=Euclidean()
        Divergence that measures how far points move.

    See Also
    --------
    FTRL : Steps from the start.
    KullbackLeibler : A divergence for simplices.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Algorithm 5.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import OMD, Indicator, KullbackLeibler, Simplex, learn
    >>> player = OMD(Indicator(Simplex()), np.ones(2) / 2, 1.0, KullbackLeibler())
    >>> learn(player, np.log([[2.0, 1.0], [1.0, 1.0]])).points.round(3)
    array([[0.5  , 0.5  ],
           [0.333, 0.667]])
    """

    step: float
    divergence: Divergence = field(default_factory=Euclidean)

    def strategy(self, seen: SeenLosses, weight: float) -> PlayerMove:
        pull = self.step * seen.last_weight
        center = seen.previous.point if seen.previous else self.start
        return PlayerMove(self.divergence.step(self.part, pull * seen.last, pull, center))


@dataclass(frozen=True, eq=False)
class OMDPlus(OMD):
    """OMD⁺: mirror descent along this round's loss, not the last one.

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first point.
    step : float
        Step η: how strongly losses act.
    divergence : Divergence, default=Euclidean()
        Divergence that measures how far points move.

    See Also
    --------
    OMD : Has not seen this round's loss.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Box, Indicator, OMDPlus, learn
    >>> player = OMDPlus(Indicator(Box(-1.0, 1.0)), np.zeros(1), step=0.5)
    >>> learn(player, np.array([[1.0], [1.0]])).points.ravel()
    array([-0.5, -1. ])
    """

    prescient = True


@dataclass(frozen=True, eq=False)
class OptimisticOMD(Player):
    """Mirror descent by two steps from an anchor: by the `guess` of the slope, then by the slope.

    z_t = step from z_{t−½} by α_t u_{t−1};  z_{t+½} = step from z_{t−½} by α_t u_t.

    Parameters
    ----------
    part : Convex
        The player's own part φ, often an `Indicator` of a set.
    start : ndarray of shape (d,)
        The first anchor.
    step : float
        Step η: how strongly losses act.
    guess : ndarray of shape (d,)
        The first guess u₀.
    divergence : Divergence, default=Euclidean()
        Divergence that measures how far points move.

    See Also
    --------
    extragradient : A method in which x plays it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Box, Indicator, OptimisticOMD, learn
    >>> player = OptimisticOMD(Indicator(Box(-1.0, 1.0)), np.zeros(1), step=0.5, guess=np.ones(1))
    >>> learn(player, np.array([[1.0], [1.0]])).points.ravel()
    array([-0.5, -1. ])
    """

    step: float
    guess: Array
    divergence: Divergence = field(default_factory=Euclidean)

    def move(self, seen: SeenLosses, weight: float) -> PlayerMove:
        if seen.previous is None or seen.previous.anchor is None:
            anchor, guess = self.start, self.guess
        else:
            anchor = self._step(seen.previous.anchor, seen.last, seen.last_weight)
            guess = seen.last
        return PlayerMove(self._step(anchor, guess, weight), anchor=anchor)

    def _step(self, center: Array, slope: Array, weight: float) -> Array:
        pull = self.step * weight
        return self.divergence.step(self.part, pull * slope, pull, center)
