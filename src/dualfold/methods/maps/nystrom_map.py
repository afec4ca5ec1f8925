"""New points for eigenmaps: the weighted mean of their neighbours, stretched by 1 − λ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualfold.arrays import Array, Metric, Rows
from dualfold.graph.attachment import attach
from dualfold.graph.graph import Graph
from dualfold.methods.maps.out_of_sample import OutOfSampleMap, StoredAnswer, float_array
from dualfold.methods.maps.parts import Parts
from dualfold.methods.maps.stored_graph import graph_from_parts, put_graph
from dualfold.trace.lift import Solve
from dualfold.trace.problem import TraceProblem
from dualfold.weights.laplacians import Affinity


@dataclass(frozen=True, eq=False)
class NystromMap(OutOfSampleMap):
    """Out-of-sample map of eigenmaps: the eigenvector equation of one more row of the graph.

    A fitted row gets its own point, since its row of the graph is rebuilt. A row that is too far
    away for any weight gets the point of its nearest fitted row.

    Parameters
    ----------
    graph : Graph
        The graph of the fitted rows.
    affinity : Affinity
        The rule of its weights.
    points : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    values : ndarray of shape (n_components,)
        Eigenvalues λ of the coordinates.
    constraint : {"degree", "identity"}
        Whether B is the matrix of degrees or the identity.

    See Also
    --------
    dualfold.LaplacianEigenmaps : The method whose new rows it places.

    Notes
    -----
    With weights w_j to the neighbours j of a new row and deg = Σ w_j, its coordinates are y_k = Σ_j
    (w_j/deg)·y_jk/(1 − λ_k) for B = Deg, and y_k = Σ_j w_j·y_jk/(deg − λ_k) for B = I.

    References
    ----------
    .. [1] Y. Bengio et al., "Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral
       clustering", Advances in Neural Information Processing Systems 16, 2004.

    Examples
    --------
    >>> from dualfold import LaplacianEigenmaps
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.saved import model_of
    >>> X = swiss_roll(40, random_state=0).points
    >>> model_of(LaplacianEigenmaps(n_neighbors=8).fit(X)).map(X[:2]).shape
    (2, 2)
    """

    graph: Graph
    affinity: Affinity
    points: Array
    values: Array
    constraint: str

    kind: ClassVar[str] = "nystrom"

    def __call__(self, X: Rows) -> Array:
        new = attach(self.graph, X)
        W = self.affinity.of_attachment(new, self.graph)
        degrees = np.asarray(W.sum(axis=1)).ravel()
        total = W @ self.points
        unlinked = degrees <= 0
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.constraint == "degree":
                places = total / degrees[:, None] / _away_from_zero(1 - self.values, 1.0)
            else:
                stretch = _away_from_zero(degrees[:, None] - self.values, degrees[:, None])
                places = total / stretch
        if unlinked.any():
            firsts = np.minimum(new.lists.indptr[:-1], len(new.lists.indices) - 1)
            places[unlinked] = self.points[new.lists.indices[firsts[unlinked]]]
        return np.asarray(places)

    def parts(self) -> Parts:
        parts = Parts(self.kind, {"constraint": self.constraint})
        put_graph(parts, self.graph)
        rule = self.affinity
        parts.facts |= {"weights": rule.kind, "width": rule.width, "spread_of": rule.n_neighbors}
        parts.facts["alpha"] = rule.alpha
        parts.put("spread", rule.spread)
        parts.put("degrees", rule.degrees)
        parts.put("points", self.points, "answer")
        parts.put("values", self.values, "answer")
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> NystromMap:
        graph = graph_from_parts(parts)
        points = parts.array("points", [graph.n, None])
        values = parts.array("values", [points.shape[1]])
        constraint = parts.word("constraint", ("degree", "identity"))
        return cls(graph, _affinity_from_parts(parts, graph.n), points, values, constraint)

    def stored_answer(self, problem: TraceProblem, solve: Solve) -> StoredAnswer:
        values, count = float_array(self.values), problem.lift.n_coordinates(problem.count)
        fits = values.shape == (count,) and np.isfinite(values).all()
        return StoredAnswer(float_array(self.points), values if fits else np.full(count, np.nan))

    def stored_points(self) -> Array:
        return self.points

    def fitted_rows(self) -> tuple[Rows, Metric]:
        return self.graph.points, self.graph.metric

    def frozen_parameters(self) -> dict[str, object]:
        return {"width": self.affinity.width} if self.affinity.kind == "heat" else {}


def _affinity_from_parts(parts: Parts, n: int) -> Affinity:
    """The rule of weights, with what its kind needs."""
    kind = parts.word("weights", ("heat", "adaptive", "binary", "density"))
    width = parts.number("width", above=0, optional=kind != "heat")
    neighbors = parts.integer("spread_of", 1, n, optional=kind != "density")
    if kind in ("adaptive", "density"):
        least = {"above": 0.0} if kind == "density" else {"least": 0.0}
        parts.array("spread", [n], **least)
    alpha = parts.number("alpha", least=0, most=1)
    degrees = parts.get("degrees")
    if degrees is not None or alpha:
        parts.array("degrees", [n], least=0)
    spread = parts.get("spread")
    return Affinity(kind, width, neighbors, spread, alpha, degrees)  # type: ignore[arg-type]


def _away_from_zero(stretch: Array, plain: Any) -> Array:
    """λ = 1 (or the degree) leaves the equation without an answer: then the plain mean."""
    return np.where(np.abs(stretch) > 1e-8 * np.abs(plain), stretch, plain)
