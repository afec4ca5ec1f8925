"""Pictures that only the papers' experiments need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.view.colors import FEW_COLORS, coloring_of
from dualfold.view.drawing import (
    DOTS_PER_INCH,
    INK_COLOR,
    PALE_COLOR,
    SOFT_COLOR,
    draw_points,
    frames,
    head,
    name_axes,
    without_numbers,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


REACHED, PROVED = FEW_COLORS[0], FEW_COLORS[4]


def unrolling_figure(
    points: Any, edges: Any, sheets: Sequence[tuple[str, Any]], color: Any
) -> Figure:
    """A surface in space, the same with its neighbour graph, and the graph laid flat.

    points : n×3; edges : m×2 row numbers; sheets : (title, n×2 points) of each way to lay it
    flat, one under the other; color : one number for each point
    """
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    X = np.asarray(points, dtype=float)
    colors = coloring_of(color, len(X))
    figure = Figure(figsize=(11.0, 3.6), dpi=DOTS_PER_INCH, layout="constrained")
    grid = figure.add_gridspec(len(sheets), 3, width_ratios=[1.0, 1.0, 1.7])
    for column, name in enumerate(("points", "their graph")):
        axes: Any = figure.add_subplot(grid[:, column], projection="3d")
        draw_points(axes, X, colors, area=0.35, equal=True)
        if column:
            axes.add_collection3d(Line3DCollection(X[edges], colors=SOFT_COLOR, lw=0.35, alpha=0.6))
        without_numbers(axes, X, equal=True)
        head(axes, name)
    for line, (name, flat) in enumerate(sheets):
        Y = np.asarray(flat, dtype=float)[:, :2]
        axes = figure.add_subplot(grid[line, 2])
        axes.add_collection(
            LineCollection(Y[edges], colors=SOFT_COLOR, lw=0.35, alpha=0.6, zorder=0)
        )
        draw_points(axes, Y, colors, area=0.35, equal=True)
        head(axes, name)
    return figure


def bracket_figure(
    values: Mapping[str, float], bounds: Mapping[str, float], best: float, *, x_name: str = ""
) -> Figure:
    """Values that were reached and bounds that were proved, on one scale, with the optimum."""
    names = [*sorted(values, key=values.__getitem__), *sorted(bounds, key=bounds.__getitem__)]
    figure, (axes,) = frames(1, (7.2, 0.32 * len(names) + 1.0))
    for place, name in enumerate(names):
        reached = name in values
        number = (values if reached else bounds)[name] / best
        axes.plot([1, number], [place, place], color=PALE_COLOR, lw=1.2, zorder=0)
        axes.plot(number, place, "o", ms=6, color=REACHED if reached else PROVED)
        axes.annotate(
            f"{number:.4g}",
            (number, place),
            xytext=(-9 if reached else 9, 0),
            textcoords="offset points",
            ha="right" if reached else "left",
            va="center",
            fontsize=8,
            color=SOFT_COLOR,
        )
    axes.axvline(1, color=INK_COLOR, lw=1, zorder=0)
    axes.set_xscale("log")
    axes.margins(x=0.22)
    axes.set_yticks(range(len(names)), names)
    name_axes(axes, 2, (x_name,))
    axes.tick_params(axis="y", labelsize=8.5, length=0, colors=INK_COLOR)
    axes.minorticks_off()
    return figure
