"""The trace and min–max theorems on this package's answers, and a claim that is false."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.embedding import embed
from dualfold.trace import TraceCertificate, TraceProblem, certify
from dualfold.trace.solvers import Dense
from papers.figures.trace import trace_figure
from papers.finding import Experiment, Finding, Row, Setting, claim, theorem

ROUNDING = 1e-11  # relative to Σ|λ|; matrices have up to 12 rows and B a condition up to 1e3


@dataclass(frozen=True, eq=False)
class Pencil:
    """A symmetric A and a positive definite B (None: I) with LAPACK's eigenvalues, ascending."""

    A: Array
    B: Array | None
    values: Array

    @property
    def n(self) -> int:
        return len(self.A)

    @property
    def scale(self) -> float:
        return float(np.abs(self.values).sum())

    def problem(self, d: int, sense: str = "min") -> TraceProblem:
        return TraceProblem(self.A, self.B, d, sense)  # type: ignore[arg-type]

    def bases(self, d: int, count: int, rng: np.random.Generator) -> Array:
        """Random V with VᵀBV = I."""
        V = np.linalg.qr(rng.standard_normal((count, self.n, d)))[0]
        return V if self.B is None else np.linalg.solve(scipy.linalg.cholesky(self.B), V)

    def traces(self, V: Array) -> Array:
        return np.asarray(np.einsum("bij,ik,bkj->b", V, self.A, V))


def random_pencil(rng: np.random.Generator, n: int, *, plain: bool) -> Pencil:
    """Normal entries; B = I, or a random one with eigenvalues between 1/30 and 30."""
    A = rng.standard_normal((n, n))
    A += A.T
    if plain:
        return Pencil(A, None, np.linalg.eigvalsh(A))
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = (Q * np.exp(rng.uniform(-3.4, 3.4, n))) @ Q.T
    B = (B + B.T) / 2
    return Pencil(A, B, scipy.linalg.eigh(A, B, eigvals_only=True))


def solved(problem: TraceProblem) -> tuple[Array, Array, TraceCertificate]:
    """(values, vectors, certificate) of this package's answer."""
    found = embed(problem, solver=Dense())
    return found.values, found.solution.vectors, found.certificate  # type: ignore[return-value]


def trace_theorem(setting: Setting) -> Finding:
    """min tr(VᵀAV) over VᵀBV = I is the sum of the smallest eigenvalues, max of the largest."""
    matrices, bases = setting.of((10, 50), (40, 500), (400, 2_000))
    rows: list[Row] = []
    for plain, name in ((True, "VᵀV = I"), (False, "VᵀBV = I")):
        rows += _theorem_rows(setting.random(), matrices, bases, plain, name)
    rng, shown = setting.random(), {}
    for plain, name in ((True, "B = I"), (False, "a random B")):
        pencil = random_pencil(rng, 6, plain=plain)
        traces = pencil.traces(pencil.bases(2, setting.of(500, 20_000, 100_000), rng))
        ends = [solved(pencil.problem(2, sense))[0].sum() for sense in ("min", "max")]
        shown[name] = (traces, float(ends[0]), float(ends[1]))
    sentence = (
        f"On {2 * matrices} random problems our answers are the sums of eigenvalues that the "
        f"theorem gives; none of {2 * matrices * bases:,} random bases is past the bound that the "
        "certificate proves, and an answer with one direction replaced is never called proved."
    )
    figure = trace_figure(shown, title="Random bases between the two bounds")
    caption = "Traces of random bases (d = 2, n = 6) and our two answers."
    return Finding(sentence, tuple(rows), ((caption, figure),), ("Relative to the sum of |λ|.",))


def _theorem_rows(
    rng: np.random.Generator, matrices: int, bases: int, plain: bool, name: str
) -> list[Row]:
    off = past = 0.0
    proved = fooled = 0
    for _ in range(matrices):
        pencil = random_pencil(rng, int(rng.integers(3, 12)), plain=plain)
        d = int(rng.integers(1, pencil.n))
        traces = pencil.traces(pencil.bases(d, bases, rng))
        for sense, sign in (("min", 1), ("max", -1)):
            problem = pencil.problem(d, sense)
            values, vectors, certificate = solved(problem)
            ends = np.sort(sign * pencil.values)[:d].sum()
            off = max(off, abs(sign * float(values.sum()) - float(ends)) / pencil.scale)
            best = float((sign * traces).min())
            past = max(past, (sign * certificate.bound - best) / pencil.scale)
            proved += certificate.level == "proved"
            # The next eigenvector in the place of the last one: orthonormal, and not optimal.
            longer = solved(pencil.problem(d + 1, sense))[1]
            other = np.column_stack([vectors[:, : d - 1], longer[:, d]])
            fooled += certify(problem, other).level == "proved"
    return [
        theorem(f"{name}: our value off the sum of eigenvalues", off, at_most=ROUNDING),
        theorem(f"{name}: a random basis past the proved bound", past, at_most=ROUNDING),
        theorem(f"{name}: share of answers proved", proved / (2 * matrices), equals=1),
        theorem(f"{name}: wrong answers proved", fooled, equals=0,
                about=f"of {2 * matrices}, the last direction replaced by the next"),
    ]  # fmt: skip


