"""The problem of one slice of aligned maps, and how slices are tied."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, PiecesJoined, counted, warn
from dualfold.graph import join_pieces, knn
from dualfold.methods._diffusion_maps import diffusion_maps
from dualfold.methods._eigenmaps import eigenmaps
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto
from dualfold.weights.laplacians import weighted_laplacian


@dataclass(frozen=True, eq=False)
class Slice:
    """Slice of an aligned map: its problem, and features whose rows times vectors are its points.

    n_pieces : of its neighbour graph, before they were joined
    """

    problem: TraceProblem
    features: Any
    n_pieces: int = 1


def slice_of(X: Array, method: str, n_components: int, n_neighbors: int) -> Slice:
    """The problem of one slice, with masses of sum 1."""
    if method == "pca":
        centred = X - X.mean(axis=0)
        problem = TraceProblem(-(centred.T @ centred) / len(X), None, n_components, "min")
        return Slice(problem, centred)
    graph = knn(X, min(n_neighbors, len(X) - 1))
    n_pieces = graph.n_pieces
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PiecesJoined)  # `warn_of_pieces` warns once for all slices
        graph = join_pieces(graph)
    if method == "lpp":
        return replace(_projected_slice(X, graph, n_components), n_pieces=n_pieces)
    if method == "diffusion_maps":
        problem = diffusion_maps(graph, n_components=n_components)
    else:
        problem = eigenmaps(graph, n_components=n_components, weights="adaptive")
    total = float(problem.metric.sparse().diagonal().sum())
    degrees = problem.metric.sparse().diagonal() / total
    problem = TraceProblem(
        sp.csr_array(problem.A / total), degrees, n_components, "min", np.ones(len(X))
    )
    return Slice(problem, sp.eye_array(len(X), format="csr"), n_pieces)


def warn_of_pieces(n_pieces: list[int]) -> None:
    """Give a `PiecesJoined` for all slices whose neighbour graph has several pieces."""
    several = [number for number, count in enumerate(n_pieces, 1) if count > 1]
    if not several:
        return
    which = "all slices" if len(several) == len(n_pieces) else f"slices {_first_numbers(several)}"
    warn(
        PiecesJoined(
            f"the neighbour graphs of {which} have several pieces (up to {max(n_pieces)}), joined "
            "by their shortest links; how far pieces lie apart on the maps says little. More ",
            Argument("n_neighbors"),
            " may connect them",
        )
    )


def _first_numbers(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return f"{shown}, …" if len(numbers) > 5 else shown


def _projected_slice(X: Array, graph: Any, count: int) -> Slice:
    """LPP: vectors are combinations of the directions along which rows differ."""
    laplacian, degrees = weighted_laplacian(graph, weights="adaptive")
    total = float(np.sum(degrees))
    centred = X - (degrees @ X) / total
    U, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    U = U[:, sizes > 1e-10 * sizes[0]] * np.sqrt(len(X))
    if U.shape[1] < count:
        raise InvalidInput(
            f"a slice differs along {counted(U.shape[1], 'direction')}, and {count} are needed"
        )
    A = U.T @ (laplacian @ U) / total
    B = U.T @ (degrees[:, None] * U) / total
    return Slice(TraceProblem((A + A.T) / 2, (B + B.T) / 2, count, "min"), U)


def axis_coupling(slices: list[Slice]) -> sp.csr_array:
    """K of axes: the squared differences of the directions of successive slices."""
    width, T = slices[0].problem.n, len(slices)
    if T == 1:
        return sp.csr_array((width, width))
    path = sp.diags_array([-np.ones(T - 1), np.ones(T), -np.ones(T - 1)], offsets=[-1, 0, 1])
    path = path + sp.diags_array(np.r_[0.0, np.ones(max(0, T - 2)), 0.0][:T])
    return sp.csr_array(sp.kron(path, sp.eye_array(width)))


def solution_of(problem: TraceProblem) -> Array:
    """The first directions of a slice, and further ones as hints for a certificate."""
    solution = Auto(tol=1e-9).solve(problem)
    return np.hstack([solution.vectors, solution.guard])


def registered_vectors(
    slices: list[Slice], vectors: list[Array], pairs: list[Array]
) -> list[Array]:
    """The separate answers, each turned onto the one before along its links."""
    turned = [vectors[0]]
    for t, linked in enumerate(pairs):
        following = vectors[t + 1]
        if len(linked) >= following.shape[1]:
            before = np.asarray(slices[t].features @ turned[-1])[linked[:, 0]]
            after = np.asarray(slices[t + 1].features @ following)[linked[:, 1]]
            left, _, right = np.linalg.svd(after.T @ before)
            following = following @ (left @ right)
        turned.append(following)
    return turned
