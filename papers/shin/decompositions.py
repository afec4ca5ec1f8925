"""Lecture 1 as checks on matrices: determinant, eigenvalues, Cholesky, SVD."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from papers.figures.lectures import four_turns_figure
from papers.finding import Experiment, Finding, Row, Setting, agrees

# The lecture's example: eigenvalues 5 and 2, eigenvectors along (2, 1) and (1, −1).
EXAMPLE = np.array([[4.0, 2.0], [1.0, 3.0]])


def worked_examples(setting: Setting) -> Finding:
    """The lecture's 2×2 matrix, the 3×3 determinant in six terms, and what it leaves open."""
    values, vectors = np.linalg.eig(EXAMPLE)
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    polynomial, slopes = np.poly(EXAMPLE), vectors[1] / vectors[0]
    six, expanded = _three_by_three(setting)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    turned = np.linalg.eigvals(turn)
    between = abs(float(vectors[:, 0] @ vectors[:, 1]))
    rows = (
        *(
            agrees(f"coefficient of λ^{2 - at}", got, 1e-12, paper=wanted)
            for at, (got, wanted) in enumerate(zip(polynomial, (1.0, -7.0, 10.0), strict=True))
        ),
        agrees("larger eigenvalue", values[0], 1e-12, paper=5.0),
        agrees("smaller eigenvalue", values[1], 1e-12, paper=2.0),
        agrees("E₅ spanned by (2, 1): slope", slopes[0], 1e-12, paper=0.5),
        agrees("E₂ spanned by (1, −1): slope", slopes[1], 1e-12, paper=-1.0),
        Row(
            "|cos| of the angle between E₅ and E₂",
            None,
            between,
            _near(between, 1 / np.sqrt(10)),
            "1/√10: a matrix that is not symmetric need not have perpendicular eigenvectors",
        ),
        agrees("3×3: six terms less LAPACK's determinant", six, 1e-12),
        agrees("3×3: Laplace, every row and column", expanded, 1e-12),
        Row("Cholesky of 9", 3.0, float(np.linalg.cholesky([[9.0]])[0, 0]), True, "9 = 3×3"),
        Row(
            "eigenvalues of I₃ that differ, with 3 independent eigenvectors",
            None,
            float(len(set(np.linalg.eigvalsh(np.eye(3)).round(12)))),
            True,
            "the example the lecture asks for: fewer than n eigenvalues, a basis nonetheless",
        ),
        Row(
            "product of the eigenvalues of a quarter turn",
            1.0,
            float(np.prod(turned).real),
            _near(np.prod(turned).real, np.linalg.det(turn)) and not np.isreal(turned).any(),
            "it has none in ℝ, where the lecture looks for them; det = Πλ needs complex ones",
        ),
    )
    sentence = (
        f"The lecture's matrix has eigenvalues {values[0]:.6g} and {values[1]:.6g} with "
        f"eigenvectors along the ones it gives; they are {np.degrees(np.arccos(between)):.1f}° "
        "apart, as the matrix is not symmetric, while its singular vectors are perpendicular."
    )
    caption = "What a matrix does to the circle: turn (Vᵀ), stretch (Σ), turn (U)."
    return Finding(sentence, rows, ((caption, four_turns_figure(EXAMPLE)),))


def identities(setting: Setting) -> Finding:
    """Every rule of lecture 1 on random matrices: the largest error met."""
    rng, matrices = setting.random(), setting.of(30, 300, 3_000)
    worst: dict[str, float] = defaultdict(float)
    for _ in range(matrices):
        n = int(rng.integers(2, 9))
        for errors in (_determinant_errors(rng, n), _spectral_errors(rng, n), _svd_errors(rng, n)):
            for what, error in errors.items():
                worst[what] = max(worst[what], error)
    graded = _graded_loss(setting)
    rows = (
        *(agrees(what, error, 1e-9) for what, error in worst.items()),
        Row(
            "least eigenvalue of AᵀA, rank n − 1, over the largest",
            "positive",
            graded["least"],
            abs(graded["least"]) < 1e-12,
            "0 to rounding: “all λ positive” holds for full rank only; they are ≥ 0",
        ),
        Row(
            "σ of a symmetric matrix with λ = 2, −3, less |λ|",
            "EVD = SVD",
            graded["signs"],
            graded["signs"] < 1e-12,
            "σ = |λ|: for negative λ the two differ by the sign of u",
        ),
        Row(
            "relative error of σ = 1e-10 by AᵀA (σ₁ = 1)",
            None,
            graded["by AᵀA"],
            graded["by AᵀA"] > 1e-3 > graded["by SVD"],
            f"squaring loses it; LAPACK's SVD is off by {graded['by SVD']:.1g}",
        ),
    )
    sentence = (
        f"On {matrices:,} random matrices no rule is off by more than {max(worst.values()):.1g}. "
        "Two words need care: eigenvalues of AᵀA are not all positive but not negative, and EVD "
        "is SVD only for positive semidefinite matrices."
    )
    notes = (
        "Determinants are relative to the product of the rows' lengths (Hadamard's bound). "
        "Courant and Fischer's theorem is not in the lecture's text; it is what its step k uses.",
    )
    return Finding(sentence, rows, notes=notes)


