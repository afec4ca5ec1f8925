"""Fuzzer of trace certificates: problem families × answers × proof routes, judged exactly.

    python -m tests.proofs.fuzz_trace --count 100000 --seed 0 --processes 2
    python -m tests.proofs.fuzz_trace --seed 0 --index 4711       one problem, with all that is said
    python -m tests.proofs.fuzz_trace --count 20000 --route turned

A false claim is a certificate of level proved, within or measured of which `judge` shows that a
sentence is not true. A false alarm is a right answer to a well-posed problem (`posed`) that is
neither proved nor measured. A loose end is a wrong word of a certificate that claims nothing: a
bound that is none, or something missed where nothing was. The seed is --seed, else
DUALFOLD_FUZZ_SEED, else 0.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.proofs import judge, posed
from tests.proofs.fuzz_answers import ANSWERS, Known, Proposed
from tests.proofs.fuzz_families import FAMILIES, Case, draw

NEVER, ALWAYS = 10**18, -1
NO_FACTOR = {"MAX_FLOPS": ALWAYS, "MAX_FLOPS_A_ROW": ALWAYS, "MIN_ROTATED_ROWS": NEVER}
# What a route needs: the thresholds of size that force it, wherever in dualfold.trace they are.
SETTINGS: dict[str, dict[str, Any]] = {
    "natural": {},
    "inertia": {"MIN_ROTATED_ROWS": NEVER, "MIN_REORDERED_ROWS": 0, "MAX_SMALL_ROWS": 0},
    "augmented": {"MIN_ROTATED_ROWS": NEVER, "MAX_SQUARE_ROWS": 0},
    "turned": {
        "MIN_ROTATED_ROWS": 0,
        "MAX_ROTATED_FLOPS_RATIO": 1e12,
        "MAX_SQUARE_ROWS": 0,
        "MIN_REORDERED_ROWS": 0,
    },
    "Cholesky": NO_FACTOR,
    "norm": {"MAX_FILLED_ROWS": 0, "MAX_DENSE_ROWS": 0, "KRYLOV_BLOCK": 2, "KRYLOV_DEPTH": 1},
    "random": {**NO_FACTOR, "MAX_FILLED_ROWS": 0, "MAX_DENSE_ROWS": 0, "MAX_SQUARE_ROWS": 0},
}
TOLERANCES = (*[1e-4] * 6, 1e-2, 1e-2, 1e-6, 1e-6, 1e-8, 1.0)
PASSED = ("proved", "measured")


@contextlib.contextmanager
def routes(name: str) -> Iterator[None]:
    """Within it the named route is taken, however small the problem is."""
    import dualfold.trace

    modules = [m for key, m in sys.modules.items() if key.startswith("dualfold.trace")]
    assert dualfold.trace in modules
    assert all(any(hasattr(module, key) for module in modules) for key in SETTINGS[name]), name
    kept = [
        (module, key, getattr(module, key))
        for key in SETTINGS[name]
        for module in modules
        if hasattr(module, key)
    ]
    try:
        for module, key, _ in kept:
            setattr(module, key, SETTINGS[name][key])
        yield
    finally:
        for module, key, old in kept:
            setattr(module, key, old)


def possible_routes(case: Case) -> list[str]:
    """The routes that a case can take, with its matrix given as another kind if need be."""
    if case.kind == "gramian":
        square = case.A.shape[0] == case.A.shape[1]
        return ["natural", "augmented", "Cholesky", "random", *(["turned"] if square else [])]
    if case.kind == "operator":
        return ["natural", "random"]
    found = ["natural", "Cholesky", "random"]
    if case.A.dtype == float:
        found.append("inertia")
    if case.sense == "max" and case.B is None and case.N is None:
        found.append("norm")
    return found


def on_route(case: Case, route: str) -> Case:
    kinds = {"inertia": "sparse", "norm": "dense"}
    return replace(case, kind=kinds.get(route, case.kind))


@dataclass(frozen=True, eq=False)
class Trial:
    """One problem, one answer and what was said of it."""

    family: str
    answer: str
    route: str
    case: Case
    proposed: Proposed
    tolerance: float
    truth: judge.Truth
    said: Any  # a certificate, or the refusal
    level: str
    false: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    posed: bool = False  # a right answer to a well-posed problem

    @property
    def alarm(self) -> bool:
        return self.posed and self.level not in PASSED


def trial(seed: int, index: int, route: str | None = None) -> Trial | None:
    """Problem number `index`; None where the family cannot take the route that is asked for."""
    names, ways = list(FAMILIES), list(ANSWERS)
    family, way = names[index % len(names)], ways[(index // len(names)) % len(ways)]
    return one_of(family, way, np.random.default_rng([seed, index]), route)


def one_of(family: str, way: str, rng: np.random.Generator, route: str | None) -> Trial | None:
    """A problem of this family and an answer of this kind, judged."""
    case = draw(family, rng)
    possible = possible_routes(case)
    drawn = "natural" if rng.random() < 0.5 else str(rng.choice(possible))
    if route is not None and route not in possible:
        return None
    taken = route or drawn
    case = on_route(case, taken)
    tolerance = float(rng.choice(TOLERANCES))
    try:
        found = judge.truth(case.A, case.B, case.N, case.sense, case.kind == "gramian")
    except judge.Undecided:  # B is not positive definite: to be refused
        return None
    known = Known(found.vectors, found.spectrum, case.count, tolerance, case.N, found.sign, case)
    with np.errstate(all="ignore"):
        proposed = ANSWERS[way](rng, known)
    said, level = what_is_said(case, proposed, tolerance, taken)
    result = Trial(family, way, taken, case, proposed, tolerance, found, said, level)
    return judged(result, rng)


def what_is_said(case: Case, proposed: Proposed, tolerance: float, route: str) -> tuple[Any, str]:
    from dualfold.errors import DualfoldError
    from dualfold.trace import certify

    with routes(route), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            said = certify(case.problem(), proposed.V, proposed.values, tolerance=tolerance)
        except DualfoldError as refusal:
            return refusal, "refused"
        except Exception as crash:  # a bug of its own; the certificate claims nothing
            return crash, "crashed"
    return said, said.level


def judged(result: Trial, rng: np.random.Generator) -> Trial:
    found, case, proposed = result.truth, result.case, result.proposed
    false: list[str] = []
    loose: list[str] = []
    if result.level in judge.CLAIMS:
        false = judge.false_claims(
            found, proposed.V, case.count, result.said, result.tolerance, proposed.values
        )
    elif result.level in ("unresolved", "failed"):
        loose = judge.loose_ends(found, proposed.V, case.count, result.said)
    good = proposed.is_right and _is_well_posed(result, rng)
    return replace(result, false=false, loose=loose, posed=good)


def _is_well_posed(result: Trial, rng: np.random.Generator) -> bool:
    found, count, tolerance = result.truth, result.case.count, result.tolerance
    if not posed.as_asked(found) or posed.movement(found, count) >= tolerance:
        return False
    best, value = found.optimum(count), found.value(result.proposed.V[:, :count])
    if not _is_orthonormal(result):
        return False
    # Doubles may be too coarse for the eigenvectors themselves.
    if value is None or not abs(best) > 0 or not (value - best) / abs(best) < tolerance / 10:
        return False
    if result.level in PASSED:
        return True
    return all(posed.moved_by_chance(found, count, rng) < tolerance for _ in range(3))


def _is_orthonormal(result: Trial) -> bool:
    """Exact eigenvectors of a repeated eigenvalue need not be; such columns are no answer."""
    found, V = result.truth, judge.exact(result.proposed.V[:, : result.case.count])
    BV = found.B * V
    gram = judge.doubles(V.transpose() * BV)
    off = np.abs(gram - np.eye(len(gram))).max()
    if found.N is not None:
        lengths = np.sqrt(np.diagonal(judge.doubles(found.N.transpose() * found.B * found.N)))
        overlap = np.abs(judge.doubles(found.N.transpose() * BV)) / lengths[:, None]
        off = max(off, overlap.max())
    return bool(off <= 1e-7)


# ---- many


def counted(result: Trial) -> Counter[tuple[str, str, str, str]]:
    counts: Counter[tuple[str, str, str, str]] = Counter()
    key = result.family, result.answer, result.route
    marks = {
        "problems": True,
        "claims": result.level in judge.CLAIMS,
        "false": bool(result.false),
        "right": result.posed,
        "alarms": result.alarm,
        "loose": bool(result.loose),
        "crashed": result.level == "crashed",
        result.level: True,
    }
    counts.update({(*key, mark): 1 for mark, holds in marks.items() if holds})
    return counts


def fuzz(
    count: int,
    seed: int,
    route: str | None = None,
    first: int = 0,
    step: int = 1,
    alarms: bool = False,
) -> Counter[tuple[str, str, str, str]]:
    """Counts by (family, answer, route, what); every false claim is printed, alarms if asked."""
    total: Counter[tuple[str, str, str, str]] = Counter()
    for index in range(first, count, step):
        result = trial(seed, index, route)
        if result is None:
            continue
        total += counted(result)
        bad = result.false or result.loose or result.level == "crashed"
        if bad or (alarms and result.alarm):
            print(line(seed, index, result), flush=True)
    return total


def line(seed: int, index: int, result: Trial) -> str:
    words = "; ".join(result.false + result.loose) or f"{type(result.said).__name__}: {result.said}"
    kind = "FALSE" if result.false else "loose" if result.loose else result.level
    kind = "alarm" if result.alarm and not result.false else kind
    return (
        f"{kind} --seed {seed} --index {index} [{result.family} | {result.answer} | "
        f"{result.route} | {result.case.kind} {result.case.sense} n={result.case.n} "
        f"count={result.case.count} tolerance={result.tolerance:g}] {words}"
    )


def _share(work: tuple[int, int, str | None, int, int, bool]) -> Counter[tuple[str, str, str, str]]:
    return fuzz(*work)


def fuzz_in_processes(
    count: int,
    seed: int,
    route: str | None,
    processes: int,
    alarms: bool = False,
    first: int = 0,
) -> Counter[tuple[str, str, str, str]]:
    if processes < 2:
        return fuzz(count, seed, route, first, alarms=alarms)
    shares = [(count, seed, route, first + k, processes, alarms) for k in range(processes)]
    total: Counter[tuple[str, str, str, str]] = Counter()
    with ProcessPoolExecutor(processes) as pool:
        for part in pool.map(_share, shares):
            total += part
    return total


def table(counts: Counter[tuple[str, str, str, str]], by: int) -> str:
    """Rows by family (0), answer (1) or route (2)."""
    columns = ["problems", "claims", "false", "right", "alarms", "loose", "crashed"]
    rows: dict[str, Counter[str]] = {}
    for key, number in counts.items():
        rows.setdefault(key[by], Counter())[key[3]] += number
    total: Counter[str] = Counter()
    for row in rows.values():
        total += row
    lines = [f"{'':34}" + "".join(f"{c:>10}" for c in columns)]
    for name, row in [*rows.items(), ("total", total)]:
        lines.append(f"{name:34}" + "".join(f"{row[c]:10}" for c in columns))
    levels = sorted(set(total) - set(columns))
    lines.append("levels: " + ", ".join(f"{level} {total[level]}" for level in levels))
    return "\n".join(lines)


def show(seed: int, index: int, route: str | None) -> None:
    result = trial(seed, index, route)
    if result is None:
        print("no such problem: the family cannot take this route, or B is not positive definite")
        return
    count, found = result.case.count, result.truth
    np.set_printoptions(precision=17, linewidth=160)
    print(line(seed, index, result))
    for name in ("A", "B", "N"):
        print(name, "=", repr(getattr(result.case, name)))
    print("V =", repr(result.proposed.V), "\nvalues =", result.proposed.values)
    value = found.value(result.proposed.V[:, :count])
    print("spectrum of sign·A:", found.spectrum)
    print("optimum", found.optimum(count).str(25), " value", value and value.str(25))
    print("movement", posed.movement(found, count), " alarm", result.alarm)
    print(repr(result.said), "\n", result.said)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000, help="number of the last, plus 1")
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("DUALFOLD_FUZZ_SEED", "0")))
    parser.add_argument("--index", type=int)
    parser.add_argument("--route", choices=list(SETTINGS))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--alarms", action="store_true", help="print false alarms, too")
    given = parser.parse_args(arguments)
    if given.index is not None:
        show(given.seed, given.index, given.route)
        return 0
    start = time.perf_counter()
    counts = fuzz_in_processes(
        given.count, given.seed, given.route, given.processes, given.alarms, given.first
    )
    for by in range(3):
        print(table(counts, by), "\n")
    print(f"{time.perf_counter() - start:.0f} s")
    return int(any(key[3] == "false" for key in counts))


if __name__ == "__main__":
    sys.exit(main())
