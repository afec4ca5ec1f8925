"""Fuzzer of unfoldings: small graphs × solvers × constraints × mutations, judged exactly.

    python -m tests.proofs.fuzz_unfoldings --count 500 --seed 0
    python -m tests.proofs.fuzz_unfoldings --seed 0 --index 47   one problem, with all that is said

Each problem is solved once, and its answer is certified as it is and mutated in some ways. A
false claim is a sentence of a certificate that `judge_unfoldings` shows to be untrue. A false
alarm is an answer as the solver gave it, to a well-posed problem, whose level is neither
"proved" nor "within". The seed is --seed, else DUALFOLD_FUZZ_SEED, else 0.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
from flint import fmpq

from dualfold.errors import DualfoldError, Unrealisable
from dualfold.unfolding import (
    Unfolder,
    UnfoldingProblem,
    certify_unfolding,
    geodesic_bounds,
    unfold,
)
from tests.proofs import judge_unfoldings as judge
from tests.proofs import unfolding_optima as optima
from tests.proofs.door import cholesky_floor, proved_floor
from tests.proofs.fuzz_unfolding_families import FAMILIES, MUTATIONS, Case

Array = np.ndarray[Any, np.dtype[Any]]
LITTLE_RELAXATION = 1e-5
SOLVERS = ("interior_point", "low_rank", "landmark")


# ---- one problem


def draw(seed: int, index: int) -> tuple[Case, str, np.random.Generator]:
    rng = np.random.default_rng([seed, index])
    case = FAMILIES[index % len(FAMILIES)](rng)
    solver = "interior_point" if case.constraints == "equal" else SOLVERS[rng.integers(3)]
    return case, solver, rng


def _answer(case: Case, solver: str) -> tuple[UnfoldingProblem, Array, Array]:
    if case.graph is None:
        net = case.net
        problem = UnfoldingProblem(
            net.n,
            np.array(net.edges).reshape(-1, 2),
            [_double(d) for d in net.squared],
            case.constraints,
            [_double(m) for m in net.masses],
            case.rows,
        )
        found = Unfolder(solver=solver, random_state=0).solve(problem)
        return problem, found.factor, found.weights
    whole = unfold(
        case.graph, constraints=case.constraints, angles=case.angles, solver=solver, random_state=0
    )
    return whole.problem, whole.solution.factor, whole.solution.weights


def _double(number: fmpq) -> float:
    return int(number.p) / int(number.q)


def _net_of(problem: UnfoldingProblem, case: Case) -> tuple[judge.Net, list[str]]:
    """The problem's own numbers for the judge, and whether they are those of the graph."""
    net = judge.Net.of(problem.n, problem.edges, problem.squared, problem.masses)
    said = []
    if net.edges != case.net.edges or net.masses != case.net.masses:
        said.append("the problem has other edges or masses than the graph")
    else:
        near = fmpq(1, 2**50)  # a root and its square are rounded on the way
        pairs = zip(net.squared, case.net.squared, strict=True)
        if any(abs(a - b) > near * b for a, b in pairs):
            said.append("the problem has other lengths than the graph")
    return net, said


def _enclosed(case: Case, net: judge.Net, c: Any) -> tuple[fmpq | None, fmpq | None]:
    """Fractions around the optimum of an equal problem that the certificate is about.

    Exactly equal lengths have no reference of their own; those of a little ε bound them.
    """
    if c.most_relaxed:
        reached, bound = optima.reference(net, c.most_relaxed)
        return reached or None, bound
    if case.known is not None:
        return case.known
    return case.reached_exact, optima.reference(net, LITTLE_RELAXATION)[1]


def _floors(problem: UnfoldingProblem, net: judge.Net, w: Array, reached: fmpq) -> list[str]:
    """Each way to prove λ₂ and each bound by paths on its own, near the truth and beyond."""
    said = []
    unit = max(float(np.abs(w).max()), 1e-300)
    w = w / unit
    L = problem.laplacian(w).toarray() / np.sqrt(np.outer(problem.mass, problem.mass))
    true = float(np.linalg.eigvalsh(L)[1]) if problem.n > 1 else 0.0
    heights = [true * (1 + side * 10.0**-k) for k in (1, 4, 8, 12, 15) for side in (1, -1)]
    for way, height in itertools.product((cholesky_floor, proved_floor), heights):
        floor = way(problem, w, height) if height > 0 else 0.0
        if floor > 0 and not judge.reaches(net, w.tolist(), floor):
            said.append(f"{way.__name__}: λ₂ does not reach {floor}")
    if problem.constraints == "at_most" and 1e-250 < problem.squared.max() < 1e250:
        bounds = (geodesic_bounds(problem, all_pairs=0), geodesic_bounds(problem))
        for bound in (b for pair in bounds for b in (pair.isomap, pair.centre) if b is not None):
            if judge.exact(bound) < reached:
                said.append(f"paths bound by {bound}, which is below {float(reached)}")
    return said


