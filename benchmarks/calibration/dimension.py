"""How often the ranges of the intrinsic dimension hold it, on shapes whose dimension is known.

    python -m benchmarks.calibration.dimension             # 1,000 samples a cell
    python -m benchmarks.calibration.dimension --runs 5    # does it run?
    python -m benchmarks.calibration.dimension --curves    # the table of reference_clouds.py

Prints tables in Markdown; docs/calibration.md has those of all of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold.data import helix, s_curve, swiss_roll
from dualfold.quality.dimension_estimates import levina_bickel, two_nn
from dualfold.quality.reference_clouds import DIMENSIONS, ROW_COUNTS
from dualfold.recommendation import intrinsic_dimension

Draw = Callable[[np.random.Generator, int], Any]
# Points of all clouds of a number of the table: its error is 0.5 % or less, of clouds of fewer than
# 200 points, whose own chance is far larger, 0.9 %.
TABLE_POINTS = 84_000
SMALL_CLOUD_POINTS = 24_000


def normal(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.standard_normal((n, d))


def cube(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.uniform(size=(n, d))


def sphere(rng: np.random.Generator, n: int, d: int) -> Any:
    Z = rng.standard_normal((n, d + 1))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def ball(rng: np.random.Generator, n: int, d: int) -> Any:
    return sphere(rng, n, d + 1)[:, :d]


def uneven_cube(rng: np.random.Generator, n: int, d: int) -> Any:
    return rng.uniform(size=(n, d)) ** 2


def torus(rng: np.random.Generator, n: int, d: int) -> Any:
    angles = rng.uniform(0, 2 * np.pi, (n, d))
    return np.hstack([np.cos(angles), np.sin(angles)])


def thick_sheet(rng: np.random.Generator, n: int, noise: float) -> Any:
    """A square in ten dimensions with noise, in parts of the usual distance of neighbours."""
    flat = np.pad(rng.uniform(size=(n, 2)), ((0, 0), (0, 8)))
    return flat + noise / np.sqrt(n) * rng.standard_normal((n, 10))


# Of 5,000 rows only this one, because each takes long.
MANY_ROWS = ("cube", 10)
CLOUDS = {"normal": normal, "cube": cube, "sphere": sphere}
OTHERS: dict[str, tuple[int, Draw]] = {
    "curve: helix": (1, lambda rng, n: helix(n, random_state=rng).points),
    "roll": (2, lambda rng, n: swiss_roll(n, random_state=rng).points),
    "S-curve": (2, lambda rng, n: s_curve(n, random_state=rng).points),
    "sheet, noise 1 % of the neighbours' distance": (2, partial(thick_sheet, noise=0.01)),
    "sheet, noise 10 %": (2, partial(thick_sheet, noise=0.1)),
    "sheet, noise 30 %": (2, partial(thick_sheet, noise=0.3)),
    "uneven cube": (5, partial(uneven_cube, d=5)),
    "ball, uniform": (5, partial(ball, d=5)),
    "torus": (4, partial(torus, d=4)),
}


def ranges(draw: Draw, n: int, seed: int) -> list[float]:
    # Columns of zeros: else no estimate were above the number of columns, which is a help.
    points = np.pad(draw(np.random.default_rng([5, seed]), n), ((0, 0), (0, 40)))
    found = intrinsic_dimension(points)
    both = found.two_nn, found.levina_bickel
    return [number for one in both for number in (float(one), one.low, one.high)]


def coverage_row(store: StoredRuns, name: str, cell: tuple[int, int], draw: Draw, runs: int) -> Any:
    """How often each range holds d, and the mean of estimates and widths."""
    d, n = cell
    found = np.array(store.of(f"{name}, {d}, {n}", runs, partial(ranges, draw, n)))
    row: list[Any] = [name, d, f"{n:,}", runs]
    for value, low, high in (found[:, :3].T, found[:, 3:].T):
        held = 100 * np.mean((low <= d) & (d <= high))
        row += [f"{value.mean():.2f}", f"{held:.1f}", f"{np.mean(high - low):.2f}"]
    return row


def coverage_rows(store: StoredRuns, runs: int) -> list[Any]:
    rows = []
    for name, cloud in CLOUDS.items():
        for d in (1, 2, 4, 7, 10):
            for n in (200, 1_000, 5_000):
                if n == 200 or (n == 1_000 and d in (1, 4, 10)) or (name, d) == MANY_ROWS:
                    rows.append(coverage_row(store, name, (d, n), partial(cloud, d=d), runs))
    return rows


def other_rows(store: StoredRuns, runs: int) -> list[Any]:
    return [
        coverage_row(store, name, (d, n), draw, max(1, runs // 5))
        for name, (d, draw) in OTHERS.items()
        for n in (200, 1_000)
    ]


def print_curves() -> None:
    """Harmonic means of estimates over dimensions, as `RATIOS` holds them."""
    for name, estimate in (("TwoNN", two_nn), ("Levina–Bickel", levina_bickel)):
        for kind, cloud in CLOUDS.items():
            print(f"# {name}, {kind}")
            for n in ROW_COUNTS:
                runs = (TABLE_POINTS if n >= 200 else SMALL_CLOUD_POINTS) // n
                line = []
                for d in DIMENSIONS:
                    seeds = (np.random.default_rng([11, run, d, n]) for run in range(runs))
                    inverse = np.mean([1 / estimate(cloud(rng, n, d)) for rng in seeds])
                    line.append(f"{1 / inverse / d:.3f}")
                print(" ".join(line), flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=1_000)
    arguments.add_argument("--curves", action="store_true")
    given = arguments.parse_args()
    if given.curves:
        print_curves()
        return
    each = ("", " holds it, %", " width")
    heads = ["shape", "dimension", "rows", "runs"]
    heads += [f"{name}{what}" for name in ("TwoNN", "Levina–Bickel") for what in each]
    store = StoredRuns("dimension")
    print(markdown(heads, coverage_rows(store, given.runs)) + "\n")
    print(markdown(heads, other_rows(store, given.runs)))


if __name__ == "__main__":
    main()