def termwise_claim(setting: Setting) -> Finding:
    """The proof's v_iᵀAv_i ≤ λ_i fails, and so does ≥; sums and Ritz values do obey."""
    rng, cases = setting.random(), setting.of(60, 400, 4_000)
    termwise = step = 0
    short = low = 0.0
    for _ in range(cases):
        pencil = random_pencil(rng, int(rng.integers(3, 12)), plain=True)
        d = int(rng.integers(2, pencil.n + 1))
        V = pencil.bases(d, 1, rng)[0]
        smallest, room = solved(pencil.problem(d))[0], ROUNDING * pencil.scale
        each = np.sort(np.diag(V.T @ pencil.A @ V))
        termwise += bool((each <= smallest + room).all())
        short = max(short, float((np.cumsum(smallest) - np.cumsum(each)).max()) / pencil.scale)
        inside = solved(TraceProblem(V.T @ pencil.A @ V, None, d, "min"))[0]
        low = max(low, float((smallest - inside).max()) / pencil.scale)
        # The proof: λ_k ≤ min of xᵀAx over x ⟂ v_1 … v_{k−1}; here k = d.
        free = scipy.linalg.null_space(V[:, : d - 1].T)
        step += bool(_end(pencil.A, free, "min") >= smallest[-1] - room)
    turned = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2)
    first = solved(TraceProblem(np.diag([0.0, 1.0]), None, 1, "min"))[0][0]
    term = float((turned.T @ np.diag([0.0, 1.0]) @ turned)[0, 0])
    rows = (
        claim("v₁ᵀAv₁ less λ₁, A = diag(0, 1), V turned by 45°", "≤ 0", term - first,
              lambda x: x <= 1e-12, "it is ½"),
        claim(f"share of {cases} random V with v_iᵀAv_i ≤ λ_i for all i", 1.0, termwise / cases,
              lambda x: x == 1),
        claim("share with λ_k ≤ min of xᵀAx over x ⟂ v₁ … v_{k−1}", 1.0, step / cases,
              lambda x: x == 1, "the induction's step; fewer x make a max smaller, not larger"),
        theorem("sums of the k smallest terms below λ₁ + … + λ_k", short, at_most=ROUNDING,
                about="Schur: this proves the theorem"),
        theorem("eigenvalues θ_i of VᵀAV below λ_i", low, at_most=ROUNDING,
                about="Cauchy: so does this"),
    )  # fmt: skip
    sentence = (
        f"The theorem stands, its proof in the notes does not: {termwise} of {cases} random bases "
        "have every term below its eigenvalue. What bounds termwise are the eigenvalues of VᵀAV, "
        "and the sums of sorted terms: either proves the theorem."
    )
    return Finding(sentence, rows, notes=("Excesses are relative to the sum of |λ|.",))


def min_max(setting: Setting) -> Finding:
    """λ_k = min over dim U = k of the max of xᵀAx, and max over dim n−k+1 of the min."""
    rng = setting.random()
    matrices, spaces = setting.of((3, 3), (8, 10), (60, 40))
    low = high = reached = 0.0
    for _ in range(matrices):
        pencil = random_pencil(rng, int(rng.integers(3, 9)), plain=True)
        n, scale = pencil.n, pencil.scale
        vectors = solved(pencil.problem(n))[1]
        for k in range(1, n + 1):
            wanted = float(pencil.values[k - 1])
            first, last = vectors[:, :k], vectors[:, k - 1 :]
            ends = (_end(pencil.A, first, "max"), _end(pencil.A, last, "min"))
            reached = max(reached, float(np.abs(np.subtract(ends, wanted)).max()) / scale)
            for U in pencil.bases(k, spaces, rng):
                low = max(low, (wanted - _end(pencil.A, U, "max")) / scale)
            for U in pencil.bases(n - k + 1, spaces, rng):
                high = max(high, (_end(pencil.A, U, "min") - wanted) / scale)
    rows = (
        theorem("max over a random U of dimension k, below λ_k", low, at_most=ROUNDING),
        theorem("min over a random U of dimension n−k+1, above λ_k", high, at_most=ROUNDING),
        theorem("both at the spans of our eigenvectors, off λ_k", reached, at_most=ROUNDING),
    )
    sentence = (
        f"On {matrices} random matrices, with {spaces} random spaces for every k, none passes λ_k "
        f"by more than {max(low, high, 0):.0e}, and the spans of our eigenvectors reach it to "
        f"{reached:.0e}."
    )
    return Finding(sentence, rows, notes=("Relative to the sum of |λ|.",))


def _end(A: Array, U: Array, sense: str) -> float:
    """The largest or the least xᵀAx over unit x in the span of U: a problem with d = 1."""
    inside = U.T @ A @ U
    return float(solved(TraceProblem((inside + inside.T) / 2, None, 1, sense))[0][0])  # type: ignore[arg-type]


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
