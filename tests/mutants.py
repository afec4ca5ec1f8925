"""Mutation testing: small faults put into the code on purpose, and whether the tests notice.

    python tests/mutants.py contexts WORK             # which test runs which line (once, minutes)
    python tests/mutants.py run WORK --count 300      # goes on where it stopped
    python tests/mutants.py table WORK --result FILE  # the share that was noticed, as JSON

A seeded sample of mutants, drawn from every room in proportion to its size. Each runs in a process
of its own, forked from one that has imported the libraries, against the quickest tests that run
its line, up to a budget of seconds. A mutant is noticed when a test fails, or when the process
takes far longer than the tests did (`mutations.py` says what is changed).
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import json
import math
import os
import random
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from mutations import mutants_of, mutated

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "dualfold"
# Rooms whose every line decides an answer or a certificate.
ROOMS = {
    "trace": "trace/**/*.py",
    "programs": "programs/[cbr]*.py",  # certificate, bounds, rays
    "unfolding": "unfolding/[cbs]*.py",  # certificate, contraction, bounds, spectral_floor
    "games": "games/*.py",
    "quality": "quality/*.py",
    "methods": "methods/*.py",
}
SLOW = 2.5  # seconds: tests that take longer are left out
BUDGET = 6.0  # seconds of tests for a mutant
PATIENCE = 40.0  # seconds of processor that a mutant may take beyond its tests


class Contexts:
    """Plugin of pytest: which test ran which line, how long each took, which passed."""

    def __init__(self, work):
        import coverage

        self.work = work
        self.coverage = coverage.Coverage(
            data_file=str(work / "contexts"), config_file=False, source=["dualfold"]
        )
        self.took, self.passed = Counter(), set()
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid):
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report):
        self.took[report.nodeid] += report.duration
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self):
        self.coverage.stop()
        self.coverage.save()
        took = {name: self.took[name] for name in sorted(self.passed)}
        (self.work / "took.json").write_text(json.dumps(took))


def lines_to_tests(work):
    """(file, line) → tests that passed in SLOW seconds and ran that line, quickest first."""
    import coverage

    took = json.loads((work / "took.json").read_text())
    data = coverage.CoverageData(str(work / "contexts"))
    data.read()
    found = defaultdict(set)
    for path in data.measured_files():
        place = path.partition("/dualfold/")[2]
        for line, tests in data.contexts_by_lineno(path).items():
            found[place, line] |= {t for t in tests if took.get(t, SLOW) < SLOW}
    return {key: sorted(tests, key=took.__getitem__) for key, tests in found.items()}, took


def drawn(count, seed):
    """Mutants of every room, in proportion to its size, in a random order."""
    rng = random.Random(seed)
    every = {
        room: [
            (str(path.relative_to(PACKAGE)), *mutant)
            for path in sorted(PACKAGE.glob(pattern))
            for mutant in mutants_of(path.read_text())
        ]
        for room, pattern in ROOMS.items()
    }
    total = sum(map(len, every.values()))
    chosen = []
    for room, mutants in every.items():
        share = max(1, round(count * len(mutants) / total))
        chosen += [(room, *one) for one in rng.sample(mutants, min(share, len(mutants)))]
    rng.shuffle(chosen)
    return chosen, {room: len(mutants) for room, mutants in every.items()}


class Altered(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module of dualfold with other source text."""

    def __init__(self, module, path, source):
        self.module, self.path, self.source = module, path, source

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        folder = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, self.path, loader=self, submodule_search_locations=folder
        )

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def noticed(place, source, tests, seconds):
    """What became of the altered module: "killed", "endless" or "survived"."""
    child = os.fork()
    if not child:
        os.setsid()
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        limit = int(seconds + PATIENCE)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        name = ".".join(["dualfold", *Path(place).with_suffix("").parts]).removesuffix(".__init__")
        sys.meta_path.insert(0, Altered(name, PACKAGE / place, source))
        code = 3
        try:
            options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
            code = pytest.main([*options, "--timeout=0", *tests])
        finally:
            os._exit(int(code))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "endless" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "killed"
    return "survived" if os.WEXITSTATUS(status) == 0 else "killed"


