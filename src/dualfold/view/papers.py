"""Pictures that only the papers' experiments need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dualfold.view.colors import coloring
from dualfold.view.drawing import FAINT, INK, SOFT, draw_points
from dualfold.view.figures import RESOLUTION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, np.dtype[Any]]

# Distinct also in grey and for colour-blind readers, in the order in which they are used.
LINES = ("#2a6f97", "#bc4b51", "#5b8e3e", "#8a5a9e", "#c98a1b")


def unrolling_figure(
    points: Any, edges: Any, sheets: Sequence[tuple[str, Any]], color: Any
) -> Figure:
    """A surface in space, the same with its neighbour graph, and the graph laid flat.

    points : n×3; edges : m×2 row numbers; sheets : (title, n×2 points) of each way to lay it
    flat, one under the other; color : one number a point
    """
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    X = np.asarray(points, dtype=float)
    colors = coloring(color, len(X))
    figure = Figure(figsize=(11.0, 3.6), dpi=RESOLUTION, layout="constrained")
    grid = figure.add_gridspec(len(sheets), 3, width_ratios=[1.0, 1.0, 1.7])
    for column, name in enumerate(("points", "their graph")):
        axes: Any = figure.add_subplot(grid[:, column], projection="3d")
        draw_points(axes, X, colors, area=0.35, equal=True)
        if column:
            axes.add_collection3d(Line3DCollection(X[edges], colors=SOFT, lw=0.35, alpha=0.6))
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_ticklabels([])
            axis.set_tick_params(length=0)
        axes.set_box_aspect(np.maximum(np.ptp(X, axis=0), 1e-9), zoom=1.2)
        axes.set_title(name, fontsize=11, color=INK)
    for line, (name, flat) in enumerate(sheets):
        Y = np.asarray(flat, dtype=float)[:, :2]
        axes = figure.add_subplot(grid[line, 2])
        axes.add_collection(LineCollection(Y[edges], colors=SOFT, lw=0.35, alpha=0.6, zorder=0))
        draw_points(axes, Y, colors, area=0.35, equal=True)
        axes.set_title(name, fontsize=11, color=INK)
    return figure


def lines_figure(
    curves: Mapping[str, tuple[Any, Any]],
    *,
    x_name: str = "iteration",
    y_name: str = "",
    scale: Literal["linear", "log"] = "log",
    level: float | None = None,
) -> Figure:
    """Lines (x, y), each named to the right of all; `level` is a thin one to hold them against."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.4), dpi=RESOLUTION, layout="constrained")
    axes: Any = figure.add_subplot()
    last = max(float(np.max(x)) for x, _ in curves.values())
    for (name, (x, y)), color in zip(curves.items(), LINES, strict=False):
        marker = "o" if len(x) < 60 else ""
        axes.plot(x, y, color=color, lw=1.6, marker=marker, ms=2.5)
        axes.plot([x[-1], last], [y[-1], y[-1]], color=color, lw=0.6, ls=":")
        axes.annotate(
            name,
            (last, y[-1]),
            xytext=(7, 0),
            textcoords="offset points",
            color=color,
            fontsize=8.5,
            va="center",
            annotation_clip=False,
        )
    if level is not None:
        axes.axhline(level, color=INK, lw=0.8, zorder=0)
    axes.set_yscale(scale)
    axes.set_xlabel(x_name, fontsize=9, color=SOFT)
    axes.set_ylabel(y_name, fontsize=9, color=SOFT)
    _quiet(axes)
    return figure


def bracket_figure(
    values: Mapping[str, float], bounds: Mapping[str, float], best: float, *, x_name: str = ""
) -> Figure:
    """Values that were reached and bounds that were proved, on one scale, with the optimum."""
    from matplotlib.figure import Figure

    names = [*sorted(values, key=values.__getitem__), *sorted(bounds, key=bounds.__getitem__)]
    figure = Figure(figsize=(7.2, 0.32 * len(names) + 1.0), dpi=RESOLUTION, layout="constrained")
    axes: Any = figure.add_subplot()
    for place, name in enumerate(names):
        reached = name in values
        number = (values if reached else bounds)[name] / best
        axes.plot([1, number], [place, place], color=FAINT, lw=1.2, zorder=0)
        axes.plot(number, place, "o", ms=6, color=LINES[0] if reached else LINES[1])
        axes.annotate(
            f"{number:.4g}",
            (number, place),
            xytext=(-9 if reached else 9, 0),
            textcoords="offset points",
            ha="right" if reached else "left",
            va="center",
            fontsize=8,
            color=SOFT,
        )
    axes.axvline(1, color=INK, lw=1, zorder=0)
    axes.set_xscale("log")
    axes.margins(x=0.22)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(x_name, fontsize=9, color=SOFT)
    _quiet(axes)
    axes.tick_params(axis="y", labelsize=8.5, length=0, colors=INK)
    axes.minorticks_off()
    return figure


def _quiet(axes: Any) -> None:
    axes.tick_params(which="both", colors=SOFT, labelsize=8, length=3, color=FAINT)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
