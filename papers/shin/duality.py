"""Lecture 2, last part: duals of linear and quadratic programs, proved by multipliers and rays."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
    certify_program,
    solve_program,
)
from dualfold.programs.certificate import ProgramCertificate
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, agrees

ROUNDING = 1e-9  # relative; programs are solved to about 1e-12


def linear_programs(setting: Setting) -> Finding:
    """min cᵀx, Ax ≤ b against max −bᵀλ, Aᵀλ + c = 0, λ ≥ 0; and programs without optimum."""
    rng, count = setting.random(), setting.of(5, 30, 200)
    gaps, broken, excess = [], [], []
    worst = dict.fromkeys(KKT, 0.0)
    proved = caught = infeasible = unbounded = 0
    for _ in range(count):
        A, b, c, witness = bounded_program(rng)
        program = LinearProgram(c, A, b)
        answer, dual = solve_program(program), solve_program(program.dual)
        certificate = answer.certificate
        if isinstance(certificate, ProgramCertificate) and dual.point is not None:
            proved += certificate.level == "proved"
            scale = max(1.0, abs(certificate.value))
            gaps.append(abs(certificate.value - program.dual.value(dual.point)) / scale)
            broken.append(max(0.0, -float(b @ witness) - certificate.value) / scale)
            worst = {name: max(worst[name], getattr(certificate, name)) for name in KKT}
            excess.append(float(-b @ witness) - certificate.value)
            wrong = np.asarray(answer.multipliers) * 1.01
            caught += certify_program(program, answer.point, wrong).level != "proved"
        torn = LinearProgram(c, np.vstack([A, A[:1], -A[:1]]), np.concatenate([b, [0.0, -1.0]]))
        infeasible += _proves(torn, "infeasible")
        free = LinearProgram(rng.standard_normal(len(c)), A[: len(c) - 1], b[: len(c) - 1])
        unbounded += _proves(free, "unbounded")
    far = float(np.median(excess))
    rows = (
        _all("programs proved optimal by their multipliers", proved, count),
        agrees("d* less p*, largest", max(gaps), ROUNDING, about="strong duality"),
        agrees("a dual value above p*", max(broken), ROUNDING, about="weak duality"),
        Row("a random dual point below p*, median", None, far, far <= 0, "−: the bound is loose"),
        *(agrees(f"KKT: {KKT[name]}", worst[name], ROUNDING) for name in KKT),
        _all("multipliers 1 % off, refused", caught, count),
        _all("x ≤ 0 and x ≥ 1 added along a row: infeasible by a ray", infeasible, count),
        _all("d − 1 rows only: unbounded by a ray", unbounded, count),
    )  # fmt: skip
    sentence = (
        f"{proved} of {count} random linear programs are proved optimal, primal and dual agree "
        f"to {max(gaps):.1g}, and rays prove {infeasible} infeasible and {unbounded} unbounded "
        "ones so."
    )
    notes = ("The lecture has no program with numbers; these have 2 to 5 variables.",)
    return Finding(sentence, rows, notes=notes)


def quadratic_programs(setting: Setting) -> Finding:
    """The dual −½(c + Aᵀλ)ᵀQ⁻¹(c + Aᵀλ) − λᵀb, and the printed one with an A before Q⁻¹."""
    rng, count = setting.random(), setting.of(5, 30, 200)
    proved = caught = 0
    exact, above, printed_off, printed_above = [], [], [], []
    for _ in range(count):
        program = _square_quadratic(rng)
        answer = solve_program(program)
        if answer.multipliers is None:
            continue
        certificate = answer.certificate
        proved += certificate.level == "proved"
        value = program.value(answer.point)
        scale = max(1.0, abs(value))
        exact.append(abs(dual_function(program, answer.multipliers) - value) / scale)
        printed_off.append(abs(printed_dual(program, answer.multipliers) - value) / scale)
        anywhere = rng.exponential(size=(50, len(program.b)))
        above.append(max(dual_function(program, y) for y in anywhere) - value)
        printed_above.append(float(np.mean([printed_dual(program, y) > value for y in anywhere])))
        wrong = np.asarray(answer.multipliers) + 0.01
        caught += certify_program(program, answer.point, wrong).level != "proved"
    off, share = float(np.median(printed_off)), float(np.mean(printed_above))
    rows = (
        _all("programs proved optimal by their multipliers", proved, count),
        agrees("D(λ*) less p*, largest", max(exact), ROUNDING),
        Row("D(λ) above p*, at random λ ≥ 0", "never", max(above), max(above) <= 1e-9, "≤ 0"),
        _all("multipliers 0.01 off, refused", caught, count),
        Row("printed dual at λ* less p*, median", 0.0, off, off > 1e-3,
            "the extra A is a misprint: this value is wrong"),
        Row("share of λ ≥ 0 where the printed dual is above p*", 0.0, share, share > 0,
            "no lower bound; and with m ≠ d its product does not exist"),
    )  # fmt: skip
    sentence = (
        f"The dual function meets the optimum of {count} random quadratic programs to "
        f"{max(exact):.1g}. With the A that the lecture prints before Q⁻¹ it misses by "
        f"{off:.2g} (median) and lies above the optimum for {share:.0%} of multipliers: a misprint."
    )
    caption = "min ½x², x ≥ 1 (written −2x ≤ −2): the dual touches ½, the printed one does not."
    return Finding(sentence, rows, ((caption, _smallest_figure()),))


def gaps(setting: Setting) -> Finding:
    """Weak duality always, strong duality not: no convexity, or no Slater point."""
    rng, count, n = setting.random(), setting.of(5, 40, 200), setting.of(6, 10, 12)
    signs = np.array(list(product((-1.0, 1.0), repeat=n)))
    below, open_ = 0, []
    for _ in range(count):
        W = rng.standard_normal((n, n))
        W += W.T
        best = float(np.einsum("si,ij,sj->s", signs, W, signs).min())
        bound = n * float(np.linalg.eigvalsh(W)[0])  # D(ν) at ν = −λ_min·1, where W + diag ν ⪰ 0
        below += bound <= best
        open_.append((best - bound) / abs(best))
    triangle = np.ones((3, 3)) - np.eye(3)
    three = np.array(list(product((-1.0, 1.0), repeat=3)))
    least = float(np.einsum("si,ij,sj->s", three, triangle, three).min())
    # D is concave and the triangle symmetric, so some ν with equal entries is best.
    highest = 3 * float(np.linalg.eigvalsh(triangle)[0])
    # L(x, λ) = e^−x + λx²/y along x = t, y = t³: both terms go to 0 for any λ.
    t = 1e6
    lagrangian = max(float(np.exp(-t) + weight * t**2 / t**3) for weight in (0.0, 0.1, 1.0, 10.0))
    reached = -1 / (4 * 1e6)
    rows = (
        _all("dual bounds below p*: min xᵀWx, x_i = ±1", below, count),
        Row("those bounds below p*, over |p*|, median", None, float(np.median(open_))),
        Row(
            "p* − d* for W of a triangle (p* = −2, d* = −3)",
            "may be > 0",
            least - highest,
            abs(least - highest - 1) < 1e-12,
            "1, exactly: not convex, so weak duality only",
        ),
        Row(
            "L far out in min e^−x, x²/y ≤ 0, y > 0 (p* = 1, at x = 0)",
            "may be < p*",
            lagrangian,
            lagrangian < 1e-4,
            "→ 0 for every λ, so d* = 0: convex, but no point has x²/y < 0 (Slater)",
        ),
        Row(
            "D(10⁶) of min x, x² ≤ 0 (p* = 0)",
            None,
            reached,
            reached < 0,
            "−1/4λ: d* = 0 is not reached, so KKT has no multiplier (∇f = 1, ∇g = 0)",
        ),
    )
    sentence = (
        f"{below} of {count} dual bounds lie below the best of {2**n:,} sign vectors; for a "
        f"triangle the gap is exactly {least - highest:.4g}. Convexity alone does not close it: "
        "without Slater's condition one program keeps a gap of 1, another has no multiplier."
    )
    return Finding(sentence, rows)


def bounded_program(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """(A, b, c, λ): feasible (0 is inside) and bounded, since λ ≥ 0 has Aᵀλ + c = 0."""
    d = int(rng.integers(2, 6))
    A = rng.standard_normal((2 * d + 2, d))
    witness = rng.exponential(size=len(A))
    return A, rng.exponential(size=len(A)) + 0.1, -A.T @ witness, witness


def dual_function(program: QuadraticProgram, multipliers: Array) -> float:
    """inf over x of the Lagrangian of a program with Ax ≤ b and invertible Q."""
    pull = program.c + program.A.T @ multipliers
    return float(-pull @ np.linalg.solve(program.Q, pull) / 2 - multipliers @ program.b)


def printed_dual(program: QuadraticProgram, multipliers: Array) -> float:
    """The lecture's formula as printed; only for as many constraints as variables."""
    pull = program.c + program.A.T @ multipliers
    turned = program.A @ np.linalg.solve(program.Q, pull)
    return float(-pull @ turned / 2 - multipliers @ program.b)


