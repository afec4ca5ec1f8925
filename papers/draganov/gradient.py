"""Draganov's formulas, each against an independent evaluation: which hold as printed.

Small random data, uncentred on purpose: several steps of the paper hold for centred data only.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from dualfold.arrays import Array
from dualfold.point_pca import kronecker_gradient, point_error, point_gradient
from dualfold.theory.point_pca.point_descent import double_centred
from papers.finding import Experiment, Finding, Row, Setting, claim, identity, theorem


def error(X: Array, Y: Array) -> float:
    """f = ‖L(E^X − E^Y)L‖²_F by its definition (1)."""
    L = np.eye(len(X)) - 1 / len(X)
    return float(np.square(L @ (_squares(X) - _squares(Y)) @ L).sum())


def numeric_gradient(X: Array, Y: Array, step: float = 1e-5) -> Array:
    """∇f by central differences of our f."""
    gradient = np.zeros_like(Y)
    for place in np.ndindex(*Y.shape):
        move = np.zeros_like(Y)
        move[place] = step
        up, down = point_error(X, Y + move), point_error(X, Y - move)
        gradient[place] = (up - down) / (2 * step)
    return gradient


def printed_gradient(X: Array, Y: Array) -> Array:
    """−4 Σ_j (c^X_ij − c^Y_ij)(y_i − y_j), as Algorithm 1 has it."""
    L = np.eye(len(X)) - 1 / len(X)
    c = L @ (_squares(X) - _squares(Y)) @ L
    return np.asarray(-4 * (c[:, :, None] * (Y[:, None] - Y[None])).sum(axis=1))


def formulas(setting: Setting) -> Finding:
    """Definition, element-wise form, trace form, gradient: as printed and as it must be."""
    rng = setting.random()
    n, D, d = setting.of((8, 4, 2), (15, 6, 2), (30, 8, 3))
    X, Y = rng.standard_normal((n, D)) + 1.5, rng.standard_normal((n, d)) - 0.5
    X0, Y0 = X - X.mean(axis=0), Y - Y.mean(axis=0)
    f, exact = point_error(X, Y), numeric_gradient(X, Y)
    ours = point_gradient(X, Y)
    without = float(np.square(_row_and_column_centred(X) - _row_and_column_centred(Y)).sum())
    ratio = float(np.vdot(ours, printed_gradient(X, Y)) / np.vdot(ours, ours))
    apart = float(np.linalg.norm(point_gradient(X, Y) - exact) / np.linalg.norm(exact))
    parallel = float(np.linalg.norm(2 * printed_gradient(X, Y) - ours) / np.linalg.norm(ours))
    drops = _of_means(X, Y) / float(np.abs(exact).max())
    rows = (
        *_preliminaries(X),
        identity("our f over its definition (1)", f / error(X, Y), 1e-9, equals=1),
        claim("4tr(L(G_Y − G_X)²) over our f, centred data", 1.0,
              4 * _trace(X0, Y0) / point_error(X0, Y0), near_one, "§1.2"),
        claim("4tr(L(G_Y − G_X)²) over our f, data as it is", 1.0, 4 * _trace(X, Y) / f, near_one,
              "outer L's do not cancel unless the data is centred"),
        claim("f by (2) with row and column means only, over our f", 1.0, without / f, near_one,
              "Λ lacks the grand mean"),
        theorem("our ∇f off differences of our f, relative", apart, at_most=1e-6),
        claim("printed gradient (−4Σ) over ours", 1.0, ratio, near_one, "it is half: −8Σ is right"),
        identity("twice the printed one off ours", parallel, 1e-6),
        identity("§1.2's Kronecker form, corrected, off ours, relative",
                 np.linalg.norm(kronecker_gradient(X, Y) - ours) / np.linalg.norm(ours), 1e-9),
        identity("what ∂λ_ij/∂y_i adds to it, of ∇f", drops, 1e-6,
                 about="rows and columns of c add up to 0, so the paper may drop it"),
        *_step_rows(X, Y),
    )  # fmt: skip
    sentence = (
        f"f and its trace form agree for centred data; the printed gradient is {ratio:.3f} of "
        "the true one, and its sign in the update climbs. Every row compares with our f and its "
        "gradient, which agree with the definition (1)."
    )
    notes = (f"{n} random points of {D} columns, their mean not at 0; maps of {d} columns.",)
    return Finding(sentence, rows, notes=notes)


def _step_rows(X: Array, Y: Array) -> tuple[Row, ...]:
    """Which way the printed update goes, and the term of §1.2's differential without dY."""
    step, f = 1e-6 * printed_gradient(X, Y), point_error(X, Y)
    up, down = point_error(X, Y + step) - f, point_error(X, Y - step) - f
    return (
        claim("our f after a small step as printed (plus), less f", "below 0", up, lambda x: x < 0,
              "adding the gradient climbs"),
        theorem("our f after a small step with minus, less f", down, at_most=0),
    )  # fmt: skip


def near_one(ratio: float) -> bool:
    """Two expressions are one when they agree to six digits."""
    return abs(ratio - 1) <= 1e-6


def _preliminaries(X: Array) -> tuple[Row, ...]:
    """What §1.2 begins with, and the centring of Algorithm 1, against our centred distances."""
    G, E = X @ X.T, _squares(X)
    g, ones = np.diag(G), np.ones(len(X))
    L = np.eye(len(X)) - 1 / len(X)
    in_turn = E - E.mean(axis=1, keepdims=True)
    in_turn -= in_turn.mean(axis=0, keepdims=True)
    by_gram = L @ (np.outer(g, ones) + np.outer(ones, g) - 2 * G) @ L
    ours = double_centred(X)
    parts = {
        "L(g1ᵀ + 1gᵀ − 2G)L off our c": (by_gram - ours, "G = XXᵀ; the printed XᵀX is D×D"),
        "row, then column means (Algorithm 1) off our c": (in_turn - ours, "the order is right"),
    }
    return tuple(
        identity(what, np.abs(off).max(), 1e-10, about=note) for what, (off, note) in parts.items()
    )


def _of_means(X: Array, Y: Array, step: float = 1e-5) -> float:
    """The largest |Σ_kl c_kl ∂λ_kl/∂y|, Λ = E − LEL of the map, by central differences."""
    L = np.eye(len(X)) - 1 / len(X)
    c = L @ (_squares(X) - _squares(Y)) @ L
    largest = 0.0
    for place in np.ndindex(*Y.shape):
        move = np.zeros_like(Y)
        move[place] = step
        change = _squares(Y + move) - _squares(Y - move)
        largest = max(largest, abs(float((c * (change - L @ change @ L)).sum())) / (2 * step))
    return largest


def _squares(points: Array) -> Array:
    return np.asarray(cdist(points, points, "sqeuclidean"))


def _row_and_column_centred(points: Array) -> Array:
    """E less its row means and its column means, both of E itself: no grand mean is added."""
    E = _squares(points)
    return np.asarray(E - E.mean(axis=1, keepdims=True) - E.mean(axis=0, keepdims=True))


def _distance(X: Array, Y: Array) -> float:
    return float(np.square(X @ X.T - Y @ Y.T).sum())


def _trace(X: Array, Y: Array) -> float:
    difference = Y @ Y.T - X @ X.T
    L = np.eye(len(X)) - 1 / len(X)
    return float(np.trace(L @ difference @ difference))


EXPERIMENTS = (
    Experiment(
        "draganov-formulas",
        "D",
        "§1.1–1.2, equations",
        "The error and its gradient, checked by differences",
        formulas,
    ),
)
