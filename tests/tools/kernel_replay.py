"""Play a tape of kernel calls to the same C, built for other machines or with sanitizers.

    python -m tests.tools.kernel_replay TAPE aarch64 musl windows v2 v3 v4 sanitized

Each word is a way to build and run the kernels; one whose compiler or emulator is missing is left
out with a sentence. The answers are compared with those on the tape bit for bit. `--result FILE`
keeps the counts as JSON.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dualfold import kernels
from tests.tools.kernel_tape import of_type, refuse_other

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src" / "dualfold" / "kernels"
C_TYPES = {"int32": "int32_t", "int64": "int64_t", "float32": "float", "float64": "double"}
# Products of panels are summed in an order that follows the registers (panels.h), so they are the
# same to rounding. Lists of candidates that come of them may differ: what the searches find in
# them is measured once more, by kernels that are held to every bit.
CANDIDATES = {
    "cell_lists", "count_panels", "leaf_lists", "list_reach", "narrow_pairs", "sample_lists",
    "scan_panels",
}  # fmt: skip
# Of sums of up to 330 products, of data whose mean is a few of its deviations: at most some
# 330·2⁻²⁴ and 330·2⁻⁵³ of the largest entry, and small entries beside it.
ROUNDED = dict.fromkeys(CANDIDATES, float("inf")) | {"scatter32": 1e-2, "scatter64": 1e-9}
CLANG = next((f"clang-{v}" for v in range(30, 14, -1) if shutil.which(f"clang-{v}")), "clang-16")
SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow"


@dataclass(frozen=True)
class Way:
    """How a program is compiled and run, and what must be there for it."""

    compiler: list[str]
    runner: list[str] = field(default_factory=list)
    needs: str = ""
    flags: tuple[str, ...] = ()


def _zig(target, *flags, runner=()):
    """Zig crosses; the C library of a dynamic program is that of the machine it runs on."""
    optimised = ("-O3", "-fno-math-errno", "-fno-sanitize=undefined", *flags)
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target]
    return Way(command, list(runner), runner[0] if runner else "", optimised)


GLIBC = "linux-gnu.2.17"
# Debian's libc6-arm64-cross has the C library that an emulated program needs.
ARM = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
WAYS = {
    "aarch64": _zig(f"aarch64-{GLIBC}", runner=ARM),
    "musl": _zig("x86_64-linux-musl", "-static", "-mcpu=x86_64_v2"),
    "windows": _zig("x86_64-windows-gnu", "-mcpu=x86_64_v3", runner=("wine",)),
    "v2": _zig(f"x86_64-{GLIBC}", "-mcpu=x86_64_v2"),
    "v3": _zig(f"x86_64-{GLIBC}", "-mcpu=x86_64_v3"),
    "v4": _zig(f"x86_64-{GLIBC}", "-mcpu=x86_64_v4", "-mprefer-vector-width=512"),
    "sanitized": Way(
        [CLANG],
        flags=("-O1", "-g", "-Wno-psabi", "-fno-sanitize-recover=all", SANITIZERS),
    ),
}


def calls_header():
    """C that takes the arguments of each kernel from a tape, calls it and judges the answer."""
    told = sorted(kernels.interface()[1].items())
    prototypes, cases = [], []
    for number, (name, (result, *arguments)) in enumerate(told):
        types = [of_type(argument) for argument in arguments]
        declared = [f"{C_TYPES[kind]}{' *' if array else ''}" for kind, array in types]
        prototypes.append(f"{C_TYPES.get(result, 'void')} {name}({', '.join(declared) or 'void'});")
        lines = []
        for at, (kind, array) in enumerate(types):
            taken = "array()" if array else "whole()" if "int" in kind else "real()"
            lines.append(f"{declared[at]} a{at} = ({declared[at]}){taken};")
        call = f"{name}({', '.join(f'a{at}' for at in range(len(types)))})"
        if result == "void":
            lines.append(f"{call}; if (judged) whole();")
        else:
            lines.append(f"{C_TYPES[result]} answer = {call}; (void)answer;")
            way = "judge_whole" if "int" in result else "judge_real"
            lines.append(f"if (judged) {way}(answer);")
        for at, (kind, array) in enumerate(types):
            if "=" in array:
                lines.append(f"if (judged) judge(a{at}, '{kind[0]}', {int(kind[-2:]) // 8});")
            lines += [f"free(a{at});"] if array else []
        cases.append(
            f"    case {number}: {{\n        " + "\n        ".join(lines) + " break;\n    }"
        )
    names = ", ".join(f'"{name}"' for name, _ in told)
    lines = [*prototypes, f"static const char *NAMES[] = {{{names}}};"]
    lines += ["static void call(int64_t which, int judged) {", "    switch (which) {", *cases]
    return "\n".join([*lines, "    default: abort();", "    }", "}"])


def compiled(way, folder):
    """The program that plays tapes, built this way."""
    (folder / "calls.h").write_text(calls_header())
    program = folder / "replay.exe"
    sources = [*sorted(map(str, SOURCES.glob("*.c"))), str(HERE / "kernel_replay.c")]
    places = [f"-I{SOURCES}", f"-I{folder}", "-std=c11", "-ffp-contract=off"]
    command = [*way.compiler, *way.flags, *places]
    if "windows" in " ".join(way.compiler):  # whose runtime is then built once, as for the wheels
        objects = [str(folder / f"{Path(source).stem}.o") for source in sources]
        for source, made in zip(sources, objects, strict=True):
            subprocess.run([*command, "-c", source, "-o", made], check=True, timeout=900)
        command = [*way.compiler, "-std=c11", "-s", *objects, "-o", str(program)]
    else:
        command += [*sources, "-o", str(program), "-lm"]
    subprocess.run(command, check=True, timeout=900)
    return program


def played(way, program, tape, *more, limit=600):
    """What the program says of a tape: the process, ended."""
    return subprocess.run(
        [*way.runner, str(program), str(tape), *more],
        capture_output=True, text=True, timeout=limit, errors="replace",
    )  # fmt: skip


def compared(said):
    """By kernel: calls, calls with other bits, and the largest relative difference."""
    calls, other, worst = Counter(), Counter(), {}
    for line in said.splitlines():
        if line.startswith("="):
            continue
        name, wrong, share = line.split()
        calls[name] += 1
        other[name] += int(wrong) > 0
        if int(wrong):
            worst[name] = max(worst.get(name, 0.0), float(share))
    wrong = sorted(name for name in worst if worst[name] > ROUNDED.get(name, 0.0))
    same = sum(calls.values()) - sum(other.values())
    return {"calls": sum(calls.values()), "same bits": same, "other": worst, "wrong": wrong}


def replayed(word, tape):
    """The comparison of one way with the tape, or a sentence that says why there is none."""
    way = WAYS[word]
    for needed in (way.needs, way.compiler[0]):
        if needed and shutil.which(needed) is None:
            return f"{word}: not run, {needed} is not installed"
    if "ziglang" in way.compiler and importlib.util.find_spec("ziglang") is None:
        return f"{word}: not run, ziglang is not installed"
    with tempfile.TemporaryDirectory() as scratch:
        return judged(played(way, compiled(way, Path(scratch)), tape))


def judged(process):
    """The comparison of a program that has ended with the tape it played."""
    if process.returncode or "= " not in process.stdout:
        return {"wrong": [f"ended with {process.returncode}"], "said": process.stderr[-3000:]}
    return compared(process.stdout)


def main():
    """Play the tape in every way that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tape", type=Path)
    parser.add_argument("ways", nargs="+", choices=sorted(WAYS))
    parser.add_argument("--result", type=Path, help="JSON of the counts")
    chosen = parser.parse_args()
    refuse_other(chosen.tape)
    results = {}
    for word in chosen.ways:
        results[word] = replayed(word, chosen.tape)
        print(f"{word}: {json.dumps(results[word])}", flush=True)
    if chosen.result:
        chosen.result.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    if any(isinstance(found, dict) and found["wrong"] for found in results.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
