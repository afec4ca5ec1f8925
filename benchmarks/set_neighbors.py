"""10 nearest neighbours of 50,000 sets of 2,000 bits: ours, exact, beside pynndescent.

python -m benchmarks.set_neighbors [--rows N] [--columns D] [--turns T]

Sets come from 200 groups: a group has 120 likely elements, and a set has each of them with
probability 0.7, and every other element with probability 0.02. Each side runs in its own process,
in turns; compiling pynndescent's functions is not counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time

import numpy as np


def sets(n: int, width: int, seed: int = 0) -> np.ndarray:
    """Sets of 200 groups, as an array of booleans."""
    rng = np.random.default_rng(seed)
    likely = np.full((200, width), 0.02)
    for group in likely:
        group[rng.choice(width, min(120, width // 2), replace=False)] = 0.7
    return rng.random((n, width), dtype=np.float32) < likely[rng.integers(0, 200, n)]


def ours(X: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds and distances of our search."""
    from dualfold.graph import nearest

    nearest(X[:500], 10, metric="jaccard")
    begin = time.perf_counter()
    found = nearest(X, 10, metric="jaccard")
    return time.perf_counter() - begin, found.distances


def theirs(X: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds and distances of pynndescent, with its defaults."""
    from pynndescent import NNDescent

    table = X.astype(np.float32)
    for _ in range(2):  # the first compiles
        begin = time.perf_counter()
        index = NNDescent(table, metric="jaccard", n_neighbors=11, random_state=0)
        distances = np.asarray(index.neighbor_graph[1][:, 1:])
        seconds = time.perf_counter() - begin
    return seconds, distances


def main() -> None:
    """Measure both in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=2_000)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--side", choices=["ours", "theirs"])
    parser.add_argument("--save")
    given = parser.parse_args()
    if given.side:
        seconds, distances = globals()[given.side](sets(given.rows, given.columns))
        np.save(given.save, distances)
        print(json.dumps(seconds))
        return
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    shape = ["--rows", str(given.rows), "--columns", str(given.columns)]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.turns):
            for side, seen in times.items():
                command = [sys.executable, "-m", "benchmarks.set_neighbors", *shape]
                command += ["--side", side, "--save", f"{folder}/{side}.npy"]
                seen.append(float(subprocess.run(command, capture_output=True, check=True).stdout))
        true, found = (np.load(f"{folder}/{side}.npy") for side in times)
    recall = float((found <= true[:, -1:] + 1e-6).mean())
    print("| side | seconds | recall |\n|---|---|---|")
    print(f"| dualfold | {min(times['ours']):.1f} | 1 (exact) |")
    print(f"| pynndescent | {min(times['theirs']):.1f} | {recall:.3f} |")


if __name__ == "__main__":
    main()
