"""Mutation testing: small faults put into the code on purpose, and whether the tests notice.

    python -m tests.tools.mutants contexts WORK           # which test runs which line (minutes)
    python -m tests.tools.mutants run WORK --count 300    # goes on where it stopped
    python -m tests.tools.mutants again WORK              # survivors once more, after new tests
    python -m tests.tools.mutants table WORK --result FILE  # the share that was noticed

A seeded sample of mutants, drawn from every room in proportion to its size. Each runs in a process
of its own (`mutant_runs.py`) against tests that run its line (`mutant_tests.py`), up to a
budget of seconds. A mutant is noticed when a test fails, or when the process takes far longer than
the tests did (`mutations.py` says what is changed). `results/no_fault.json` has classes of mutants
that break no promise, each with its reason; they count only where they survived.

The same mutants before and after tests are rewritten or files move, in two checkouts:

    python -m tests.tools.mutants draw WORK --sample S.json       # once
    python -m tests.tools.mutants run WORK --sample S.json        # in both, after contexts
    python -m tests.tools.mutants table WORK --sample S.json --result BEFORE.json
    python -m tests.tools.mutants table WORK2 --sample BEFORE.json --result AFTER.json

A mutant is found again by its room, file name, function, statement and change (`KEYS`); `SAMPLED`
says where a room is now.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import importlib
import json
import math
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.tools.mutant_runs import (
    Trials,
    at_import,
    collected,
    in_other_process,
    module_of,
    quick_hypothesis,
)
from tests.tools.mutant_tests import BUDGET, Contexts, Known
from tests.tools.mutations import faulty_statement, mutants_of

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "src" / "dualfold"
NO_FAULT = HERE.parent / "results" / "no_fault.json"
# Rooms whose every line decides an answer or a certificate: patterns of their files.
ROOMS = {
    "trace": "trace/**/*.py",
    "programs": "theory/programs/[cbr]*.py",  # certificate, bounds, rays
    "unfolding": "unfolding/[cbs]*.py",  # certificate, contraction, bounds, spectral_floor
    "games": "theory/games/*.py",
    "arithmetic": "kernels/arithmetic/*.py",
    "quality": "quality/*.py",
    "methods": "methods/*.py",
    "stress": "methods/points/stress/lower_bound.py",
    "aligned": "methods/points/aligned/certificate.py",
    "staleness": "models/staleness.py",
}
ARITHMETIC = " kernels/arithmetic/*.py"
# Rooms of `--sample`, and how many mutants of each. A room keeps its name when its files move;
# what it left to the room of arithmetic is looked for there.
SAMPLED = {
    "trace/proof": ("trace/proof/*.py" + ARITHMETIC, 60),
    "trace/sparse": ("trace/sparse/*.py", 60),
    "unfolding/certificate": ("unfolding/certificate.py", 25),
    "unfolding/bounds": ("unfolding/bounds.py unfolding/spectral_floor.py", 20),
    "stress/lower_bound": ("methods/points/stress/lower_bound.py", 25),
    "aligned/certificate": ("methods/points/aligned/certificate.py", 25),
    "growth/staleness": ("models/staleness.py", 25),
    "theory/games": ("theory/games/[cmp]*.py" + ARITHMETIC, 30),
}
# What a mutant of SAMPLED is known by: exactly; in a file of another name; in another function.
KEYS = (
    ("room", "name", "function", "original", "what", "nth"),
    ("room", "function", "original", "what", "nth"),
    ("room", "original", "what"),
)
NOTICED = ("killed", "endless")


def identity(mutant):
    """What stays of a mutant when lines move: file, the text of its line, the change, which one."""
    return mutant["file"], mutant["text"], mutant["what"], mutant["copy"]


def every_mutant(rooms):
    """Room → its mutants."""
    found = {}
    for room, patterns in rooms.items():
        found[room], copies = [], Counter()
        for path in sorted(path for one in patterns.split() for path in PACKAGE.glob(one)):
            place = str(path.relative_to(PACKAGE))
            for mutant in mutants_of(path.read_text()):
                same = (place, mutant["text"], mutant["what"])
                more = {"room": room, "file": place, "copy": copies[same]}
                copies[same] += 1
                found[room].append(mutant | more)
    return found


def drawn(count, seed):
    """Mutants of every room, in proportion to its size, in a random order.

    The order is that of a hash of the seed and the mutant, so that a smaller sample is
    a part of a greater one and a changed line changes only its own mutants.
    """

    def order(mutant):
        return hashlib.sha256(repr((seed, identity(mutant))).encode()).digest()

    every = every_mutant(ROOMS)
    total = sum(map(len, every.values()))
    chosen = []
    for mutants in every.values():
        share = max(1, round(count * len(mutants) / total))
        chosen += sorted(mutants, key=order)[:share]
    return sorted(chosen, key=order), {room: len(mutants) for room, mutants in every.items()}


def by_key(mutants, key):
    """Lists of mutants that have the same parts."""
    found = defaultdict(list)
    for mutant in mutants:
        named = mutant | {"name": Path(mutant["file"]).name}
        found[tuple(named[part] for part in key)].append(mutant)
    return found


def to_sample():
    """All mutants of the rooms of `SAMPLED`; `nth` tells those of one function and text apart."""
    rooms = every_mutant({room: where for room, (where, _) in SAMPLED.items()})
    alike = by_key([mutant for mutants in rooms.values() for mutant in mutants], KEYS[0][:-1])
    return [mutant | {"nth": nth} for same in alike.values() for nth, mutant in enumerate(same)]


def fixed(seed):
    """A sample of the rooms of `SAMPLED`, to be found again in another checkout."""

    def order(key):
        return hashlib.sha256(repr((seed, key)).encode()).digest()

    every, sample = by_key(to_sample(), KEYS[0]), []
    for room, (_, count) in SAMPLED.items():
        for key in sorted((key for key in every if key[0] == room), key=order)[:count]:
            (one,) = every[key]
            fault = faulty_statement((PACKAGE / one["file"]).read_text(), one["number"])
            kept = ("room", "file", "line", "function", "original", "what", "nth")
            sample.append({part: one[part] for part in kept} | {"mutated": fault})
    return sample


def found_again(sample):
    """For each of the sample its mutant in this checkout: the only one of a key, or None."""
    left, found = to_sample(), [None] * len(sample)
    for key in KEYS:
        here = by_key(left, key)
        for place, ats in by_key([one | {"at": at} for at, one in enumerate(sample)], key).items():
            open_ones = [one["at"] for one in ats if found[one["at"]] is None]
            if len(open_ones) == 1 and len(here[place]) == 1:
                found[open_ones[0]] = here[place][0]
        taken = {id(mutant) for mutant in found}
        left = [mutant for mutant in left if id(mutant) not in taken]
    return found


def warm():
    """Import what every mutant needs, but nothing of dualfold."""
    for name in ("numpy", "scipy.sparse.linalg", "scipy.stats", "pandas", "sklearn.manifold"):
        importlib.import_module(name)
    for name in ("hypothesis", "flint", "mpmath", "sklearn.utils.estimator_checks", "typer.main"):
        importlib.import_module(name)
    assert not any(name.startswith("dualfold") for name in sys.modules)


def run(work, chosen, minutes, budget=BUDGET):
    """Try these mutants; one line of JSON each, the last one counts."""
    known = Known([work, *sorted(path.parent for path in work.glob("*/took.json"))])
    kills = Counter(
        (m["file"], m["by"].partition("[")[0]) for m in _kept(work).values() if m.get("by")
    )
    end = time.monotonic() + 60 * minutes
    began = time.monotonic()

    def choose(mutant):
        nonlocal began
        if time.monotonic() > end:
            raise KeyboardInterrupt
        began = time.monotonic()
        return known.chosen(PACKAGE, mutant, kills, budget)

    def tell(mutant, tests, verdict, by):
        told = mutant | {"verdict": verdict, "by": by, "tests": len(tests)}
        kills[mutant["file"], by.partition("[")[0]] += bool(by)
        told["seconds"] = round(time.monotonic() - began, 1)
        with (work / "mutants.jsonl").open("a") as file:
            file.write(json.dumps(told) + "\n")

    warm()
    quick_hypothesis()
    inside = [mutant for mutant in chosen if mutant["inside"]]
    files = sorted({test.partition("::")[0] for test in known.took})
    in_other_process(lambda: collected(files, Trials(PACKAGE, inside, choose, tell)))
    for mutant in chosen:
        if not mutant["inside"]:
            tests, seconds = choose(mutant)
            path = PACKAGE / mutant["file"]
            name = module_of(mutant["file"])
            trial = at_import(path, name, mutant["number"], tests, seconds)
            tell(mutant, tests, *(trial if tests else ("not run", "")))


def _kept(work):
    """identity → what became of it, the last time."""
    path = work / "mutants.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {identity(m): m for m in map(json.loads, lines)}


def wilson(hits, n):
    """Wilson's 95 % interval of a share."""
    if not n:
        return (0.0, 1.0)
    z, share = 1.959964, hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return middle - half, middle + half


