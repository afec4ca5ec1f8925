"""The limit of BLAS threads, taken by several threads at once."""

import subprocess
import sys
import threading
import time

import numpy as np
from threadpoolctl import threadpool_info

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


if __name__ == "__main__":
    check_that_the_last_restores()
