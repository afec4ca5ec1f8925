"""How often columns get logarithms for their heavy tails, by distribution and number of rows.

    python -m benchmarks.calibration.heavy_tails [--runs 200]

A table has four independent columns of one distribution. Prints a table in Markdown: the share of
columns, and of tables with at least one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from dualfold.data.heavy_tails import heavy_tails

N_COLUMNS = 4
ROW_COUNTS = (20, 50, 150, 500, 2000)
Draw = Callable[[np.random.Generator, tuple[int, int]], Any]
DISTRIBUTIONS: dict[str, Draw] = {
    "normal, mean 5": lambda rng, shape: rng.normal(5, 1, shape),
    "uniform": lambda rng, shape: rng.uniform(size=shape),
    "Poisson, mean 3": lambda rng, shape: rng.poisson(3, shape),
    "0 and 1, 2 % ones": lambda rng, shape: rng.random(shape) < 0.02,
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "chi-squared, 1 degree": lambda rng, shape: rng.chisquare(1, shape),
    "log-normal, σ = 0.5": lambda rng, shape: rng.lognormal(0, 0.5, shape),
    "log-normal, σ = 1": lambda rng, shape: rng.lognormal(0, 1, shape),
    "log-normal, σ = 1.5": lambda rng, shape: rng.lognormal(0, 1.5, shape),
    "log-normal, σ = 2.5": lambda rng, shape: rng.lognormal(0, 2.5, shape),
    "counts of log-normal, σ = 2": lambda rng, shape: rng.poisson(rng.lognormal(1, 2, shape)),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    names = tuple("abcd")
    print(f"| distribution | {' | '.join(f'{n:,} rows' for n in ROW_COUNTS)} |")
    print("|---" * (1 + len(ROW_COUNTS)) + "|")
    for title, draw in DISTRIBUTIONS.items():
        cells = []
        for n in ROW_COUNTS:
            rng = np.random.default_rng(n)
            found = [
                heavy_tails(np.asarray(draw(rng, (n, N_COLUMNS)), dtype=float), names)
                for _ in range(runs)
            ]
            counts = [0 if one is None else len(one.units) for one in found]
            share = np.mean(counts) / N_COLUMNS
            cells.append(f"{share:.1%} ({np.mean(np.array(counts) > 0):.1%})")
        print(f"| {title} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
