"""Build the wheels of every platform on one machine: `python build_wheels.py`.

One wheel serves all Python versions of a platform, because the kernels are plain C behind ctypes,
and Zig's compiler crosses to every platform from any of them. The same sources give the same
bytes: times come from SOURCE_DATE_EPOCH (by default that of the last commit), the order of files
is fixed, and no path of the machine is kept. `--twice` builds all of it again elsewhere and
compares. Each wheel is opened and its libraries are looked at: what system and processor they are
for, and what they ask of its C library. Needs hatchling and ziglang; leaves the tree as it was.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from build_kernels import HERE, WHEELS

GLIBC = re.compile(rb"GLIBC_(\d+)\.(\d+)")
# What the header of a library says: ELF and PE number processors differently, Mach-O again.
ELF = {62: "x86_64-linux", 183: "aarch64-linux"}
PE = {0x8664: "x86_64-windows", 0xAA64: "aarch64-windows"}
MACH_O = {0x01000007: "x86_64-macos", 0x0100000C: "aarch64-macos"}
SYSTEM_LIBRARIES = (b"libc.so.6", b"libm.so.6", b"libc.so", b"ld-linux", b"KERNEL32.dll")


def made_for(library: bytes) -> str:
    """The processor and system that a library is for, as its header says."""
    if library[:4] == b"\x7fELF":
        return ELF[struct.unpack_from("<H", library, 18)[0]]
    if library[:2] == b"MZ":
        (at,) = struct.unpack_from("<I", library, 0x3C)
        return PE[struct.unpack_from("<H", library, at + 4)[0]]
    return MACH_O[struct.unpack_from("<I", library, 4)[0]]


def oldest_macos(library: bytes) -> tuple[int, int]:
    """The version of macOS that a Mach-O library asks for (LC_BUILD_VERSION)."""
    (commands,) = struct.unpack_from("<I", library, 16)
    at = 32
    for _ in range(commands):
        kind, size = struct.unpack_from("<II", library, at)
        if kind == 0x32:
            (version,) = struct.unpack_from("<I", library, at + 12)
            return version >> 16, version >> 8 & 255
        at += size
    raise RuntimeError("the library does not say which macOS it needs")


def refuse_wrong(wheel: Path, target: str) -> None:
    """RuntimeError where a library of the wheel is not what the wheel's name says."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        libraries = [name for name in names if name.startswith("dualfold/kernels/lib/")]
        if len(libraries) != (3 if target.startswith("x86_64") else 1):
            raise RuntimeError(f"{wheel.name} holds {len(libraries)} libraries")
        if not any(name.endswith(".dist-info/sboms/dualfold.cdx.json") for name in names):
            raise RuntimeError(f"{wheel.name} does not say what it is made of")
        for name in libraries:
            _refuse_library(f"{wheel.name}: {name}", archive.read(name), target)


def _refuse_library(name: str, library: bytes, target: str) -> None:
    if not target.startswith(made_for(library)):
        raise RuntimeError(f"{name} is for {made_for(library)}")
    asked = {(int(major), int(minor)) for major, minor in GLIBC.findall(library)}
    if asked and ("musl" in target or max(asked) > (2, 17)):
        raise RuntimeError(f"{name} needs glibc {max(asked)}")
    if "macos" in target and oldest_macos(library) > (11, 0):
        raise RuntimeError(f"{name} needs macOS {oldest_macos(library)}")
    for part in (str(HERE), tempfile.gettempdir()):
        if part.encode() in library:
            raise RuntimeError(f"{name} names a folder of this machine: {part}")


def date_of_sources() -> str:
    """SOURCE_DATE_EPOCH, else the time of the last commit, else that of hatchling."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    asked = ["git", "-C", str(HERE), "log", "-1", "--format=%ct"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    except OSError:
        told = ""
    return told or "1580601600"


def build(target: str, into: Path) -> Path:
    """The wheel for a target, built in a copy of the tree and looked at."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "dualfold"
        left_out = shutil.ignore_patterns("__pycache__", "lib")
        shutil.copytree(HERE / "src", copy / "src", ignore=left_out)
        for name in ("pyproject.toml", "build_kernels.py", "README.md", "LICENSE"):
            shutil.copy(HERE / name, copy)
        known = {"DUALFOLD_TARGET": target, "SOURCE_DATE_EPOCH": date_of_sources()}
        environment = {**os.environ, **known}
        environment.pop("CC", None)  # a compiler of this machine alone does not cross
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "out"]
        subprocess.run(command, cwd=copy, env=environment, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = (copy / "out").glob("*.whl")
        refuse_wrong(wheel, target)
        into.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, into / wheel.name))


def main() -> None:
    """Build what the command line asks for; print name, size and hash of each wheel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(WHEELS)}; all by default")
    parser.add_argument("--into", type=Path, default=HERE / "dist", help="folder for the wheels")
    parser.add_argument("--twice", action="store_true", help="build again and compare the bytes")
    chosen = parser.parse_args()
    if unknown := set(chosen.targets) - set(WHEELS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(WHEELS)}")
    for target in chosen.targets or WHEELS:
        wheel = build(target, chosen.into)
        content = wheel.read_bytes()
        again = ""
        if chosen.twice:
            with tempfile.TemporaryDirectory() as other:
                if build(target, Path(other)).read_bytes() != content:
                    raise SystemExit(f"{wheel.name}: a second build has other bytes")
            again = " twice the same bytes"
        print(f"{hashlib.sha256(content).hexdigest()}  {wheel.name} {len(content)} B{again}")


if __name__ == "__main__":
    main()
