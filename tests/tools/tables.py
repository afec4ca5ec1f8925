"""Tables that methods are tried on: rolls, curves, strips, digits; animals and trees in words."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from dualfold.data import digits, s_curve, swiss_roll
from dualfold.methods.descriptions import Description


def roll_points(n: int, random_state: int = 0) -> np.ndarray:
    """A rolled-up sheet in space."""
    return swiss_roll(n, random_state=random_state).points


def curve_points(n: int, random_state: int = 0) -> np.ndarray:
    """A sheet bent like an S."""
    return s_curve(n, random_state=random_state).points


def digit_points(n: int | None = None) -> np.ndarray:
    """Images of 8×8 pixels as rows, whole numbers from 0 to 16."""
    return digits().points[:n]


def rows_for(method: Description, X: np.ndarray) -> np.ndarray:
    """X as the method can take it: without signs for methods of counts."""
    return np.abs(X) if method.counts else X


@cache
def strip(aspect: float, n: int = 600) -> np.ndarray:
    """Points of a rectangle, its long side along the first axis."""
    points = np.random.default_rng(1).uniform(size=(n, 2)) / [1, aspect]
    points.setflags(write=False)
    return points


def animals() -> pd.DataFrame:
    """Numbers in different units, categories that go with them, and a date."""
    rng = np.random.default_rng(0)
    n = 120
    kind = rng.choice(["ant", "bee", "cow"], n, p=[0.5, 0.3, 0.2])
    size = rng.normal(size=n) + 2.0 * (kind == "cow")
    return pd.DataFrame(
        {
            "size": size,
            "weight": 1000.0 * size + 300.0 * rng.normal(size=n),
            "kind": kind,
            "tame": np.where(rng.random(n) < 0.3 + 0.4 * (kind == "bee"), "yes", "no"),
            "born": pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d"),
        }
    )


def write_trees(folder: Path) -> Path:
    """A table of three groups with names, and a map on which 20 rows changed places."""
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], 100)
    X = rng.standard_normal((300, 4)) + 9 * np.eye(4)[kinds]
    table = pd.DataFrame(X, columns=list("abcd"))
    table["kind"] = np.array(["oak", "elm", "ash"])[kinds]
    table["name"] = [f"tree {i}" for i in range(300)]
    table.to_csv(folder / "trees.csv", index=False)
    Y = X @ rng.standard_normal((4, 2))
    Y[:20] = Y[200:220]
    pd.DataFrame(Y, columns=["x", "y"]).to_csv(folder / "map.csv", index=False)
    return folder