def no_fault():
    """Classes of mutants that break no promise."""
    return json.loads(NO_FAULT.read_text()) if NO_FAULT.exists() else []


def reason(mutant, classes):
    """Why this mutant breaks no promise, or None."""
    for one in classes:
        for file, text, what in one["mutants"]:
            if (
                fnmatch.fnmatch(mutant["file"], file)
                and re.search(text, mutant["text"])
                and re.search(what, mutant["what"])
            ):
                return one["why"]
    return None


def share_of(mutants, why):
    """How many were tried, explained and noticed, with Wilson's interval."""
    noticed = sum(m["verdict"] in NOTICED for m in mutants)
    left = [m for m in mutants if m["verdict"] in NOTICED or not why[identity(m)]]
    result = {"tried": len(mutants), "noticed": noticed, "no fault": len(mutants) - len(left)}
    for name, n in (("all", len(mutants)), ("faults", len(left))):
        low, high = wilson(noticed, n)
        result[f"share of {name}"] = round(noticed / max(1, n), 3)
        result[f"interval of {name}"] = [round(low, 3), round(high, 3)]
    result["no test runs the line"] = sum(m["verdict"] == "not run" for m in left)
    return result


def table(work, count, seed):
    """What became of the mutants, by room; survivors, and why some of them are no fault."""
    kept, (chosen, sizes) = _kept(work), drawn(count, seed)
    mutants = [m | kept[identity(m)] | {"line": m["line"]} for m in chosen if identity(m) in kept]
    classes = no_fault()
    why = {identity(m): reason(m, classes) for m in mutants}
    survivors = [m for m in mutants if m["verdict"] not in NOTICED]
    survivors.sort(key=lambda m: (m["file"], m["line"]))
    result = {"seed": seed, "drawn": len(chosen), "there are": sizes}
    result["rooms"] = {
        room: share_of([m for m in mutants if room in (m["room"], "all")], why)
        for room in (*ROOMS, "all")
    }
    result["no fault"] = dict(Counter(why[identity(m)] for m in survivors if why[identity(m)]))
    result["survivors"] = [
        f"{m['file']}:{m['line']} {m['what']}" for m in survivors if not why[identity(m)]
    ]
    return result


