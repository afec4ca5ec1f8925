"""Build hook: compile the C kernels with the compiler that comes as a wheel.

The kernels are plain C called through ctypes, so one wheel serves every Python
version of a platform. On x86-64 the same source is compiled for three levels of
the instruction set; `dualfold.kernels` loads the best one the processor has.
Each library tells the types of its functions, read here from their C prototypes, so that
they are stated once. `python build_kernels.py` builds in place, for work on the sources.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # building in place needs the compiler alone
    BuildHookInterface = object  # type: ignore[assignment, misc]

HERE = Path(__file__).parent
SOURCES = HERE / "src" / "dualfold" / "kernels"
LEVELS = {"x86_64": ["x86_64_v2", "x86_64_v3", "x86_64_v4"], "aarch64": ["baseline"]}
ENDING = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}
TYPES = {"int32_t": "int32", "int64_t": "int64", "float": "float32", "double": "float64"}
PROTOTYPE = re.compile(r"\bEXPORT\s+(\w+)\s+(\w+)\s*\(([^{};]*)\)\s*\{")
ARGUMENT = re.compile(
    r"(const )?(\w+) (\* ?)?(OPTIONAL )?(\w+)(?: HOLDS\((.*?)\))?( RISING)?(?: BELOW\((.*)\))?"
)


def target() -> tuple[str, str]:
    """Zig's name of this machine's architecture, and of the whole target."""
    arch = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    if sys.platform == "darwin":
        return arch, f"{arch}-macos"
    if sys.platform == "win32":
        return arch, f"{arch}-windows-gnu"
    musl = "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "")
    return arch, f"{arch}-linux-musl" if musl else f"{arch}-linux-gnu.2.17"


def signatures(preprocessed: str) -> str:
    """The exported functions, a line each: name, result, and name and type of each argument.

    "n:int64" is a number, "x:float32[]" an array that is read, "x:float32[]=" one that is
    written; "?" means that it may be NULL. What an array must hold follows, in parts that begin
    with ":": how many entries, the limit that they stay below, and "rising".
    """
    lines = []
    for result, name, arguments in PROTOTYPE.findall(preprocessed):
        words = [name, TYPES.get(result, result)]
        for argument in arguments.split(","):
            plain = " ".join(argument.replace("*", " * ").split())
            found = ARGUMENT.fullmatch(plain)
            if plain == "void":
                continue
            odd = found is None or found[2] not in TYPES or (found[1] and not found[3])
            if found is None or odd or bool(found[3]) != bool(found[6]):
                raise RuntimeError(
                    f"{name}: the argument {plain!r} is not of a kind that Python can pass; "
                    f"numbers are {', '.join(TYPES)}, arrays pointers to them with what they HOLD"
                )
            array = "" if not found[3] else "[]" if found[1] else "[]="
            word = f"{found[5]}:{TYPES[found[2]]}{array}{'?' if found[4] else ''}"
            if array:
                conditions = [found[6], found[8] or "", "rising" if found[7] else ""]
                word += "".join(f":{text.replace(' ', '')}" for text in conditions)
            words.append(word)
        lines.append(" ".join(words))
    return "\n".join(sorted(lines))


def fingerprint() -> str:
    """A hash of the C sources: a library that tells another one is out of date."""
    every = sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.h")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in every)).hexdigest()[:16]


def compiler() -> list[str]:
    """The C compiler: that of $CC, which must be a clang, else the one that comes as a wheel."""
    own = shlex.split(os.environ.get("CC", ""))
    return own or [sys.executable, "-m", "ziglang", "cc", "-target", target()[1]]


def run_compiler(arguments: list[str]) -> str:
    """Run the C compiler; RuntimeError with what it said when it fails."""
    command = [*compiler(), "-std=c11", *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"the C kernels did not compile:\n{' '.join(command)}\n{result.stderr}")
    return result.stdout


def interface(sources: list[str]) -> str:
    """C source of the function that tells the fingerprint and the signatures."""
    marked = ["-E", "-P", "-DEXPORT=EXPORT", "-DOPTIONAL=OPTIONAL"]
    with ThreadPoolExecutor() as pool:
        texts = pool.map(lambda source: run_compiler([*marked, source]), sources)
        told = f"{fingerprint()}\n{signatures(''.join(texts))}"
    lines = "\n".join(f'        "{line}\\n"' for line in told.splitlines())
    return (
        f'#include "kernels.h"\nEXPORT const char *interface(void) {{\n    return\n{lines};\n}}\n'
    )


def compile_kernels() -> list[Path]:
    """Compile every .c file into one library per instruction-set level."""
    sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "interface.c"
        made.write_text(interface(sources))
        return _libraries([*sources, str(made)])


def _libraries(sources: list[str]) -> list[Path]:
    folder = SOURCES / "lib"
    folder.mkdir(exist_ok=True)

    def build(level: str) -> Path:
        library = folder / f"dualfold-{level}{ENDING.get(sys.platform, '.so')}"
        # No fused multiply-add and no fast-math: the same input gives the same
        # bits at every level. 512-bit registers pay off in the long loops here.
        flags = ["-O3", "-Wall", "-Wextra", "-ffp-contract=off", f"-I{SOURCES}"]
        # A new compiler's new warning is no reason not to install; CI wants to know of it.
        flags += ["-Werror"] if os.environ.get("DUALFOLD_WARNINGS") == "error" else []
        flags += ["-fno-math-errno", "-fno-sanitize=undefined", "-shared", "-fPIC", "-s"]
        if level == "x86_64_v4":
            flags.append("-mprefer-vector-width=512")
        # Beside its place, then moved there: programs that run keep the library they have.
        fresh = library.with_name(f"new-{library.name}")
        named = f"-march={level.replace('_', '-')}"  # as other compilers call it
        if not os.environ.get("CC"):
            named = f"-mcpu={level}"
        flags += [named] if level != "baseline" else []
        run_compiler([*flags, *sources, "-o", str(fresh)])
        fresh.replace(library)
        return library

    with ThreadPoolExecutor() as pool:
        built = list(pool.map(build, LEVELS.get(target()[0], ["baseline"])))
    for leftover in set(folder.iterdir()) - set(built):
        leftover.unlink()
    return built


class Kernels(BuildHookInterface):  # type: ignore[type-arg]
    """Put the compiled libraries into the wheel and tag it for this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        compile_kernels()
        build_data["pure_python"] = False
        tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{tag}"


if __name__ == "__main__":
    for path in compile_kernels():
        print(path.relative_to(HERE), path.stat().st_size)
