"""Build hook: compile the C kernels with the compiler that comes as a wheel.

The kernels are plain C called through ctypes, so one wheel serves every Python
version of a platform. On x86-64 the same source is compiled for three levels of
the instruction set; `dualfold.kernels` loads the best one the processor has.
Each library tells the types of its functions, read here from their C prototypes, so that
they are stated once. `python build_kernels.py` builds in place, for work on the sources;
`build_wheels.py` builds the wheels of all platforms, which it names by DUALFOLD_TARGET.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import struct
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # building in place needs the compiler alone
    BuildHookInterface = object  # type: ignore[assignment, misc]

HERE = Path(__file__).parent
SOURCES = HERE / "src" / "dualfold" / "kernels"
LEVELS = {"x86_64": ["x86_64_v2", "x86_64_v3", "x86_64_v4"], "aarch64": ["baseline"]}
ENDING = {"macos": ".dylib", "windows": ".dll"}
# Zig's name of a machine, and the tag of a wheel for it. The C library is named by the oldest
# version it may have: glibc 2.17 (2012), musl 1.2 (2020), macOS 11 (2020), Windows 10.
WHEELS = {
    "x86_64-linux-gnu.2.17": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux_2_17_aarch64.manylinux2014_aarch64",
    "x86_64-linux-musl": "musllinux_1_2_x86_64",
    "aarch64-linux-musl": "musllinux_1_2_aarch64",
    "x86_64-macos.11.0": "macosx_11_0_x86_64",
    "aarch64-macos.11.0": "macosx_11_0_arm64",
    "x86_64-windows-gnu": "win_amd64",
    "aarch64-windows-gnu": "win_arm64",
}
# As Python names them, and as Zig does.
ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "ppc64le": "powerpc64le"}
TYPES = {"int32_t": "int32", "int64_t": "int64", "float": "float32", "double": "float64"}
PROTOTYPE = re.compile(r"\bEXPORT\s+(\w+)\s+(\w+)\s*\(([^{};]*)\)\s*\{")
ARGUMENT = re.compile(
    r"(const )?(\w+) (\* ?)?(OPTIONAL )?(\w+)(?: HOLDS\((.*?)\))?( RISING)?(?: BELOW\((.*)\))?"
)


_REMEDY = (
    "dualfold needs its kernels: there is no slower form without them. They compile with the wheel "
    "`ziglang` (pip install ziglang) or a clang 15 or newer named by the variable CC, for example "
    "CC=clang pip install ."
)


def target() -> str:
    """Zig's name of the machine to build for: DUALFOLD_TARGET, else this one."""
    if chosen := os.environ.get("DUALFOLD_TARGET"):
        return chosen
    if struct.calcsize("P") != 8:
        raise RuntimeError(
            "dualfold's kernels count with 64 bits and this Python has "
            f"{8 * struct.calcsize('P')}; install a 64-bit Python"
        )
    arch = platform.machine().lower()
    arch = ARCHITECTURES.get(arch, arch)
    if sys.platform == "darwin":
        return f"{arch}-macos.11.0"
    if sys.platform == "win32":
        return f"{arch}-windows-gnu"
    if "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
        return f"{arch}-linux-musl"
    oldest = f"{arch}-linux-gnu.2.17"
    return oldest if oldest in WHEELS else f"{arch}-linux-gnu"


def wheel_tag() -> str:
    """The platform tag of a wheel: what the compiler was told, or all that Python knows."""
    known = None if os.environ.get("CC") else WHEELS.get(target())
    return known or sysconfig.get_platform().replace("-", "_").replace(".", "_")


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
    """The C compiler: that of $CC, a clang from 15 on, else the one that comes as a wheel."""
    own = shlex.split(os.environ.get("CC", ""))
    return own or [sys.executable, "-m", "ziglang", "cc", "-target", target()]


