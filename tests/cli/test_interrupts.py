"""Ctrl-C ends a command within a second and leaves no half-written file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from tests.cli.door import interruptible
from tests.tools import forked


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with a small table in it and nothing else."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x", "y", "z"])
    frame.to_csv("table.csv", index=False)
    return tmp_path


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


# Ctrl-C at a chosen moment: a fiftieth of a second into the search of a kd-tree by threads,
# where memory that is freed too early would crash the process.
INTERRUPTED = """
import os, signal, threading
from dualfold.graph import kd_tree
build = kd_tree.LeafTree.of
def tree_of(X):
    built = build(X)
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
    return built
kd_tree.LeafTree.of = tree_of
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
@pytest.mark.parametrize("searching", [True, False])
def test_an_interrupt_ends_it_within_a_second_and_leaves_nothing(here, searching):
    points = np.random.default_rng(0).normal(size=(200_000, 3)) * [1000, 1, 1]
    np.save("cloud.npy", points)
    program = INTERRUPTED if searching else forked.MAIN
    command = forked.Forked(program, "embed", "cloud.npy", "-m", "eigenmaps")
    assert "differ in scale" in command.stderr.readline()  # now it is at work
    begin = time.perf_counter()
    if not searching:
        command.send_signal(signal.SIGINT)
    said = command.communicate()[1]
    assert command.returncode == 130
    assert said == "interrupted; no file was left half-written.\n"
    assert time.perf_counter() - begin < 3  # a second, but for what else this machine does
    assert names(here) == ["cloud.npy", "table.csv"]


# A solver that never returns to Python, as a long factorisation in C: Ctrl-C must not wait.
DEAF = """
import ctypes
from dualfold import PCA
def deaf(*_, **__):
    print("deaf", flush=True)
    ctypes.CDLL(None).sleep(60)
PCA._fit = deaf
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_does_not_wait_for_compiled_code(here):
    command = forked.Forked(DEAF, "embed", "table.csv")
    assert command.stdout.readline() == "deaf\n"
    begin = time.perf_counter()
    command.send_signal(signal.SIGINT)
    said = command.communicate()[1]
    assert time.perf_counter() - begin < 1
    assert command.returncode == 130
    assert said.endswith("interrupted; no file was left half-written.\n")
    assert names(here) == ["table.csv"]


WRITING = """
import os, signal, time
import dualfold.data.table_writer as room
def slow(file, *_):
    file.write(b"half"); file.flush()
    os.kill(os.getpid(), getattr(signal, os.environ["SENT"]))
    time.sleep(30)
room._write = slow
from dualfold.cli import main
main()
"""


# The page of a map is half written: its coordinates are there, and of the page nothing.
WRITING_A_PAGE = """
import contextlib, importlib, os, signal, time
room = importlib.import_module("dualfold.view.page")
whole = room.atomic_file
@contextlib.contextmanager
def half(path, **more):
    with whole(path, **more) as file:
        file.write(b"<!doctype html>"); file.flush()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)
        yield file
room.atomic_file = half
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_while_the_page_is_written_leaves_none(here):
    done = forked.run(WRITING_A_PAGE, "embed", "table.csv", "-o", "m.csv", "--html", "m.html")
    assert done.returncode == 130, (done.stdout, done.stderr)
    assert names(here) == ["m.csv", "m.csv.json", "table.csv"]
    pd.testing.assert_index_equal(pd.read_csv("m.csv").columns, pd.Index(["pca_1", "pca_2"]))


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_while_coordinates_are_appended_leaves_the_table_alone(here):
    before = (here / "table.csv").read_bytes()
    words = ("embed", "table.csv", "--append", "-o", "both.csv")
    done = forked.run(WRITING, *words, environment=os.environ | {"SENT": "SIGINT"})
    assert done.returncode == 130, (done.stdout, done.stderr)
    assert names(here) == ["table.csv"]
    assert (here / "table.csv").read_bytes() == before


# Ctrl-C a moment after the first of many rounds of filling in.
FILLING = """
import os, signal, threading
import dualfold.data.imputation_fit as room
fitted = room._maximised_fit
def interrupted(*given):
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    room._maximised_fit = fitted
    print("filling", flush=True)
    while True:
        fitted(*given)
room._maximised_fit = interrupted
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_of_a_long_fill_ends_it_and_leaves_nothing(here):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 12)) + rng.normal(size=(300, 12))
    X[rng.random(X.shape) < 0.3] = np.nan
    pd.DataFrame(X).add_prefix("c").to_csv("gaps.csv", index=False)
    command = forked.Forked(FILLING, "embed", "gaps.csv", "--html", "m.html")
    assert command.stdout.readline() == "filling\n"
    begin = time.perf_counter()
    said = command.communicate()[1]
    assert time.perf_counter() - begin < 3  # a second, but for what else this machine does
    assert command.returncode == 130
    assert said.endswith("interrupted; no file was left half-written.\n")
    assert names(here) == ["gaps.csv", "table.csv"]


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_an_interrupt_while_writing_leaves_no_half_file(here, name, code):
    done = forked.run(WRITING, "embed", "table.csv", environment=os.environ | {"SENT": name})
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert names(here) == ["table.csv"]


def test_nothing_is_made_after_unfinished_files_were_removed(tmp_path):
    """A thread that comes late, while the process ends, finds the door closed."""
    program = """
import sys
from pathlib import Path
from dualfold.data.atomic_files import discard_unfinished, atomic_file, atomic_folder
discard_unfinished()
for make in (atomic_file, atomic_folder):
    try:
        with make(Path(sys.argv[1]) / "out", overwrite=False):
            print("made")
    except InterruptedError:
        print("closed")
"""
    asked = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["closed", "closed"]
    assert list(tmp_path.iterdir()) == []


def test_work_in_another_thread_is_done_there():
    """Signals are heard by the main thread alone; elsewhere there is nothing to wait for."""
    with ThreadPoolExecutor(1) as pool:
        there = pool.submit(interruptible, threading.current_thread).result()
        assert there is not threading.main_thread()
    assert interruptible(lambda: 3) == 3


# Ctrl-C once the points of t-SNE have left the exaggeration, from where on there is a map.
DESCENDING = """
import os, signal
from dualfold.methods.points import descent
checkpoint = descent._Run.checkpoint
def interrupted(run, *given):
    if run.taken == 300:
        os.kill(os.getpid(), signal.SIGINT)
    return checkpoint(run, *given)
descent._Run.checkpoint = interrupted
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_of_tsne_keeps_the_map_that_it_has_reached(here):
    words = ("embed", "table.csv", "-m", "tsne", "--perplexity", "5", "-o", "m.csv")
    done = forked.run(DESCENDING, *words, "--max-iter", "100000")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "stopping with the map as it is" in done.stderr
    assert "Ctrl-C ended the descent after" in done.stderr
    assert len(pd.read_csv("m.csv")) == 60
