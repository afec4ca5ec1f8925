"""Correspondence analysis beside prince: time, memory and the first inertias.

python -m benchmarks.contingency [--turns T]

Two tables: counts of 1,000 × 50, and a sparse one of 20,000 texts with 60 words of 20 topics each,
20,000 × 5,000. prince takes no sparse table, so making it dense is in its time. Each side runs in
its own process, in turns.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

TABLES = ("counts", "texts")


def table(name: str) -> Any:
    """One of the two tables, of a fixed seed."""
    rng = np.random.default_rng(0)
    if name == "counts":
        return rng.poisson(30 * rng.random((1_000, 1)) * rng.random((1_000, 50))) + 1.0
    topics = rng.dirichlet(np.full(5_000, 0.05), 20)
    words = [rng.multinomial(60, topics[i % 20]) for i in range(20_000)]
    return sp.csr_array(sp.vstack([sp.csr_array(row[None, :].astype(float)) for row in words]))


def ours(X: Any) -> np.ndarray:
    """The first two inertias, by ours."""
    from dualfold import CorrespondenceAnalysis

    return np.asarray(CorrespondenceAnalysis(2).fit(X).eigenvalues_)


def theirs(X: Any) -> np.ndarray:
    """The first two inertias, by prince."""
    import pandas as pd
    import prince

    frame = pd.DataFrame(X.toarray() if sp.issparse(X) else X)
    kept = frame.loc[:, frame.sum() > 0]
    return np.asarray(prince.CA(n_components=2).fit(kept).eigenvalues_)


def main() -> None:
    """Measure both sides of both tables and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--one", nargs=2, metavar=("TABLE", "SIDE"))
    given = parser.parse_args()
    if given.one:
        X = table(given.one[0])
        side = {"dualfold": ours, "prince": theirs}[given.one[1]]
        side(table("counts")[:20])  # imports
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        values = side(X)
        seconds = time.perf_counter() - begin
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(json.dumps([seconds, more, *map(float, values[:2])]))
        return
    print("| table | side | seconds | MB more | inertias |\n|---|---|---|---|---|")
    for name in TABLES:
        runs: dict[str, list[list[float]]] = {"dualfold": [], "prince": []}
        for _ in range(given.turns):
            for side_name, seen in runs.items():
                command = [sys.executable, "-m", "benchmarks.contingency", "--one", name, side_name]
                run = subprocess.run(command, capture_output=True, check=True, text=True)
                seen.append(json.loads(run.stdout))
        for side_name, seen in runs.items():
            seconds, more, *values = min(seen)
            words = ", ".join(f"{value:.5f}" for value in values)
            print(f"| {name} | {side_name} | {seconds:.3f} | {more:.0f} | {words} |")


if __name__ == "__main__":
    main()