def svd_by_gram(A: Array) -> tuple[Array, Array, Array]:
    """The lecture's construction: V and λ of AᵀA, u_i = Av_i/√λ_i, the rest of U completed.

    Returns (U, σ, V) with UΣ = AV. Good to √eps·σ₁ only, since λ = σ² is rounded.
    """
    squares, V = np.linalg.eigh(A.T @ A)
    squares, V = np.maximum(squares[::-1], 0.0), V[:, ::-1]
    # Rounding leaves a few eps·σ₁² where λ is 0, more the larger the side.
    rank = int((squares > 10 * max(A.shape) * np.finfo(float).eps * squares[0]).sum())
    singular = np.sqrt(squares)
    U = A @ V[:, :rank] / singular[:rank]
    rest = scipy.linalg.null_space(U.T, rcond=0.5)
    return np.hstack([U, rest]), singular, V


def _determinant_errors(rng: np.random.Generator, n: int) -> dict[str, float]:
    A, B = rng.standard_normal((2, n, n))
    # Well conditioned: the rule is looked at, not the inverse of S.
    S = np.linalg.qr(rng.standard_normal((n, n)))[0] * rng.uniform(1.0, 3.0, n)
    det, reach = np.linalg.det, _hadamard(A)
    at, other = rng.permutation(n)[:2]
    changed, swapped = A.copy(), A.copy()
    changed[at] += 1.7 * A[other]
    swapped[[at, other]] = A[[other, at]]
    scaled = A.copy()
    scaled[at] *= -2.5
    values = np.linalg.eigvals(A)
    return {
        "det AB = det A det B": abs(det(A @ B) - det(A) * det(B)) / (reach * _hadamard(B)),
        "det Aᵀ = det A": abs(det(A.T) - det(A)) / reach,
        "det A⁻¹ · det A = 1": abs(det(np.linalg.inv(A)) * det(A) - 1),
        "det S⁻¹AS = det A": abs(det(np.linalg.solve(S, A @ S)) - det(A)) / reach,
        "det of a triangle = product of its diagonal": abs(
            det(np.tril(A)) - np.prod(np.diagonal(A))
        )
        / reach,
        "a row added to another keeps det": abs(det(changed) - det(A)) / reach,
        "a row times c gives c·det": abs(det(scaled) + 2.5 * det(A)) / reach,
        "det cA = cⁿ det A": abs(det(3 * A) - 3.0**n * det(A)) / (3.0**n * reach),
        "two rows swapped change the sign": abs(det(swapped) + det(A)) / reach,
        "det A = Πλ": abs(np.prod(values) - det(A)) / reach,
        "tr A = Σλ": abs(values.sum() - np.trace(A)) / np.abs(values).sum(),
    }


def _spectral_errors(rng: np.random.Generator, n: int) -> dict[str, float]:
    A = rng.standard_normal((n, n))
    positive, symmetric = A @ A.T + np.eye(n), A + A.T
    values, P = np.linalg.eigh(symmetric)
    size = np.abs(values).max()
    L = np.linalg.cholesky(positive)
    # Columns at right angles, of length √N: numbers whose covariance is I, exactly.
    white = np.linalg.qr(rng.standard_normal((5 * n, n)))[0] * np.sqrt(5 * n)
    drawn = white @ L.T
    k = int(rng.integers(1, n + 1))
    V = np.linalg.qr(rng.standard_normal((20, n, k)))[0]
    least = np.linalg.eigvalsh(np.swapaxes(V, 1, 2) @ symmetric @ V)[:, 0]
    best = np.linalg.eigvalsh(P[:, n - k :].T @ symmetric @ P[:, n - k :])[0]
    cubed = (P * values**3) @ P.T
    return {
        "LLᵀ = A": float(np.abs(L @ L.T - positive).max() / np.abs(positive).max()),
        "covariance of Lz = LLᵀ": float(
            np.abs(drawn.T @ drawn / len(drawn) - positive).max() / np.abs(positive).max()
        ),
        "det A = Πl²": abs(np.prod(np.diagonal(L)) ** 2 / np.linalg.det(positive) - 1),
        "eigenvalues of a symmetric matrix: imaginary part": float(
            np.abs(np.linalg.eigvals(symmetric).imag).max() / size
        ),
        "PᵀP = I": float(np.abs(P.T @ P - np.eye(n)).max()),
        "PᵀAP is diagonal": float(np.abs(P.T @ symmetric @ P - np.diag(values)).max() / size),
        "A³ = PD³Pᵀ": float(np.abs(np.linalg.matrix_power(symmetric, 3) - cubed).max() / size**3),
        "a subspace above λ_k (Courant–Fischer)": max(0.0, float(least.max() - values[n - k]))
        / size,
        "the eigenvectors off λ_k (Courant–Fischer)": abs(best - values[n - k]) / size,
    }


