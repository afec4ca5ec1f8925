"""`python -m benchmarks.scale`: tables in tiles, their time and memory by the number of rows.

    python -m benchmarks.scale make /tmp/x.npy 10_000_000      a surface with noise, 50 columns
    python -m benchmarks.scale make /tmp/s.npy 1_000_000 --noise 0.0003      hardly any noise
    python -m benchmarks.scale make /tmp/n.npy 1_000_000 --noise inf         noise alone
    python -m benchmarks.scale make /tmp/5.npy 1_000_000 5     the same in 5
    python -m benchmarks.scale one pca /tmp/x.npy 1_000_000    one run, in this process
    python -m benchmarks.scale ladder /tmp/x.npy               all of ours, each in its own process
    python -m benchmarks.scale ladder /tmp/5.npy --methods "exact graph"
    python -m benchmarks.scale peers /tmp/x.npy 1_000_000      beside dask-ml and scikit-learn
    python -m benchmarks.scale workers /tmp/x.npy eigenmaps    two workers of 1 GiB each

A run is a line of JSON: rows, seconds of the clock and of the processor, the peak of its memory
(VmHWM, Linux). On a busy machine the processor's seconds are those to compare. `start` is what
3,500 rows took before, in seconds of the processor: imports, Dask's too, and what is made once.
`--python PATH` runs dask-ml by another interpreter, which needs dask-ml and dask alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS, STEP, NOISE = 50, 250_000, 0.01
RUNGS = (100_000, 1_000_000, 10_000_000)
METHODS = ("pca", "projection", "landmarks", "graph")
LIMIT = "2GB"
# Rows of the run before: more than there are landmarks and rows held out.
FIRST = 3_500


def make(path: str, rows: int, columns: int = COLUMNS, noise: float = NOISE) -> None:
    """A surface of two dimensions, curved in so many columns, with noise; inf is noise alone."""
    out = np.lib.format.open_memmap(path, "w+", np.float64, (rows, columns))
    for number, start in enumerate(range(0, rows, STEP)):
        count = min(STEP, rows - start)
        out[start : start + count] = sheet(count, number, columns, noise)
    out.flush()


def sheet(count: int, number: int, columns: int = COLUMNS, noise: float = NOISE) -> np.ndarray:
    """Some rows of the surface; `number` says which."""
    rng, draw = np.random.default_rng(0), np.random.default_rng([1, number])
    turns, phase = 2 * rng.standard_normal((2, columns)), rng.uniform(0, 2 * np.pi, columns)
    sizes = 1 / np.sqrt(1 + np.arange(columns))
    flat = np.sin(draw.random((count, 2)) @ turns + phase) * sizes
    rough = draw.standard_normal((count, columns))
    return rough if np.isinf(noise) else np.asarray(flat + noise * rough)


def peak_bytes(process: int | str = "self") -> int | None:
    """The peak of one process alone, where the system tells."""
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return None
    return None if found is None else 1024 * int(found[1])


def some_rows(path: str, rows: int) -> np.ndarray:
    """The first rows of the file, as a memory map."""
    return np.load(path, mmap_mode="r")[:rows]


def ours(method: str, path: str, rows: int) -> dict[str, Any]:
    """One of our methods on the first rows, through tiles."""
    from dualfold import PCA, LaplacianEigenmaps, RandomProjection, scale

    source = scale.table(some_rows(path, rows), memory_limit=LIMIT, landmarks=2_000)
    if method == "graph":
        found = scale.neighbors(source, 10, search="approximate")
        return {"recall": found.search.recall, "interval": found.search.recall_interval}
    if method == "exact graph":
        found = scale.neighbors(source, 10, search="exact")
        return {"recall": 1.0}
    model = {
        "pca": lambda: PCA(n_components=2),
        "projection": lambda: RandomProjection(2, random_state=0),
        "landmarks": lambda: LaplacianEigenmaps(n_neighbors=10),
    }[method]()
    begin = time.perf_counter()
    model.fit(source)
    fitted = time.perf_counter()
    model.transform(source)
    return {
        "fit": fitted - begin,
        "level": model.certificate_.level,
        "values": [float(value) for value in getattr(model, "eigenvalues_", ())],
        "placing": str(getattr(model, "placing_cost_", None)),
    }


def incremental(path: str, rows: int) -> dict[str, Any]:
    """scikit-learn's IncrementalPCA on the same file, by batches."""
    from sklearn.decomposition import IncrementalPCA

    X = some_rows(path, rows)
    model = IncrementalPCA(n_components=2, batch_size=100_000)
    begin = time.perf_counter()
    model.fit(X)
    fit = time.perf_counter() - begin
    variances = model.explained_variance_ * ((rows - 1) / rows)
    return {"fit": fit, "values": [float(value) for value in variances]}


# For another interpreter: dask-ml asks for versions that need not be ours.
DASK_ML = """
import json, sys, time, re, os
import numpy as np, dask, dask.array as da
from dask_ml.decomposition import PCA
X = np.load(sys.argv[1], mmap_mode="r")[: int(sys.argv[2])]
class Rows:
    def __init__(self, X): self.X, self.shape, self.dtype, self.ndim = X, X.shape, X.dtype, 2
    def __getitem__(self, index): return np.array(self.X[index])
lazy = da.from_array(Rows(X), chunks=(160_000, X.shape[1]))
begin, cpu = time.perf_counter(), time.process_time()
with dask.config.set(scheduler="threads", num_workers=2):
    model = PCA(n_components=2, svd_solver="SOLVER", random_state=0).fit(lazy)
fit = time.perf_counter() - begin
peak = re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]
n = len(X)
print(json.dumps({"seconds": fit, "fit": fit, "cpu": time.process_time() - cpu,
    "peak_MB": int(peak) / 1000,
    "values": [float(v) * (n - 1) / n for v in model.explained_variance_]}))
"""


