"""From edge lengths to weights (heat, adaptive, binary or density), and to the Laplacian.

The functions that end in `laplacian` return (L, degrees): L = Deg − W, sparse and symmetric with
L·1 = 0, and degrees the row sums of W. "Normalised" is not another matrix but another inner
product: pass the degrees as B of the trace problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.attachment import Attachment
from dualfold.graph.builders import neighborhood_spread, spread_of
from dualfold.graph.graph import Graph

# Of the default width: exp(−16) is 1e-7, a weight that still links a point, where exp(−745) is 0.
MAX_LENGTH_IN_WIDTHS = 4.0
Weights = Literal["heat", "adaptive", "binary", "density", "precomputed"]


@dataclass(frozen=True, eq=False)
class Affinity:
    """Rule for weights with its numbers from a graph, so that new edges get weights, too.

    By its `kind`:

    heat      W_ij = exp(−‖x_i − x_j‖²/σ²), σ = `width`
    adaptive  W_ij = exp(−2‖x_i − x_j‖²/(σ_i² + σ_j²)), σ_i = `spread`: the distance from i to the
              last neighbour in its list. As one of two neighbours lists the other, no edge weighs
              less than exp(−2), however far off an outlier is
    binary    W_ij = 1
    density   W_ij = exp(−‖x_i − x_j‖²/(t·A_i·A_j)), A = `spread` (of `neighborhood_spread`),
              t = `n_neighbors`
    precomputed  W_ij as the graph was given it (`graph.from_affinities`), to the last bit without α

    With a density exponent α = `alpha` weights become W_ij/(q_i·q_j)^α, q = `degrees`, the sums
    Σ_j W_ij that grow with the density of the points (in units of their mean).
    """

    kind: Weights
    width: float | None = None
    n_neighbors: int | None = None
    spread: Array | None = None
    alpha: float = 0.0
    degrees: Array | None = None

    @property
    def words(self) -> str:
        """The rule in a few words, for messages."""
        if self.kind != "heat":
            return f"{self.kind} weights"
        return Argument("width", float(f"{self.width:.3g}"))

    def of_graph(self, graph: Graph) -> Array:
        """The weights of the graph's edges, in the order of `graph.lengths.data`.

        Links that joined pieces weigh 1: by their length they would weigh nearly 0, and all
        pieces but one would collapse to a point.
        """
        if self.kind == "precomputed":
            assert graph.weights is not None
            weights = graph.weights.data
        else:
            spread = self.spread if self.spread is not None else np.zeros(0)
            weights = np.where(graph.is_link, 1.0, self._weights(graph.lengths, spread, spread))
        if self.degrees is None:
            return weights
        rows = np.repeat(np.arange(graph.n), np.diff(graph.lengths.indptr))
        return self._density_corrected(
            weights, self.degrees[rows], self.degrees[graph.lengths.indices]
        )

    def of_attachment(self, new: Attachment, graph: Graph) -> sp.csr_array:
        """The weights between new points (rows) and the old ones of the graph.

        A new point that is an old one has the links (weight 1) of that one, too.
        """
        spread, old = np.zeros(0), np.zeros(0)
        if self.spread is not None:
            old = self.spread
            spread = new.kept.radius
            if self.kind == "density":
                listed = spread_of(new.lists, self.n_neighbors or 1)
                # As `_positive` did for the old points.
                spread = np.where(listed > 0, listed, self.spread.min())
        W = new.lengths.copy()
        W.data = self._weights(new.lengths, spread, old)
        if graph.links and (new.same >= 0).any():
            W = W + _links(graph, new.same)
        if self.degrees is not None:
            rows = np.repeat(np.asarray(W.sum(axis=1)).ravel(), np.diff(W.indptr))
            W.data = self._density_corrected(W.data, rows, self.degrees[W.indices])
        return W

    def _density_corrected(
        self, weights: Array, row_degrees: Array, column_degrees: Array
    ) -> Array:
        """Weights divided by the densities at both ends to the power α."""
        assert self.degrees is not None
        # A degree of 0 has weights of 0 only, which stay.
        both = row_degrees * column_degrees / (self.degrees.mean() or 1.0) ** 2
        return np.divide(weights, both**self.alpha, out=np.zeros_like(weights), where=both > 0)

    def _weights(self, lengths: sp.csr_array, row_spread: Array, column_spread: Array) -> Array:
        if self.kind == "binary":
            return np.ones(lengths.nnz)
        if self.kind == "heat":
            assert self.width is not None
            return np.exp(-np.square(lengths.data / self.width))
        rows = np.repeat(row_spread, np.diff(lengths.indptr))
        columns = column_spread[lengths.indices]
        if self.kind == "adaptive":  # duplicates, at distance 0, may have no spread either
            both = np.hypot(rows, columns, out=rows)  # in place: new arrays take longer than sums
            columns[:] = 0
            shares = np.divide(lengths.data, both, out=columns, where=both > 0)
            np.multiply(np.square(shares, out=shares), -2, out=shares)
            return np.exp(shares, out=shares)
        assert self.n_neighbors is not None
        # One quotient after the other: squares of very long or short lengths have no room.
        return np.exp(-(lengths.data / rows) * (lengths.data / columns) / self.n_neighbors)


def affinity(
    graph: Graph,
    *,
    weights: Weights = "heat",
    width: float | None = None,
    n_neighbors: int | None = None,
    alpha: float = 0.0,
) -> Affinity:
    """Fit a rule of edge weights to a graph, so that new edges get weights, too.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    weights : {"heat", "adaptive", "binary", "density", "precomputed"}, default="heat"
        Rule of the weights (see Notes of `affinity`).
    width : float or None, default=None
        Width σ of heat weights; None takes the root mean square edge length, or 1/4 of the longest
        edge if that is more.
    n_neighbors : int or None, default=None
        Number t of density weights; None takes the graph's own number.
    alpha : float, default=0.0
        Density exponent α in [0, 1]: weights are divided by (q_i·q_j)^α, where q are the row sums
        of W. 1 removes the influence of the sampling density.

    Returns
    -------
    Affinity
        The rule; `of_graph(graph)` returns the weights of the stored edges.

    Raises
    ------
    InvalidInput
        If `width`, `alpha` or `n_neighbors` is out of its range.

    See Also
    --------
    laplacian_of : The Laplacian with weights by this rule.
    weighted_laplacian : Both in one call.

    Notes
    -----
    Let d_ij be the length of an edge. The rules are

    - "heat": W_ij = exp(−d_ij²/σ²), with σ = `width`
    - "adaptive": W_ij = exp(−2d_ij²/(σ_i² + σ_j²)), with σ_i the distance to the last neighbour
      that i lists
    - "binary": W_ij = 1
    - "density": W_ij = exp(−d_ij²/(t·A_i·A_j)), with A the spread of neighbourhoods
      (`graph.neighborhood_spread`)
    - "precomputed": W_ij as `graph.from_affinities` was given it

    References
    ----------
    .. [1] M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
       representation", Neural Computation, 15(6), 1373–1396, 2003.
    .. [2] R. R. Coifman and S. Lafon, "Diffusion maps", Applied and Computational Harmonic
       Analysis, 21(1), 5–30, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import affinity
    >>> graph = knn(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> affinity(graph, width=1.0).of_graph(graph).round(3)
    array([0.368, 0.368, 0.018, 0.018])
    """
    if not 0 <= alpha <= 1:
        raise InvalidInput(Argument("alpha", alpha), " is a density exponent, from 0 to 1")
    if n_neighbors is not None and n_neighbors < 1:
        raise InvalidInput(Argument("n_neighbors", n_neighbors), " must be 1 or more")
    rule = _plain_affinity(graph, weights, width, n_neighbors)
    if not alpha:
        return rule
    ends = np.repeat(np.arange(graph.n), np.diff(graph.lengths.indptr))
    degrees = np.bincount(ends, rule.of_graph(graph), graph.n)
    return replace(rule, alpha=float(alpha), degrees=degrees)


def _plain_affinity(
    graph: Graph, weights: Weights, width: float | None, n_neighbors: int | None
) -> Affinity:
    if weights == "heat":
        if width is not None and not (np.isfinite(width) and width > 0):
            raise InvalidInput(
                Argument("width"), f" is {width}; a kernel width is a positive number (or None)"
            )
        return Affinity("heat", width=heat_width(graph) if width is None else float(width))
    if width is not None:
        raise InvalidInput(
            Argument("width"), f" is {width}, but {weights!r} weights have none; leave it out"
        )
    if weights == "binary":
        return Affinity("binary")
    if weights == "precomputed":
        if graph.weights is None:
            raise InvalidInput(
                Argument("weights", weights),
                " needs a graph of affinities (graph.from_affinities); this one has lengths alone",
            )
        return Affinity("precomputed")
    if weights in ("adaptive", "density"):
        t = n_neighbors or graph.n_neighbors or int(graph.lists.counts.max())
        adaptive = weights == "adaptive"
        spread = (
            graph.lists.radius if adaptive else _positive(neighborhood_spread(graph, n_neighbors))
        )
        return Affinity(weights, n_neighbors=t, spread=spread)
    raise InvalidInput(
        Argument("weights"),
        f" is {weights!r}; it is 'heat', 'adaptive', 'binary', 'density' or 'precomputed'",
    )


def heat_width(graph: Graph) -> float:
    """The kernel width taken when none is given: the root mean square edge length.

    An edge of that length weighs 1/e, whatever the unit of the data. Where the longest edge
    exceeds MAX_LENGTH_IN_WIDTHS of them, the width is larger: that edge weighs exp(−16) then.
    """
    lengths = graph.lengths.data[~graph.is_link] if graph.links else graph.lengths.data
    longest = float(lengths.max(initial=0.0))
    if not longest:
        return 1.0  # only duplicates: every weight is 1 anyway
    usual = longest * float(np.sqrt(np.mean(np.square(lengths / longest))))
    return max(usual, longest / MAX_LENGTH_IN_WIDTHS)


def _positive(spread: Array) -> Array:
    """Spreads with the smallest positive one in place of 0, which points among duplicates have."""
    smallest = spread[spread > 0].min() if (spread > 0).any() else 1.0
    return np.where(spread > 0, spread, smallest)


def _links(graph: Graph, same: Array) -> sp.csr_array:
    """The links (weight 1) of the old points that new ones coincide with."""
    ends = np.array([link[:2] for link in graph.links])
    rows, columns = np.vstack([ends, ends[:, ::-1]]).T
    links = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(graph.n, graph.n))
    picked = sp.csr_array(
        (np.ones(int((same >= 0).sum())), (np.flatnonzero(same >= 0), same[same >= 0])),
        shape=(len(same), graph.n),
    )
    return sp.csr_array(picked @ links)


Laplacian = tuple[sp.csr_array, Array]


def heat_laplacian(graph: Graph, *, width: float | None = None) -> Laplacian:
    """Laplacian with heat weights W_ij = exp(−‖x_i − x_j‖²/σ²).

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    width : float or None, default=None
        Width σ of heat weights; None takes the root mean square edge length, or 1/4 of the longest
        edge if that is more.

    Returns
    -------
    laplacian : csr_array of shape (n_samples, n_samples)
        The Laplacian L = Deg − W.
    degrees : ndarray of shape (n_samples,)
        The row sums of W, the diagonal of Deg.

    See Also
    --------
    weighted_laplacian : Other weights.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import heat_laplacian
    >>> graph = knn(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> L, degrees = heat_laplacian(graph, width=2.0)
    >>> L.toarray().round(2)
    array([[ 0.78, -0.78,  0.  ],
           [-0.78,  1.15, -0.37],
           [ 0.  , -0.37,  0.37]])
    """
    return laplacian_of(graph, affinity(graph, weights="heat", width=width))


def density_laplacian(graph: Graph, *, n_neighbors: int | None = None) -> Laplacian:
    """Laplacian with weights exp(−‖x_i − x_j‖²/(t·A_i·A_j)), whose widths follow the density.

    A_i is the spread of the t nearest rows of row i (`graph.neighborhood_spread`), also where a
    variable graph keeps fewer of them.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    n_neighbors : int or None, default=None
        The number t; None takes the graph's own number.

    Returns
    -------
    laplacian : csr_array of shape (n_samples, n_samples)
        The Laplacian L = Deg − W.
    degrees : ndarray of shape (n_samples,)
        The row sums of W, the diagonal of Deg.

    See Also
    --------
    heat_laplacian : One width for all edges.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Definition 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import density_laplacian
    >>> L, degrees = density_laplacian(knn(np.array([[0.0], [1.0], [3.0]]), 1))
    >>> L.shape, bool(np.allclose(L.sum(axis=1), 0))
    ((3, 3), True)
    """
    return laplacian_of(graph, affinity(graph, weights="density", n_neighbors=n_neighbors))


def weighted_laplacian(
    graph: Graph, *, weights: Weights = "heat", width: float | None = None
) -> Laplacian:
    """Laplacian with weights of a named rule.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    weights : {"heat", "adaptive", "binary", "density", "precomputed"}, default="heat"
        Rule of the weights (see Notes of `affinity`).
    width : float or None, default=None
        Width σ of heat weights; None takes the root mean square edge length, or 1/4 of the longest
        edge if that is more.

    Returns
    -------
    laplacian : csr_array of shape (n_samples, n_samples)
        The Laplacian L = Deg − W.
    degrees : ndarray of shape (n_samples,)
        The row sums of W, the diagonal of Deg.

    See Also
    --------
    affinity : The rules.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import weighted_laplacian
    >>> graph = knn(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> weighted_laplacian(graph, weights="binary")[0].toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    return laplacian_of(graph, affinity(graph, weights=weights, width=width))


def laplacian_of(graph: Graph, rule: Affinity) -> Laplacian:
    """Laplacian of a graph with weights by a fitted rule.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    rule : Affinity
        What `affinity` returned.

    Returns
    -------
    laplacian : csr_array of shape (n_samples, n_samples)
        The Laplacian L = Deg − W.
    degrees : ndarray of shape (n_samples,)
        The row sums of W, the diagonal of Deg.

    Raises
    ------
    InvalidInput
        If weights underflow to 0 and the graph falls into more pieces.

    See Also
    --------
    weighted_laplacian : Rule and Laplacian in one call.

    Notes
    -----
    L is symmetric with L·1 = 0, and vᵀLv is the sum of W_ij(v_i − v_j)² over edges. A "normalised"
    Laplacian is the same matrix with another inner product: give the degrees as B of the trace
    problem.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import affinity, laplacian_of
    >>> graph = knn(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> laplacian_of(graph, affinity(graph, weights="binary"))[1]
    array([1., 2., 1.])
    """
    weights = rule.of_graph(graph)
    shape = graph.lengths.shape
    W = sp.csr_array((weights, graph.lengths.indices, graph.lengths.indptr), shape=shape)
    if not weights.all():
        heavy = W.copy()
        heavy.eliminate_zeros()
        pieces = connected_components(heavy, directed=False)[0]
        if pieces > graph.n_pieces:
            longest = float(graph.lengths.data.max())
            raise InvalidInput(
                rule.words,
                " is too narrow: weights of long edges underflow to 0 and the graph "
                f"falls into {pieces} pieces; the longest edge is {longest:.3g}, use ",
                Argument("width", float(f"{longest / 10:.2g}")),
                " or more (",
                Argument("width", None),
                " chooses one)",
            )
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(degrees, format="csr") - W), degrees
