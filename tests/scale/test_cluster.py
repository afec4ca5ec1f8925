"""Real workers in processes of their own: same bits, killed workers, a scheduler that goes away."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from threading import Timer

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_client, get_worker

from dualfold import PCA, RandomProjection
from dualfold.scale import TileFailed, table
from tests.kernels.door import reporting_to, thread_count
from tests.scale.door import MAX_MODEL_BYTES_IN_GRAPH, OpenedModel, _tile_moments, model_for_tasks

N, WIDTH = 4_000, 20


def made(block_info=None):
    """A block of rows, the same whoever makes it."""
    rows, columns = block_info[None]["chunk-shape"]
    at = block_info[None]["chunk-location"][0]
    return np.random.default_rng(at).standard_normal((rows, columns)) * np.arange(1, columns + 1)


def lazy_rows(height=400):
    return da.map_blocks(
        made, chunks=((height,) * (N // height), (WIDTH,)), dtype=float, meta=np.empty((0, 0))
    )


@pytest.fixture(scope="module")
def cluster():
    # The dashboard and its port are of no use here; everything stays on loopback. Workers are
    # forked from a process that has imported what they need.
    settings = {
        "distributed.worker.daemon": False,
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.comm.timeouts.connect": "10s",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
            host="127.0.0.1", memory_limit="1GiB",
        ) as started,
        Client(started),
    ):  # fmt: skip
        yield started


def bits(model):
    return model.components_.tobytes() + model.eigenvalues_.tobytes()


@pytest.mark.full
@pytest.mark.parametrize("workers", [2, pytest.param(4, marks=pytest.mark.full)])
def test_the_bits_do_not_depend_on_the_workers(cluster, workers):
    X = lazy_rows()
    with dask.config.set(scheduler="sync"):
        alone = PCA(n_components=3).fit(X)
    one = PCA(n_components=3).fit(X)
    cluster.scale(workers)
    get_client().wait_for_workers(workers)
    more = PCA(n_components=3).fit(X)
    assert bits(alone) == bits(one) == bits(more)
    assert more.certificate_.level == "proved"


@pytest.mark.full
def test_a_worker_killed_in_the_middle_changes_nothing(cluster):
    """Slow tiles; a worker that holds results is killed while others are still made."""

    def slowly(block):
        time.sleep(0.15)
        return block

    X = lazy_rows(200).map_blocks(slowly, dtype=float, meta=np.empty((0, 0)))
    with dask.config.set(scheduler="threads", num_workers=20):
        expected = PCA(n_components=3).fit(X)
    client = get_client()
    pids = client.run(os.getpid)
    killed = next(iter(pids.values()))
    timer = Timer(0.6, os.kill, (killed, signal.SIGKILL))
    timer.start()
    answer = PCA(n_components=3).fit(X)
    timer.join()
    assert killed not in client.run(os.getpid).values()
    assert bits(answer) == bits(expected)


def test_threads_of_a_task_are_one_and_this_process_keeps_its_own(cluster):
    def seen(rows):
        assert get_worker() is not None
        return {thread_count()}

    before = thread_count(), os.environ.get("OMP_NUM_THREADS")
    assert table(lazy_rows()).total("looking", seen, set.union) == {1}
    assert (thread_count(), os.environ.get("OMP_NUM_THREADS")) == before
    assert min(get_client().run(thread_count).values()) >= 1


def test_the_scheduler_tells_how_far_it_is(cluster, set_limits):
    def slowly(block):
        time.sleep(0.1)
        return block

    set_limits("scale.engine", PROGRESS_SECONDS=0.2)
    reports = []
    X = lazy_rows(200).map_blocks(slowly, dtype=float, meta=np.empty((0, 0)))
    with reporting_to(reports.append):
        PCA(n_components=2).fit(X)
    shares = [one.share for one in reports if one.what == "adding up tiles" and one.share]
    assert shares == sorted(shares)
    assert any(0 < share < 1 for share in shares)


def test_a_task_does_not_hold_up_its_worker(cluster):
    """The worker answers while it multiplies: the kernels let go of Python's lock."""

    def busy(dask_worker=None):
        import threading

        stop, waits = threading.Event(), []

        def beat():
            last = time.perf_counter()
            while not stop.wait(0.01):
                now = time.perf_counter()
                waits.append(now - last)
                last = now

        beating = threading.Thread(target=beat)
        beating.start()
        rows = np.random.default_rng(0).standard_normal((60_000, 200))
        begin = time.perf_counter()
        _tile_moments(rows)
        taken = time.perf_counter() - begin
        stop.set()
        beating.join()
        return max(waits), taken

    longest = get_client().run(busy)
    # Of the whole task a heartbeat may miss some, not most: half leaves room for busy machines.
    assert all(wait < max(0.5, 0.5 * taken) for wait, taken in longest.values())


def test_an_error_in_a_task_names_its_tile(cluster):
    X = lazy_rows()

    def damage(block, block_info=None):
        return block * (np.nan if block_info[0]["chunk-location"][0] == 3 else 1.0)

    damaged = X.map_blocks(damage, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(TileFailed, match="block 3 of 10"):
        PCA(n_components=2).fit(damaged)


def test_large_models_are_opened_from_a_file(cluster):
    """Nothing is scattered, so nothing is lost with a worker."""
    wide = np.random.default_rng(0).standard_normal((50, 9_000))
    model = RandomProjection(20, random_state=0).fit(wide)
    assert len(pickle.dumps(model)) > MAX_MODEL_BYTES_IN_GRAPH
    assert isinstance(model_for_tasks(model), OpenedModel)
    lazy = da.from_array(wide, chunks=(20, 9_000))
    np.testing.assert_allclose(model.transform(lazy).compute(), model.transform(wide), rtol=1e-10)


LOST = """
    import os, signal, sys, threading, time
    import dask, dask.array as da, numpy as np
    from distributed import Client
    from dualfold import PCA
    from dualfold.scale import SchedulerLost

    def slowly(block):
        time.sleep(0.5)
        return block

    dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    client = Client(sys.argv[1], timeout=20)
    threading.Timer(0.8, os.kill, (int(sys.argv[2]), signal.SIGKILL)).start()
    X = da.ones((40, 3), chunks=(1, 3)).map_blocks(slowly, dtype=float)
    try:
        PCA(n_components=1).fit(X)
    except SchedulerLost as error:
        print("said:", error, flush=True)
    os._exit(0)
"""


@pytest.mark.full
def test_a_scheduler_that_goes_away_is_said(tmp_path):
    """In processes of their own: scheduler, worker and client."""
    place = tmp_path / "address.json"
    common = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [*common, "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--scheduler-file", str(place)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    worker = None
    try:
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(place),
             "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1",
             "--death-timeout", "30", "--local-directory", str(tmp_path)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for _ in range(200):
            if place.exists() and place.stat().st_size:
                break
            time.sleep(0.1)
        address = json.loads(place.read_text())["address"]
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(LOST), address, str(scheduler.pid)],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert "said: the Dask scheduler does not answer any more" in done.stdout, done.stderr
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()