def one(method: str, path: str, rows: int) -> dict[str, Any]:
    """A run in this process, with its costs."""
    started = time.process_time()
    if method != "incremental":
        ours(method, path, FIRST)
    started = time.process_time() - started
    begin, cpu = time.perf_counter(), time.process_time()
    found = incremental(path, rows) if method == "incremental" else ours(method, path, rows)
    costs = {
        "method": method,
        "rows": rows,
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "start": started,
        "peak_MB": (peak_bytes() or 0) / 1e6,
        "load": os.getloadavg()[0],
    }
    return costs | found


def apart(*words: str) -> dict[str, Any]:
    """A run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "one", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"method": words[0], "rows": words[2], "error": done.stderr[-500:]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def ladder(path: str, methods: tuple[str, ...], rungs: tuple[int, ...]) -> None:
    """Our methods on ever more rows; then what is fixed of their time, and what a row costs."""
    known: dict[str, list[tuple[int, float]]] = {method: [] for method in methods}
    for rows in rungs:
        for method in methods:
            run = apart(method, path, str(rows))
            print(json.dumps(run), flush=True)
            known[method] += [(rows, run["cpu"])] if "cpu" in run else []
    for method, runs in known.items():
        print(json.dumps({"method": method} | marginal(runs)))


def marginal(runs: list[tuple[int, float]]) -> dict[str, Any]:
    """Of runs (rows, seconds): a of a + b·rows, and b between each and the next, in µs.

    >>> marginal([(1_000, 3.0), (2_000, 4.0), (4_000, 8.0)])
    {'fixed_s': 2.0, 'further_row_us': [1000.0, 2000.0]}
    """
    slopes = [(after[1] - before[1]) / (after[0] - before[0]) for before, after in pairwise(runs)]
    fixed = [runs[0][1] - slopes[0] * runs[0][0]] if slopes else [None]
    return {"fixed_s": fixed[0], "further_row_us": [1e6 * slope for slope in slopes]}


def peers(path: str, rows: int, python: str, repeats: int) -> None:
    """PCA by tiles, by scikit-learn's batches and by dask-ml, in turns."""
    for _ in range(repeats):
        for method in ("pca", "incremental"):
            print(json.dumps(apart(method, path, str(rows))), flush=True)
        for solver in ("tsqr", "randomized"):
            command = [python, "-c", DASK_ML.replace("SOLVER", solver), path, str(rows)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            answer = json.loads(done.stdout) if done.returncode == 0 else done.stderr[-300:]
            print(json.dumps({"method": f"dask-ml {solver}", "rows": rows} | dict(answer)))


def workers(path: str, method: str) -> None:
    """Two worker processes of 1 GiB each: the peak of the memory and the time of each."""
    import dask
    import psutil
    from distributed import Client, LocalCluster

    from dualfold import PCA, LaplacianEigenmaps, scale

    settings = {
        "distributed.comm.timeouts.connect": "120s",
        "distributed.comm.timeouts.tcp": "300s",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GiB", host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        numbers = sorted(client.run(os.getpid).values())
        rows = scale.table(path, memory_limit="1GB", landmarks=2_000)
        begin = time.perf_counter()
        model = PCA(n_components=2) if method == "pca" else LaplacianEigenmaps(n_neighbors=10)
        model.fit(rows)
        fitted = time.perf_counter()
        out = f"{path}.{method}.zarr"
        scale.write(model.transform(scale.table(rows.collection)), out, overwrite=True)
        used = [psutil.Process(number).cpu_times() for number in numbers]
        print(json.dumps({
            "method": method, "rows": rows.n_rows, "fit": fitted - begin,
            "place": time.perf_counter() - fitted, "certificate": str(model.certificate_),
            "peak_MiB": [round((peak_bytes(number) or 0) / 2**20) for number in numbers],
            "cpu": [round(times.user + times.system, 1) for times in used],
            "cpu here": time.process_time(), "load": os.getloadavg()[0],
            "same workers": sorted(client.run(os.getpid).values()) == numbers,
        }))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("words", nargs="+")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has dask-ml")
    parser.add_argument("--noise", type=float, default=NOISE, help="of the rows that are made")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rungs", type=int, nargs="*", default=RUNGS)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    chosen = parser.parse_args()
    command, *words = chosen.words
    if command == "make":
        rows, columns = [*map(int, words[1:]), COLUMNS][:2]
        make(words[0], rows, columns, chosen.noise)
    elif command == "one":
        print(json.dumps(one(words[0], words[1], int(words[2]))))
    elif command == "ladder":
        ladder(words[0], tuple(chosen.methods), tuple(chosen.rungs))
    elif command == "peers":
        peers(words[0], int(words[1]), chosen.python, chosen.repeats)
    elif command == "workers":
        workers(words[0], words[1])
    else:
        parser.error(f"{command!r} is none of make, one, ladder, peers, workers")


if __name__ == "__main__":
    main()
