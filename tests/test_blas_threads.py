"""The limit of BLAS threads, taken by several threads at once."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import dualfold
from dualfold.kernels.threads import one_blas_thread


def blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_the_last_to_leave_restores_what_the_first_found():
    """In a process of its own: threads that other tests left behind take the limit, too."""
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def check_that_the_last_restores():
    _ = np.ones((2, 2)) @ np.ones((2, 2))
    before, seen = blas_threads(), []

    def work(place):
        for step in range(20):
            with one_blas_thread(), one_blas_thread():
                time.sleep(0.001 * ((place + step) % 3))
                seen.append(set(blas_threads()))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(counts == {1} for counts in seen)
    assert len(seen) == 80
    assert blas_threads() == before


def check_that_forked_processes_end():
    """25 forks while another thread fits; each child fits, too.

    With one thread in BLAS: a fork while OpenBLAS' own threads work is not in our hands.
    """
    X, stop = np.random.default_rng(0).normal(size=(400, 70)), threading.Event()
    # Modules are imported at the first fit; a fork in the middle of an import is Python's affair.
    dualfold.PCA(2).fit(X)

    def fit_on():
        while not stop.is_set():
            dualfold.PCA(2).fit(X)

    busy = threading.Thread(target=fit_on)
    busy.start()
    try:
        for _ in range(25):
            child = os.fork()
            if child == 0:
                dualfold.PCA(2).fit(X)
                os._exit(0)
            until = time.monotonic() + 60
            while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
                if time.monotonic() > until:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    raise AssertionError("a forked process waits for ever")
                time.sleep(0.005)
            assert ended[1] == 0, ended
    finally:
        stop.set()
        busy.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_fork_while_another_thread_fits_does_not_hang():
    command = [sys.executable, "-W", "ignore", __file__, "forks"]
    alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=alone)
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    check_that_forked_processes_end() if sys.argv[1:] else check_that_the_last_restores()
