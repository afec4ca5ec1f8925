"""The trace theorem and the min–max theorem on random matrices, and a claim that is false."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from papers.figures.trace import trace_figure
from papers.finding import Experiment, Finding, Row, Setting, agrees

ROUNDING = 1e-11  # relative to Σ|λ|; matrices have up to 12 rows and B a condition up to 1e3


@dataclass(frozen=True, eq=False)
class Pencil:
    """A symmetric A and a positive definite B with all their eigenvalues, smallest first."""

    A: Array
    B: Array
    values: Array
    vectors: Array

    @property
    def n(self) -> int:
        return len(self.A)

    def traces(self, d: int, bases: int, rng: np.random.Generator) -> Array:
        """tr(VᵀAV) of random V with VᵀBV = I."""
        root = scipy.linalg.cholesky(self.B)
        V = np.linalg.qr(rng.standard_normal((bases, self.n, d)))[0]
        V = np.linalg.solve(root, V)
        return np.asarray(np.einsum("bij,ik,bkj->b", V, self.A, V))


def random_pencil(rng: np.random.Generator, n: int, *, identity: bool) -> Pencil:
    """Normal entries; B = I, or a random one with eigenvalues between 1/30 and 30."""
    A = rng.standard_normal((n, n))
    A += A.T
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = np.eye(n) if identity else (Q * np.exp(rng.uniform(-3.4, 3.4, n))) @ Q.T
    B = (B + B.T) / 2
    values, vectors = scipy.linalg.eigh(A, B)
    return Pencil(A, B, values, vectors)


def trace_theorem(setting: Setting) -> Finding:
    """min tr(VᵀAV) over VᵀBV = I is the sum of the smallest eigenvalues, max of the largest."""
    matrices, bases = setting.of((20, 50), (100, 500), (1_000, 2_000))
    rows: list[Row] = []
    for identity, name in ((True, "VᵀV = I"), (False, "VᵀBV = I")):
        below, above, reached = _beaten(setting.random(), matrices, bases, identity)
        rows += [
            agrees(f"{name}: a random basis below the sum of the smallest", below, ROUNDING),
            agrees(f"{name}: a random basis above the sum of the largest", above, ROUNDING),
            agrees(f"{name}: the eigenvectors off these sums", reached, ROUNDING),
        ]
    rng = setting.random()
    shown = {}
    for identity, name in ((True, "B = I"), (False, "a random B")):
        pencil = random_pencil(rng, 6, identity=identity)
        traces = pencil.traces(2, setting.of(500, 20_000, 100_000), rng)
        shown[name] = (traces, float(pencil.values[:2].sum()), float(pencil.values[-2:].sum()))
    wrong = [row for row in rows if not row.holds]
    verdict = f"{len(wrong)} of the {len(rows)} bounds fail" if wrong else "None"
    sentence = (
        f"{verdict} of {2 * matrices * bases:,} random bases on {2 * matrices:,} random matrices "
        "beats the eigenvectors, which reach the bound; with VᵀBV = I as with VᵀV = I."
    )
    figure = trace_figure(shown, title="Random bases between the two bounds")
    caption = "Traces of random bases (d = 2, n = 6) and the bounds of the theorem."
    return Finding(sentence, tuple(rows), ((caption, figure),), ("Relative to the sum of |λ|.",))


def termwise_claim(setting: Setting) -> Finding:
    """The proof's v_iᵀAv_i ≤ λ_i fails, and so does ≥; sums and Ritz values do obey."""
    turned = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2)
    terms = np.sort(np.diag(turned.T @ np.diag([0.0, 1.0]) @ turned))
    rng = setting.random()
    cases = setting.of(100, 1_000, 10_000)
    above = below = step_holds = 0
    short_sum = low_ritz = high_least = 0.0
    for _ in range(cases):
        pencil = random_pencil(rng, int(rng.integers(3, 12)), identity=True)
        d = int(rng.integers(2, pencil.n + 1))
        V = np.linalg.qr(rng.standard_normal((pencil.n, d)))[0]
        small, scale = V.T @ pencil.A @ V, float(np.abs(pencil.values).sum())
        each, smallest = np.sort(np.diag(small)), pencil.values[:d]
        above += bool((each > smallest + ROUNDING * scale).any())
        below += bool((each < smallest - ROUNDING * scale).any())
        sums = np.cumsum(smallest) - np.cumsum(each)
        short_sum = max(short_sum, float(sums.max()) / scale)
        low_ritz = max(low_ritz, float((smallest - np.linalg.eigvalsh(small)).max()) / scale)
        # The proof: λ_k ≤ min of xᵀAx over x ⟂ v_1 … v_{k−1}; here k = d.
        free = scipy.linalg.null_space(V[:, : d - 1].T)
        least = float(np.linalg.eigvalsh(free.T @ pencil.A @ free)[0])
        step_holds += bool(pencil.values[d - 1] <= least + ROUNDING * scale)
        high_least = max(high_least, (least - float(pencil.values[d - 1])) / scale)
    rows = (
        Row(
            "A = diag(0, 1), V turned by 45°: v₁ᵀAv₁ ≤ λ₁ = 0",
            "≤ 0",
            float(terms[0]),
            terms[0] > 0.1,
            "the notes err: it is ½",
        ),
        Row(
            "the same V: v₂ᵀAv₂ ≥ λ₂ = 1",
            None,
            float(terms[1]),
            terms[1] < 0.9,
            "½ again, so ≥ for ≤ would not mend it",
        ),
        Row(f"random V with some v_iᵀAv_i > λ_i, of {cases}", 0.0, float(above), above > 0),
        Row(f"random V with some v_iᵀAv_i < λ_i, of {cases}", None, float(below), below > 0),
        Row(
            f"the induction's step λ_k ≤ min over x ⟂ v_1…v_{{k−1}}, of {cases}",
            float(cases),
            float(step_holds),
            step_holds < cases,
            "the notes err: fewer x make the max smaller, not larger",
        ),
        agrees("instead, that minimum above λ_k", high_least, ROUNDING),
        agrees(
            "sums of the k smallest terms below λ_1 + … + λ_k", short_sum, ROUNDING, about="Schur"
        ),
        agrees("eigenvalues θ_i of VᵀAV below λ_i", low_ritz, ROUNDING, about="Cauchy"),
    )
    sentence = (
        f"The theorem stands, its proof in the notes does not: {above} of {cases} random bases "
        f"have a term above its eigenvalue and {below} one below. What bounds termwise are the "
        "eigenvalues of VᵀAV, and the sums of sorted terms: either proves the theorem."
    )
    return Finding(sentence, rows, notes=("Excesses are relative to the sum of |λ|.",))


