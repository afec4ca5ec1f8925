"""Wheels say truly what they are for, hold what they are made of, and come out the same twice."""

from __future__ import annotations

import json
import struct
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import build_kernels
import build_wheels
from dualfold import kernels
from dualfold.errors import DualfoldError

PROJECT = tomllib.loads((build_kernels.HERE / "pyproject.toml").read_text())["project"]


def elf(machine, *names):
    return b"\x7fELF" + bytes(14) + struct.pack("<H", machine) + b"\0".join(names)


def mach_o(processor, major, minor):
    header = struct.pack("<8I", 0xFEEDFACF, processor, 0, 6, 2, 48, 0, 0)
    other = struct.pack("<II", 0x1B, 24) + bytes(16)
    return header + other + struct.pack("<6I", 0x32, 24, 1, major << 16 | minor << 8, 0, 0)


def pe(machine):
    return b"MZ" + bytes(0x3A) + struct.pack("<I", 0x40) + b"PE\0\0" + struct.pack("<H", machine)


@pytest.mark.parametrize(
    ("library", "wanted"),
    [
        (elf(62), "x86_64-linux"),
        (elf(183), "aarch64-linux"),
        (pe(0x8664), "x86_64-windows"),
        (pe(0xAA64), "aarch64-windows"),
        (mach_o(0x01000007, 11, 0), "x86_64-macos"),
        (mach_o(0x0100000C, 11, 0), "aarch64-macos"),
    ],
)
def test_headers_say_what_a_library_is_for(library, wanted):
    assert build_wheels.made_for(library) == wanted
    assert sum(target.startswith(wanted) for target in build_kernels.WHEELS) >= 1


def wheel_with(path, library, count=3, bill=True):
    with zipfile.ZipFile(path, "w") as archive:
        for level in range(count):
            archive.writestr(f"dualfold/kernels/lib/dualfold-{level}", library)
        if bill:
            archive.writestr("dualfold-0.dist-info/sboms/dualfold.cdx.json", "{}")
    return path


@pytest.mark.parametrize(
    ("target", "library", "more", "words"),
    [
        ("x86_64-linux-gnu.2.17", elf(62, b"GLIBC_2.17", b"GLIBC_2.2.5"), {}, None),
        ("x86_64-linux-gnu.2.17", elf(62, b"GLIBC_2.29"), {}, r"needs glibc \(2, 29\)"),
        ("x86_64-linux-musl", elf(62, b"GLIBC_2.2"), {}, "needs glibc"),
        ("x86_64-linux-gnu.2.17", elf(183), {}, "is for aarch64-linux"),
        ("x86_64-windows-gnu", elf(62), {}, "is for x86_64-linux"),
        ("x86_64-macos.11.0", mach_o(0x01000007, 11, 0), {}, None),
        ("x86_64-macos.11.0", mach_o(0x01000007, 13, 1), {}, r"needs macOS \(13, 1\)"),
        ("aarch64-linux-musl", elf(183), {"count": 1}, None),
        ("aarch64-linux-musl", elf(183), {"count": 2}, "holds 2 libraries"),
        ("x86_64-linux-musl", elf(62), {"bill": False}, "what it is made of"),
    ],
)
def test_a_wheel_that_is_not_what_its_name_says_is_refused(tmp_path, target, library, more, words):
    wheel = wheel_with(tmp_path / "a.whl", library, **more)
    if words is None:
        build_wheels.refuse_wrong(wheel, target)
    else:
        with pytest.raises(RuntimeError, match=words):
            build_wheels.refuse_wrong(wheel, target)


def test_a_library_that_names_a_folder_of_this_machine_is_refused(tmp_path):
    named = elf(62, str(build_wheels.HERE).encode())
    with pytest.raises(RuntimeError, match="names a folder"):
        build_wheels.refuse_wrong(wheel_with(tmp_path / "a.whl", named), "x86_64-linux-musl")


@pytest.mark.parametrize(
    ("system", "machine", "libc", "target", "tag"),
    [
        (
            "linux",
            "x86_64",
            "x86_64-pc-linux-gnu",
            "x86_64-linux-gnu.2.17",
            "manylinux_2_17_x86_64",
        ),
        ("linux", "aarch64", "aarch64-linux-musl", "aarch64-linux-musl", "musllinux_1_2_aarch64"),
        ("darwin", "arm64", None, "aarch64-macos.11.0", "macosx_11_0_arm64"),
        ("win32", "AMD64", None, "x86_64-windows-gnu", "win_amd64"),
        ("linux", "ppc64le", "powerpc64le-linux-gnu", "powerpc64le-linux-gnu", "here_1"),
    ],
)
def test_the_tag_is_what_the_compiler_was_told(monkeypatch, system, machine, libc, target, tag):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("DUALFOLD_TARGET", raising=False)
    monkeypatch.setattr(build_kernels, "sys", SimpleNamespace(platform=system, executable="py"))
    monkeypatch.setattr(build_kernels.platform, "machine", lambda: machine)
    monkeypatch.setattr(build_kernels.sysconfig, "get_config_var", lambda _: libc)
    monkeypatch.setattr(build_kernels.sysconfig, "get_platform", lambda: "here-1")
    assert build_kernels.target() == target
    assert build_kernels.wheel_tag().split(".")[0] == tag
    monkeypatch.setenv("CC", "clang")  # which says nothing of the oldest system it is for
    assert build_kernels.wheel_tag() == "here_1"


def test_a_python_of_32_bits_is_refused(monkeypatch):
    monkeypatch.setattr(build_kernels.struct, "calcsize", lambda _: 4)
    with pytest.raises(RuntimeError, match="install a 64-bit Python"):
        build_kernels.target()


def test_the_bill_of_materials_is_the_same_for_the_same_parts(monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    libraries = [tmp_path / "b.so", tmp_path / "a.so"]
    for library in libraries:
        library.write_bytes(library.name.encode())
    text = build_kernels.bill_of_materials(PROJECT, libraries)
    assert text == build_kernels.bill_of_materials(PROJECT, libraries[::-1])
    told = json.loads(text)
    assert told["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
    names = [part["name"] for part in told["components"]]
    assert names[:2] == ["dualfold/kernels/lib/a.so", "dualfold/kernels/lib/b.so"]
    assert {"numpy", "scipy", "scikit-learn", "pandas"} <= set(names)
    libraries[0].write_bytes(b"other")
    other = json.loads(build_kernels.bill_of_materials(PROJECT, libraries))
    assert other["serialNumber"] != told["serialNumber"]


def test_a_compiler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(RuntimeError, match=r"\$CC did not start.*no-such-compiler"):
        build_kernels.run_compiler(["-E"])
    monkeypatch.setenv("CC", "false")
    with pytest.raises(RuntimeError, match="pip install ziglang"):
        build_kernels.run_compiler(["-E"])


def test_kernels_of_another_machine_say_so(tmp_path):
    damaged = tmp_path / "dualfold-baseline.so"
    damaged.write_bytes(elf(183))
    with pytest.raises(DualfoldError, match=r"do not load on this machine.*reinstall dualfold"):
        kernels._open_library(damaged)


@pytest.mark.full
@pytest.mark.parametrize("target", ["x86_64-linux-gnu.2.17", "aarch64-linux-gnu.2.17"])
def test_a_second_build_has_the_same_bytes(tmp_path, target, monkeypatch):
    pytest.importorskip("ziglang")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first, second = (build_wheels.build(target, tmp_path / name) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    assert Path(first).name == second.name
