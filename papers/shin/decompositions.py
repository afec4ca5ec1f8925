"""Lecture 1 on this package's answers: eigenvalues, the spectral theorem, SVD."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from dualfold import PCA
from dualfold.arrays import Array
from dualfold.embedding import embed
from dualfold.trace import TraceProblem
from dualfold.trace.solvers import Dense
from papers.figures.lectures import four_turns_figure
from papers.finding import Experiment, Finding, Setting, claim, number, theorem

# The lecture's example: eigenvalues 5 and 2, eigenvectors along (2, 1) and (1, −1).
EXAMPLE = np.array([[4.0, 2.0], [1.0, 3.0]])
# With it BA is symmetric: Ax = λx is then BAx = λBx, a pencil as this package solves them.
BALANCE = np.diag([1.0, 2.0])
EXACT = "a 2×2 matrix in whole numbers; rounding"
ROUNDING = 1e-9  # relative; matrices of up to 8 rows


def pairs(A: Array, B: Array | None = None) -> tuple[Array, Array]:
    """All eigenvalues, largest first, and their vectors, by our solver."""
    found = embed(TraceProblem(A, B, len(A), "max"), solver=Dense())
    return found.values, found.solution.vectors


def worked_examples(setting: Setting) -> Finding:
    """The lecture's 2×2 matrix, as the symmetric pencil (BA, B) with the same eigenpairs."""
    values, vectors = pairs(BALANCE @ EXAMPLE, BALANCE)
    slopes = vectors[1] / vectors[0]
    between = abs(float(vectors[:, 0] @ vectors[:, 1])) / float(
        np.prod(np.linalg.norm(vectors, axis=0))
    )
    rows = (
        number("larger eigenvalue", 5.0, values[0], 1e-12, EXACT),
        number("smaller eigenvalue", 2.0, values[1], 1e-12, EXACT),
        number("E₅ spanned by (2, 1): slope", 0.5, slopes[0], 1e-12, EXACT),
        number("E₂ spanned by (1, −1): slope", -1.0, slopes[1], 1e-12, EXACT),
        number("coefficient of λ in p_A, −(λ₁ + λ₂)", -7.0, -values.sum(), 1e-12, EXACT),
        number("p_A(0) = λ₁λ₂", 10.0, np.prod(values), 1e-12, EXACT),
        theorem("|cos| of the angle between E₅ and E₂", between, equals=1 / np.sqrt(10),
                within=1e-12, about="a matrix that is not symmetric: not perpendicular"),
    )  # fmt: skip
    sentence = (
        f"The lecture's matrix has eigenvalues {values[0]:.6g} and {values[1]:.6g} with "
        f"eigenvectors along the ones it gives; they are {np.degrees(np.arccos(between)):.1f}° "
        "apart, as the matrix is not symmetric."
    )
    caption = "What a matrix does to the circle: turn (Vᵀ), stretch (Σ), turn (U)."
    notes = ("Solved as BAx = λBx with B = diag(1, 2), which makes BA symmetric.",)
    return Finding(sentence, rows, ((caption, four_turns_figure(EXAMPLE)),), notes)


def identities(setting: Setting) -> Finding:
    """What lecture 1 says of symmetric matrices and of SVD, on our eigenpairs and our PCA."""
    rng, matrices = setting.random(), setting.of(10, 60, 600)
    worst: dict[str, float] = defaultdict(float)
    for _ in range(matrices):
        n = int(rng.integers(2, 9))
        for errors in (_spectral_errors(rng, n), _svd_errors(rng, n)):
            for what, error in errors.items():
                worst[what] = max(worst[what], error)
    basis = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    signed = (basis * np.array([2.0, -3.0])) @ basis.T
    least = float(pairs((signed + signed.T) / 2)[0][-1])
    rank_four = rng.standard_normal((6, 4)) @ rng.standard_normal((4, 5))
    squares = pairs(rank_four.T @ rank_four)[0]
    rows = (
        *(theorem(what, error, at_most=ROUNDING) for what, error in worst.items()),
        claim("least eigenvalue of AᵀA over the largest, A of rank n − 1", "all λ positive",
              squares[-1] / squares[0], lambda x: x > 1e-12, "0: they are ≥ 0"),
        claim("σ₁ of a symmetric matrix with λ = 2, −3, less our λ", "EVD = SVD",
              np.linalg.norm(signed, 2) - least, lambda x: abs(x) < 1e-9,
              "σ = |λ|: for negative λ the two differ by the sign of u"),
    )  # fmt: skip
    sentence = (
        f"On {matrices} random matrices no statement is off by more than "
        f"{max(worst.values()):.1g}. Two words need care: eigenvalues of AᵀA are not all positive "
        "but not negative, and EVD is SVD only for positive semidefinite matrices."
    )
    notes = (
        "Rules of the determinant, Laplace's expansion and Cholesky's factor are the lecture's "
        "but not about anything that this package computes; they are left out.",
    )
    return Finding(sentence, rows, notes=notes)


def _spectral_errors(rng: np.random.Generator, n: int) -> dict[str, float]:
    A = rng.standard_normal((n, n))
    A += A.T
    values, P = pairs(A)
    size = float(np.abs(values).max())
    reach = float(np.prod(np.linalg.norm(A, axis=1)))  # Hadamard's bound of |det A|
    cubed = (P * values**3) @ P.T
    return {
        "tr A = Σλ": abs(values.sum() - np.trace(A)) / float(np.abs(values).sum()),
        "det A = Πλ, of Hadamard's bound": abs(np.prod(values) - np.linalg.det(A)) / reach,
        "PᵀP = I": float(np.abs(P.T @ P - np.eye(n)).max()),
        "PᵀAP is diagonal": float(np.abs(P.T @ A @ P - np.diag(values)).max()) / size,
        "A³ = PD³Pᵀ": float(np.abs(np.linalg.matrix_power(A, 3) - cubed).max()) / size**3,
    }


def _svd_errors(rng: np.random.Generator, n: int) -> dict[str, float]:
    """The lecture's construction, u_i = Av_i/√λ_i, with A the centred rows and v by our PCA."""
    X = rng.standard_normal((3 * n, n)) * np.linspace(1.0, 0.3, n)
    model = PCA(n_components=n).fit(X)
    A, V = X - X.mean(axis=0), model.components_.T
    singular = np.sqrt(model.eigenvalues_ * len(X))
    U = A @ V / singular
    true = np.linalg.svd(A, compute_uv=False)
    return {
        "σ = √(Nλ) of our PCA, against LAPACK's": float(np.abs(singular / true - 1).max()),
        "UᵀU = I for u_i = Av_i/√λ_i": float(np.abs(U.T @ U - np.eye(n)).max()),
        "VᵀV = I": float(np.abs(V.T @ V - np.eye(n)).max()),
        "UΣVᵀ = A": float(np.abs((U * singular) @ V.T - A).max() / true[0]),
    }


EXPERIMENTS = (
    Experiment(
        "shin-eigenvectors",
        "S",
        "lecture 1, examples",
        "Eigenvalues of the lecture's matrix",
        worked_examples,
    ),
    Experiment(
        "shin-identities", "S", "lecture 1, theorems", "Lecture 1 on our answers", identities
    ),
)