def min_max(setting: Setting) -> Finding:
    """λ_k = min over dim U = k of the max of xᵀAx, and max over dim n−k+1 of the min."""
    rng = setting.random()
    matrices, spaces = setting.of((10, 20), (50, 100), (300, 500))
    low = high = reached = 0.0
    for _ in range(matrices):
        n = int(rng.integers(3, 12))
        pencil = random_pencil(rng, n, identity=True)
        scale = float(np.abs(pencil.values).sum())
        for k in range(1, n + 1):
            first, last = pencil.vectors[:, :k], pencil.vectors[:, k - 1 :]
            wanted = pencil.values[k - 1]
            off = (_ritz(pencil.A, first)[-1] - wanted, _ritz(pencil.A, last)[0] - wanted)
            reached = max(reached, float(np.abs(off).max()) / scale)
            U = np.linalg.qr(rng.standard_normal((spaces, n, k)))[0]
            low = max(low, float(wanted - _ritz(pencil.A, U)[:, -1].min()) / scale)
            U = np.linalg.qr(rng.standard_normal((spaces, n, n - k + 1)))[0]
            high = max(high, float(_ritz(pencil.A, U)[:, 0].max() - wanted) / scale)
    rows = (
        agrees("max over a random U of dimension k, below λ_k", low, ROUNDING),
        agrees("min over a random U of dimension n−k+1, above λ_k", high, ROUNDING),
        agrees("both at the spans of eigenvectors, off λ_k", reached, ROUNDING),
    )
    sentence = (
        f"On {matrices} random matrices, with {spaces} random spaces for every k, none passes λ_k "
        f"by more than {max(low, high):.0e} (rounding), and the spans of eigenvectors reach it to "
        f"{reached:.0e}."
    )
    return Finding(sentence, rows, notes=("Relative to the sum of |λ|.",))


def _beaten(
    rng: np.random.Generator, matrices: int, bases: int, identity: bool
) -> tuple[float, float, float]:
    """How far random bases get past the bounds, and the eigenvectors off them."""
    below = above = reached = 0.0
    for _ in range(matrices):
        pencil = random_pencil(rng, int(rng.integers(3, 12)), identity=identity)
        d = int(rng.integers(1, pencil.n + 1))
        scale = float(np.abs(pencil.values).sum())
        first, last = pencil.vectors[:, :d], pencil.vectors[:, pencil.n - d :]
        least, most = pencil.values[:d].sum(), pencil.values[pencil.n - d :].sum()
        for V, bound in ((first, least), (last, most)):
            reached = max(reached, abs(float(np.trace(V.T @ pencil.A @ V) - bound)) / scale)
        traces = pencil.traces(d, bases, rng)
        below = max(below, float(least - traces.min()) / scale)
        above = max(above, float(traces.max() - most) / scale)
    return below, above, reached


def _ritz(A: Array, U: Array) -> Array:
    """Eigenvalues of A on the span of the orthonormal U (or of each of them)."""
    return np.asarray(np.linalg.eigvalsh(np.swapaxes(U, -1, -2) @ A @ U))


EXPERIMENTS = (
    Experiment(
        "kokiopoulou-trace",
        "K",
        "§2, trace optimisation",
        "The trace theorem on random matrices",
        trace_theorem,
    ),
    Experiment(
        "kokiopoulou-termwise",
        "K",
        "§2, proof of the theorem",
        "A step of the proof that is false",
        termwise_claim,
    ),
    Experiment(
        "kokiopoulou-minmax", "K", "§2, min–max", "The min–max theorem on random matrices", min_max
    ),
)
