"""Work divided among threads: every part once, results in order, nothing left running."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import dualfold
from dualfold.errors import InvalidInput
from tests.kernels.door import in_shares, in_threads, row_slices, thread_count
from tests.kernels.door import threads as room


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(threads):
    def slow_first(i: int) -> int:
        time.sleep(0.02 if i == 0 else 0)
        return i * i

    seen = []
    assert in_threads(slow_first, iter(range(9)), threads, seen.append) == [i * i for i in range(9)]
    assert sum(seen) == 9
    assert min(seen) >= 1
    assert in_threads(slow_first, [], threads) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_a_failure_drops_what_waits_and_waits_for_what_runs(threads):
    begun, ended = set(), set()

    def work(i: int) -> None:
        begun.add(i)
        if i == 1:
            raise ValueError("the second part")
        time.sleep(0.05)
        ended.add(i)

    with pytest.raises(ValueError, match="the second part"):
        in_threads(work, range(100), threads)
    assert begun - {1} == ended
    assert len(begun) < 50


def test_an_interrupt_in_the_calling_thread_leaves_nothing_running():
    begun, ended = set(), set()

    def work(i: int) -> None:
        begun.add(i)
        time.sleep(0.05)
        ended.add(i)

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, range(100), 2, interrupted)
    assert begun == ended
    assert len(begun) < 50


def test_the_caller_is_one_of_the_threads():
    def who(_: int) -> int:
        time.sleep(0.005)
        return threading.get_ident()

    seen = set(in_threads(who, range(20), 3))
    assert threading.get_ident() in seen
    assert 1 < len(seen) <= 3


def test_of_several_failures_the_first_items_is_raised():
    def work(i: int) -> None:
        time.sleep(0.02 * (3 - i))  # the later item fails first
        raise ValueError(f"item {i}")

    for _ in range(5):
        with pytest.raises(ValueError, match="item 0"):
            in_threads(work, range(3), 3)


def test_what_ends_a_thread_is_raised_in_the_caller():
    def work(i: int) -> None:
        time.sleep(0.01)
        if threading.get_ident() != caller:
            raise SystemExit(f"item {i}")

    caller = threading.get_ident()
    with pytest.raises(SystemExit, match="item"):
        in_threads(work, range(20), 2)


def test_where_no_thread_is_to_be_had_the_caller_does_it_alone(monkeypatch):
    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(room._thread, "start_new_thread", refused)
    assert in_threads(lambda i: (i, threading.get_ident()), range(5), 4) == [
        (i, threading.get_ident()) for i in range(5)
    ]


def test_a_thread_that_comes_too_late_touches_nothing(monkeypatch):
    late = []
    monkeypatch.setattr(room._thread, "start_new_thread", lambda help, _: late.append(help))
    done = []
    in_threads(done.append, range(5), 3)
    for help in late:
        help()
    assert len(late) == 2
    assert done == list(range(5))


def test_many_short_rounds_lose_no_item_and_no_result():
    for number in range(300):
        items = range(number % 7)
        assert in_threads(lambda i: i + 1, items, 1 + number % 4) == [i + 1 for i in items]


def test_work_inside_threads_may_use_threads():
    def row(i: int) -> list[int]:
        return in_threads(lambda j: 10 * i + j, range(4), 2)

    assert in_threads(row, range(4), 2) == [[10 * i + j for j in range(4)] for i in range(4)]


@pytest.mark.parametrize(("n", "height"), [(0, 3), (1, 3), (3, 3), (10, 3), (10, 100)])
def test_slices_cover_every_row_once(n, height):
    slices = list(row_slices(n, height))
    assert np.concatenate([[], *(np.arange(n)[rows] for rows in slices)]).tolist() == list(range(n))
    assert all(0 < rows.stop - rows.start <= height for rows in slices)


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
def test_shares_cover_every_slice_in_order(set_threads, threads):
    set_threads(threads)
    parts = in_shares(lambda slices: [(s.start, s.stop) for s in slices], row_slices(100, 7))
    every = [rows for part in parts for rows in part]
    assert every == [(a, min(a + 7, 100)) for a in range(0, 100, 7)]
    assert len(parts) == min(threads, 7)  # at least two slices each


def test_the_number_of_threads():
    cores = thread_count()
    assert thread_count(-1) == thread_count(None) == cores
    assert thread_count(-cores) == thread_count(-cores - 5) == thread_count(0) == 1
    assert thread_count(3) == 3


def test_pools_and_limits_of_blas_are_made_in_one_place():
    package = Path(dualfold.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(
            r"\b(concurrent\.futures|_thread|multiprocessing|threadpoolctl)\b", path.read_text()
        )
    }
    assert found == {"kernels/threads.py"}


def test_more_threads_than_anybody_has_are_as_many_as_help():
    assert thread_count(10**6) == max(thread_count(), room.MAX_THREADS)
    assert thread_count(-(10**6)) == 1
    X = np.random.default_rng(0).normal(size=(60, 4))
    many = dualfold.graph.nearest(X, 3, n_jobs=10**6)
    np.testing.assert_array_equal(many.distances, dualfold.graph.nearest(X, 3, n_jobs=1).distances)
    for wrong in ("two", 2.0, True):
        with pytest.raises(InvalidInput, match="n_jobs"):
            thread_count(wrong)
