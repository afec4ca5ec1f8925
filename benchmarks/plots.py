"""Time and memory against n on log axes, one small picture a method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth import Climb
from benchmarks.ladders import LADDERS
from benchmarks.verdicts import GIB

# One colour a library, told apart by people who see no red or green (Okabe and Ito).
COLORS = {
    "dualfold": "#0072b2",
    "scikit-learn": "#e69f00",
    "tapkee": "#009e73",
    "PyMDE": "#cc79a7",
    "umap": "#999999",
    "faiss": "#d55e00",
    "openTSNE": "#56b4e9",
}
DASHES = {"amg": "--", "approximate": "--", "lobpcg": ":"}
COLUMNS = 4


def growth_figure(found: dict[str, dict[str, Climb]], what: str, path: Path) -> None:
    """`what` is "time" or "memory"; our line has the fitted exponent in its label."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = -(-len(found) // COLUMNS)
    columns = min(COLUMNS, len(found))
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(4.2 * columns, 3.2 * rows),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for axis, (method, sides) in zip(axes.flat, found.items(), strict=False):
        for side, climbed in sides.items():
            _line(axis, side, climbed, what)
        axis.set(xscale="log", yscale="log", title=LADDERS[method].title)
        axis.title.set_fontsize(9)
        axis.grid(True, which="major", color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.tick_params(labelsize=8)
        if axis.lines:
            axis.legend(fontsize=7, frameon=False, loc="upper left")
    for axis in list(axes.flat)[len(found) :]:
        axis.set_visible(False)
    low, high = axes.flat[0].get_ylim()
    axes.flat[0].set_ylim(low, 30 * high)  # room for the names of up to six sides
    figure.supxlabel("points")
    figure.supylabel("seconds" if what == "time" else "GiB beyond data and libraries")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _line(axis: Any, side: str, climbed: Climb, what: str) -> None:
    done = {n: run for n, run in sorted(climbed.runs.items()) if run["status"] == "done"}
    if not done:
        return
    if what == "time":
        heights = [run["seconds"] for run in done.values()]
    else:
        # A page at least: memory that was there before can hold a small answer.
        heights = [max(run["peak"] - run["before"], 4096) / GIB for run in done.values()]
    slope = climbed.exponents()[0 if what == "time" else 1]
    mine = side.startswith("dualfold")
    label = side if slope is None else f"{side}  $n^{{{slope:.2f}}}$"
    color = next((shade for name, shade in COLORS.items() if side.startswith(name)), "black")
    dash = next((style for word, style in DASHES.items() if word in side), "-")
    axis.plot(
        np.array(list(done)), heights, dash, color=color, marker="o", markersize=3.5,
        linewidth=2.2 if mine else 1.2, label=label, zorder=3 if mine else 2,
    )  # fmt: skip
