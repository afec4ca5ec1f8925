"""What `import dualfold` loads, and the names that it has."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dualfold


def test_import_is_light():
    code = """
import sys, time
import numpy, scipy, scipy.sparse
begin = time.perf_counter()
import dualfold
print(time.perf_counter() - begin)
heavy = {"sklearn", "pandas", "matplotlib", "numba", "pyamg", "typer"} & set(sys.modules)
assert not heavy, heavy
import dualfold.trace, dualfold.methods, dualfold.graph, dualfold.embedding
print(time.perf_counter() - begin)
heavy = {"sklearn", "pandas", "matplotlib", "numba", "pyamg", "typer"} & set(sys.modules)
assert not heavy, heavy
"""
    best = 9.0
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        best = min(best, float(done.stdout.split()[0]))
    assert best < 0.3


def test_public_names_exist():
    for name in dualfold.__all__:
        if name != "view":
            assert getattr(dualfold, name) is not None
    assert set(dir(dualfold)) == set(dualfold.__all__)
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = dualfold.nothing_here
