"""Build hook: compile the C kernels with the compiler that comes as a wheel.

The kernels are plain C called through ctypes, so one wheel serves every Python
version of a platform. On x86-64 the same source is compiled for three levels of
the instruction set; `dualfold.kernels` loads the best one the processor has.
`python build_kernels.py` builds them in place, for work on the sources.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).parent
SOURCES = HERE / "src" / "dualfold" / "kernels"
LEVELS = {"x86_64": ["x86_64_v2", "x86_64_v3", "x86_64_v4"], "aarch64": ["baseline"]}
ENDING = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}


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


def compile_kernels() -> list[Path]:
    """Compile every .c file into one library per instruction-set level."""
    arch, triple = target()
    folder = SOURCES / "lib"
    folder.mkdir(exist_ok=True)
    sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]

    def build(level: str) -> Path:
        library = folder / f"dualfold-{level}{ENDING.get(sys.platform, '.so')}"
        # No fused multiply-add and no fast-math: the same input gives the same
        # bits at every level. 512-bit registers pay off in the long loops here.
        flags = ["-O3", "-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
        flags += ["-fno-math-errno", "-fno-sanitize=undefined", "-shared", "-fPIC", "-s"]
        if level == "x86_64_v4":
            flags.append("-mprefer-vector-width=512")
        command = [sys.executable, "-m", "ziglang", "cc", *flags, "-target", triple]
        command += [f"-mcpu={level}", *sources, "-o", str(library)]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(
                f"the C kernels did not compile for {triple} ({level}):\n{result.stderr}"
            )
        return library

    with ThreadPoolExecutor() as pool:
        built = list(pool.map(build, LEVELS.get(arch, ["baseline"])))
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
