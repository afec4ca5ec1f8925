"""What `recommend` expects of the map of all rows, from subsamples, and what that map keeps.

    python -m benchmarks.calibration.promised_quality             # one table of each kind
    python -m benchmarks.calibration.promised_quality --runs 3

Prints a table in Markdown; docs/calibration.md has it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold.data import swiss_roll
from dualfold.judging.recommendation.recommender import MAX_SUBSAMPLE_ROWS, N_SUBSAMPLES
from dualfold.judging.recommendation.trial import (
    SCORED_NEIGHBORS,
    candidate_on_subsamples,
    subsamples,
    unfitted_estimator,
)
from dualfold.quality.ranks import picture_of

Generator = np.random.Generator
N_NEIGHBORS = 10
# Rows of the full map by the method's cost.
ROWS = {"pca": 20_000, "tsne": 20_000, "eigenmaps": 6_000, "isomap": 3_000}
MEASURED_ROWS = 1_000


def surface(rng: Generator, n: int) -> Any:
    t = rng.uniform(-1, 1, (n, 2))
    bent = [t, np.sin(3 * t[:, :1]), t[:, :1] * t[:, 1:], np.cos(2 * t[:, 1:])]
    return np.hstack(bent) + 0.02 * rng.standard_normal((n, 5))


def groups(rng: Generator, n: int) -> Any:
    centers = 3 * rng.standard_normal((12, 20))
    return centers[rng.integers(0, 12, n)] + rng.standard_normal((n, 20))


def gradient(rng: Generator, n: int) -> Any:
    t = rng.standard_normal((n, 1))
    return np.hstack([t + 0.3 * rng.standard_normal((n, 4)), rng.standard_normal((n, 4))])


def skewed(rng: Generator, n: int) -> Any:
    """Sizes and prices: few quantities behind seven columns with heavy tails."""
    t = rng.standard_normal((n, 3)) @ rng.standard_normal((3, 7))
    return np.exp(t / 3) + 0.1 * rng.standard_normal((n, 7))


TABLES: dict[str, Callable[[Generator, int], Any]] = {
    "noise in 10": lambda rng, n: rng.standard_normal((n, 10)),
    "roll": lambda rng, n: swiss_roll(n, random_state=rng).points,
    "bent surface in 5": surface,
    "12 groups in 20": groups,
    "gradient in noise, 8": gradient,
    "heavy tails, 7": skewed,
}


def simulate(draw: Callable[[Generator, int], Any], method: str, seed: int) -> list[float]:
    """[of subsamples, expected, low, high, of all rows], shares beyond chance."""
    n = ROWS[method]
    X = draw(np.random.default_rng([5, seed]), n)
    parts, core = subsamples(n, MAX_SUBSAMPLE_ROWS, N_SUBSAMPLES, seed)
    found = candidate_on_subsamples(method, X, parts[:2], core, 2, N_NEIGHBORS, judges=[X])
    expected: Any = found.expected_kept(n, len(parts[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = unfitted_estimator(method, 2, N_NEIGHBORS).fit_transform(X)
    kept = picture_of(X, Y, SCORED_NEIGHBORS, sample=MEASURED_ROWS).beyond_chance
    return [found.mean_kept, float(expected), expected.low, expected.high, kept]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=1)
    runs = arguments.parse_args().runs
    store, rows = StoredRuns("promised_quality"), []
    for method, n in ROWS.items():
        for name, draw in TABLES.items():
            cell = f"{method}, {name}, {n:,} rows"
            results = np.array(store.of(cell, runs, partial(simulate, draw, method)))
            held = int(np.sum((results[:, 2] <= results[:, 4]) & (results[:, 4] <= results[:, 3])))
            mean = results.mean(axis=0)
            limits = f"{mean[1]:.2f} ({mean[2]:.2f} to {mean[3]:.2f})"
            rows.append([cell, f"{mean[0]:.2f}", limits, f"{mean[4]:.2f}", f"{held} of {runs}"])
    print(markdown(["map", "subsamples keep", "expected", "all rows keep", "limits hold"], rows))


if __name__ == "__main__":
    main()
