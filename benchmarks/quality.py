"""Quality of a map: ours beside scikit-learn, seconds and memory.

`python -m benchmarks.quality` runs every case, each side in a process of its own, and
prints a table; `python -m benchmarks.quality CASE SIDE` runs one side and prints JSON.
The map is the plane of the two leading principal components: bad enough that neighbours
on it lie at every rank in the data, the hard case for counting ranks.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

Outcome = tuple[dict[str, float], dict[str, Any]]
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Case:
    """One piece of work; `sides` maps a name to what is run."""

    title: str
    data: Callable[[], Data]
    sides: dict[str, Callable[[Data], Outcome]]
    wanted: str


class Stopwatch:
    """Seconds by stage: `watch("ranks")` ends a stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def __call__(self, stage: str) -> None:
        now = perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now


def images_and_map(n: int) -> Callable[[], Data]:
    def data() -> Data:
        from dualfold.data import mnist

        images = mnist(n)
        X = images.points.astype(np.float32)
        mean = X.mean(axis=0, dtype=np.float64)
        some = X[:5000] - mean
        axes = np.linalg.eigh(some.T @ some)[1][:, :-3:-1].astype(np.float32)
        return X, (X - mean.astype(np.float32)) @ axes, np.asarray(images.labels)

    return data


def our_neighborhoods(data: Data) -> Outcome:
    from dualfold.quality import neighbor_ranks

    X, Y, _ = data
    watch = Stopwatch()
    ranks = neighbor_ranks(X, Y, 10)
    facts = {
        "trustworthiness": ranks.trustworthiness(),
        "continuity": ranks.continuity(),
        "t-similarity": ranks.t_similarity(),
    }
    watch("all three")
    return watch.seconds, facts


def our_trustworthiness(data: Data) -> Outcome:
    from dualfold.quality import trustworthiness

    watch = Stopwatch()
    value = trustworthiness(data[0], data[1], n_neighbors=10)
    watch("all")
    return watch.seconds, {"trustworthiness": value}


def scikit_learn_trustworthiness(data: Data) -> Outcome:
    from sklearn.manifold import trustworthiness

    watch = Stopwatch()
    value = trustworthiness(data[0], data[1], n_neighbors=10)
    watch("all")
    return watch.seconds, {"trustworthiness": float(value)}


def our_report(data: Data) -> Outcome:
    from dualfold.quality import report

    watch = Stopwatch()
    quality = report(data[0], data[1], labels=data[2])
    watch("all")
    return watch.seconds, {name: float(value) for name, value in quality.measures.items()}


def our_sampled_report(data: Data) -> Outcome:
    from dualfold.quality import report

    watch = Stopwatch()
    quality = report(data[0], data[1], labels=data[2], sample=1000)
    watch("all")
    return watch.seconds, {name: float(value) for name, value in quality.measures.items()}


CASES: dict[str, Case] = {
    "trustworthiness-20k": Case(
        "trustworthiness, MNIST 20,000×784, 10 neighbours",
        images_and_map(20_000),
        {"dualfold": our_trustworthiness, "scikit-learn": scikit_learn_trustworthiness},
        "at least 5 times faster than scikit-learn, at most a tenth of its memory",
    ),
    "neighbourhoods-70k": Case(
        "trustworthiness, continuity and t-similarity, MNIST 70,000",
        images_and_map(70_000),
        {"dualfold": our_neighborhoods},
        "at most 4 minutes and 3 GiB",
    ),
    "report-70k": Case(
        "every measure, MNIST 70,000",
        images_and_map(70_000),
        {"dualfold, 1,000 drawn": our_sampled_report, "dualfold": our_report},
        "minutes, 3 GiB",
    ),
}


def one(case: Case, side: str) -> None:
    data = case.data()
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes there, KiB elsewhere
    before = resource.getrusage(resource.RUSAGE_SELF)
    seconds, facts = case.sides[side](data)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    outcome = {
        "seconds": seconds,
        "facts": facts | {"CPU seconds": cpu},
        "peak": after.ru_maxrss * unit,
        "before": before.ru_maxrss * unit,
    }
    print(json.dumps(outcome))


def main() -> None:
    if len(sys.argv) == 3:
        one(CASES[sys.argv[1]], sys.argv[2])
        return
    for name, case in CASES.items():
        for side in case.sides:
            command = [sys.executable, "-m", "benchmarks.quality", name, side]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(f"{case.title} / {side}: failed: {done.stderr.strip().splitlines()[-1:]}")
                continue
            run = json.loads(done.stdout.splitlines()[-1])
            facts = ", ".join(f"{key} {value:.4g}" for key, value in run["facts"].items())
            print(
                f"{case.title} / {side}: {sum(run['seconds'].values()):.1f} s, "
                f"{run['peak'] / 2**30:.2f} GiB ({run['before'] / 2**30:.2f} before); {facts}"
            )


if __name__ == "__main__":
    main()
