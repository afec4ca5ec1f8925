"""Maximum variance unfolding as a game between edges and an eigenvector.

The dual of MVU shares one unit of weight among the edges, w_e = p_e/d_e² with p in the
simplex, so that the graph is hard to bend:

    max over p of λ₂(L(w))  =  max over p of min over v ⊥ 1, ‖v‖ = 1 of Σ p_e (v_i − v_j)²/d_e²

Mirror descent moves p by multiplication; the eigenvector player answers with the easiest
bend v of the present weights. The value of MVU, tr K*, is 1/λ₂*. A run brackets it: from
above by λ₂ of the averaged weights, from below by the averaged bends, which, scaled until
no edge is longer than allowed, are an unfolding.

This is a game and stands with the games, because it is made of players; the solvers that
`MaximumVarianceUnfolding` uses, and the certificate, are in `dualfold.unfolding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from dualfold.arrays import Array, Numbers
from dualfold.errors import DisconnectedGraph, InvalidInput
from dualfold.kernels.arithmetic import EPS, OPERATIONS_UNDERFLOW
from dualfold.kernels.arithmetic.intervals import Interval, dot, interval, least_eigenvalue, length
from dualfold.theory.games.convex_functions import Conjugate, Convex, Indicator
from dualfold.theory.games.divergences import KullbackLeibler
from dualfold.theory.games.doubles import doubles
from dualfold.theory.games.game import Run
from dualfold.theory.games.planes import Plane
from dualfold.theory.games.players import OMD, BestResponse
from dualfold.theory.games.polytopes import Simplex
from dualfold.theory.games.recipe import Rate, Recipe


@dataclass(frozen=True, eq=False)
class EasiestBend(Convex):
    """Function −λ₂(L(p/d²)) of the edges' shares p of a graph on n points.

    Its subgradients are −(v_i − v_j)²/d², v the second eigenvector, by a dense
    eigensolver: for graphs of a few hundred points.

    Parameters
    ----------
    n : int
        Number of points.
    edges : ndarray of shape (m, 2)
        Row numbers of the edges' ends.
    squared_lengths : ndarray of shape (m,)
        Squared lengths d² of the edges, above 0.

    See Also
    --------
    unfolding_game : The game that minimises it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import EasiestBend
    >>> chain = EasiestBend(3, np.array([[0, 1], [1, 2]]), np.ones(2))
    >>> round(chain.value(np.array([0.5, 0.5])), 6)
    -0.5
    """

    n: int
    edges: Array
    squared_lengths: Array
    rounding_bounded = True

    def __post_init__(self) -> None:
        edges, squared = np.asarray(self.edges), doubles(self.squared_lengths, "squared lengths")
        m = len(squared) if squared.ndim == 1 else -1
        if edges.shape != (m, 2) or m < 1 or not np.all(squared > 0):
            raise InvalidInput(
                f"edges are m pairs with m positive squared lengths, but the shapes are "
                f"{edges.shape} and {squared.shape} (least length {squared.min(initial=np.inf):.3g}"
                "); merge points at distance 0 first"
            )
        are_rows = edges.dtype.kind in "iu" and edges.min() >= 0 and edges.max() < self.n
        if not are_rows or np.any(edges[:, 0] == edges[:, 1]):
            raise InvalidInput(
                f"edges are pairs of two different row numbers from 0 to {self.n - 1}; some are not"
            )
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "squared_lengths", squared)

    def value(self, x: Array) -> float:
        return -self.bend(x)[0]

    def subgradient(self, x: Array) -> Array:
        _, v = self.bend(x)
        return -((v[self.edges[:, 0]] - v[self.edges[:, 1]]) ** 2) / self.squared_lengths

    def bend(self, shares: Array) -> tuple[float, Array]:
        """Compute λ₂ and its eigenvector v ⊥ 1; the last few are cached.

        Parameters
        ----------
        shares : ndarray of shape (m,)
            Shares of the edges.

        Returns
        -------
        tuple of float and ndarray
            The eigenvalue and its eigenvector.
        """
        # A round needs each of them three times.
        key = shares.tobytes()
        if key not in self._bends:
            if len(self._bends) > 3:
                self._bends.pop(next(iter(self._bends)))
            # One eigenpair by bisection costs far less than all of them: docs/dev/notes/games.md.
            laplacian = self._laplacian(shares)
            values, vectors = eigh(laplacian + self._lift(laplacian), subset_by_index=[0, 0])
            self._bends[key] = float(values[0]), np.asarray(vectors[:, 0])
        return self._bends[key]

    @cached_property
    def _bends(self) -> dict[bytes, tuple[float, Array]]:
        return {}

    def _laplacian(self, shares: Array) -> Array:
        weights = shares / self.squared_lengths
        i, j = self.edges.T
        laplacian = np.zeros((self.n, self.n))
        np.add.at(laplacian, (i, j), -weights)
        np.add.at(laplacian, (j, i), -weights)
        laplacian[np.diag_indices(self.n)] -= laplacian.sum(axis=1)
        return laplacian

    def _lift(self, laplacian: Array) -> float:
        """A multiple of 11ᵀ that moves the eigenvalue of 1 above all others (Gershgorin)."""
        return 2 * float(laplacian.diagonal().max()) / self.n

    @cached_property
    def _parallel(self) -> int:
        """Largest number of edges that join the same two points."""
        return int(np.unique(np.sort(self.edges, axis=1), axis=0, return_counts=True)[1].max())

    def value_interval(self, x: Array) -> Interval:
        # −λ₂ from above by Cholesky, from below by the quotient of any v ⊥ 1.
        # λ₂ is at least the least eigenvalue of L + t·11ᵀ, for any t.
        laplacian = self._laplacian(x)
        lift = self._lift(laplacian)
        # No weight is negative, so an entry is off by no more than its terms in units of itself.
        terms = self._parallel + 4 + self.n * np.eye(self.n)
        off = EPS * (terms * np.abs(laplacian) + 2 * lift) + len(x) * OPERATIONS_UNDERFLOW
        matrix = Interval(laplacian + lift, off if x.min() >= 0 else np.inf * off)
        high = -least_eigenvalue(matrix, self.bend(x)[0])
        low = self.plane(x).height
        middle = (low + high) / 2
        return Interval(middle, max(high - middle, middle - low) * (1 + 4 * EPS))

    def plane(self, z: Array) -> Plane:
        # −λ₂ ≥ −Σ p_e (v_i − v_j)²/(d_e²‖v − mean‖²): a plane for whatever v is given.
        _, v = self.bend(z)
        centred = interval(v) - interval(v).sum() / self.n
        i, j = self.edges.T
        bent = interval(v[i]) - v[j]
        slope = -(bent * bent / self.squared_lengths) / dot(centred, centred)
        return Plane(dot(slope, z).low(), slope.mid, length(slope.off))


def unfolding_game(
    n: int,
    edges: Numbers,
    squared_lengths: Numbers,
    *,
    rounds: int,
    largest_stretch: float | None = None,
) -> Recipe:
    """Set up the dual of maximum variance unfolding as a game of edges against an eigenvector.

    After T rounds λ₂* − λ₂(w̄) is at most G√(2 log m/T).

    Parameters
    ----------
    n : int
        Number of points.
    edges : array-like of shape (m, 2)
        Row numbers of the edges' ends.
    squared_lengths : array-like of shape (m,)
        Squared lengths d² of the edges, above 0.
    rounds : int
        Number T of rounds that the step is chosen for.
    largest_stretch : float or None, default=None
        Number G such that no (v_i − v_j)²/d² is larger. 2/min d² always holds but makes tiny steps;
        None takes four times what equal shares give, and a run warns when that was too little.

    Returns
    -------
    Recipe
        The game; its `play` runs it.

    Raises
    ------
    DisconnectedGraph
        If the graph is in several pieces.

    See Also
    --------
    unfolding_bracket : What a run proves.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import unfolding_bracket, unfolding_game
    >>> chain = np.array([[0, 1], [1, 2]])
    >>> run = unfolding_game(3, chain, np.ones(2), rounds=20).play()
    >>> low, high = unfolding_bracket(run)
    >>> bool(low <= 3 * (3**2 - 1) / 12 <= high < 1.1 * low)
    True
    """
    f = EasiestBend(n, np.asarray(edges), np.asarray(squared_lengths))
    m, squared = len(f.edges), f.squared_lengths
    start = np.full(m, 1 / m)
    if f.value(start) > -1e-12 / float(squared.max()):
        raise DisconnectedGraph(
            "the graph is in several pieces, which an unfolding could move apart for ever; take "
            "its largest piece or join the pieces"
        )
    G = largest_stretch
    if G is None:
        G = min(2 / float(squared.min()), -4 * float(f.subgradient(start).min()))
    step = float(np.sqrt(2 * np.log(m) / rounds)) / G if m > 1 else 1.0

    def stretches_stay_below(run: Run) -> str:
        largest = float(-run.x.slopes.min())
        if largest <= G:
            return ""
        return f"a stretch of {largest:.3g} was met, largest_stretch is {G:.3g}"

    return Recipe(
        "unfolding, edges against an eigenvector",
        x_player=OMD(Indicator(Simplex()), start, step=step, divergence=KullbackLeibler()),
        y_player=BestResponse(Conjugate(f), start),
        order="x first",
        bound=lambda T: float(np.log(m)) / (step * T) + step * G**2 / 2,
        rate=Rate("1/√T", -0.5),
        horizon=rounds,
        conditions=(stretches_stay_below,),
    )


def unfolding_bracket(run: Run) -> tuple[float, float]:
    """Compute the two numbers between which the value tr K* of maximum variance unfolding (≤) lies.

    Parameters
    ----------
    run : Run
        A run of `unfolding_game`.

    Returns
    -------
    tuple of float
        The lower and the upper bound, rounding included.

    See Also
    --------
    unfolding_game : The game.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import unfolding_bracket, unfolding_game
    >>> run = unfolding_game(2, np.array([[0, 1]]), np.ones(1), rounds=2).play()
    >>> np.round(unfolding_bracket(run), 6)
    array([0.5, 0.5])
    """
    low = (Interval(-1.0) / float(run.lower.max())).low()
    high = (interval(run.answer).sum() / -Interval(float(run.upper[-1]))).high()
    return low, high
