"""Least stress beside scikit-learn's `MDS`, in turns, each run a process of its own.

    python -m benchmarks.stress                     # 500, 1,000 and 2,000 rows, three rounds
    python -m benchmarks.stress --rows 500 --rounds 1
    python -m benchmarks.stress --memory 10000      # peak memory of some steps

Both begin at the same points, drawn at random, with the distances given. Scikit-learn runs as by
default (300 steps, eps 1e-6). Ours is timed twice: the steps until the stress is no higher than
scikit-learn's, and a whole fit, which goes on until forces balance and has a certificate. Times are
those of one thread of the processor, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from statistics import median
from typing import Any

import numpy as np

from dualfold.arrays import Array

SETS = ("digits", "normal", "roll")
# Enough steps that every stage of a descent has been through, and few enough for 10,000 rows.
MEMORY_STEPS = 5


def rows_of(name: str, n: int) -> Array:
    """The table of a case."""
    from dualfold.data import swiss_roll

    rng = np.random.default_rng(0)
    if name == "roll":
        return np.asarray(swiss_roll(n, random_state=0).points)
    if name == "normal":
        return rng.normal(size=(n, 20))
    from sklearn.datasets import load_digits

    digits = np.asarray(load_digits().data, dtype=float)
    more = digits[rng.integers(0, len(digits), n)] + rng.normal(size=(n, 64))
    return more if n > len(digits) else digits[:n]


def measured(side: str, name: str, n: int, target: float) -> dict[str, float]:
    """What one process finds out: seconds of the processor, stress, steps."""
    from scipy.spatial.distance import cdist

    D = cdist(*[rows_of(name, n)] * 2)
    start = np.random.RandomState(0).uniform(size=(n, 2))
    if side == "scikit-learn":
        from sklearn.manifold import smacof

        begin = time.process_time()
        _, stress, steps = smacof(
            D, init=start, n_init=1, return_n_iter=True, normalized_stress=False
        )
        return {"seconds": time.process_time() - begin, "stress": stress, "steps": steps}
    from dualfold import MDS
    from dualfold.methods.points.stress.majorization import StopRule, stress_descent
    from dualfold.methods.points.stress.problem import stress_problem

    MDS(max_iter=2, metric="precomputed").fit(D[:9, :9])  # kernels are loaded
    whole = stress_descent(stress_problem(D), start, StopRule(max_steps=1000), 1)
    below = np.flatnonzero(whole.stresses <= target)
    stop = StopRule(max_steps=int(below[0]) if len(below) else 1000, eps=0.0, tolerance=0.0)
    begin = time.process_time()
    found = stress_descent(stress_problem(D), start, stop, 1)
    middle = time.process_time()
    model = MDS(metric="precomputed", n_jobs=1).fit(D, init=start)
    return {
        "seconds": middle - begin,
        "stress": float(found.stresses[-1]),
        "steps": found.n_steps,
        "whole": time.process_time() - middle,
        "whole_stress": model.stress_,
        "whole_steps": model.n_iter_,
        "unbalanced": model.certificate_.unbalanced,
    }


def peak(side: str, n: int) -> dict[str, float]:
    """The most memory that a fit of n rows adds, in matrices of n×n doubles."""
    X = np.random.default_rng(0).normal(size=(n, 20))
    if side == "scikit-learn":
        from sklearn.manifold import MDS

        model: Any = MDS(max_iter=MEMORY_STEPS, init="random", random_state=0)
    else:
        import dualfold

        model = dualfold.MDS(max_iter=MEMORY_STEPS, landmarks=None)
    model.fit(X[:50])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    model.fit(X)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = time.process_time() - begin
    return {"matrices": (after - before) * 1024 / (8 * n * n), "seconds": seconds}


def in_own_process(*words: str) -> dict[str, float]:
    """The numbers of one run, as its process prints them."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.stress", "--run", *words]
    run = subprocess.run(
        command, env=os.environ | threads, capture_output=True, text=True, check=True
    )
    return dict(json.loads(run.stdout))


def compare(sizes: list[int], rounds: int) -> None:
    print("| rows | data | scikit-learn | ours to its stress | a whole fit | stress, ours/theirs |")
    print("|---|---|---|---|---|---|")
    for n in sizes:
        for name in SETS:
            theirs, ours = [], []
            for _ in range(rounds):
                theirs.append(in_own_process("scikit-learn", name, str(n), "0"))
                ours.append(in_own_process("dualfold", name, str(n), repr(theirs[-1]["stress"])))
            seconds = [median(run["seconds"] for run in runs) for runs in (theirs, ours)]
            whole = median(run["whole"] for run in ours)
            a, b = theirs[0], ours[0]
            print(
                f"| {n} | {name} | {seconds[0]:.2f} s, {a['steps']} steps | {seconds[1]:.3f} s "
                f"({seconds[0] / seconds[1]:.0f}×), {b['steps']} steps | {whole:.2f} s "
                f"({seconds[0] / whole:.0f}×), {b['whole_steps']} steps | "
                f"{b['whole_stress'] / a['stress']:.4f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[500, 1000, 2000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--run", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run and given.run[0] == "memory":
        print(json.dumps(peak(given.run[1], int(given.run[2]))))
    elif given.run:
        side, name, n, target = given.run
        print(json.dumps(measured(side, name, int(n), float(target))))
    elif given.memory:
        for side in ("dualfold", "scikit-learn"):
            found = in_own_process("memory", side, str(given.memory))
            print(f"{side}: {found['matrices']:.2f} matrices, {found['seconds']:.1f} s")
    else:
        compare(given.rows, given.rounds)


if __name__ == "__main__":
    main()