def judged(seed: int, index: int) -> dict[str, Any]:
    """One problem: what was said of it, and what of that is false."""
    case, solver, rng = draw(seed, index)
    result: dict[str, Any] = {"family": case.family, "solver": solver, "said": [], "false": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem, Y, w = _answer(case, solver)
        except Unrealisable as claim:
            if case.reached_exact is not None:
                result["false"].append(f"points have these lengths, but: {claim}")
            return result
        except DualfoldError as refusal:
            return result | {"alarm": f"refused: {refusal}"}
        net, result["false"] = _net_of(problem, case)
        if result["false"]:
            return result
        if problem.n == 1:  # all points are one: nothing to unfold, and nothing to mutate
            c = certify_unfolding(problem, Y, w)
            wrong = (c.level, c.lower, c.upper) != ("proved", 0, 0)
            return result | {"level": c.level, "false": [str(c)] if wrong else []}
        answers = [("as it is", Y, w)]
        for name in rng.choice(list(MUTATIONS), 4, replace=False):
            answers.append((str(name), *MUTATIONS[str(name)](rng, Y, w)))
        plain = fmpq(0), None
        if case.constraints == "at_most":
            plain = optima.reference(net) if case.graph or case.known is None else case.known
            result["false"] += _floors(problem, net, w, plain[0])
        for name, points, weights in answers:
            tolerance = float(10.0 ** rng.uniform(-10, -0.3)) if name != "as it is" else 1e-4
            flops = {"most_flops": 1.0} if name != "as it is" and rng.random() < 0.3 else {}
            relaxed = case.constraints == "equal" and name != "as it is" and rng.random() < 0.5
            most_relaxed = float(10.0 ** rng.uniform(-6, -0.6)) if relaxed else None
            c = certify_unfolding(
                problem, points, weights,
                tolerance=tolerance, most_relaxed=most_relaxed, **flops,
            )  # fmt: skip
            around = plain if case.constraints == "at_most" else _enclosed(case, net, c)
            exactly = case.reached_exact if case.graph is None else None
            found = judge.faults(
                c, net, points, weights,
                reached=around[0], bound=around[1], reached_exact=exactly,
            )  # fmt: skip
            result["said"].append((name, c.level))
            result["false"] += [f"{name}: {fault} ({c})" for fault in found]
            if name == "as it is":
                result |= {"level": c.level, "gap": c.gap}
                if case.posed and c.level not in ("proved", "within"):
                    result["alarm"] = str(c)
    return result


def fuzz(count: int, seed: int) -> dict[str, Any]:
    """`count` problems: how many of each level, the false claims and the false alarms."""
    levels: Counter[tuple[str, str, str]] = Counter()
    false, alarms, certificates = [], [], 0
    for index in range(count):
        one = judged(seed, index)
        certificates += len(one["said"])
        levels[one["family"], one["solver"], one.get("level", "none")] += 1
        false += [(index, claim) for claim in one["false"]]
        if "alarm" in one:
            alarms.append((index, one["family"], one["solver"], one["alarm"]))
    return {
        "problems": count,
        "certificates": certificates,
        "levels": levels,
        "false claims": false,
        "false alarms": alarms,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("DUALFOLD_FUZZ_SEED", "0")))
    parser.add_argument("--index", type=int, help="only this problem")
    asked = parser.parse_args()
    if asked.index is not None:
        print(draw(asked.seed, asked.index)[0])
        for key, value in judged(asked.seed, asked.index).items():
            print(key, value)
        return 0
    found = fuzz(asked.count, asked.seed)
    for (family, solver, level), number in sorted(found["levels"].items()):
        print(f"{family:12} {solver:15} {level:11} {number}")
    for kind in ("false claims", "false alarms"):
        for one in found[kind]:
            print(f"{kind[:-1]}: {one}")
    print({k: len(v) if isinstance(v, list) else v for k, v in found.items() if k != "levels"})
    return len(found["false claims"])


if __name__ == "__main__":
    sys.exit(main())