def sample_table(work, sample):
    """What became of a fixed sample, by room and mutant, and what did in another checkout."""
    kept, classes, rows = _kept(work), no_fault(), []
    for one, mutant in zip(sample, found_again(sample), strict=True):
        row = one | {"verdict": "not found", "by": "", "no fault": None}
        if mutant:
            told = kept.get(identity(mutant), {"verdict": "not tried", "by": ""})
            row |= {part: mutant[part] for part in ("file", "line", "function", "nth")}
            row |= {part: told[part] for part in ("verdict", "by")}
            if told["verdict"] not in NOTICED:
                row["no fault"] = reason(mutant, classes)
        if "verdict" in one:
            row["before"] = {part: one[part] for part in ("file", "function", "verdict", "by")}
        rows.append(row)
    result = {"rooms": {}}
    for room in (*SAMPLED, "all"):
        inside = [row for row in rows if room in (row["room"], "all")]
        counts = {"mutants": len(inside)} | Counter(row["verdict"] for row in inside)
        result["rooms"][room] = counts | {"no fault": sum(bool(row["no fault"]) for row in inside)}
    left = [row for row in rows if row["verdict"] in ("survived", "not run")]
    lists = {
        "noticed before": [r for r in left if r.get("before", {}).get("verdict") in NOTICED],
        "not found": [r for r in rows if r["verdict"] == "not found"],
        "found elsewhere": [r for r, one in zip(rows, sample, strict=True) if _moved(r, one)],
        "survivors": [r for r in left if not r["no fault"]],
    }
    for name, some in lists.items():
        result[name] = [f"{r['file']}:{r['line']} {r['original']} | {r['what']}" for r in some]
    return result | {"mutants": rows}


def _moved(row, one):
    """Whether a mutant is now in a file or a function of another name."""
    return any(Path(row[part]).name != Path(one[part]).name for part in ("file", "function"))


def main():
    """The commands of the first lines."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("do", choices=["contexts", "draw", "run", "again", "table"])
    parser.add_argument("work", type=Path)
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--tests", nargs="*", default=["tests"], help="what contexts runs")
    parser.add_argument("--files", default="*", help="again: only mutants of such files")
    parser.add_argument("--all", action="store_true", help="again: also what breaks no promise")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of tests a mutant")
    parser.add_argument("--sample", type=Path, help="a file with a fixed sample")
    parser.add_argument("--result", type=Path)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    if given.do == "contexts":
        options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        raise SystemExit(pytest.main([*options, *given.tests], [Contexts(given.work)]))
    if given.do == "draw":
        given.sample.write_text(_json({"seed": given.seed, "mutants": fixed(given.seed)}))
        return
    sample = json.loads(given.sample.read_text())["mutants"] if given.sample else None
    if given.do in ("run", "again"):
        kept = _kept(given.work)
        chosen = drawn(given.count, given.seed)[0] if sample is None else found_again(sample)
        chosen = [m for m in chosen if m and fnmatch.fnmatch(m["file"], given.files)]
        tried = [m for m in chosen if identity(m) in kept]
        lived = [m for m in tried if kept[identity(m)]["verdict"] not in NOTICED]
        lived = [m for m in lived if given.all or not reason(m, no_fault())]
        new = [m for m in chosen if identity(m) not in kept]
        todo = new if given.do == "run" else lived
        raise SystemExit(run(given.work, todo, given.minutes, given.budget))
    if sample is None:
        shown = result = table(given.work, given.count, given.seed)
    else:
        result = sample_table(given.work, sample)
        shown = {name: part for name, part in result.items() if name != "mutants"}
    print(_json(shown), end="")
    if given.result:
        given.result.write_text(_json(result))


def _json(what):
    return json.dumps(what, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
