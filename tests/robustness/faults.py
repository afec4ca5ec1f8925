"""Faults on purpose, and the same bits under different circumstances; each check raises."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

BITS = """
import hashlib, sys, warnings
warnings.simplefilter("ignore")
import dualfold
from dualfold.data import swiss_roll
X = swiss_roll(200, random_state=0).points
made = hashlib.sha256()
for estimator in (
    dualfold.PCA(2), dualfold.ClassicalMDS(2), dualfold.Isomap(n_neighbors=8),
    dualfold.Isomap(n_neighbors=8, landmarks=30), dualfold.LaplacianEigenmaps(n_neighbors=8),
    dualfold.DiffusionMaps(n_neighbors=8), dualfold.LocallyLinearEmbedding(n_neighbors=8),
    dualfold.LocallyLinearEmbedding(n_neighbors=8, method="ltsa"),
):
    made.update(estimator.fit(X).transform(X).tobytes())
found = dualfold.graph.nearest(X, 10)
made.update(found.indices.tobytes() + found.distances.tobytes())
print(made.hexdigest())
"""
# The kernels alone: BLAS has other sums on other processors and numbers of threads.
KERNEL_BITS = """
import hashlib
from dualfold import graph
from dualfold.data import swiss_roll
X = swiss_roll(400, random_state=0).points
found = graph.knn(X, 10)
made = hashlib.sha256(found.lengths.data.tobytes() + found.lengths.indices.tobytes())
made.update(graph.geodesic_distances(found).tobytes())
print(made.hexdigest())
"""


def _ran(program: str, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, timeout=600, env=os.environ | more,
    )  # fmt: skip
    return done.stdout.strip()


def _same(program: str, *circumstances: dict[str, str]) -> None:
    found = {_ran(program, **one) for one in circumstances}
    if len(found) != 1:
        raise AssertionError(f"{len(found)} different answers in {len(circumstances)} runs")


DETERMINISM: dict[str, Callable[[], None]] = {
    "two processes": lambda: _same(BITS, {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "1"}),
    "other hash seeds": lambda: _same(BITS, {"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "7"}),
    "instruction levels": lambda: _same(
        KERNEL_BITS, *({"DUALFOLD_LEVEL": level} for level in ("v2", "v3", "v4"))
    ),
    "numbers of threads": lambda: _same(
        KERNEL_BITS, {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "4"}
    ),
}

SLOW_WRITE = """
import sys, time
from pathlib import Path
from dualfold.cli.exit_codes import interruptible
from dualfold.data.atomic_files import atomic_file

def work():
    with atomic_file(Path(sys.argv[1]), overwrite=False) as file:
        file.write(b"half")
        file.flush()
        print("begun", flush=True)
        time.sleep(60)

interruptible(work)
"""


def stopped_by(number: int) -> None:
    """A command that is ended while it writes leaves neither its file nor a part of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "out.csv"
        with subprocess.Popen(
            [sys.executable, "-c", SLOW_WRITE, str(place)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(number)
            process.wait(60)
        left = os.listdir(folder)
        if left:
            raise AssertionError(f"left behind: {left}")


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
import numpy as np
from dualfold.data import write_table
try:
    write_table(sys.argv[1], {"a": np.random.default_rng(0).normal(size=5_000)})
except OSError:
    sys.exit(7)
"""


def full_disk() -> None:
    """A disk that is full while a table is written: an error, and no file."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", FULL_DISK, str(Path(folder) / "out.csv")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 7 or os.listdir(folder):
            raise AssertionError(f"exit code {done.returncode}, left {os.listdir(folder)}")


THREADS = """
import threading, warnings
warnings.simplefilter("ignore")
import numpy as np, dualfold
from threadpoolctl import threadpool_info
count = lambda: {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}
X = np.random.default_rng(0).normal(size=(200, 5))
alone = dualfold.Isomap(n_neighbors=8).fit(X).embedding_
before, same = count(), []
def work():
    for _ in range(3):
        same.append(np.array_equal(dualfold.Isomap(n_neighbors=8).fit(X).embedding_, alone))
workers = [threading.Thread(target=work) for _ in range(4)]
[w.start() for w in workers]; [w.join() for w in workers]
assert count() == before, (before, count())
assert len(same) == 12 and all(same), same
"""
FORKS = """
import os, signal, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np, dualfold
X = np.random.default_rng(0).normal(size=(200, 5))
dualfold.Isomap(n_neighbors=8).fit(X)  # modules that are being imported are Python's own locks
stop = False
def work():
    while not stop:
        dualfold.Isomap(n_neighbors=8).fit(X)
        dualfold.PCA(2).fit(X)
worker = threading.Thread(target=work, daemon=True)
worker.start()
for number in range(25):
    time.sleep(0.002 * number)
    child = os.fork()
    if child == 0:
        dualfold.Isomap(n_neighbors=8).fit(X[:60])
        os._exit(0)
    end = time.monotonic() + 120
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            raise SystemExit(f"fork {number} hangs")
        time.sleep(0.01)
    assert ended[1] == 0, ended
stop = True
"""

FAULTS: dict[str, Callable[[], None]] = {
    "SIGTERM": lambda: stopped_by(signal.SIGTERM),
    "SIGHUP": lambda: stopped_by(signal.SIGHUP),
    "a full disk": full_disk,
    "four threads fit": lambda: _ran(THREADS) and None,
    "25 forks beside a fit": lambda: _ran(FORKS) and None,
}