KKT = {
    "primal_feasibility": "g(x) above 0",
    "dual_feasibility": "λ below 0",
    "stationarity": "∇f + Σλ∇g off 0",
    "complementarity": "λg off 0",
}


def _square_quadratic(rng: np.random.Generator) -> QuadraticProgram:
    """d constraints on d variables, so that the printed formula exists; some are active."""
    d = int(rng.integers(2, 6))
    root = rng.standard_normal((d, d))
    A, inside = rng.standard_normal((2, d, d))
    b = A @ inside[0] + rng.exponential(size=d)
    return QuadraticProgram(root @ root.T + np.eye(d), 3 * rng.standard_normal(d), A, b)


def _smallest_figure() -> Any:
    program = QuadraticProgram([[1.0]], [0.0], [[-2.0]], [-2.0])
    weights = np.linspace(0, 1, 101)
    right, printed = (
        [formula(program, np.array([w])) for w in weights]
        for formula in (dual_function, printed_dual)
    )
    low = np.asarray(printed) <= 2  # beyond, it only runs out of the picture
    lines = [
        Line("D(λ)", weights, right),
        Line("as printed, with A before Q⁻¹", weights[low], np.asarray(printed)[low]),
        Line("p* = ½", [0.0, 1.0], [0.5, 0.5], look="bound"),
    ]
    return chart_figure([Chart(lines, x_name="λ", y_name="value")])


def _proves(program: LinearProgram, status: str) -> bool:
    answer = solve_program(program)
    return answer.status == status and answer.certificate.level == "proved"


def _all(what: str, got: int, of: int) -> Row:
    return Row(what, None, got, got == of, f"all {of}")


EXPERIMENTS = (
    Experiment("shin-lp", "S", "lecture 2, LP", "Linear programs and their duals", linear_programs),
    Experiment(
        "shin-qp", "S", "lecture 2, QP", "Quadratic programs and their duals", quadratic_programs
    ),
    Experiment("shin-gap", "S", "lecture 2, duality", "Where strong duality fails", gaps),
)
