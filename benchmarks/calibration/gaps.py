"""Share of missing cells against the verdict: noise of several kinds, and surfaces.

    python -m benchmarks.calibration.gaps             # 20 tables a cell
    python -m benchmarks.calibration.gaps --runs 2    # does it run?

Every table has 300 rows and 14 columns and is mapped to its first two principal axes, once
complete and once with missing values filled in as `embed` does. Prints tables in Markdown;
docs/calibration.md has those of all of it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold import PCA
from dualfold.data import Reading, prepare
from dualfold.errors import InvalidInput
from dualfold.quality.map_layout import layout_of
from dualfold.quality.picture import mean_picture
from dualfold.quality.ranks import picture_of
from dualfold.quality.space import space_of

Draw = Callable[[np.random.Generator], pd.DataFrame]

ROWS = 300
COLUMNS = 14
SHARES = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
# Of a whole table, as analysts prepare it; the same for tables with missing values.
READING = Reading(standardize=True)


def _frame(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"c{place}" for place in range(np.shape(X)[1])])


def normals(rng: np.random.Generator) -> pd.DataFrame:
    return _frame(rng.standard_normal((ROWS, COLUMNS)))


def heavy_tails(rng: np.random.Generator) -> pd.DataFrame:
    return _frame(rng.standard_t(2, (ROWS, COLUMNS)))


def with_categories(rng: np.random.Generator) -> pd.DataFrame:
    """Seven normal columns and seven categories of two to five levels."""
    frame = normals(rng).iloc[:, :7]
    for place in range(7):
        levels = [f"level {level}" for level in range(2 + place % 4)]
        frame[f"kind {place}"] = rng.choice(levels, ROWS)
    return frame


def surface(rng: np.random.Generator, *, bent: bool, noise: float = 0.05) -> pd.DataFrame:
    """A sheet, flat or bent, turned at random into all columns, with noise."""
    u, v = rng.uniform(-1, 1, (2, ROWS))
    directions = [u, v, np.sin(2 * u), u * v, np.cos(2 * v)] if bent else [u, v]
    X = np.column_stack(directions) @ rng.standard_normal((len(directions), COLUMNS))
    return _frame(X / X.std(axis=0) + noise * rng.standard_normal(X.shape))


def groups(rng: np.random.Generator) -> pd.DataFrame:
    centres = 3 * rng.standard_normal((4, COLUMNS))
    return _frame(centres[rng.integers(0, 4, ROWS)] + rng.standard_normal((ROWS, COLUMNS)))


NOISE: dict[str, Draw] = {
    "normal": normals,
    "t, 2 degrees": heavy_tails,
    "normal and categories": with_categories,
}
STRUCTURES: dict[str, Draw] = {
    "flat sheet": partial(surface, bent=False),
    "bent sheet": partial(surface, bent=True),
    "bent sheet, noise 0.3": partial(surface, bent=True, noise=0.3),
    "four groups": groups,
}


def at_random(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    return frame.mask(rng.random(frame.shape) < share)


def large_values(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """The largest values of each column of numbers are missing; categories at random."""
    hidden = frame.copy()
    for name in frame:
        if frame[name].dtype.kind == "f":
            hidden[name] = frame[name].mask(frame[name] > frame[name].quantile(1 - share))
        else:
            hidden[name] = frame[name].mask(rng.random(len(frame)) < share)
    return hidden


def judged(frame: pd.DataFrame, complete: pd.DataFrame) -> dict[str, Any]:
    """The verdict on a map of a table, and what the map keeps of the complete table."""
    try:
        data = prepare(frame, READING)
    except InvalidInput:
        return {"grade": "refused"}
    points = PCA(2).fit_transform(data.X)
    spaces = [space_of(X) for X in data.plausible_tables()]
    pictures = [picture_of(space, points, 10) for space in spaces]
    found = mean_picture(pictures, data.filled_share, data.doubt)
    layout = float(np.mean([layout_of(space, points).beyond_chance for space in spaces[:2]]))
    truth = prepare(complete.iloc[data.rows], READING)
    return {
        "grade": found.grade,
        "kept": found.beyond_chance,
        "low": float(getattr(found.kept, "low", found.kept)) - found.chance,
        "high": float(getattr(found.kept, "high", found.kept)) - found.chance,
        "layout": layout,
        "true": picture_of(truth.X, points, 10).beyond_chance,
        "rows": len(data.rows),
        "shared": COLUMNS if data.filled is None else data.filled.shared_columns,
    }


def run_of(draw: Draw, hide: Callable[..., pd.DataFrame], share: float, seed: int) -> Any:
    rng = np.random.default_rng([33, seed])
    complete = draw(rng)
    return judged(hide(complete, share, rng), complete)


def rows_of(store: StoredRuns, name: str, draw: Draw, hide: Any, runs: int) -> list[list[Any]]:
    """One for each share: how often each word, and the numbers beside the truth."""
    rows = []
    for share in SHARES:
        cell = f"{name}, {hide.__name__}, {share:g}"
        found = store.of(cell, runs, partial(run_of, draw, hide, share))
        words = Counter(one["grade"] for one in found)
        known = [one for one in found if "kept" in one]
        means = ["–"] * 5
        if known:
            keys = ("kept", "true", "layout", "rows", "shared")
            values = [np.mean([one[key] for one in known]) for key in keys]
            means = [f"{value:.2f}" if value < 20 else f"{value:.0f}" for value in values]
        listed = ", ".join(f"{count} {word}" for word, count in words.most_common())
        rows.append([name, f"{100 * share:g} %", listed, *means])
    return rows


def same_word(store: StoredRuns, name: str, share: float, runs: int) -> str:
    """In how many tables the word is that of the complete table."""
    cells = [
        [store.results[f"{name}, at_random, {s:g}", seed] for seed in range(runs)]
        for s in (0.0, share)
    ]
    same = sum(a["grade"] == b["grade"] for a, b in zip(*cells, strict=True))
    return f"{same} of {runs}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=20)
    runs = arguments.parse_args().runs
    store = StoredRuns("gaps")
    heads = ["table", "missing", "words", "kept beyond chance", "of the complete table"]
    heads += ["distances in order", "rows", "columns two rows share"]
    for hide, kinds in (
        (at_random, NOISE | STRUCTURES),
        (large_values, {name: (NOISE | STRUCTURES)[name] for name in ("normal", "flat sheet")}),
    ):
        rows = [
            row for name, draw in kinds.items() for row in rows_of(store, name, draw, hide, runs)
        ]
        print(f"\n{hide.__name__}\n\n" + markdown(heads, rows))
    heads = ["table", *(f"{100 * share:g} %" for share in SHARES[1:4])]
    rows = [[name, *(same_word(store, name, s, runs) for s in SHARES[1:4])] for name in STRUCTURES]
    print("\n" + markdown(heads, rows))


if __name__ == "__main__":
    main()
