"""LLE and eigenmaps in the notes: objectives, constraints and which of them hold as printed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.embedding import embed
from dualfold.errors import PointsCollapse
from dualfold.graph import Graph, join_pieces, knn
from dualfold.methods import eigenmaps, lle
from dualfold.trace.solvers import Auto
from dualfold.weights import reconstruction_null_vectors, reconstruction_weights, weighted_laplacian
from papers.finding import Experiment, Finding, Row, Setting, claim, identity, theorem

SHARP = Auto(tol=1e-10)  # identities are checked to 1e-8; the usual 1e-6 is for pictures
SMALL = 1e-8  # what counts as 0: values near 1, some hundred to thousand terms


def constraints(setting: Setting) -> Finding:
    """Σ Deg·y = 0 and Y = Deg^-½Û, beside what the notes print; LLE's null vector."""
    roll = swiss_roll(setting.of(200, 600, 1_500), random_state=setting.seed)
    graph = join_pieces(knn(roll.points, 10))
    few = _closed_groups(knn(roll.points, 3))
    equations = (*_eigenmap_rows(graph), *_lle_rows(graph, setting.random()))
    rows = (
        *equations,
        claim("null vectors of our I − W for k = d + 1 = 3 neighbours", "1", float(few),
              lambda x: x == 1,
              "above 1 the notes' eigenvectors 2 and 3 are groups of points, not coordinates"),
        *_binary_rows(graph, setting.of(12, 60, 200)),
        claim("the same for k = 10", "1", float(_closed_groups(graph)), lambda x: x == 1),
    )  # fmt: skip
    wrong = sum(row.kind == "claim" and not row.holds for row in equations)
    sentence = (
        f"{wrong} equations do not hold as printed, the centring and the scaling of eigenmaps; "
        "corrected they do: with Deg where the notes have √Deg, with √Deg for nothing, and with "
        "Deg^-½ for Deg^½. "
        f"LLE with the suggested k = d + 1 has {few} null vectors here; the notes count on one."
    )
    notes = (f"Swiss roll, {graph.n} points, 10 neighbours, heat weights.",)
    return Finding(sentence, rows, notes=notes)


def _eigenmap_rows(graph: Graph) -> tuple[Row, ...]:
    L, degrees = weighted_laplacian(graph)
    L = L.toarray()
    W = np.diag(degrees) - L
    Y = embed(eigenmaps(graph), solver=SHARP).points
    root = np.sqrt(degrees)
    hat_values, hat_vectors = np.linalg.eigh(np.eye(graph.n) - W / np.outer(root, root))
    U = hat_vectors[:, 1:3]
    right, printed = U / root[:, None], U * root[:, None]
    squares = np.square(Y[:, None] - Y[None]).sum(axis=2)
    cost = float((W * squares).sum())
    residual = L @ right - degrees[:, None] * right * hat_values[1:3]
    printed_gram = printed.T @ (degrees[:, None] * printed)
    return (
        _zero("Σ w_ij‖y_i − y_j‖² off 2tr(YᵀLY), relative", cost / (2 * np.trace(Y.T @ L @ Y)) - 1),
        _zero("L off Deg^½(I − Ŵ)Deg^½", L - np.outer(root, root) * (np.eye(graph.n) - _hat(W))),
        _zero("YᵀDegY off I", Y.T @ (degrees[:, None] * Y) - np.eye(2)),
        _zero("Σ Deg_i·y_i, over Σ Deg_i|y_i|", _centre(Y, degrees), mended=True),
        _not_zero("Σ √Deg_i·y_i, over Σ √Deg_i|y_i|", _centre(Y, root), "Deg_i, not √Deg_i"),
        _zero("Σ √Deg_i·ŷ_i, over Σ √Deg_i|ŷ_i|", _centre(U, root), mended=True),
        _not_zero("Σ ŷ_i, over Σ|ŷ_i|", _centre(U, np.ones(graph.n)), "√Deg_i is missing"),
        _zero("sine of the angle of Deg^-½Û to the solution", _sine(right, Y), mended=True),
        _zero("Ly − λ·Deg·y for Y = Deg^-½Û", residual, mended=True),
        _not_zero(
            "sine of the angle of Deg^½Û to the solution",
            _sine(printed, Y),
            "the exponent is −½",
        ),
        _not_zero("YᵀDegY off I for Y = Deg^½Û", printed_gram - np.eye(2), "the same"),
    )


