"""A second look at a stored map: its problem is stated again from the data, and it is judged.

Nothing is solved here. From the stored points the vectors are found that they must stand for,
the points of these vectors are compared with what is stored, and `certify` judges the vectors as
it would anybody's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualfold.duality.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.duality.contraction import contracted
from dualfold.errors import InvalidInput
from dualfold.graph.graph import Graph
from dualfold.maps.landmark import FromLandmarks
from dualfold.maps.linear import Projected, ProjectedFromGram
from dualfold.saved.model import BothSides
from dualfold.trace import lift as lifts
from dualfold.trace.certificate import Certificate, certify
from dualfold.trace.problem import TraceProblem
from dualfold.weights.covariance import scatter
from dualfold.weights.rows import combined_rows

Array = np.ndarray[Any, np.dtype[Any]]

# Points that differ by more than this from those of their own vectors, relative to the
# extent of the map, were changed: CSV, Parquet and NPY keep every digit.
SAME = 1e-6


def rechecked(
    problem: TraceProblem, points: Any, values: Any, *, tolerance: float = 1e-4
) -> Certificate:
    """Judge stored points (n×d) and eigenvalues `values` against the `problem` they are to solve.

    A relative gap above `tolerance` fails; text files round, so it is wider than usual.
    """
    Y, stated = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    if Y.ndim != 2 or Y.shape[1] != problem.count or stated.shape != (problem.count,):
        raise InvalidInput(
            f"points of shape {Y.shape} and {stated.size} eigenvalues were given; this problem "
            f"has {problem.count} coordinates"
        )
    if not np.isfinite(Y).all():
        doubt = "the stored points hold NaN or infinite entries"
        return _failed(certify(problem, np.full((problem.n, problem.count), np.nan)), doubt)
    V = vectors_behind(problem, Y, stated)
    certificate = certify(problem, V, stated, tolerance=tolerance)
    again = np.asarray(problem.lift(V, stated), dtype=float)
    extent = float(np.abs(Y - Y.mean(axis=0)).max()) or 1.0
    if again.shape != Y.shape:
        return _failed(certificate, f"{len(Y)} points are stored, the data has {len(again)}")
    off = np.abs(again - Y).max(axis=1) / extent
    if float(off.max()) > SAME:
        changed = int(np.sum(off > SAME))
        doubt = (
            f"{changed} of {len(Y)} stored points are not where the method puts them (row "
            f"{int(off.argmax()) + 1} is off by {off.max():.1e} of the extent of the map)"
        )
        return _failed(certificate, doubt)
    return certificate


def vectors_behind(problem: TraceProblem, points: Array, values: Array) -> Array:
    """The vectors whose lift the points are, by least squares where there is a choice."""
    lift = problem.lift
    if lift is lifts.vectors:
        return points
    lengths = np.sqrt(np.maximum(values, 0.0))
    if lift is lifts.scaled_vectors:
        return points / np.where(lengths > 0, lengths, 1.0)
    if isinstance(lift, FromLandmarks):
        return points[lift.landmarks.indices] / np.where(lengths > 0, lengths, 1.0)
    if isinstance(lift, ProjectedFromGram):
        lengths = lengths * np.sqrt(len(points))
        return points / np.where(lengths > 0, lengths, 1.0)
    if isinstance(lift, Projected) and lift.space is not None:
        centred = points - points.mean(axis=0)
        return np.linalg.solve(lift.space.form(lambda Z: Z), lift.space.adjoint(centred))
    if isinstance(lift, Projected):
        moments = combined_rows(lift.data, points, lift.mean)
        moments = moments if lift.scale is None else moments / lift.scale[:, None]
        if isinstance(problem.A, np.ndarray):  # XᵀHY = XᵀHX·V
            total = scatter(lift.data)[0]
            total = total if lift.scale is None else total / np.outer(lift.scale, lift.scale)
            return np.asarray(np.linalg.lstsq(total, moments, rcond=None)[0])
        return np.asarray(moments / len(points) / np.where(values > 0, values, 1.0))
    raise InvalidInput(f"the points of {type(lift).__name__} cannot be traced back to vectors")


def rechecked_unfolding(
    graph: Graph, points: Any, sides: BothSides | None, *, tolerance: float
) -> UnfoldingCertificate:
    """Judge a stored unfolding of `graph`: its points and, where kept, its dual weights (`sides`).

    A relative gap above `tolerance` fails.

    Without them the points bound the optimum from below and geodesics from above; that is
    rough, and rarely a proof.
    """
    contraction = contracted(graph)
    problem, Y = contraction.problem, np.asarray(points, dtype=float)
    first = np.unique(contraction.place, return_index=True)[1]
    if sides is None:
        equal = np.ones(problem.m)  # any weights bound the optimum, these badly
        return certify_unfolding(problem, Y[first], equal, tolerance=tolerance)
    ends = contraction.edges
    weights = np.asarray(sides.weights.tocsr()[ends[:, 0], ends[:, 1]]).ravel()
    certificate = certify_unfolding(problem, sides.factor[first], weights, tolerance=tolerance)
    kept = np.linalg.svd(sides.factor, full_matrices=False)
    leading = kept[0][:, : Y.shape[1]] * kept[1][: Y.shape[1]]
    width = min(leading.shape[1], Y.shape[1])
    # Columns are compared by the plane they span and their inner products, not by sign.
    gram = Y[:, :width].T @ leading[:, :width]
    turn, _, back = np.linalg.svd(gram)
    off = np.abs(leading[:, :width] @ (turn @ back).T - Y[:, :width]).max()
    if off > SAME * max(float(np.abs(Y).max()), 1e-300):
        doubt = "the stored points are not the leading coordinates of the model's unfolding"
        return replace(
            certificate, level="failed", complete=None, reasons=(*certificate.reasons, doubt)
        )
    return certificate


def _failed(certificate: Certificate, doubt: str) -> Certificate:
    reasons = (doubt, *certificate.reasons)
    return replace(certificate, level="failed", complete=None, reasons=reasons)
