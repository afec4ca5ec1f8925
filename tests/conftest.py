"""Shared by all tests: one thread of BLAS for each process, packages of other versions, data."""

from __future__ import annotations

import functools
import gc
import inspect
import os
from collections.abc import Callable
from importlib import import_module

import pytest
import scipy.sparse
import typer.main
import typer.testing
from threadpoolctl import threadpool_limits

# A runner makes all commands anew for each call, which takes longer than most calls.
typer.testing._get_command = functools.cache(typer.main.get_command)

if "rng" not in inspect.signature(scipy.sparse.random_array).parameters:  # SciPy before 1.15
    _drawn = scipy.sparse.random_array
    scipy.sparse.random_array = lambda *shape, rng=None, **more: _drawn(
        *shape, random_state=rng, **more
    )

_runner = typer.testing.CliRunner
if "mix_stderr" in inspect.signature(_runner).parameters:  # click before 8.2
    _runner.__init__ = functools.partialmethod(_runner.__init__, mix_stderr=False)
    typer.testing.Result.output = property(lambda result: result.stdout + result.stderr)


# Collecting makes 400,000 objects that stay: looking for garbage among them takes 4 s of 12.
gc.disable()


def pytest_collection_finish(session):
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # tests make and forget many small objects
    gc.enable()


def pytest_configure(config):
    """Several processes test at once: threads of BLAS would wait for one another.

    Set before the processes start, so that they and the programs they run have the same bits.
    """
    if config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        for library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(library, "1")


@pytest.fixture
def one_blas_thread():
    """Matrices of a few hundred rows: threads of LAPACK would only wait for one another."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def mnist_points():
    """A few thousand images, or a skip that says what is missing."""
    if not os.environ.get("DUALFOLD_MNIST"):
        pytest.skip("DUALFOLD_MNIST does not name an MNIST file")
    from dualfold.data import mnist

    return mnist(5000).points


@pytest.fixture
def set_threads(monkeypatch) -> Callable[[int], None]:
    """Let a test have so many cores, whatever the machine has."""
    return lambda count: monkeypatch.setattr(
        os, "sched_getaffinity", lambda _: set(range(count)), raising=False
    )


@pytest.fixture
def set_limits(monkeypatch) -> Callable[..., None]:
    """Set limits of a module for one test, so that a small table takes the way of a large one.

    `set_limits("weights.gram", MAX_FLOAT64_ROWS=10)`: numbers named in capitals alone. Most are
    sizes, which decide how an answer is computed; a few are tolerances of one step.
    """

    def change(room: str, **limits: float) -> None:
        module = import_module(f"dualfold.{room}")
        for name, value in limits.items():
            assert name.strip("_").isupper(), name
            assert isinstance(getattr(module, name), int | float), name
            monkeypatch.setattr(module, name, value)

    return change