def _binary_rows(graph: Graph, n: int) -> tuple[Row, ...]:
    """The notes' other weights, w_ij = 1: entries, and a ring whose spectrum is known."""
    L, degrees = weighted_laplacian(graph, weights="binary")
    edges = np.diff(graph.lengths.indptr)
    turn = 2 * np.pi * np.arange(n) / n
    ring = knn(np.column_stack([np.cos(turn), np.sin(turn)]), 2)
    found = embed(eigenmaps(ring, weights="binary", n_components=4), solver=SHARP).values
    wanted = 1 - np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / n)
    return (
        _zero("binary weights: degrees off the number of edges", degrees - edges),
        _zero("binary weights: entries of L off the edges other than −1",
              _off_diagonal(L) + 1),
        theorem(f"binary weights on a ring of {n}: λ off 1 − cos(2πj/n), twice each",
                np.abs(found - wanted).max() / wanted[-1], at_most=1e-8),
    )  # fmt: skip


def _off_diagonal(L: Any) -> Array:
    coo = L.tocoo()
    return np.asarray(coo.data[coo.row != coo.col])


def _lle_rows(graph: Graph, rng: np.random.Generator) -> tuple[Row, ...]:
    W = reconstruction_weights(graph.points, graph.lists).toarray()
    M = np.eye(graph.n) - W
    values, vectors = np.linalg.eigh(M.T @ M)
    Y = embed(lle(graph), solver=SHARP).points
    Z = rng.standard_normal((graph.n, 2))
    rebuilt = float(sum(np.square(Z[i] - W[i] @ Z).sum() for i in range(graph.n)))
    bound = float(values[1:3].sum())
    cost = float(np.square(M @ Y).sum())
    return (
        _zero("LLE: Σ_j w_ij off 1", W.sum(axis=1) - 1),
        _zero("(I − W)1", M @ np.ones(graph.n)),
        _zero(
            "Σ‖y_i − Σw_ij y_j‖² off its trace, relative",
            rebuilt / float(np.trace(Z.T @ M.T @ M @ Z)) - 1,
        ),
        _zero("YᵀY off I", Y.T @ Y - np.eye(2)),
        _zero("Σ y_i, over Σ|y_i|", _centre(Y, np.ones(graph.n))),
        _zero("trace at Y off λ₂ + λ₃, over λ_n", (cost - bound) / values[-1]),
        # λ₂ is about 1e-8 of λ_n: LAPACK's eigenvectors of the squared matrix are no better.
        _zero("sine of the angle of Y to eigenvectors 2 and 3", _sine(vectors[:, 1:3], Y), 1e-5),
    )


def _closed_groups(graph: Graph) -> int:
    """How many null vectors I − W has: one for each group of points that list only one another."""
    W = reconstruction_weights(graph.points, graph.lists)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PointsCollapse)  # it is what is counted
        return int(reconstruction_null_vectors(W, graph.lists).shape[1])


def _hat(W: Array) -> Array:
    root = np.sqrt(W.sum(axis=1))
    return np.asarray(W / np.outer(root, root))


def _centre(Y: Array, weights: Array) -> Array:
    """Weighted sums of the columns as shares of the sums of their absolute values."""
    return np.asarray((weights @ Y) / (weights @ np.abs(Y)))


def _sine(A: Array, B: Array) -> float:
    return float(np.sin(scipy.linalg.subspace_angles(A, B)).max())


def _zero(what: str, off: Any, tolerance: float = SMALL, *, mended: bool = False) -> Row:
    about = "not printed so: corrected" if mended else ""
    return identity(what, np.abs(off).max(), tolerance, about=about)


def _not_zero(what: str, off: Any, note: str) -> Row:
    return claim(what, 0.0, np.abs(off).max(), lambda x: x <= SMALL, note)


EXPERIMENTS = (
    Experiment(
        "kokiopoulou-constraints",
        "K",
        "§3.1–3.2",
        "What LLE and eigenmaps are normalised by",
        constraints,
    ),
)
