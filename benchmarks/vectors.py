"""Vectors by cosine: neighbours (ours, scikit-learn's), maps, audit, each in its own process.

python -m benchmarks.vectors [--rows N] [--columns D] [--sides ours approximate scikit-learn]

Rows in float32 around 100 centres (standard normal noise, centres at 0.7 of that). A line of JSON a
side: seconds, CPU seconds, and the peak memory of the process in MiB, with that before the call.
The map that is audited is made of the first two columns.
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

SIDES = ("ours", "approximate", "eigenmaps", "t-SNE", "audit", "scikit-learn")


def vectors(n: int, width: int, seed: int = 0) -> np.ndarray:
    """Rows around 100 centres."""
    rng = np.random.default_rng(seed)
    centres = 0.7 * rng.standard_normal((100, width), dtype=np.float32)
    X = rng.standard_normal((n, width), dtype=np.float32)
    X += centres[rng.integers(0, 100, n)]
    return X


def run(side: str, X: np.ndarray) -> dict[str, Any]:
    """What a side computes, once; the recall of the approximate search."""
    import dualfold
    from dualfold.graph import nearest

    if side == "scikit-learn":
        from sklearn.neighbors import NearestNeighbors

        NearestNeighbors(n_neighbors=15, metric="cosine", n_jobs=-1).fit(X).kneighbors()
    elif side == "eigenmaps":
        dualfold.LaplacianEigenmaps(n_neighbors=15, metric="cosine").fit(X)
    elif side == "audit":
        dualfold.audit(X, X[:, :2].astype(float), metric="cosine", random_state=0)
    elif side == "t-SNE":
        dualfold.TSNE(metric="cosine", random_state=0).fit(X)
    else:
        search = "auto" if side == "ours" else side
        found = nearest(X, 15, metric="cosine", search=search, random_state=0)
        return {"recall": round(found.search.recall, 4)}
    return {}


def peak() -> float:
    """The most memory of this process so far, in MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10, 1)


def main() -> None:
    """Run each side in its own process and print its line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=384)
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=SIDES)
    parser.add_argument("--only", choices=SIDES)
    given = parser.parse_args()
    if given.only:
        X, before = vectors(given.rows, given.columns), peak()
        begin, cpu = time.perf_counter(), time.process_time()
        more = run(given.only, X)
        times = {"seconds": round(time.perf_counter() - begin, 1)}
        times |= {"cpu": round(time.process_time() - cpu, 1)}
        memory = {"peak_MiB": peak(), "before_MiB": before}
        print(json.dumps({"side": given.only} | times | memory | more))
        return
    shape = ["--rows", str(given.rows), "--columns", str(given.columns)]
    for side in given.sides:
        command = [sys.executable, "-m", "benchmarks.vectors", *shape, "--only", side]
        print(subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
