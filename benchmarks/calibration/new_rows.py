"""How often new rows are called foreign: rows drawn as the old ones were, and others.

    python -m benchmarks.calibration.new_rows             # 400 tables a cell
    python -m benchmarks.calibration.new_rows --runs 5    # does it run?

Prints tables in Markdown; docs/calibration.md has those of all of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold.quality.conformal import compared_rows
from dualfold.quality.foreign_rows import ForeignRows

Draw = Callable[[np.random.Generator, int, int], Any]

DRAWS: dict[str, Draw] = {
    "normal": lambda rng, n, p: rng.standard_normal((n, p)),
    "t, 2 degrees": lambda rng, n, p: rng.standard_t(2, (n, p)),
    "Cauchy": lambda rng, n, p: rng.standard_cauchy((n, p)),
    "integers 1–5": lambda rng, n, p: rng.integers(1, 6, (n, p)).astype(float),
    "half of them duplicates": lambda rng, n, p: np.where(
        rng.random((n, 1)) < 0.5, np.ones(p), rng.standard_normal((n, p))
    ),
    "two groups, one thin": lambda rng, n, p: (
        rng.standard_normal((n, p)) * 10.0 ** (thin := rng.random((n, 1)) < 0.1) + 50 * thin
    ),
}
# Rows and columns of the old table.
SIZES = (
    *((10, 2), (25, 2), (60, 2), (60, 50), (300, 2), (300, 10), (300, 50)),
    *((2_000, 3), (10_000, 3)),
)
# Of long tables there are fewer runs, because each takes long.
RUNS_DIVISOR = {2_000: 4, 10_000: 20}
NEW_COUNTS = (1, 10, 100, 1_000)
SHIFTS = (2.0, 4.0, 6.0, 10.0)


def verdict_of(old: Any, new: Any) -> ForeignRows:
    found = compared_rows(old, new, n_neighbors=min(5, len(old) - 1), n_jobs=1)
    return ForeignRows(found.p_values, len(old), found.distances, found.old_distance)


def alarms(draw: Draw, n: int, p: int, seed: int) -> list[bool]:
    """Whether the first 1, 10, 100 and 1,000 of exchangeable new rows are called foreign."""
    rng = np.random.default_rng([3, seed])
    found = verdict_of(draw(rng, n, p), draw(rng, NEW_COUNTS[-1], p))
    firsts = (ForeignRows(found.p_values[:m], n) for m in NEW_COUNTS)
    return [one.more_than_chance for one in firsts]


def found_shifts(n: int, p: int, seed: int) -> list[list[bool]]:
    """Whether 1 row, 10 rows, and 1 among 99 others are called foreign, for each shift."""
    rng = np.random.default_rng([4, seed])
    old, new = rng.standard_normal((n, p)), rng.standard_normal((110, p))
    rows = []
    for shift in SHIFTS:
        moved = new.copy()
        moved[:11, 0] += shift
        p_values = verdict_of(old, moved).p_values
        groups = p_values[:1], p_values[1:11], p_values[10:]
        rows.append([ForeignRows(some, n).more_than_chance for some in groups])
    return rows


def false_alarm_rows(store: StoredRuns, runs: int) -> list[list[Any]]:
    """One for each size: the mean over the kinds of rows, and the largest where runs are many."""
    rows = []
    for n, p in SIZES:
        count = max(1, runs // RUNS_DIVISOR.get(n, 1))
        found = [
            store.of(f"{name}, {n} × {p}", count, partial(alarms, draw, n, p))
            for name, draw in DRAWS.items()
        ]
        shares = 100 * np.mean(found, axis=1)
        largest = (f" ({one.max():.1f})" if count >= 100 else "" for one in shares.T)
        cells = (f"{one.mean():.1f}{most}" for one, most in zip(shares.T, largest, strict=True))
        rows.append([f"{n:,} × {p}", f"{len(DRAWS)} × {count}", *cells])
    return rows


def power_rows(store: StoredRuns, runs: int) -> list[list[Any]]:
    rows = []
    for n, p in ((25, 2), (60, 2), (300, 2), (300, 10), (300, 50), (2_000, 10), (10_000, 3)):
        count = max(1, runs // max(4, RUNS_DIVISOR.get(n, 1)))
        found = store.of(f"shifted, {n} × {p}", count, partial(found_shifts, n, p))
        shares = 100 * np.mean(found, axis=0)
        cells = (f"{shares[i, kind]:.0f}" for kind in range(3) for i in range(len(SHIFTS)))
        rows.append([f"{n:,} × {p}", *cells])
    return rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=400)
    runs = arguments.parse_args().runs
    store = StoredRuns("new_rows")
    heads = ["old table", "runs", *(f"{m:,} new" for m in NEW_COUNTS)]
    print(markdown(heads, false_alarm_rows(store, runs)))
    kinds = ("1 row", "10 rows", "1 of 100")
    heads = ["old table", *(f"{kind}, {shift:.0f} σ" for kind in kinds for shift in SHIFTS)]
    print("\n" + markdown(heads, power_rows(store, runs)))


if __name__ == "__main__":
    main()
