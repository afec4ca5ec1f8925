"""The limit of BLAS threads, taken by several threads at once."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tests.workflows.door import one_blas_thread, reports, threads


def blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def run_alone(*words):
    """Run a check of this file in a process of its own, as a module: it imports its door."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.workflows.test_blas_threads", *words]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stderr


def test_the_last_to_leave_restores_what_the_first_found():
    """In a process of its own: threads that other tests left behind take the limit, too."""
    run_alone()


def check_that_the_last_restores():
    _ = np.ones((2, 2)) @ np.ones((2, 2))
    before, seen = blas_threads(), []

    def work(place):
        for step in range(20):
            with one_blas_thread(), one_blas_thread():
                time.sleep(0.001 * ((place + step) % 3))
                seen.append(set(blas_threads()))

    workers = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(counts == {1} for counts in seen)
    assert len(seen) == 80
    assert blas_threads() == before


def check_that_fits_in_threads_restore():
    import dualfold

    X = np.random.default_rng(0).normal(size=(120, 4))
    dualfold.Isomap(n_neighbors=8).fit(X)
    before = blas_threads()

    def work():
        for _ in range(3):
            dualfold.Isomap(n_neighbors=8).fit(X)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert blas_threads() == before, (before, blas_threads())


@pytest.mark.full
def test_fits_in_four_threads_leave_blas_its_threads():
    """Who enters the limit first is not who leaves it last; threadpoolctl 3.8 hears only one."""
    run_alone("fits")


def check_that_forked_processes_end():
    """A fork while another thread holds every lock of ours: the new process finds them open.

    What BLAS' own threads hold at that moment is not in our hands, so nothing is multiplied.
    """
    held, done = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread(), reports._lock, threads._ONE_BLAS_THREAD.lock:
            held.set()
            done.wait()

    other = threading.Thread(target=hold, daemon=True)
    with one_blas_thread():
        pass  # finding BLAS takes a lock of its own, once
    other.start()
    held.wait()
    child = os.fork()
    if child == 0:
        with reports._lock, threads._ONE_BLAS_THREAD.lock:
            pass
        os._exit(0 if threads._ONE_BLAS_THREAD.inside == 0 else 7)
    until = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("a forked process waits for ever")
        time.sleep(0.005)
    done.set()
    other.join()
    assert ended[1] == 0, ended


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_fork_while_another_thread_holds_our_locks_does_not_hang():
    run_alone("forks")


IMPORTS = """
import os, signal, sys, threading, time
import dualfold

def use():
    from dualfold.methods._isomap import Isomap

threading.Thread(target=use).start()
while "dualfold.methods" not in sys.modules:
    time.sleep(0.001)
child = os.fork()
if child == 0:
    signal.alarm(60)
    use()
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


CACHED = """
import os, signal, threading, time
from functools import cached_property
import dualfold.trace.problem as room
import dualfold.kernels.threads

class Slow:
    @cached_property
    def value(self):
        inside.set()
        done.wait()

room.Slow = Slow
inside, done = threading.Event(), threading.Event()
other = threading.Thread(target=lambda: Slow().value, daemon=True)
other.start()
inside.wait()
child = os.fork()
if child == 0:
    done.set()
    Slow().value
    os._exit(0)
until = time.monotonic() + 20
while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
    if time.monotonic() > until:
        os.kill(child, signal.SIGKILL)
        raise SystemExit("the forked process waits for ever")
    time.sleep(0.005)
done.set()
raise SystemExit(ended[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_fork_while_a_cached_property_is_computed_does_not_hang():
    """A property that takes its time, as the norm of a matrix: Python 3.11 locks it."""
    command = [sys.executable, "-W", "ignore", "-c", CACHED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_fork_while_another_thread_imports_us_does_not_hang():
    """Python's locks of modules stay closed in the new process: the fork waits for the import."""
    command = [sys.executable, "-W", "ignore", "-c", IMPORTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)


if __name__ == "__main__":
    {
        "forks": check_that_forked_processes_end,
        "fits": check_that_fits_in_threads_restore,
    }.get(sys.argv[-1], check_that_the_last_restores)()
