"""The limit of BLAS threads, taken by several threads at once."""

import threading
import time

import numpy as np
from threadpoolctl import threadpool_info

from dualfold.kernels import one_blas_thread


def blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_the_last_to_leave_restores_what_the_first_found():
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