def _svd_errors(rng: np.random.Generator, n: int) -> dict[str, float]:
    # Below full rank as often as not, so that U has to be completed; σ from 0.1 to 1, since
    # AᵀA loses the digits of smaller ones (`_graded_loss` shows that).
    m = int(rng.integers(2, 9))
    rank = int(rng.integers(1, min(m, n) + 1))
    Q, P = (np.linalg.qr(rng.standard_normal((size, rank)))[0] for size in (m, n))
    true = np.sort(rng.uniform(0.1, 1.0, rank))[::-1]
    A = (Q * true) @ P.T
    U, singular, V = svd_by_gram(A)
    others = np.sqrt(np.maximum(np.linalg.eigvalsh(A @ A.T)[::-1], 0))
    return {
        "UΣ = AV": float(np.abs(U[:, :rank] * singular[:rank] - (A @ V)[:, :rank]).max()),
        "UᵀU = I": float(np.abs(U.T @ U - np.eye(m)).max()),
        "VᵀV = I": float(np.abs(V.T @ V - np.eye(n)).max()),
        "rank of AᵀA = rank of A": abs(float((singular > 1e-6).sum()) - rank),
        "σ by AᵀA": float(np.abs(singular[:rank] - true).max()),
        "σ by AAᵀ": float(np.abs(others[:rank] - true).max()),
    }


def _graded_loss(setting: Setting) -> dict[str, float]:
    """What AᵀA does to a zero and to a tiny singular value, and EVD to a negative one."""
    rng = setting.random()
    Q, P = np.linalg.qr(rng.standard_normal((2, 6, 6)))[0]
    graded = (Q * np.array([1.0, 0.5, 0.1, 1e-2, 1e-4, 1e-10])) @ P.T
    low = graded[:, :5] @ rng.standard_normal((5, 6))
    squares = np.linalg.eigvalsh(low.T @ low)
    basis = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    signed = (basis * np.array([2.0, -3.0])) @ basis.T
    return {
        "least": float(squares[0] / squares[-1]),
        "by AᵀA": abs(float(svd_by_gram(graded)[1][-1]) / 1e-10 - 1),
        "by SVD": abs(float(np.linalg.svd(graded, compute_uv=False)[-1]) / 1e-10 - 1),
        "signs": float(np.abs(np.linalg.svd(signed, compute_uv=False) - [3.0, 2.0]).max()),
    }


def _three_by_three(setting: Setting) -> tuple[float, float]:
    """Largest error of the six terms, and of Laplace's expansion along any row or column."""
    rng = setting.random()
    six = expanded = 0.0
    for _ in range(setting.of(10, 100, 1_000)):
        a = rng.standard_normal((3, 3))
        det, reach = np.linalg.det(a), _hadamard(a)
        plus = (
            a[0, 0] * a[1, 1] * a[2, 2] + a[1, 0] * a[2, 1] * a[0, 2] + a[2, 0] * a[0, 1] * a[1, 2]
        )
        less = (
            a[2, 0] * a[1, 1] * a[0, 2] + a[0, 0] * a[2, 1] * a[1, 2] + a[1, 0] * a[0, 1] * a[2, 2]
        )
        six = max(six, abs(plus - less - det) / reach)
        for j in range(3):
            for matrix in (a, a.T):
                expanded = max(expanded, abs(laplace_expansion(matrix, j) - det) / reach)
    return six, expanded


def laplace_expansion(A: Array, row: int) -> float:
    """det A along a row: Σ_k (−1)^(row+k) a_rk det A_rk, down to numbers."""
    if len(A) == 1:
        return float(A[0, 0])
    below = np.delete(A, row, axis=0)
    minors = (laplace_expansion(np.delete(below, k, axis=1), 0) for k in range(len(A)))
    return sum((-1) ** (row + k) * float(A[row, k]) * minor for k, minor in enumerate(minors))


def _hadamard(A: Array) -> float:
    return float(np.prod(np.linalg.norm(A, axis=1)))


def _near(got: Any, wanted: float) -> bool:
    return bool(abs(got - wanted) < 1e-12)


EXPERIMENTS = (
    Experiment(
        "shin-eigenvectors",
        "S",
        "lecture 1, examples",
        "Eigenvalues of a 2×2 matrix, determinants by expansion",
        worked_examples,
    ),
    Experiment(
        "shin-identities", "S", "lecture 1, theorems", "Lecture 1 on random matrices", identities
    ),
)
