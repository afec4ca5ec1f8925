"""Fuzz the door of the kernels: what it lets through must not leave the arrays.

    python -m tests.tools.kernel_fuzz TAPE --count 4000 --seed 0

Calls of a tape (`kernel_tape.py`) are altered: entries, lengths and numbers that a damaged file, a
changed matrix or another thread could bring. The door refuses many of them (`conditions.py`). The
rest, and the tape as it is, are played to the kernels built with AddressSanitizer and UBSan
(`kernel_replay.py`). Each call that they object to is a finding.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from dualfold import kernels
from dualfold.errors import InvalidInput
from dualfold.kernels.conditions import checker
from tests.tools.kernel_replay import WAYS, compiled, judged, played
from tests.tools.kernel_tape import NULL, asked, header, of_type, refuse_other

WHOLE = (-(2**62), -(2**31), -2, -1, 0, 1, 2, 3, 47, 48, 49, 2**31 - 1, 2**31, 2**62)
REAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1.0, 1e300, -1e300, 5e-324, 1e38)
# They go on with a pattern that `asymmetry` and `sparse_ordering` have seen, by a plan that C made.
PLANNED = {
    *("breadth_first", "sparse_ordering", "sparse_supernodes", "sparse_rows"),
    *("ldl_plan", "ldl_factorise", "ldl_solve", "ldl_absolute"),
    *("shortcut_edges", "shortcuts_in_part", "shortcuts_from_parts"),
    *("shortcuts_in_rows", "shortcuts_from_rows"),
    *("swept_geodesics32", "swept_geodesics64", "swept_from_one32", "swept_from_one64"),
}
HOW_MANY = (1, 1, 2, 3)  # values altered in a call
MOST_FINDINGS = 12
SECONDS = 120


def calls_of(path):
    """The calls on a tape: (kernel, arguments)."""
    told = sorted(kernels.interface()[1].items())
    tape = memoryview(Path(path).read_bytes())
    at = 24
    for _ in range(struct.unpack_from("<q", tape, 16)[0]):
        name, (_, *arguments) = told[struct.unpack_from("<q", tape, at)[0]]
        at += 8
        values = []
        for argument in arguments:
            value, at = _value(tape, at, *of_type(argument))
            values.append(value)
        at += 8
        for argument in arguments:  # what was answered
            if "=" in of_type(argument)[1]:
                at += 8 + max(0, struct.unpack_from("<q", tape, at)[0])
        yield name, values


def _value(tape, at, kind, array):
    if not array:
        form = "<q" if "int" in kind else "<d"
        return struct.unpack_from(form, tape, at)[0], at + 8
    (size,) = struct.unpack_from("<q", tape, at)
    if size == NULL:
        return None, at + 8
    values = np.frombuffer(tape[at + 8 : at + 8 + size], dtype=kind)
    return values, at + 8 + size


def from_outside(name, argument):
    """How an argument may differ from what its caller means: not, "numbers" or "entries".

    Sizes and loop bounds are the caller's own. So are whole numbers of which the prototype states
    no limit: lists and plans that our own code made just before. Numbers come from tables and
    files, and so do the indices of matrices and graphs, which the prototypes bound.
    """
    kind, array = of_type(argument)
    _, _, *stated = argument.split(":")
    if not array or stated[0] == "0" or name.startswith("geodesics_"):
        return None  # of geodesics: a copy of the graph, whose lengths and pattern were judged
    if "int" not in kind:
        return "numbers"
    return "entries" if (stated[1] or stated[2]) and name not in PLANNED else None


def altered(values, places, rng):
    """The values with those at some places changed."""
    values = list(values)
    for place in places:
        value = values[place]
        if isinstance(value, np.ndarray):
            values[place] = _altered_array(value, rng)
        elif isinstance(value, float):
            values[place] = float(rng.choice([*REAL, value / 2, -value, 2 * value]))
        elif value is not None:
            near = [value - 1, value + 1, value // 2, 2 * value, 0, 1]
            small = [number for number in WHOLE if abs(number) < 2**31]
            values[place] = int(rng.choice(near if rng.random() < 0.7 else small))
    return values


def _altered_array(value, rng):
    way = rng.integers(6)
    if way == 0 or not value.size:  # cut
        return value[: rng.integers(0, value.size + 1)].copy()
    if way == 1:  # other lengths of memory
        return np.resize(value, value.size + int(rng.integers(1, 9)))
    out = value.copy()
    if way == 2:
        return out[rng.permutation(out.size)]
    places = rng.choice(out.size, size=min(out.size, (1, 3, out.size)[way % 3]), replace=False)
    whole = np.issubdtype(out.dtype, np.integer)
    if whole:
        most = np.iinfo(out.dtype).max
        pool = [number for number in (*WHOLE, int(out.max()) + 1) if -most <= number <= most]
    else:
        pool = REAL
    with np.errstate(over="ignore"):
        out[places] = rng.choice(np.array(pool, out.dtype), size=len(places))
    return out


def let_through(path, count, seed):
    """Altered calls that the door let through, as the tape has them, and how many were asked."""
    rng = np.random.default_rng(seed)
    told = kernels.interface()[1]
    names = sorted(told)
    calls = [call for call in calls_of(path) if sum(np.size(v) for v in call[1]) < 40_000]
    doors = {name: checker(name, told[name][1:], kernels.c_constant) for name in names}
    passed, refused = [], Counter()
    for _ in range(count):
        name, values = calls[rng.integers(len(calls))]
        free = [at for at, argument in enumerate(told[name][1:]) if from_outside(name, argument)]
        if not free:
            continue
        most = min(len(free), int(rng.choice(HOW_MANY)))
        places = rng.choice(free, size=most, replace=False)
        values = altered(values, places, rng)
        try:
            doors[name](values)
        except InvalidInput:
            refused[name] += 1
            continue
        which = struct.pack("<q", names.index(name))
        changed = " ".join(told[name][1 + at].partition(":")[0] for at in sorted(places))
        passed.append((f"{name}({changed})", which + asked(told[name][1:], values)))
    return passed, sum(refused.values())


def played_all(program, passed, folder):
    """What the sanitizers said: (kernel, report), each call once."""
    findings, left = [], passed
    while left and len(findings) < MOST_FINDINGS:
        tape = folder / "altered.tape"
        tape.write_bytes(header(len(left)) + b"".join(call for _, call in left))
        try:
            process = played(WAYS["sanitized"], program, tape, "only run", limit=SECONDS)
            ended, said = process.returncode, process.stderr
        except subprocess.TimeoutExpired as late:
            ended, said = 1, (late.stderr or b"").decode(errors="replace") + "\nendless"
        if not ended:
            return findings
        at = [int(line.split()[1]) for line in said.splitlines() if line.startswith("call ")]
        bad = at[-1] if at else 0
        findings.append((left[bad][0], said[said.rfind("\ncall ") :][:3000]))
        # Others with the same arguments altered would mostly say the same again.
        left = [call for call in left[bad + 1 :] if call[0] != left[bad][0]]
    return findings


def main():
    """Fuzz, print what was found, and end with 1 if anything was."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tape", type=Path)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--result", type=Path, help="JSON of the counts")
    chosen = parser.parse_args()
    way = WAYS["sanitized"]
    if shutil.which(way.compiler[0]) is None:
        print(f"fuzzer of the kernels' door: not run, {way.compiler[0]} is not installed")
        return
    refuse_other(chosen.tape)
    passed, refused = let_through(chosen.tape, chosen.count, chosen.seed)
    with tempfile.TemporaryDirectory() as scratch:
        program = compiled(way, Path(scratch))
        recorded = judged(played(way, program, chosen.tape))
        findings = [(name, recorded.get("said", "")) for name in recorded["wrong"]]
        findings += played_all(program, passed, Path(scratch))
    counts = {"tried": chosen.count, "refused": refused, "run": len(passed), "seed": chosen.seed}
    counts["recorded"] = recorded.get("calls", 0)
    counts["findings"] = [name for name, _ in findings]
    print(json.dumps(counts))
    for name, said in findings:
        print(f"--- {name}\n{said}")
    if chosen.result:
        chosen.result.write_text(json.dumps(counts, indent=1) + "\n")
    if findings:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
