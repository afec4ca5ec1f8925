"""How often `recommend` says that the data decide: for noise, and where a method is better.

    python -m benchmarks.calibration.recommendations             # 100 tables a cell
    python -m benchmarks.calibration.recommendations --runs 5    # does it run?

Prints tables in Markdown; docs/calibration.md has those of all of it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold.data import s_curve, swiss_roll
from dualfold.recommendation import recommend

Draw = Callable[[np.random.Generator, int, int], Any]

NOISE: dict[str, Draw] = {
    "normal": lambda rng, n, p: rng.standard_normal((n, p)),
    "uniform": lambda rng, n, p: rng.uniform(size=(n, p)),
    "integers 1–5": lambda rng, n, p: rng.integers(1, 6, (n, p)).astype(float),
    "t, 2 degrees": lambda rng, n, p: rng.standard_t(2, (n, p)),
}
SIZES = ((60, 3), (60, 20), (300, 3), (300, 20), (2_000, 3), (2_000, 50))
# Of these there are a tenth as many runs, because each takes long.
MANY_ROWS = 2_000


def flat_sheet(rng: np.random.Generator, n: int) -> Any:
    plane = rng.standard_normal((n, 2)) @ rng.standard_normal((2, 6))
    return plane + 0.01 * rng.standard_normal((n, 6))


def clusters(rng: np.random.Generator, n: int) -> Any:
    centres = 6 * rng.standard_normal((5, 10))
    return centres[rng.integers(0, 5, n)] + rng.standard_normal((n, 10))


def flat_clusters(rng: np.random.Generator, n: int) -> Any:
    """Five groups in a plane: any projection onto it shows them."""
    centres = 6 * rng.standard_normal((5, 2))
    plane = centres[rng.integers(0, 5, n)] + rng.standard_normal((n, 2))
    return np.pad(plane, ((0, 0), (0, 8))) + 0.05 * rng.standard_normal((n, 10))


def digits(rng: np.random.Generator, n: int) -> Any:
    X = load_digits().data
    return X[rng.choice(len(X), n, replace=False)]


STRUCTURE: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "roll": lambda rng, n: swiss_roll(n, random_state=rng).points,
    "S-curve": lambda rng, n: s_curve(n, random_state=rng).points,
    "flat sheet in 6": flat_sheet,
    "five groups in a plane in 10": flat_clusters,
    "five groups in 10": clusters,
    "digits": digits,
}


def facts_of(X: Any, seed: int) -> dict[str, Any]:
    found = recommend(X, random_state=seed, n_jobs=1)
    return {
        "method": found.method,
        "decided": found.decided,
        "votes": found.votes,
        "short_cuts": found.neighbors.with_short_cuts,
        "candidates": {
            one.method: [one.kept, one.stability, one.kept_shuffled] for one in found.candidates
        },
    }


def of_noise(draw: Draw, n: int, p: int, seed: int) -> Any:
    return facts_of(draw(np.random.default_rng([1, seed]), n, p), seed)


def of_structure(draw: Callable[..., Any], n: int, seed: int) -> Any:
    return facts_of(draw(np.random.default_rng([2, seed]), n), seed)


def row_of(name: str, results: list[Any]) -> list[Any]:
    """How often it was decided and for which method, beside votes that agree (the old rule)."""
    decided = Counter(one["method"] for one in results if one["decided"])
    voted = Counter(one["method"] for one in results if len(set(one["votes"])) == 1)
    shares = (f"{100 * sum(c.values()) / len(results):.0f}" for c in (voted, decided))
    which = ", ".join(f"{method} {times}" for method, times in decided.most_common())
    return [name, len(results), *shares, which]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=100)
    runs = arguments.parse_args().runs
    store = StoredRuns("recommendations")
    rows = []
    for name, draw in STRUCTURE.items():
        for n in (300, 1_000):
            cell = f"{name}, {n:,} rows"
            simulate = partial(of_structure, draw, n)
            count = max(1, runs * (3 if n == 300 else 2) // 10)
            rows.append(row_of(cell, store.of(cell, count, simulate)))
    for n, p in SIZES:
        count = runs if n < MANY_ROWS else max(1, runs // 10)
        found = {
            name: store.of(f"{name}, {n:,} × {p}", count, partial(of_noise, noise, n, p))
            for name, noise in NOISE.items()
        }
        together = [one for results in found.values() for one in results]
        rows.append(row_of(f"noise, {n:,} × {p}", together))
    heads = ["table", "runs", "subsamples agree, %", "decided, %", "for"]
    print(markdown(heads, rows))


if __name__ == "__main__":
    main()