def run_compiler(arguments: list[str]) -> str:
    """Run the C compiler; RuntimeError with what it said when it fails."""
    command = [*compiler(), "-std=c11", *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise RuntimeError(f"the C compiler of $CC did not start: {error}") from error
    if result.returncode:
        said = f"{shlex.join(command)}\n{result.stderr}\n"
        raise RuntimeError(f"the C kernels did not compile:\n{said}{_REMEDY}")
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
    arch, system, *_ = re.split(r"[-.]", target())
    levels = LEVELS.get(arch, ["baseline"])

    def build(level: str) -> Path:
        library = folder / f"dualfold-{level}{ENDING.get(system, '.so')}"
        # Beside its place, then moved there: programs that run keep the library they have.
        fresh = library.with_name(f"new-{library.name}")
        link = ["-shared", "-s", "-o", str(fresh)]
        link += ["-install_name", f"@rpath/{library.name}"] if system == "macos" else []
        if system == "windows":
            with tempfile.TemporaryDirectory() as scratch:
                run_compiler([*link, *_objects(sources, _flags(level), scratch)])
            _without_time(fresh)
        else:
            run_compiler([*_flags(level), "-fPIC", *link, *sources])
        fresh.replace(library)
        return library

    with ThreadPoolExecutor() as pool:
        built = list(pool.map(build, levels))
    for leftover in set(folder.iterdir()) - set(built):
        leftover.unlink()
    return built


def _without_time(library: Path) -> None:
    """Zero in the place of the time of linking, so that the same sources give the same bytes."""
    content = bytearray(library.read_bytes())
    (header,) = struct.unpack_from("<I", content, 0x3C)
    content[header + 8 : header + 12] = bytes(4)
    library.write_bytes(content)


def _flags(level: str) -> list[str]:
    """How sources are compiled for a level of the instruction set."""
    # No fused multiply-add and no fast-math: the same input gives the same
    # bits at every level. 512-bit registers pay off in the long loops here.
    flags = ["-O3", "-Wall", "-Wextra", "-ffp-contract=off", f"-I{SOURCES}"]
    # A new compiler's new warning is no reason not to install; CI wants to know of it.
    flags += ["-Werror"] if os.environ.get("DUALFOLD_WARNINGS") == "error" else []
    flags += ["-fno-math-errno", "-fno-sanitize=undefined"]
    if level == "x86_64_v4":
        flags.append("-mprefer-vector-width=512")
    named = f"-mcpu={level}"
    if os.environ.get("CC"):
        named = f"-march={level.replace('_', '-')}"  # as other compilers call it
    return flags if level == "baseline" else [*flags, named]


def _objects(sources: list[str], flags: list[str], folder: str) -> list[str]:
    """Each source compiled alone, for a link without a level: the runtime of Windows, hundreds of
    files, is then built once."""
    objects = [str(Path(folder) / f"{Path(source).stem}.o") for source in sources]
    with ThreadPoolExecutor() as pool:
        commands = zip(sources, objects, strict=True)
        list(pool.map(lambda both: run_compiler([*flags, "-c", both[0], "-o", both[1]]), commands))
    return objects


def _component(name: str, kind: str, licence: str, **more: Any) -> dict[str, Any]:
    chosen = {"expression": licence}
    return {"type": kind, "bom-ref": name, "name": name, "licenses": [chosen], **more}


def package_version() -> str:
    """The version of dualfold, from the one place that states it."""
    source = (HERE / "src" / "dualfold" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', source, re.M)
    assert found is not None
    return found[1]


def bill_of_materials(project: dict[str, Any], libraries: list[Path]) -> str:
    """What a wheel holds and what it was made with, as CycloneDX; of the same parts the same text.

    The kernels are dualfold's own code. What the linker may add to them comes with the compiler.
    """
    maker = {"name": os.environ["CC"]} if os.environ.get("CC") else _package("ziglang")
    holds = []
    for path in sorted(libraries):
        known = [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}]
        place = f"dualfold/kernels/lib/{path.name}"
        holds.append(_component(place, "file", project["license"], hashes=known))
    holds.append(_component("compiler-rt", "library", "MIT", scope="optional"))
    if "windows" in target():
        holds.append(_component("mingw-w64 runtime", "library", "ZPL-2.1", scope="optional"))
    needs = [_package(re.split(r"[<>=!~; ]", text)[0]) for text in project["dependencies"]]
    for part, text in zip(needs, project["dependencies"], strict=True):
        part.pop("version", None)  # whichever is installed; the range is stated
        part |= {"scope": "required", "properties": [{"name": "requires", "value": text}]}
    main = _component("dualfold", "library", project["license"], version=package_version())
    built = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 1580601600)), UTC)
    told: dict[str, Any] = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}
    tools = {"components": [{"type": "application", **maker}]}
    told |= {
        "metadata": {"timestamp": built.isoformat(), "component": main, "tools": tools},
        "components": [*holds, *({"type": "library", "bom-ref": n["purl"], **n} for n in needs)],
    }
    content = json.dumps(told, sort_keys=True)
    told["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, content)}"
    return json.dumps(told, indent=1, sort_keys=True) + "\n"


def _package(name: str) -> dict[str, Any]:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = "unknown"
    return {"name": name, "version": version, "purl": f"pkg:pypi/{name.lower()}"}


class Kernels(BuildHookInterface):  # type: ignore[type-arg]
    """Put the compiled libraries and what they are made of into the wheel; name its platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        built = compile_kernels()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{wheel_tag()}"
        if version == "editable":
            return
        project = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
        self.scratch = tempfile.TemporaryDirectory()
        bill = Path(self.scratch.name) / "dualfold.cdx.json"
        bill.write_text(bill_of_materials(project, built), "utf-8", newline="\n")
        build_data["sbom_files"] = [str(bill)]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "scratch"):
            self.scratch.cleanup()


if __name__ == "__main__":
    for path in compile_kernels():
        print(path.relative_to(HERE), path.stat().st_size)
