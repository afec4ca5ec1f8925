"""Draganov's formulas, each against an independent evaluation: which hold as printed.

Small random data, uncentred on purpose: several steps of the paper hold for centred data only.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from dualfold.arrays import Array
from dualfold.forces import point_gradient
from papers.finding import Experiment, Finding, Row, Setting, agrees


def error(X: Array, Y: Array) -> float:
    """f = ‖L(E^X − E^Y)L‖²_F by its definition (1)."""
    L = np.eye(len(X)) - 1 / len(X)
    return float(np.square(L @ (_squares(X) - _squares(Y)) @ L).sum())


def numeric_gradient(X: Array, Y: Array, step: float = 1e-5) -> Array:
    """∇f by central differences of the definition."""
    gradient = np.zeros_like(Y)
    for place in np.ndindex(*Y.shape):
        move = np.zeros_like(Y)
        move[place] = step
        gradient[place] = (error(X, Y + move) - error(X, Y - move)) / (2 * step)
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
    f, exact = error(X, Y), numeric_gradient(X, Y)
    without = float(np.square(_row_and_column_centred(X) - _row_and_column_centred(Y)).sum())
    ratio = float(np.vdot(exact, printed_gradient(X, Y)) / np.vdot(exact, exact))
    apart = float(np.linalg.norm(point_gradient(X, Y) - exact) / np.linalg.norm(exact))
    parallel = float(np.linalg.norm(2 * printed_gradient(X, Y) - exact) / np.linalg.norm(exact))
    drops = _of_means(X, Y) / float(np.abs(exact).max())
    rows = (
        *_preliminaries(X, rng),
        agrees("4‖X_cX_cᵀ − Y_cY_cᵀ‖² over f", 4 * _distance(X0, Y0) / f, 1e-6, paper=1.0),
        agrees("4tr(L(G_Y − G_X)²) over f, centred data", 4 * _trace(X0, Y0) / f, 1e-6, paper=1.0),
        _unequal(
            "4tr(L(G_Y − G_X)²) over f, data as it is",
            4 * _trace(X, Y) / f,
            "the paper errs: outer L's do not cancel unless the data is centred",
        ),
        _unequal(
            "f by (2) with row and column means only, over f",
            without / f,
            "the paper errs: Λ lacks the grand mean",
        ),
        Row("∇f = 16(Y_cY_cᵀ − X_cX_cᵀ)Y_c off differences", None, apart, apart < 1e-6, "≤ 1e-6"),
        Row(
            "printed gradient (−4Σ) over ∇f",
            1.0,
            ratio,
            abs(ratio - 0.5) < 1e-6,
            "the paper errs: it is half of it (−8Σ is right)",
        ),
        Row("twice the printed one off ∇f", None, parallel, parallel < 1e-6, "≤ 1e-6"),
        agrees(
            "what ∂λ_ij/∂y_i adds to it, of ∇f",
            drops,
            1e-6,
            about="rows and columns of c add up to 0, so the paper may drop it",
        ),
        *_step_rows(X, Y),
    )
    sentence = (
        f"f and its trace form agree for centred data; the printed gradient is {ratio:.3f} of "
        "the true one, and its sign in the update climbs. Every row compares with differences of "
        "the definition (1)."
    )
    notes = (f"{n} random points of {D} columns, their mean not at 0; maps of {d} columns.",)
    return Finding(sentence, rows, notes=notes)


def _step_rows(X: Array, Y: Array) -> tuple[Row, ...]:
    """Which way the printed update goes, and the term of §1.2's differential without dY."""
    step, f = 1e-6 * printed_gradient(X, Y), error(X, Y)
    up, down = error(X, Y + step) - f, error(X, Y - step) - f
    constant = -8 * float(np.square(X - X.mean(axis=0)).sum())
    return (
        Row(
            "f after a small step as printed (plus), less f",
            "below 0",
            up,
            up > 0,
            "the paper errs: adding the gradient climbs",
        ),
        Row("f after a small step with minus, less f", "below 0", down, down < 0),
        Row(
            "df of §1.2 for dY = 0",
            0.0,
            constant,
            constant < 0,
            "the paper errs: −4vec(L)ᵀvec(2G_X) lost its dY and stays",
        ),
    )


def _preliminaries(X: Array, rng: np.random.Generator) -> tuple[Row, ...]:
    """The identities that §1.2 begins with, and the centring of Algorithm 1."""
    A, B, C = (rng.standard_normal(shape) for shape in ((3, 4), (4, 5), (5, 2)))
    product = np.kron(C.T, A) @ B.ravel(order="F") - (A @ B @ C).ravel(order="F")
    swap = np.eye(12)[np.arange(12).reshape(4, 3).ravel(order="F")]
    turned = swap @ A.ravel(order="F") - A.T.ravel(order="F")
    G = X @ X.T
    g, ones = np.diag(G), np.ones(len(X))
    E = _squares(X)
    by_gram = np.outer(g, ones) + np.outer(ones, g) - 2 * G - E
    L = np.eye(len(X)) - 1 / len(X)
    in_turn = E - E.mean(axis=1, keepdims=True)
    in_turn -= in_turn.mean(axis=0, keepdims=True)
    parts = {
        "vec(ABC) = (Cᵀ⊗A)vec(B), off": (product, "random matrices"),
        "K·vec(A) = vec(Aᵀ), off": (turned, "K the commutation matrix"),
        "E = g1ᵀ + 1gᵀ − 2G, off": (by_gram, "G = XXᵀ; the printed XᵀX is D×D"),
        "row, then column means (Algorithm 1) off LEL": (in_turn - L @ E @ L, "the order is right"),
    }
    return tuple(
        agrees(what, np.abs(off).max(), 1e-10, about=note) for what, (off, note) in parts.items()
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


def _unequal(what: str, ours: float, note: str) -> Row:
    return Row(what, 1.0, ours, abs(ours - 1) > 1e-3, note)


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