def within_budget(tests, took, budget=BUDGET):
    """The quickest tests up to the budget, and how long they take."""
    chosen, total = [], 0.0
    for test in tests:
        if total + took[test] > budget:
            break
        chosen.append(test)
        total += took[test]
    return chosen[:400], total


def warm():
    """Import what every mutant needs, but nothing of dualfold."""
    for name in ("numpy", "scipy.sparse.linalg", "scipy.stats", "pandas", "sklearn.manifold"):
        importlib.import_module(name)
    for name in ("hypothesis", "flint", "mpmath", "sklearn.utils.estimator_checks", "typer.main"):
        importlib.import_module(name)
    assert not any(name.startswith("dualfold") for name in sys.modules)


def run(work, count, seed, minutes):
    """Try the drawn mutants that have not been tried; one line of JSON each."""
    tests_of, took = lines_to_tests(work)
    chosen, _ = drawn(count, seed)
    kept = work / "mutants.jsonl"
    tried = {(m["file"], m["number"]) for m in _read(kept)}
    warm()
    end = time.monotonic() + 60 * minutes
    for room, place, number, line, what in chosen:
        if (place, number) in tried or time.monotonic() > end:
            continue
        tests, seconds = within_budget(tests_of.get((place, line), []), took)
        began = time.monotonic()
        source = mutated((PACKAGE / place).read_text(), number)
        verdict = noticed(place, source, tests, seconds) if tests else "not run"
        spent = time.monotonic() - began
        told = {"room": room, "file": place, "number": number, "line": line, "what": what}
        told |= {"verdict": verdict, "tests": len(tests), "seconds": round(spent, 1)}
        with kept.open("a") as file:
            file.write(json.dumps(told) + "\n")


def _read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def wilson(hits, n):
    """Wilson's 95 % interval of a share."""
    if not n:
        return (0.0, 1.0)
    z, share = 1.959964, hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return middle - half, middle + half


def table(work, count, seed, equivalent):
    """What became of the mutants, by room; those explained as no fault are left out."""
    mutants = _read(work / "mutants.jsonl")
    same = {tuple(one) for one in json.loads(equivalent.read_text())} if equivalent else set()
    result = {"seed": seed, "drawn": len(drawn(count, seed)[0]), "there are": drawn(1, seed)[1]}
    result["rooms"] = {}
    for room in (*ROOMS, "all"):
        some = [m for m in mutants if room in (m["room"], "all")]
        some = [m for m in some if (m["file"], m["number"]) not in same]
        killed = sum(m["verdict"] in ("killed", "endless") for m in some)
        low, high = wilson(killed, len(some))
        result["rooms"][room] = {
            "tried": len(some), "noticed": killed, "share": round(killed / max(1, len(some)), 3),
            "interval": [round(low, 3), round(high, 3)],
            "no test runs the line": sum(m["verdict"] == "not run" for m in some),
        }  # fmt: skip
    result["survivors"] = [
        f"{m['file']}:{m['line']} {m['what']}"
        for m in sorted(mutants, key=lambda m: (m["file"], m["line"]))
        if m["verdict"] in ("survived", "not run") and (m["file"], m["number"]) not in same
    ]
    return result


def main():
    """The commands of the first lines."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("do", choices=["contexts", "run", "table"])
    parser.add_argument("work", type=Path)
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--tests", nargs="*", default=["tests"], help="what contexts runs")
    parser.add_argument("--equivalent", type=Path, help="JSON of [file, number] that are no fault")
    parser.add_argument("--result", type=Path)
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    if chosen.do == "contexts":
        options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        raise SystemExit(pytest.main([*options, *chosen.tests], [Contexts(chosen.work)]))
    if chosen.do == "run":
        run(chosen.work, chosen.count, chosen.seed, chosen.minutes)
        return
    result = table(chosen.work, chosen.count, chosen.seed, chosen.equivalent)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    print(text)
    if chosen.result:
        chosen.result.write_text(text + "\n")


if __name__ == "__main__":
    main()
