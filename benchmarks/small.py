"""`python -m benchmarks.small`: fits of small tables beside scikit-learn's, and the time to start.

A process fits all methods to one table; ours and scikit-learn's take turns. A fit's time is the
median of its fits in a process, the least of all turns; BLAS has one thread on both sides, since on
a busy machine two would wait for one another. Times are of the processor. `--start` measures
imports and the first answer of the command line instead. Prints lines of JSON for
`benchmarks.measured`; a table goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

SIDES = ("dualfold", "scikit-learn")
# How many milliseconds more than scikit-learn's a fit may take.
MAX_MORE_MS = 1.0
# How many seconds more than scikit-learn's an import may take, and what the first answer may.
MAX_MORE_IMPORT = 0.15
MAX_FIRST_ANSWER = 2.0
NEIGHBORS = 10
# In a process: at least so many fits of a method, and as many as this time allows.
MIN_FITS = 9
FIT_SECONDS = 0.4
IMPORTS = {
    "dualfold": "from dualfold import PCA",
    "scikit-learn": "from sklearn.decomposition import PCA",
}


def tables() -> dict[str, Any]:
    """Small tables by their names, as numbers."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    found = {"iris": load_iris().data, "wine": load_wine().data}
    return found | {"breast cancer": load_breast_cancer().data, "digits": load_digits().data[:300]}


def methods_of(side: str) -> dict[str, Callable[[], Any]]:
    """A side's estimators of two coordinates, by the method; what it lacks is left out."""
    graph = {"n_neighbors": NEIGHBORS, "n_components": 2}
    if side == "dualfold":
        import dualfold as ours

        return {
            "PCA": lambda: ours.PCA(2),
            "TruncatedSVD": lambda: ours.TruncatedSVD(2),
            "KernelPCA": lambda: ours.KernelPCA(2, kernel="rbf"),
            "ClassicalMDS": lambda: ours.ClassicalMDS(2),
            "Isomap": lambda: ours.Isomap(**graph),
            "LLE": lambda: ours.LocallyLinearEmbedding(**graph),
            "eigenmaps": lambda: ours.LaplacianEigenmaps(**graph),
        }
    from sklearn import decomposition, manifold

    found = {
        "PCA": lambda: decomposition.PCA(2),
        "TruncatedSVD": lambda: decomposition.TruncatedSVD(2),
        "KernelPCA": lambda: decomposition.KernelPCA(2, kernel="rbf"),
        "Isomap": lambda: manifold.Isomap(**graph),
        "LLE": lambda: manifold.LocallyLinearEmbedding(**graph),
        "eigenmaps": lambda: manifold.SpectralEmbedding(affinity="nearest_neighbors", **graph),
    }
    if hasattr(manifold, "ClassicalMDS"):  # scikit-learn 1.8 and later
        found["ClassicalMDS"] = lambda: manifold.ClassicalMDS(2)
    return found


def fit_times(side: str, table: str) -> dict[str, float]:
    """Milliseconds of the processor of one fit, by the method; a method that fails has none."""
    warnings.simplefilter("ignore")
    X, found = tables()[table], {}
    for method, estimator in methods_of(side).items():
        try:
            estimator().fit(X)
        except ValueError as trouble:  # scikit-learn's LLE: "factor is exactly singular"
            print(f"{side} {method} of {table}: {trouble}", file=sys.stderr)
            continue
        times, end = [], perf_counter() + FIT_SECONDS
        while len(times) < MIN_FITS or perf_counter() < end:
            begin = process_time()
            estimator().fit(X)
            times.append(1e3 * (process_time() - begin))
        found[method] = median(times)
    return found


def measured_fits(turns: int, only: str = "") -> list[dict[str, Any]]:
    """A row for each table and method: both sides' milliseconds."""
    best: dict[tuple[str, str, str], float] = {}
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for _ in range(turns):
        for table in (name for name in tables() if only in name):
            for side in SIDES:
                command = [sys.executable, "-m", "benchmarks.small", "--one", side, table]
                run = subprocess.run(
                    command, env=environment, check=True, stdout=subprocess.PIPE, text=True
                )
                for method, ms in json.loads(run.stdout).items():
                    key = table, method, side
                    best[key] = min(ms, best.get(key, ms))
    rows = []
    for table, method in dict.fromkeys(key[:2] for key in best):
        ours, theirs = (best.get((table, method, side)) for side in SIDES)
        if ours is not None and theirs is not None:
            row = {"table": table, "method": method, "ours ms": ours, "scikit-learn ms": theirs}
            rows.append(row | {"more ms": ours - theirs})
    return rows


def measured_start(turns: int) -> list[dict[str, Any]]:
    """Seconds of the processor of imports and of the first answer, in processes that start cold."""
    with tempfile.TemporaryDirectory() as place:
        table = Path(place, "table.csv")
        commands = {name: ["-c", words] for name, words in IMPORTS.items()}
        subprocess.run([sys.executable, "-c", _table_program(table)], check=True)
        first = ["-m", "dualfold", "embed", str(table), "--output", str(Path(place, "map.csv"))]
        commands["first answer"] = [*first, "--force", "--quiet"]
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        # As pip installs it: with bytecode, which the first round writes.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment.setdefault("PYTHONPYCACHEPREFIX", str(Path(place, "bytecode")))
        for turn in range(turns + 1):
            for name, command in commands.items():
                seconds = _seconds_of([sys.executable, *command], environment)
                if turn:
                    times[name].append(seconds)
    return [
        {"side": name, "cpu": median(cpu for cpu, _ in each), "seconds": median(s for _, s in each)}
        for name, each in times.items()
    ]


def _table_program(path: Path) -> str:
    """A program that writes 500 rows of a roll with three columns of noise."""
    return (
        "import numpy as np\n"
        "from dualfold.data import swiss_roll\n"
        "noise = np.random.default_rng(0).standard_normal((500, 3))\n"
        "X = np.hstack([swiss_roll(500, random_state=0).points, noise])\n"
        f"np.savetxt({str(path)!r}, X, '%.5g', ',', header='a,b,c,d,e,f', comments='')\n"
    )


def _seconds_of(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Of a process: seconds of the processor, and of the clock."""
    before = os.times()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system, after.elapsed - before.elapsed


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small", description=__doc__)
    parser.add_argument("--turns", type=int, default=3, help="of each side")
    parser.add_argument("--table", default="", help="only tables whose name holds this")
    parser.add_argument("--start", action="store_true", help="imports and the first answer")
    parser.add_argument("--one", nargs=2, metavar=("SIDE", "TABLE"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(fit_times(*chosen.one)))
        return
    turns = chosen.turns
    found = measured_start(turns) if chosen.start else measured_fits(turns, chosen.table)
    for row in found:
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}))
    if not chosen.start:
        for row in found:
            late = "" if row["more ms"] <= MAX_MORE_MS else f"  more than {MAX_MORE_MS:g} ms behind"
            words = f"{row['table']:14}{row['method']:14}{row['ours ms']:8.2f}"
            print(f"{words}{row['scikit-learn ms']:8.2f} ms{late}", file=sys.stderr)


if __name__ == "__main__":
    main()
