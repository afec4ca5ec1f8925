"""Families of programs × broken answers, every claim held against the judge.

    python -m tests.proofs.fuzz_programs --count 20000 --seed 0

Program i of a seed is the same in every run: `--only i` repeats it alone. The seed is
DUALFOLD_FUZZ_SEED unless given. "Alarms" are right answers of `solve_program` to well-posed
programs (moving every entry by 1e-13 leaves the status, and the optimum to the tolerance)
that are not "proved".
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from dualfold.errors import DualfoldError, InvalidInput
from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
    certify_infeasible,
    certify_program,
    certify_unbounded,
    solve_program,
)
from tests.proofs.door import exact_arithmetic, objective_bounds
from tests.proofs.judge_programs import Truth, judged

Array = np.ndarray[Any, Any]
TOLERANCE = 1e-8
SEED = int(os.environ.get("DUALFOLD_FUZZ_SEED", "0"))


# --- families -----------------------------------------------------------------------


def random(rng: Any, curved: bool) -> dict[str, Any]:
    """Feasible and bounded by construction."""
    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    p = int(rng.integers(0, n + 1))
    A, x = rng.standard_normal((m, n)), rng.standard_normal(n)
    x[:p] = np.abs(x[:p])
    c = -A.T @ rng.exponential(size=m) if m >= n else rng.standard_normal(n)
    given = {"c": c, "A": A, "b": A @ x + rng.exponential(size=m), "nonnegative": p}
    if curved:
        F = rng.standard_normal((n + 1, n))
        given["Q"] = F.T @ F
    return given


def units(rng: Any, curved: bool) -> dict[str, Any]:
    """The same in units from 1e-20 to 1e20."""
    given = random(rng, curved)
    columns = 10.0 ** rng.integers(-20, 21, len(given["c"]))
    rows = 10.0 ** rng.integers(-20, 21, len(given["b"]))
    given |= {"c": given["c"] * columns, "b": given["b"] * rows}
    given["A"] = given["A"] * rows[:, None] * columns
    if curved:
        given["Q"] = mirrored(given["Q"] * columns[:, None] * columns)
    return given


def wild(rng: Any, curved: bool) -> dict[str, Any]:
    """Entries of all sizes, some of them 0."""
    given = random(rng, False)
    for name in ("c", "A", "b"):
        size = 10.0 ** rng.integers(-12, 13, given[name].shape)
        given[name] = given[name] * size * (rng.random(given[name].shape) < 0.8)
    if curved:
        given["Q"] = np.diag(10.0 ** rng.integers(-20, 10, len(given["c"])))
    return given


def boxed(rng: Any, curved: bool) -> dict[str, Any]:
    """Bounds on all variables."""
    given = random(rng, curved)
    n = len(given["c"])
    A, b = given["A"][:3], given["b"][:3]
    given["A"] = np.vstack([A, np.eye(n), -np.eye(n)])
    given["b"] = np.concatenate([b, rng.exponential(size=2 * n)])
    given["c"] = rng.standard_normal(n)
    return given


def degenerate(rng: Any, curved: bool) -> dict[str, Any]:
    """Small integers: many rows meet at one point, and many optima are alike."""
    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    A, c = rng.integers(-2, 3, (m, n)), rng.integers(-2, 3, n)
    given = {
        "c": c,
        "A": A,
        "b": rng.integers(-1, 3, m),
        "nonnegative": int(rng.integers(0, n + 1)),
    }
    if curved:
        F = rng.integers(-1, 2, (int(rng.integers(1, n + 1)), n))
        given["Q"] = F.T @ F
    return {name: np.asarray(entry, dtype=float) if name != "nonnegative" else entry
            for name, entry in given.items()}  # fmt: skip


def meeting(rng: Any, curved: bool) -> dict[str, Any]:
    """Many rows through one point, up to rounding; c among few of them."""
    n = int(rng.integers(1, 4))
    m = n + int(rng.integers(1, 4))
    A, x = rng.standard_normal((m, n)), rng.standard_normal(n)
    weights = rng.exponential(size=m) * (rng.random(m) < 0.5)
    given = {"c": -A.T @ weights, "A": A, "b": A @ x}
    if curved:
        F = rng.standard_normal((n, n))
        given["Q"] = F.T @ F
        given["c"] = given["c"] - given["Q"] @ x
    return given


def parallel(rng: Any, curved: bool) -> dict[str, Any]:
    """Rows that are nearly the same, or nearly opposite."""
    given = random(rng, curved)
    A, b = given["A"], given["b"]
    near = A[0] * (1 + 10.0 ** rng.uniform(-17, -6) * rng.standard_normal(A.shape[1]))
    sign = rng.choice([-1.0, 1.0])
    given["A"] = np.vstack([A, sign * near])
    apart = rng.choice([0.0, 1e-15, 1e-12, 1e-6, 1.0]) * rng.standard_normal()
    given["b"] = np.append(b, sign * b[0] + apart)
    return given


def tiny(rng: Any, curved: bool) -> dict[str, Any]:
    """Hardly any curvature, or hardly any cost."""
    given = random(rng, curved)
    given["c"] = rng.standard_normal(len(given["c"])) * 10.0 ** rng.integers(-12, 1)
    if curved:
        given["Q"] = given["Q"] * 10.0 ** float(rng.integers(-16, -4))
    return given


def flat(rng: Any, curved: bool) -> dict[str, Any]:
    """Q of low rank: exactly, or up to rounding."""
    given = random(rng, False)
    n = len(given["c"])
    F = rng.standard_normal((int(rng.integers(0, n)), n))
    if rng.random() < 0.5:
        F = np.round(F * 64) / 64
    given["Q"] = F.T @ F
    if rng.random() < 0.5:
        given["c"] = -given["Q"] @ rng.standard_normal(n)
    return given if curved else {name: given[name] for name in given if name != "Q"}


def infeasible(rng: Any, curved: bool) -> dict[str, Any]:
    """A combination of the rows against itself, by much or by little."""
    given = random(rng, curved)
    A, b = given["A"], given["b"]
    weights = rng.exponential(size=len(b)) * (rng.random(len(b)) < 0.6)
    apart = 10.0 ** rng.uniform(-17, 1) * rng.choice([1.0, 1.0, -1.0])
    given["A"] = np.vstack([A, -weights @ A])
    given["b"] = np.append(b, -weights @ b - apart)
    return given


def unbounded(rng: Any, curved: bool) -> dict[str, Any]:
    """A direction that stays inside, by much or by little."""
    given = random(rng, False)
    A = given["A"]
    d = rng.standard_normal(A.shape[1])
    d[: given["nonnegative"]] = np.abs(d[: given["nonnegative"]])
    low = 10.0 ** rng.uniform(-17, 0, len(A)) * (rng.random(len(A)) < 0.5)
    given["A"] = A - np.outer(A @ d + low, d) / (d @ d)
    given["c"] = rng.standard_normal(len(d))
    if curved:
        F = rng.standard_normal((1, len(d)))
        F = F - (F @ d)[:, None] * d / (d @ d)
        given["Q"] = F.T @ F * rng.choice([1.0, 1e-9, 0.0])
    return given


def equations(rng: Any, curved: bool) -> dict[str, Any]:
    """Some rows are equations."""
    given = random(rng, curved)
    n, p = len(given["c"]), given["nonnegative"]
    E = rng.standard_normal((int(rng.integers(1, max(2, n))), n))
    x = rng.standard_normal(n)
    x[:p] = np.abs(x[:p])
    given["b"] = given["A"] @ x + rng.exponential(size=len(given["b"]))
    given["E"], given["f"] = E, E @ x
    return given


FAMILIES = (random, units, wild, boxed, degenerate, meeting, parallel, tiny, flat, infeasible,
            unbounded, equations)  # fmt: skip


def mirrored(matrix: Array) -> Array:
    return np.triu(matrix) + np.triu(matrix, 1).T


def stated(given: dict[str, Any], sense: str) -> Any:
    """The program, of which `given` is the minimum."""
    sign = 1.0 if sense == "min" else -1.0
    named = given | {"c": sign * given["c"], "sense": sense}
    return QuadraticProgram(**named) if "Q" in given else LinearProgram(**named)


# --- claims -------------------------------------------------------------------------


def exact_value(given: dict[str, Any], x: Array) -> Fraction:
    point = [Fraction(float(t)) for t in x]
    total = sum(
        (Fraction(float(a)) * t for a, t in zip(given["c"], point, strict=True)), Fraction(0)
    )
    for row, t in zip(given.get("Q", ()), point, strict=False):
        total += (
            t
            * sum((Fraction(float(a)) * s for a, s in zip(row, point, strict=True)), Fraction(0))
            / 2
        )
    return total  # fmt: skip


def wrong(given: dict[str, Any], truth: Truth, sign: float, certificate: Any, point: Any) -> str:
    """What is false in a certificate; "" if nothing is."""
    level, tolerance = certificate.level, Fraction(certificate.tolerance)
    if hasattr(certificate, "claim"):
        if level == "proved" and certificate.claim != truth.status:
            return f"{certificate.claim} where the program is {truth.status}"
        if level == "within reach":
            there = judged(**given, within=certificate.extent).status
            return "" if there == "infeasible" else f"points within reach: {there}"
        return "" if level in ("proved", "failed", "unresolved") else f"level {level}"
    low, high = sorted((sign * certificate.bound, sign * certificate.attained))
    among = truth
    if level == "within reach":
        among = judged(**given, within=certificate.extent)
    if high < float("inf") and truth.status == "infeasible":
        return "a feasible point of an infeasible program"
    if low > -float("inf") and among.status in ("unbounded", "unknown"):
        return f"a bound, but {among.status}"
    if among.optimum is not None:
        if low > -float("inf") and Fraction(low) > among.optimum:
            return f"the bound is above the optimum {float(among.optimum)}"
        if high < float("inf") and truth.optimum is not None and Fraction(high) < truth.optimum:
            return f"better than the optimum {float(truth.optimum)}"
    if level not in ("proved", "within", "within reach"):
        return "" if level in ("failed", "unresolved") else f"level {level}"
    if among.status != "optimal" or among.optimum is None:
        return f"an optimum, but {among.status}"
    off = abs(exact_value(given, point) - among.optimum)
    if off > Fraction(certificate.gap) * abs(among.optimum):
        return f"the optimum is {float(among.optimum)}"
    if level != "within" and Fraction(certificate.gap) > tolerance:
        return "the gap is above the tolerance"
    return ""


def wrong_dual(program: Any, truth: Truth, answer: Any) -> str:
    """What is false in an answer to the dual of a convex program, by strong duality."""
    certificate, level = answer.certificate, answer.certificate.level
    if hasattr(certificate, "claim"):
        allowed = {"infeasible": ("unbounded", "infeasible"), "unbounded": ("infeasible",)}
        if level == "proved" and truth.status not in allowed[certificate.claim]:
            return f"the dual is {certificate.claim}, the program {truth.status}"
        return ""
    if level not in ("proved", "within"):
        return ""
    if truth.optimum is None:
        return f"the dual has an optimum, the program is {truth.status}"
    y, v = np.split(answer.point, [len(program.limits)])
    flat = {"c": -program.limits} | ({} if program.Q is None else {"Q": -program.Q})
    value = exact_value({"c": flat["c"]}, y)
    if len(v):
        value += exact_value({"c": np.zeros(len(v)), "Q": flat["Q"]}, v)
    off = abs(value - truth.optimum)
    return "" if off <= Fraction(certificate.gap) * abs(truth.optimum) else f"{truth.optimum}"


def mutations(rng: Any, program: Any, answer: Any) -> Any:
    """Certificates of broken answers, with a word for each and the point that was judged."""
    n, m = program.n, len(program.limits)
    x = rng.standard_normal(n) if answer is None or answer.point is None else answer.point
    y = (
        rng.exponential(size=m)
        if answer is None or answer.multipliers is None
        else answer.multipliers
    )
    ray = None if answer is None else answer.ray
    for _ in range(3):
        size = 10.0 ** rng.uniform(-17, 0)
        kind = int(rng.integers(6))
        other, weights = x.copy(), y.copy()
        if kind in (0, 2):
            other = x * (1 + size * rng.standard_normal(n))
        if kind in (1, 2):
            weights = y * (1 + size * rng.standard_normal(m))
        if kind == 3:
            other = x + size * rng.standard_normal(n) * np.abs(x).max(initial=0.0)
        if kind == 4:
            weights = np.where(rng.random(m) < 0.5, 0.0, y)
        if kind == 5:
            other = np.where(rng.random(n) < 0.5, 0.0, x)
        yield f"mutation {kind}", certify_program(program, other, weights), other
    start = rng.standard_normal(n) if rng.random() < 0.5 else x
    directions = [rng.standard_normal(n), -np.sign(program.sign) * program.c]
    if program.Q is not None:
        directions.append(np.linalg.eigh(program.Q)[1][:, 0] * rng.choice([-1.0, 1.0]))
    if ray is not None and len(ray) == n:
        directions.append(ray * (1 + 10.0 ** rng.uniform(-17, -7) * rng.standard_normal(n)))
    d = directions[int(rng.integers(len(directions)))]
    yield "direction", certify_unbounded(program, start, d), None
    weights = [rng.exponential(size=m), y]
    if m > 1:  # nearly a combination to 0
        weights.append(np.abs(np.linalg.svd(program.rows.T)[2][-1]))
    if ray is not None and len(ray) == m:
        weights.append(ray * (1 + 10.0 ** rng.uniform(-17, -7) * rng.standard_normal(m)))
    yield "farkas", certify_infeasible(program, weights[int(rng.integers(len(weights)))]), None


def well_posed(rng: Any, given: dict[str, Any], truth: Truth, times: int = 2) -> bool:
    """Whether moving every entry by 1e-13 leaves the status, and the optimum to the tolerance.

    Each move is tried with its opposite: what is on the edge falls to one of the sides.
    """
    for _ in range(times):
        signs = {
            name: rng.choice([-1.0, 1.0], np.shape(given[name]))
            for name in given
            if name != "nonnegative"
        }
        for side in (-1e-13, 1e-13):
            moved = given | {name: given[name] * (1 + side * signs[name]) for name in signs}
            if "Q" in moved:
                moved["Q"] = mirrored(moved["Q"])
            if not _alike(truth, judged(**moved)):
                return False
    return True


def _alike(truth: Truth, there: Truth) -> bool:
    if there.status != truth.status or there.convex != truth.convex:
        return False
    if truth.optimum is None or there.optimum is None:
        return True
    return abs(there.optimum - truth.optimum) < Fraction(TOLERANCE) * abs(truth.optimum)


def fuzz(count: int, seed: int = SEED, first: int = 0) -> dict[str, Counter[str]]:
    """Counts by family: programs, claims, proved, well-posed, alarms, false. False claims print."""
    table: dict[str, Counter[str]] = {}
    for index in range(first, first + count):
        rng = np.random.default_rng([seed, index])
        family = FAMILIES[index % len(FAMILIES)]
        given = family(rng, bool(rng.random() < 0.5))
        sense = "max" if rng.random() < 0.3 else "min"
        counts = table.setdefault(family.__name__, Counter())
        try:
            program = stated(given, sense)
        except InvalidInput:
            counts["refused"] += 1
            continue
        counts["programs"] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _one(rng, index, seed, given, program, counts)
    return table


def _one(rng: Any, index: int, seed: int, given: Any, program: Any, counts: Counter[str]) -> None:
    truth = judged(**given)
    where = f"seed {seed} index {index}"
    try:
        answer = solve_program(program, tolerance=TOLERANCE)
    except DualfoldError as error:
        answer = None
        words = str(error)
    posed = truth.status != "unknown" and well_posed(rng, given, truth)
    counts["well-posed"] += posed
    counts[truth.status if truth.convex else "not convex, by rounding"] += 1
    if answer is not None:
        counts["claims"] += 1
        counts[answer.certificate.level] += 1
        words = str(answer)
        if why := wrong(given, truth, program.sign, answer.certificate, answer.point):
            counts["false"] += 1
            print(f"FALSE  {where}, solve_program: {words}\n       {why}")
    loud = posed and (answer is None or answer.certificate.level != "proved")
    if loud and well_posed(rng, given, truth, 16):  # the edge may be missed by few moves
        counts["alarms"] += 1
        print(f"alarm  {where} ({truth.status}): {words}")
    if truth.convex and index // len(FAMILIES) % 4 == 0:
        _dual(where, program, truth, counts)
    for word, certificate, point in mutations(rng, program, answer):
        counts["claims"] += 1
        counts["mutants " + certificate.level] += 1
        if why := wrong(given, truth, program.sign, certificate, point):
            counts["false"] += 1
            print(f"FALSE  {where}, {word}: {certificate}\n       {why}")


def _dual(where: str, program: Any, truth: Truth, counts: Counter[str]) -> None:
    try:
        answer = solve_program(program.dual, tolerance=TOLERANCE)
    except DualfoldError:
        counts["duals refused"] += 1
        return
    counts["claims"] += 1
    counts["duals " + answer.certificate.level] += 1
    if why := wrong_dual(program, truth, answer):
        counts["false"] += 1
        print(f"FALSE  {where}, dual: {answer}\n       {why}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument(
        "--most-exact", type=int, help="0: linear systems are enclosed in floating point instead"
    )
    asked = parser.parse_args()
    if asked.most_exact is not None:
        exact_arithmetic.MAX_EXACT_EQUATIONS = objective_bounds.MAX_EXACT_ROWS = asked.most_exact
    alone = asked.only is not None
    table = fuzz(1 if alone else asked.count, asked.seed, asked.only if alone else asked.first)
    total: Counter[str] = Counter()
    for family, counts in table.items():
        total += counts
        print(family, dict(counts))
    print("all", dict(total))
    return min(total["false"], 100)


if __name__ == "__main__":
    sys.exit(main())
