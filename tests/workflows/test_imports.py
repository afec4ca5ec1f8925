"""What `import dualfold` loads, and the names that it has."""

from __future__ import annotations

import importlib
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


def test_pca_loads_no_search_and_no_other_method():
    code = """
import sys
from dualfold import PCA
loaded = {name for name in sys.modules if name.startswith("dualfold.")}
rooms = ("unfolding", "methods.points.tsne", "models", "quality", "view", "cli")
parts = ("graph.neighbors", "graph.geodesics", "weights.laplacians", "weights.reconstruction")
assert not loaded & {f"dualfold.{name}" for name in (*rooms, *parts)}, loaded
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("room", ["graph", "methods.maps", "models", "weights"])
def test_names_of_rooms_are_loaded_when_first_used(room):
    module = importlib.import_module(f"dualfold.{room}")
    for name in module.__all__:
        assert getattr(module, name).__name__ == name
        # The module of a function must not hide it.
        assert not isinstance(getattr(module, name), type(module))
    assert dir(module) == sorted(module.__all__)
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = module.nothing_here
