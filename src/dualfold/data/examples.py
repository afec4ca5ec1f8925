"""Small tables to try commands on. They are made up: nothing in them was measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualfold.data.toys import helix, s_curve, swiss_roll
from dualfold.errors import Argument, InvalidInput

Columns = dict[str, Any]

# Three groups of birds as the mean bill length, bill depth, flipper length (mm) and mass (g) of
# a group, where they live, and how many of 100 they are.
_BIRD_GROUPS = (
    ("short-billed", (39.0, 18.4, 190.0, 3700.0), ("north", "west", "east"), 44),
    ("long-billed", (48.8, 18.4, 196.0, 3730.0), ("north",), 20),
    ("large", (47.5, 15.0, 217.0, 5080.0), ("west",), 36),
)
_BIRD_SPREADS = (2.6, 1.1, 6.0, 350.0)


def penguins_like(rows: int, seed: int) -> Columns:
    """Birds of three kinds: four lengths, a place, a sex, a year, and a few gaps."""
    rng = np.random.default_rng(seed)
    shares = np.array([group[3] for group in _BIRD_GROUPS]) / 100
    kind = np.sort(rng.choice(len(_BIRD_GROUPS), rows, p=shares))
    male = rng.uniform(size=rows) < 0.5
    # A bird that is larger is so in all its lengths.
    size = rng.standard_normal(rows) + np.where(male, 0.7, -0.7)
    own = rng.standard_normal((rows, 4))
    means = np.array([group[1] for group in _BIRD_GROUPS])[kind]
    lengths = means + np.array(_BIRD_SPREADS) * (0.7 * size[:, None] + 0.6 * own)
    grain = np.array([0.1, 0.1, 1.0, 25.0])  # as rulers and scales have it
    lengths = np.round(grain * np.round(lengths / grain), 1)
    lengths[rng.uniform(size=(rows, 4)) < 0.005] = np.nan
    sex = np.where(male, "male", "female").astype(object)
    sex[rng.uniform(size=rows) < 0.02] = None
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    return {
        "species": np.array([_BIRD_GROUPS[k][0] for k in kind], dtype=object),
        "island": np.array([rng.choice(_BIRD_GROUPS[k][2]) for k in kind], dtype=object),
        **{name: lengths[:, place] for place, name in enumerate(names)},
        "sex": sex,
        "year": rng.integers(2007, 2010, rows),
    }


def _surface(draw: Callable[..., Any]) -> Callable[[int, int], Columns]:
    def table(rows: int, seed: int) -> Columns:
        return dict(zip("xyz", draw(rows, random_state=seed).points.T, strict=True))

    return table


# Name → (rows by default, what makes them, what they are).
EXAMPLE_TABLES: dict[str, tuple[int, Callable[[int, int], Columns], str]] = {
    "penguins-like": (340, penguins_like, "birds of three kinds: numbers, categories, gaps"),
    "roll": (400, _surface(swiss_roll), "a rectangle rolled up in space"),
    "s-curve": (400, _surface(s_curve), "a strip bent into an S"),
    "helix": (400, _surface(helix), "a curve in space"),
}


def example_table(name: str, rows: int | None = None, seed: int = 0) -> Columns:
    """A small table as columns by name; `EXAMPLES` lists them.

    rows : how many (None: as many as are usual); seed : other ones give other rows

    >>> list(example_table("roll", 3))
    ['x', 'y', 'z']
    """
    if name not in EXAMPLE_TABLES:
        raise InvalidInput(
            Argument("name", name), f" is no example; there is {', '.join(EXAMPLE_TABLES)}"
        )
    usual, make, _ = EXAMPLE_TABLES[name]
    count = usual if rows is None else rows
    if count < 1:
        raise InvalidInput(Argument("rows", count), " must be 1 or more")
    return make(count, seed)
