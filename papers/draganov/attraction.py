"""Does the data pull near points together and push far ones apart? A measured answer.

Draganov claims that in PCA by descent mutual nearest neighbours only attract, mutual farthest
ones only repel, and that the force grows monotonically with the distance in between. The
force of j on i is c_ij (y_i − y_j), c_ij = −2⟨x_i − x̄, x_j − x̄⟩: it attracts where the two are
seen from the mean under less than 90°, whatever their distance. On the line {−.1, .1, −10, 10}
the nearest pair repels; in a triangle with a heavy third corner the farthest pair attracts.
So it is no theorem, and this measures how often it holds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.weights import column_means
from dualfold.weights.row_passes import numeric_table


@dataclass(frozen=True)
class Attraction:
    """Extent to which the claim holds; `print` it. Shares are nan where there is no such pair.

    nearest_attract : share of mutual nearest neighbours with c < 0, of `nearest_pairs`
    farthest_repel : share of mutual farthest points with c > 0, of `farthest_pairs`
    rank_correlation : mean over points of Spearman's correlation of c_ij with the distance
        from i to j (1: monotone); `monotone` is the share of points where it is 1
    looked_at : number of points these were measured on
    """

    nearest_attract: float
    nearest_pairs: int
    farthest_repel: float
    farthest_pairs: int
    rank_correlation: float
    monotone: float
    looked_at: int

    def __str__(self) -> str:
        return (
            f"{self.nearest_attract:.1%} of {self.nearest_pairs} mutual nearest pairs attract, "
            f"{self.farthest_repel:.1%} of {self.farthest_pairs} mutual farthest pairs repel; "
            f"force and distance correlate by {self.rank_correlation:.2f} (ranks, "
            f"{self.looked_at} points; monotone for {self.monotone:.1%})"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready (nan becomes None)."""
        return {key: None if item != item else item for key, item in asdict(self).items()}


def attraction(X: Any, *, most: int = 1_000, seed: int = 0) -> Attraction:
    """Measure the claim on X, from up to `most` points (drawn with `seed`) to all others.

    >>> attraction([[-0.1], [0.1], [-10.0], [10.0]]).nearest_attract
    0.0
    """
    data = numeric_table(X)
    n = data.shape[0]
    if n < 3:
        raise InvalidInput(f"forces between pairs need at least 3 points; there are {n}")
    dense = np.asarray(data.toarray() if sp.issparse(data) else data, dtype=float)
    centred = dense - column_means(data)
    drawn = np.arange(n)
    if n > most:
        drawn = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    squares, pulls = _pairs(centred, drawn)
    own = np.arange(len(drawn))
    squares[own, drawn] = np.inf
    near = squares.argmin(axis=1)
    squares[own, drawn] = -np.inf
    far = squares.argmax(axis=1)
    correlations = np.array(
        [_spearman(np.delete(squares[i], drawn[i]), np.delete(pulls[i], drawn[i])) for i in own]
    )
    known = correlations[~np.isnan(correlations)]  # all others at one distance: no ranks
    nearest = _mutual(centred, drawn, near, farthest=False)
    farthest = _mutual(centred, drawn, far, farthest=True)
    attracting = pulls[own, near][nearest] < 0
    repelling = pulls[own, far][farthest] > 0
    return Attraction(
        nearest_attract=float(attracting.mean()) if nearest.any() else float("nan"),
        nearest_pairs=int(nearest.sum()),
        farthest_repel=float(repelling.mean()) if farthest.any() else float("nan"),
        farthest_pairs=int(farthest.sum()),
        rank_correlation=float(np.mean(known)) if len(known) else float("nan"),
        monotone=float(np.mean(correlations > 1 - 1e-12)),
        looked_at=len(drawn),
    )


def _pairs(centred: Array, rows: Array) -> tuple[Array, Array]:
    """Squared distances from some points to all, and c = −2⟨·,·⟩ of the centred ones."""
    products = centred[rows] @ centred.T
    lengths = np.square(centred).sum(axis=1)
    return lengths[rows, None] + lengths[None, :] - 2 * products, -2 * products


def _mutual(centred: Array, drawn: Array, chosen: Array, *, farthest: bool) -> Array:
    """Which drawn points are chosen by the one they chose; each pair counts once."""
    others, place = np.unique(chosen, return_inverse=True)
    squares, _ = _pairs(centred, others)
    squares[np.arange(len(others)), others] = -np.inf if farthest else np.inf
    back = squares.argmax(axis=1) if farthest else squares.argmin(axis=1)
    returned = back[place] == drawn
    # A pair whose two ends were drawn is seen from both.
    twice = np.isin(chosen, drawn) & (chosen < drawn)
    return returned & ~twice


def _spearman(distances: Array, pulls: Array) -> float:
    a, b = rankdata(distances), rankdata(pulls)
    a, b = a - a.mean(), b - b.mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size else float("nan")
