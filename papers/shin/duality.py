"""Lecture 2, last part: duals of linear and quadratic programs, proved by multipliers and rays."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.embedding import embed
from dualfold.programs import (
    GeneralProblem,
    LinearProgram,
    ProgramCertificate,
    QuadraticProgram,
    certify_program,
    quadratic_dual,
    solve_general,
    solve_program,
)
from dualfold.trace import TraceProblem
from dualfold.trace.solvers import Dense
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, claim, theorem

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
            assert answer.point is not None
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
        theorem("d* less p*, largest", max(gaps), at_most=ROUNDING, about="strong duality"),
        theorem("a dual value above p*", max(broken), at_most=ROUNDING, about="weak duality"),
        theorem("a random dual point less p*, median", far, at_most=0, about="weak duality"),
        *(theorem(f"KKT: {KKT[name]}", worst[name], at_most=ROUNDING) for name in KKT),
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
        if answer.point is None or answer.multipliers is None:
            continue
        certificate = answer.certificate
        proved += certificate.level == "proved"
        value = program.value(answer.point)
        scale = max(1.0, abs(value))
        exact.append(abs(quadratic_dual(program, answer.multipliers) - value) / scale)
        printed_off.append(abs(printed_dual(program, answer.multipliers) - value) / scale)
        anywhere = rng.exponential(size=(50, len(program.b)))
        above.append(max(quadratic_dual(program, y) for y in anywhere) - value)
        printed_above.append(float(np.mean([printed_dual(program, y) > value for y in anywhere])))
        wrong = np.asarray(answer.multipliers) + 0.01
        caught += certify_program(program, answer.point, wrong).level != "proved"
    off, share = float(np.median(printed_off)), float(np.mean(printed_above))
    rows = (
        _all("programs proved optimal by their multipliers", proved, count),
        theorem("D(λ*) less p*, largest", max(exact), at_most=ROUNDING),
        theorem("D(λ) less p* at random λ ≥ 0, largest", max(above), at_most=0, within=1e-9),
        _all("multipliers 0.01 off, refused", caught, count),
        claim("printed dual at λ* less p*, median", 0.0, off, lambda x: x <= ROUNDING,
              "the extra A is a misprint"),
        claim("share of λ ≥ 0 where the printed dual is above p*", 0.0, share, lambda x: x == 0,
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
    """Weak duality always, strong duality not: min xᵀWx over x_i = ±1 and its dual bound."""
    rng, count, n = setting.random(), setting.of(5, 40, 200), setting.of(6, 10, 12)
    open_ = []
    for _ in range(count):
        W = rng.standard_normal((n, n))
        best, bound = signs_and_bound(W + W.T)
        open_.append((best - bound) / abs(best))
    least, highest = signs_and_bound(np.ones((3, 3)) - np.eye(3))
    rows = (
        theorem("p* less our dual bound over |p*|, least", min(open_), at_least=0,
                about="weak duality; min xᵀWx, x_i = ±1"),
        claim("the same, median", "strong duality need not hold", float(np.median(open_)),
              lambda x: x > 1e-9, "not a convex problem"),
        theorem("p* − d* for W of a triangle", least - highest, equals=1, within=1e-12,
                about="p* = −2; D is concave and the triangle symmetric, so d* = 3λ_min = −3"),
        *_without_slater(),
    )  # fmt: skip
    sentence = (
        f"All {count} dual bounds lie below the best of {2**n:,} sign vectors; for a triangle the "
        f"gap is exactly {least - highest:.4g}: without convexity only weak duality is left."
    )
    return Finding(sentence, rows)


def general_problems(setting: Setting) -> Finding:
    """min f, g ≤ 0, h = 0 of Python functions: p*, its multipliers, max D(λ, ν) and KKT."""
    rng, count = setting.random(), setting.of(2, 10, 60)
    gaps, above, worst, caught, stationary = [], [], 0.0, 0, 0
    for _ in range(count):
        problem, start = curved_problem(rng)
        answer = solve_general(problem, start)
        scale = max(1.0, abs(answer.value))
        gaps.append(abs(answer.gap) / scale)
        for lam, nu in zip(rng.exponential(size=5), rng.standard_normal(5), strict=True):
            D = problem.dual_function([lam], [nu], start=start).value
            above.append((D - answer.value) / scale)
        worst = max(worst, *vars(answer.residuals.relative).values())
        stationary += answer.level == "stationary"
        wrong = problem.kkt(answer.point, answer.inequality + 0.5, answer.equation + 0.5)
        caught += wrong.level() == "not stationary"
    pinned = LinearProgram([1.0], [[-1.0]], [-3.0]).with_bounds(3.0, 3.0)
    verdict = certify_program(pinned, [3.0], [0.5, 0.0, 0.0])
    rows = (
        _all("answers of our solver that keep the four conditions", stationary, count),
        theorem("the worst of the four, relative", worst, at_most=1e-6),
        theorem("p* − max D(λ, ν), relative, largest", max(gaps), at_most=1e-6,
                about="strong duality: convex, with a point inside"),
        theorem("D at random λ ≥ 0, ν less p*, relative, largest", max(above), at_most=0,
                within=1e-9, about="weak duality"),
        _all("multipliers 0.5 off: conditions refused", caught, count),
        theorem("min x, x = 3 with a multiplier 0.5 off: value proved, conditions refused",
                float(verdict.level == "proved" and verdict.kkt_level == "not stationary"),
                equals=1, about="the two verdicts are about different things"),
    )  # fmt: skip
    sentence = (
        f"{count} convex problems of exponentials in a ball, cut by a plane: the maximum of the "
        f"dual meets the minimum to {max(gaps):.1g}, and all four conditions hold to {worst:.1g}."
    )
    return Finding(sentence, rows)


def curved_problem(rng: np.random.Generator) -> tuple[GeneralProblem, Array]:
    """min Σ exp(a_iᵀx), ‖x‖² ≤ 1, cᵀx = ½ with ‖c‖ = 1; (0, …) + c/2 is inside."""
    d = int(rng.integers(2, 5))
    A, c = rng.standard_normal((2 * d, d)), rng.standard_normal(d)
    c /= np.linalg.norm(c)
    problem = GeneralProblem(
        lambda x: float(np.exp(A @ x).sum()),
        lambda x: [x @ x - 1],
        lambda x: [c @ x - 0.5],
        f_gradient=lambda x: A.T @ np.exp(A @ x),
        g_jacobian=lambda x: [2 * x],
        h_jacobian=lambda x: [c],
    )
    return problem, c / 2


def _without_slater() -> tuple[Row, ...]:
    """Convex, yet without a point inside: a gap of 1, and a dual value that is not reached."""
    far = GeneralProblem(lambda v: float(np.exp(-v[0])), lambda v: [v[0] ** 2 / v[1]])
    out = max(far.lagrangian([t, t**3], [weight]) for t in (1e3,) for weight in (0.1, 1.0, 10.0))
    flat = GeneralProblem(lambda x: float(x[0]), lambda x: [x[0] ** 2])
    values = [flat.dual_function([weight], [], start=[0.0]).value for weight in (1.0, 10.0, 100.0)]
    off = float(np.abs(np.array(values) * 4 * np.array([1.0, 10.0, 100.0]) + 1).max())
    return (
        claim("our L far out in min e^−x, x²/y ≤ 0, y > 0 (p* = 1)",
              "convexity alone is not enough", out, lambda x: x < 0.02,
              "→ 0 for every λ, so d* = 0: no point has x²/y < 0 (Slater)"),
        theorem("our D(λ) of min x, x² ≤ 0, times −4λ, off 1", off, at_most=1e-6,
                about="−1/4λ: d* = 0 is not reached, so KKT has no multiplier"),
    )  # fmt: skip


def signs_and_bound(W: Array) -> tuple[float, float]:
    """min xᵀWx over x_i = ±1 by trying all, and n·λ_min(W) = D(−λ_min·1) by our solver."""
    signs = np.array(list(product((-1.0, 1.0), repeat=len(W))))
    best = float(np.einsum("si,ij,sj->s", signs, W, signs).min())
    least = embed(TraceProblem(W, None, 1, "min"), solver=Dense()).values[0]
    return best, len(W) * float(least)


def bounded_program(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """(A, b, c, λ): feasible (0 is inside) and bounded, since λ ≥ 0 has Aᵀλ + c = 0."""
    d = int(rng.integers(2, 6))
    A = rng.standard_normal((2 * d + 2, d))
    witness = rng.exponential(size=len(A))
    return A, rng.exponential(size=len(A)) + 0.1, -A.T @ witness, witness


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
        for formula in (quadratic_dual, printed_dual)
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
    return theorem(what, got, equals=of, about="all of them")


EXPERIMENTS = (
    Experiment("shin-lp", "S", "lecture 2, LP", "Linear programs and their duals", linear_programs),
    Experiment(
        "shin-qp", "S", "lecture 2, QP", "Quadratic programs and their duals", quadratic_programs
    ),
    Experiment(
        "shin-general",
        "S",
        "lecture 2, convex optimization and KKT",
        "Convex problems of any functions, their dual maximum and KKT",
        general_problems,
    ),
    Experiment("shin-gap", "S", "lecture 2, duality", "Where strong duality fails", gaps),
)
