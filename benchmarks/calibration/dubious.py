"""How often points are called dubious: on maps without a random place, and on maps with some.

    python -m benchmarks.calibration.dubious             # 400 maps a cell: 10 minutes of CPU
    python -m benchmarks.calibration.dubious --runs 5    # does it run?

On the first every place is the true one plus normal noise, in standard deviations of the map. Then
some rows change places. "Before" is the mixture alone, without the question whether two groups are
there at all. Prints tables in Markdown; docs/calibration.md has those of all of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold.judging.place_mixture import DUBIOUS_POSTERIOR, likeliest_mixture, two_groups
from dualfold.judging.point_reliability import reliability
from dualfold.quality.picture import percent
from dualfold.quality.space import EuclideanSpace

# The data and the true places on a map.
Sample = tuple[Any, Any]
# Fewer random places than in an audit, so that a map takes milliseconds.
RANDOM_PLACES = 3_000
# A map of which more points are called dubious than this has a false headline.
HEADLINE_SHARE = 0.05
# Of cells with 1,000 rows, in parts of the others; and of those with 10,000.
FEWER_PART = 4
FEW_MAPS = 20
FIRST_MAPS = 50  # of which the mixture alone is computed, too: it takes most of the time
NOISES = (0.0, 0.5, 1.0, 2.0, 3.0)


def normal(rng: np.random.Generator, n: int) -> Sample:
    X = rng.standard_normal((n, 2))
    return X, X


def heavy(rng: np.random.Generator, n: int) -> Sample:
    """Student's t of 2 degrees; the noise is measured by the middle half."""
    X = rng.standard_t(2, size=(n, 2))
    return X, X / np.median(np.abs(X)) * 0.67


def grid(_: np.random.Generator, n: int) -> Sample:
    side = int(np.ceil(np.sqrt(n)))
    X = np.argwhere(np.ones((side, side)))[:n].astype(float)
    return X, X / X.std(axis=0)


def duplicates(rng: np.random.Generator, n: int) -> Sample:
    X = rng.standard_normal((-(-n // 4), 2)).repeat(4, axis=0)[:n]
    return X, X


def groups(rng: np.random.Generator, n: int) -> Sample:
    X = rng.standard_normal((n, 2))
    X[:, 0] += 8 * rng.integers(3, size=n)
    return X, X / X.std(axis=0)


def ten_columns(rng: np.random.Generator, n: int) -> Sample:
    """Normal in ten dimensions, of which the map shows two."""
    X = rng.standard_normal((n, 10))
    return X, X[:, :2]


FAMILIES: dict[str, Callable[[np.random.Generator, int], Sample]] = {
    "normal": normal,
    "t, 2 degrees": heavy,
    "grid": grid,
    "every row four times": duplicates,
    "three groups": groups,
    "two of ten columns": ten_columns,
}
SMALL = ("normal", "every row four times")
# Rows, families, noise.
NULL_CELLS = (
    (100, tuple(FAMILIES), NOISES),
    (50, SMALL, NOISES),
    (1_000, ("normal", "grid"), (1.0, 3.0)),
    (10_000, ("normal",), (1.0, 3.0)),
)
# Rows, families, noise, shares of the rows that change places.
POWER_CELLS = (
    (100, ("normal", "three groups"), (0.0, 0.1, 0.3, 0.5), (0.05,)),
    (1_000, ("normal", "three groups"), (0.0, 0.3), (0.05, 0.3)),
    (1_000, ("normal",), (0.0,), (1.0,)),
)


def exchanged(Y: Any, share: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """A map on which a share of the points change places in a circle, and which."""
    rows = rng.permutation(len(Y))[: round(share * len(Y))]
    moved, which = Y.copy(), np.zeros(len(Y), dtype=bool)
    moved[rows], which[rows] = Y[np.roll(rows, 1)], True
    return moved, which


def shares_called(family: str, n: int, noise: float, share: float, seed: int) -> list[float]:
    """Shares called dubious: of the others and of the exchanged points; the same before."""
    rng = np.random.default_rng([7, n, round(10 * noise), round(100 * share), seed])
    X, places = FAMILIES[family](rng, n)
    Y, which = exchanged(places + noise * rng.standard_normal(places.shape), share, rng)
    scores = reliability(EuclideanSpace(X, 1), EuclideanSpace(Y, 1), seed, places=RANDOM_PLACES)
    p_values, found = scores.p_values, []
    called = [two_groups(p_values).dubious]
    if share or seed < FIRST_MAPS:
        weights, powers = likeliest_mixture(p_values)
        falling = weights[1:] * powers * (1 - p_values[:, None]) ** (powers - 1)
        called.append(weights[0] >= DUBIOUS_POSTERIOR * (weights[0] + falling.sum(axis=1)))
    for dubious in called:
        found += [dubious[rows].mean() if rows.any() else 0.0 for rows in (~which, which)]
    return [round(float(one), 5) for one in found]


def cell(
    stored: StoredRuns, family: str, n: int, noise: float, share: float, runs: int
) -> tuple[int, list[list[float]]]:
    """The number of maps of a cell, and what `shares_called` found on each."""
    count = runs if n < 1_000 else -(-runs // FEWER_PART)
    count = min(count, FEW_MAPS) if n == 10_000 else count
    simulate = partial(shares_called, family, n, noise, share)
    return count, stored.of(f"{family}, {n}, {noise}, {share}", count, simulate)


def null_row(stored: StoredRuns, family: str, n: int, noise: float, runs: int) -> list[Any]:
    count, found = cell(stored, family, n, noise, 0.0, runs)
    now = np.array([one[0] for one in found])
    before = np.array([one[2] for one in found[:FIRST_MAPS]])
    marks = (now, now > HEADLINE_SHARE, now > 0, before, before > HEADLINE_SHARE)
    return [family, f"{n:,}", f"{noise:g}", count, *(percent(one.mean()) for one in marks)]


def power_row(
    stored: StoredRuns, family: str, n: int, noise: float, share: float, runs: int
) -> list[Any]:
    count, found = cell(stored, family, n, noise, share, runs)
    others, called, _, before = np.mean(found, axis=0)
    false = others * (1 - share) / max(others * (1 - share) + called * share, 1e-9)
    marks = (called, before, false)
    first = [family, f"{n:,}", f"{noise:g}", percent(share), count]
    return [*first, *(percent(float(one)) for one in marks)]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args().runs
    stored = StoredRuns("dubious")
    heads = ["data", "rows", "noise", "maps", "points dubious", "maps with a false headline"]
    heads += ["maps with any", "points before", "maps before"]
    rows = [
        null_row(stored, name, n, noise, runs)
        for n, names, noises in NULL_CELLS
        for name in names
        for noise in noises
    ]
    print(markdown(heads, rows), end="\n\n", flush=True)
    heads = ["data", "rows", "noise", "exchanged", "maps", "found", "found before"]
    heads += ["false among those called"]
    rows = [
        power_row(stored, name, n, noise, share, -(-runs // FEWER_PART))
        for n, names, noises, shares in POWER_CELLS
        for name in names
        for noise in noises
        for share in shares
    ]
    print(markdown(heads, rows))


if __name__ == "__main__":
    main()
