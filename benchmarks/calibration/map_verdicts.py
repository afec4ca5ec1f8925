"""How often the three words of a verdict are right, on tables whose answer is known.

    python -m benchmarks.calibration.map_verdicts             # 20 tables a cell
    python -m benchmarks.calibration.map_verdicts --runs 2    # does it run?

Prints a table in Markdown; docs/calibration.md has it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold import PCA
from dualfold.judging import map_judgement

Generator = np.random.Generator
TableAndMap = tuple[Any, Any]


def gradient_block(rng: Generator) -> TableAndMap:
    """Six columns that follow one quantity, among 34 of noise."""
    t = rng.standard_normal((600, 1))
    X = np.hstack([t + 0.4 * rng.standard_normal((600, 6)), rng.standard_normal((600, 34))])
    return _by_pca(X)


def two_gradients(rng: Generator) -> TableAndMap:
    """Two quantities, six columns each, among 38 of noise; not normal."""
    t = rng.uniform(-2, 2, (800, 2))
    blocks = np.repeat(np.exp(t / 2), 6, axis=1) * (1 + 0.1 * rng.standard_normal((800, 12)))
    return _by_pca(np.hstack([blocks, rng.standard_normal((800, 38))]))


def patches_of_a_sheet(rng: Generator) -> TableAndMap:
    """A sheet in ten dimensions, cut into 36 patches that are put anywhere."""
    flat = rng.uniform(0, 6, (2_000, 2))
    cell = np.floor(flat).astype(int) @ (6, 1)
    X = _turned(rng, flat, 10) + 0.01 * rng.standard_normal((2_000, 10))
    return X, _scattered(rng, flat - np.floor(flat) - 0.5, cell, 1.6)


def bits_of_a_line(rng: Generator) -> TableAndMap:
    """A bent line in eight dimensions, cut into 25 bits that are put anywhere."""
    t = np.sort(rng.uniform(0, 25, 1_500))
    bend = np.column_stack([t, 4 * np.sin(t / 4), 4 * np.cos(t / 5)])
    X = _turned(rng, bend, 8) + 0.01 * rng.standard_normal((1_500, 8))
    bits = np.column_stack([t % 1 - 0.5, 0.02 * rng.standard_normal(1_500)])
    return X, _scattered(rng, bits, np.floor(t).astype(int), 1.6)


def equidistant_groups(rng: Generator) -> TableAndMap:
    """Eight groups, all equally far from each other, of rows without any order."""
    return _groups(rng, np.repeat(np.arange(8), 100), 20)


def unequal_groups(rng: Generator) -> TableAndMap:
    """Ten groups of 60 to 240 rows, all equally far from each other."""
    return _groups(rng, np.repeat(np.arange(10), 60 + 20 * np.arange(10)), 30)


def noise(rng: Generator) -> TableAndMap:
    """Twenty columns of normal noise."""
    return _by_pca(rng.standard_normal((600, 20)))


def noise_of_few_columns(rng: Generator, width: int = 6, rows: int = 300) -> TableAndMap:
    """Columns of normal noise of which two axes hold a large part."""
    return _by_pca(rng.standard_normal((rows, width)))


def foreign_map(rng: Generator) -> TableAndMap:
    """The map of a sheet with groups, its rows permuted."""
    X, Y = bent_sheet_with_groups(rng)
    return X, Y[rng.permutation(len(Y))]


def bent_sheet_with_groups(rng: Generator) -> TableAndMap:
    """Five groups on a gently bent sheet in ten dimensions."""
    centers = np.array([[-6, -3], [-3, 3], [0, -2.5], [3, 2.5], [6, -1.5]])
    flat = centers[rng.integers(0, 5, 1_000)] + 0.7 * rng.standard_normal((1_000, 2))
    sheet = np.column_stack([flat, 0.05 * flat[:, 0] ** 2])
    return _by_pca(_turned(rng, sheet, 10) + 0.02 * rng.standard_normal((1_000, 10)))


def row_of_groups(rng: Generator) -> TableAndMap:
    """Six groups along a line in the plane, twelve columns that follow it."""
    code = rng.integers(0, 6, 900)
    flat = np.column_stack([4.0 * code, 2.0 * np.sin(code)]) + 0.6 * rng.standard_normal((900, 2))
    return _by_pca(_turned(rng, flat, 12) + 0.02 * rng.standard_normal((900, 12)))


def _by_pca(X: Any) -> TableAndMap:
    return X, PCA(2).fit_transform(X)


def _turned(rng: Generator, points: Any, width: int) -> Any:
    """Points of few dimensions in a random subspace of `width` dimensions."""
    return points @ np.linalg.qr(rng.standard_normal((width, points.shape[1])))[0].T


def _scattered(rng: Generator, inside: Any, cell: Any, step: float) -> Any:
    """Each cell turned as chance has it, and put at a random place of a grid."""
    side = int(np.ceil(np.sqrt(cell.max() + 1)))
    places = rng.permutation(side * side)
    Y = np.empty_like(inside)
    for one in np.unique(cell):
        angle = rng.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        at = step * np.array(divmod(int(places[one]), side))
        Y[cell == one] = inside[cell == one] @ turn + at
    return Y


def _groups(rng: Generator, code: Any, width: int) -> TableAndMap:
    """Groups at the corners of a simplex; on the map at random places, rows inside at random."""
    centers = 8 * np.linalg.qr(rng.standard_normal((width, width)))[0]
    X = centers[code] + rng.standard_normal((len(code), width))
    inside = rng.standard_normal((len(code), 2)) * 0.15
    return X, _scattered(rng, inside, code, 1.6)


# What the map shows: overall order, who is near whom, groups of the data.
ORDER = (True, False, False)
NEIGHBORS = (False, True, False)
GROUPS = (False, False, True)
NOTHING = (False, False, False)
ALL = (True, True, True)
CELLS: dict[str, tuple[Callable[[Generator], TableAndMap], tuple[bool, bool, bool]]] = {
    "order only: 6 columns in noise": (gradient_block, ORDER),
    "order only: 2 × 6 columns in noise": (two_gradients, ORDER),
    "neighbours only: patches of a sheet": (patches_of_a_sheet, NEIGHBORS),
    "neighbours only: bits of a line": (bits_of_a_line, NEIGHBORS),
    "groups only: 8 equidistant ones": (equidistant_groups, GROUPS),
    "groups only: 10 of unequal size": (unequal_groups, GROUPS),
    "nothing: noise": (noise, NOTHING),
    "nothing: 300 × 6 of noise": (noise_of_few_columns, NOTHING),
    "no order: 300 × 4 of noise": (partial(noise_of_few_columns, width=4), NEIGHBORS),
    "no order: 60 × 4 of noise": (partial(noise_of_few_columns, width=4, rows=60), NEIGHBORS),
    "nothing: another map": (foreign_map, NOTHING),
    "all: groups on a bent sheet": (bent_sheet_with_groups, ALL),
    "all: groups in a row": (row_of_groups, ALL),
}


def simulate(draw: Callable[[Generator], TableAndMap], seed: int) -> dict[str, Any]:
    found = map_judgement(*draw(np.random.default_rng([3, seed])), random_state=seed)
    near = found.neighborhoods
    assert near is not None
    return {
        "words": [found.layout.grade, near.grade, found.groups.grade],
        "headline": found.headline,
        "numbers": [
            float(found.layout.distances),
            found.layout.chance,
            len(found.layout.ordered_columns),
            found.layout.ordered_by_chance,
            near.beyond_chance,
            found.groups.found,
            found.groups.visible,
        ],
    }


def is_shown(word: str) -> bool:
    return word in ("good", "fair", "all", "most")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=20)
    runs = arguments.parse_args().runs
    store, rows = StoredRuns("map_verdicts"), []
    for name, (draw, truth) in CELLS.items():
        results = store.of(name, runs, partial(simulate, draw))
        words = [[one["words"][part] for one in results] for part in range(3)]
        right = [sum(is_shown(w) == truth[p] for w in words[p]) for p in range(3)]
        said = [", ".join(f"{w} {c}" for w, c in Counter(part).most_common()) for part in words]
        cells = [f"{r} of {runs} ({text})" for r, text in zip(right, said, strict=True)]
        rows.append([name, *cells])
    print(markdown(["map", "overall order right", "neighbourhoods right", "groups right"], rows))


if __name__ == "__main__":
    main()
