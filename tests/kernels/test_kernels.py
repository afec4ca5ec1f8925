"""What Python knows of the C kernels comes from C: their types and their constants."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import build_kernels
import dualfold
from dualfold import kernels
from dualfold.errors import DualfoldError, InvalidInput
from dualfold.kernels import c_constant, kernel
from tests.graph.door import SOURCES_BY_BATCH
from tests.kernels.door import checker, conditions

PACKAGE = Path(dualfold.__file__).parent
PYTHON = "\n".join(path.read_text() for path in sorted(PACKAGE.rglob("*.py")))
C = sorted([*(PACKAGE / "kernels").glob("*.c"), *(PACKAGE / "kernels").glob("*.h")])


def product(A, V, out, *more):
    """out = A·V by the kernel, whose V lies transposed."""
    kernel("wide_product")(A.shape[1], A, 0, len(A), V, len(V), out, *more)


def matrices(kind=np.float32):
    rng = np.random.default_rng(0)
    A, V = rng.normal(size=(5, 7)).astype(kind), rng.normal(size=(c_constant("PRODUCT_COLUMNS"), 7))
    return A, V, np.empty((5, len(V)))


def test_the_libraries_were_built_from_these_sources():
    assert kernels.interface()[0] == build_kernels.fingerprint(), "run python build_kernels.py"


def test_every_function_has_a_caller_and_every_caller_a_function():
    asked = set(re.findall(r'\bkernel(?:_in_shares)?\("(\w+)"\)', PYTHON))
    asked |= {f"geodesics_{way}" for way in SOURCES_BY_BATCH}
    for name in re.findall(r'kernels_by_dtype\("(\w+)"\)', PYTHON):
        asked |= {f"{name}32", f"{name}64"}
    assert asked == set(kernels.interface()[1]) - {"instruction_level"}


def test_every_constant_is_used_and_every_use_has_a_constant():
    stated = re.findall(r"^SHARED\((\w+)\);", "\n".join(path.read_text() for path in C), re.M)
    assert sorted(stated) == sorted(set(re.findall(r'c_constant\("(\w+)"\)', PYTHON)))


def test_shared_constants_have_the_values_of_the_sources():
    text = "\n".join(path.read_text() for path in C)
    for name in re.findall(r"^SHARED\((\w+)\);", text, re.M):
        values = set(re.findall(rf"\b{name}\b\s*=?\s*(-?\d+(?:\s*<<\s*\d+)?)\b", text))
        assert {eval(value) for value in values if value} == {c_constant(name)}, name


def test_a_kernel_takes_what_its_prototype_says():
    A, V, out = matrices()
    product(A, V, out)
    np.testing.assert_allclose(out, A.astype(float) @ V.T, rtol=1e-14)


def test_shares_of_one_work_are_checked_together():
    """Numbers that differ from share to share come first; no array is among them."""
    share = kernels.kernel_in_shares("ldl_factorise")
    with pytest.raises(TypeError, match="does not end in 0 arguments"):
        share()
    diagonal = np.arange(1.0, 4.0)
    order, start = np.arange(3, dtype=np.int32), np.arange(4)
    one_each, none = np.arange(4, dtype=np.int32), np.full(3, -1, np.int32)
    lower, pivots = np.empty(3), np.empty(3)
    arrays = [
        start, order, diagonal, order, order, one_each, none, np.zeros(4, np.int64),
        np.empty(0, np.int32), start, np.zeros(3, np.int32), np.zeros(4, np.int64), np.empty(0),
        0, np.empty(0), lower, pivots,
    ]  # fmt: skip
    run = share(3, 3, *arrays)
    with pytest.raises(TypeError, match="takes 2 arguments; 1 were given"):
        run(0)
    assert run(0, 0) == 0
    np.testing.assert_array_equal(pivots, diagonal)  # LDLᵀ of a diagonal matrix is itself
    with pytest.raises(InvalidInput, match="'next' of ldl_factorise has entries outside of 0 to 2"):
        share(3, 3, start, order + 1, *arrays[2:])


def test_a_call_against_the_prototype_is_refused():
    A, V, out = matrices()
    locked = out.copy()
    locked.flags.writeable = False
    with pytest.raises(TypeError, match="takes 7 arguments; 8 were given"):
        product(A, V, out, 1)
    for wrong in (
        (A.astype(float), V, out),
        (A, V.astype(np.float32), out),
        (A, V[:, ::-1], out),
        (A, V, locked),
    ):
        with pytest.raises(ctypes.ArgumentError):
            product(*wrong)


def test_only_optional_arrays_may_be_none():
    start, columns = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    reached, sums = np.empty(2, np.int64), np.empty(2)
    assert kernel("asymmetry")(2, start, columns, None, reached, sums) == 0
    with pytest.raises(ctypes.ArgumentError):
        kernel("asymmetry")(2, start, None, None, reached, sums)


@pytest.mark.parametrize(
    "arguments",
    [
        "int64 float64[] int64 int64 float64[] int64 float64[]=",
        "int64 float32[] int64 int64 float64[] float64[]=",
        "int64 float32[] int64 int64 float64[] int64 int64 float64[]=",
        "int64 float32[] int64 int64 float64[] int64 float32[]=",
    ],
)
def test_callers_do_not_survive_another_prototype(monkeypatch, arguments):
    """As if C had been changed and built without its Python caller."""
    stated = [f"a{i}:{t}{':0::' * ('[]' in t)}" for i, t in enumerate(arguments.split())]
    types = {**kernels.interface()[1], "wide_product": ("void", *stated)}
    monkeypatch.setattr(kernels, "interface", lambda: ("", types))
    with pytest.raises((ctypes.ArgumentError, TypeError)):
        product(*matrices())


def test_names_that_are_not_there_are_refused_with_the_remedy():
    with pytest.raises(DualfoldError, match=r"no function not_there; .*python build_kernels\.py"):
        kernel("not_there")()
    with pytest.raises(DualfoldError, match=r"no constant NOT_THERE; .*python build_kernels\.py"):
        c_constant("NOT_THERE")


def test_prototypes_are_read():
    text = """
    EXPORT const int64_t shared_PANEL = PANEL;
    static void hidden(int n) {}
    EXPORT int32_t level(void) { return 1; }
    EXPORT double one(int64_t n, const float *a HOLDS((n + 1) * 2),
                      const double *OPTIONAL b HOLDS(COUNT(a) / n),
                      int32_t  *c HOLDS(n) RISING BELOW(c[0] + 1), double * OPTIONAL d HOLDS(0)) {
    """
    assert build_kernels.signatures(text).splitlines() == [
        "level int32",
        "one float64 n:int64 a:float32[]:(n+1)*2:: b:float64[]?:COUNT(a)/n:: "
        "c:int32[]=:n:c[0]+1:rising d:float64[]=?:0::",
    ]


@pytest.mark.parametrize(
    "argument",
    ["size_t n", "const int64_t n", "const char *name", "...", "double *x", "int64_t n HOLDS(1)"],
)
def test_prototypes_that_python_cannot_call_do_not_build(argument):
    with pytest.raises(RuntimeError, match="Python can pass"):
        build_kernels.signatures(f"EXPORT void f(int64_t n, {argument}) {{")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C preprocessor, cc")
def test_the_library_tells_the_prototypes_of_the_sources():
    command = ["cc", "-E", "-P", "-DEXPORT=EXPORT", "-DOPTIONAL=OPTIONAL"]
    text = "".join(
        subprocess.run([*command, path], capture_output=True, text=True, check=True).stdout
        for path in C
        if path.suffix == ".c"
    )
    told = [" ".join([name, *types]) for name, types in kernels.interface()[1].items()]
    assert build_kernels.signatures(text).splitlines() == told
    changed = text.replace("const float *A HOLDS", "const double *A HOLDS")
    assert build_kernels.signatures(changed) != build_kernels.signatures(text)


def test_arrays_that_are_too_short_do_not_reach_c():
    A, V, out = matrices()
    for wrong, name in (((A[:4], V, out), "A"), ((A, V[:-1], out), "V"), ((A, V, out[:4]), "out")):
        with pytest.raises(InvalidInput, match=f"'{name}' of wide_product has .* entries where"):
            kernel("wide_product")(7, wrong[0], 0, 5, wrong[1], len(V), wrong[2])


@pytest.mark.parametrize(
    ("start", "columns", "words"),
    [
        ([0, 1, 3], [1, 0], "'next' of asymmetry has 2 entries where 3 are needed"),
        ([0, 1], [1, 0], "'start' of asymmetry has 2 entries where 3 are needed"),
        ([0, 1, 2], [1, 2], "'next' of asymmetry has entries outside of 0 to 1"),
        ([0, 1, 2], [1, -1], "'next' of asymmetry has entries outside of 0 to 1"),
        ([-1, 1, 2], [1, 0], "'start' of asymmetry has entries that do not rise"),
        ([0, 3, 2], [1, 0], "'start' of asymmetry has entries that do not rise"),
    ],
)
def test_rows_that_point_outside_do_not_reach_c(start, columns, words):
    with pytest.raises(InvalidInput, match=re.escape(words)):
        kernel("asymmetry")(
            2,
            np.array(start),
            np.array(columns, np.int32),
            None,
            np.empty(2, np.int64),
            np.empty(2),
        )


def test_every_array_of_every_kernel_states_what_it_holds():
    for name, (_, *arguments) in kernels.interface()[1].items():
        stated = {condition.place for condition in conditions(arguments)}
        arrays = {place for place, argument in enumerate(arguments) if "[]" in argument}
        assert stated == arrays, name


def test_the_compiler_of_the_environment_is_taken(monkeypatch):
    monkeypatch.setenv("CC", "ccache clang-19")
    assert build_kernels.compiler() == ["ccache", "clang-19"]
    monkeypatch.delenv("CC")
    assert build_kernels.compiler()[1:4] == ["-m", "ziglang", "cc"]


def test_a_kernel_that_states_nothing_of_its_arguments_refuses_nothing():
    for arguments in ([], ["n:int64"]):
        checker("nothing", arguments, kernels.c_constant)([7] * len(arguments))
