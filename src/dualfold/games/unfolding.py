"""Maximum variance unfolding as a game between edges and an eigenvector.

The dual of MVU shares one unit of weight among the edges, w_e = p_e/d_e² with p in the
simplex, so that the graph is hard to bend:

    max over p of λ₂(L(w))  =  max over p of min over v ⊥ 1, ‖v‖ = 1 of Σ p_e (v_i − v_j)²/d_e²

Mirror descent moves p by multiplication; the eigenvector player answers with the easiest
bend v of the present weights. The value of MVU, tr K*, is 1/λ₂*. A run brackets it: from
above by λ₂ of the averaged weights, from below by the averaged bends, which, scaled until
no edge is longer than allowed, are an unfolding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from dualfold.errors import DisconnectedGraph, InvalidInput
from dualfold.games.convex import Conjugate, Convex, Indicator
from dualfold.games.divergences import KullbackLeibler
from dualfold.games.play import Run
from dualfold.games.players import OMD, BestResponse
from dualfold.games.recipe import Rate, Recipe
from dualfold.games.sets import Simplex

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class EasiestBend(Convex):
    """−λ₂(L(p/d²)) of a graph on n points, as a function of the edges' shares p.

    Its subgradients are −(v_i − v_j)²/d², v the second eigenvector, by a dense
    eigensolver: for graphs of a few hundred points.
    """

    n: int
    edges: Array
    squared_lengths: Array

    def value(self, x: Array) -> float:
        return -self.bend(x)[0]

    def subgradient(self, x: Array) -> Array:
        _, v = self.bend(x)
        return -((v[self.edges[:, 0]] - v[self.edges[:, 1]]) ** 2) / self.squared_lengths

    def bend(self, shares: Array) -> tuple[float, Array]:
        """λ₂ and its eigenvector v ⊥ 1."""
        weights = shares / self.squared_lengths
        i, j = self.edges.T
        laplacian = np.zeros((self.n, self.n))
        np.add.at(laplacian, (i, j), -weights)
        np.add.at(laplacian, (j, i), -weights)
        laplacian[np.diag_indices(self.n)] -= laplacian.sum(axis=1)
        # The null vector 1 is lifted above everything (Gershgorin), so λ₂ comes first. One
        # eigenpair by bisection: LAPACK's all of them are 60 times slower on a busy machine.
        lifted = laplacian + 2 * float(laplacian.diagonal().max()) / self.n
        values, vectors = eigh(lifted, subset_by_index=[0, 0])
        return float(values[0]), np.asarray(vectors[:, 0])


def unfolding_game(
    n: int, edges: Any, squared_lengths: Any, *, rounds: int, largest_stretch: float | None = None
) -> Recipe:
    """MVU's dual on n points with `edges` (m×2 row numbers) of the given `squared_lengths`.

    rounds : T, which the step is chosen for
    largest_stretch : G, no (v_i − v_j)²/d² is larger. 2/min d² always holds but makes tiny
        steps; by default four times what equal shares give, and a run warns when that
        was too little

    λ₂* − λ₂(w̄) ≤ G√(2 log m/T).

    >>> chain = np.column_stack([np.arange(4), np.arange(1, 5)])
    >>> run = unfolding_game(5, chain, np.ones(4), rounds=400).play()
    >>> low, high = unfolding_bracket(run)
    >>> bool(low <= 5 * (5**2 - 1) / 12 <= high < 1.1 * low)
    True
    """
    edges, squared = np.asarray(edges), np.asarray(squared_lengths, dtype=float)
    m = len(edges)
    if edges.shape != (m, 2) or squared.shape != (m,) or m == 0 or not np.all(squared > 0):
        raise InvalidInput(
            f"edges are m pairs with m positive squared lengths, but the shapes are {edges.shape} "
            f"and {squared.shape} (least length {squared.min(initial=np.inf):.3g}); merge points "
            "at distance 0 first"
        )
    f, start = EasiestBend(n, edges, squared), np.full(m, 1 / m)
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
    """Between which numbers tr K* of maximum variance unfolding (with ≤) lies."""
    return -1 / float(run.lower.max()), -1 / float(run.upper[-1])
