"""Charts of the papers' experiments: lines with spreads, the papers' numbers, bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import FAINT, INK, SOFT, wrapped
from dualfold.view.figures import RESOLUTION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Look = Literal["line", "faint", "cross", "bound", "paper"]


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a chart.

    spread : half the length of the error bar at each point; None: no bars
    look : "line" is what was measured, "faint" the same but thin and unmarked, "cross"
        only crosses, for what lies on another line; "bound" is dashed, "paper" are open
        markers without a line: what a paper printed
    hue : a place in the house palette; lines that belong together share it
    """

    label: str
    x: Any
    y: Any
    spread: Any = None
    look: Look = "line"
    hue: int = 0


@dataclass(frozen=True, eq=False)
class Chart:
    """One panel: its lines, and what its axes are."""

    lines: Sequence[Line]
    title: str = ""
    x_name: str = ""
    y_name: str = ""
    x_log: bool = False
    y_log: bool = False
    x_ticks: Sequence[float] = ()


def chart_figure(charts: Sequence[Chart], *, title: str = "", size: float = 4.6) -> Figure:
    """Charts side by side, each with its own key.

    size : the width of a panel in inches
    """
    from matplotlib.figure import Figure

    if not charts:
        raise InvalidInput("a figure of charts needs at least one chart, but there is none")
    figure = Figure(figsize=(size * len(charts), 4.3), dpi=RESOLUTION, layout="constrained")
    for place, chart in enumerate(charts):
        _draw_chart(figure.add_subplot(1, len(charts), place + 1), chart)
    if title:
        figure.suptitle(title, fontsize=13, color=INK, x=0.012, ha="left")
    return figure


def _draw_chart(axes: Any, chart: Chart) -> None:
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter

    if chart.x_log:
        axes.set_xscale("log")
    if chart.y_log:
        axes.set_yscale("log")
    handles = [_draw_line(axes, line) for line in chart.lines]
    if len(chart.x_ticks):
        axes.xaxis.set_major_locator(FixedLocator(list(chart.x_ticks)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.xaxis.set_minor_locator(NullLocator())
    elif chart.x_log:
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8, colors=SOFT, color=FAINT, length=3, which="both")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.set_xlabel(chart.x_name, fontsize=9, color=SOFT)
    axes.set_ylabel(chart.y_name, fontsize=9, color=SOFT)
    axes.set_title(wrapped(chart.title, 52), fontsize=10.5, color=INK, pad=6)
    named = [(handle, line.label) for handle, line in zip(handles, chart.lines, strict=True)]
    named = [(handle, label) for handle, label in named if label]
    if named:
        # Under the panel, where no line can run through it.
        axes.legend(
            *zip(*named, strict=True), loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2,
            frameon=False, fontsize=8, labelcolor=INK, columnspacing=1.2,
        )  # fmt: skip


def _draw_line(axes: Any, line: Line) -> Any:
    color = FEW_COLORS[line.hue % len(FEW_COLORS)]
    looks: dict[str, dict[str, Any]] = {
        "line": {"linestyle": "-", "linewidth": 1.5, "marker": "o", "markersize": 3.2},
        "faint": {"linestyle": "-", "linewidth": 0.9, "alpha": 0.65},
        "cross": {"linestyle": "", "marker": "x", "markersize": 5.5, "zorder": 4},
        "bound": {"linestyle": "--", "linewidth": 1.2},
        "paper": {
            "linestyle": "", "marker": "o", "markersize": 7, "markerfacecolor": "none",
            "markeredgewidth": 1.1,
        },
    }  # fmt: skip
    if line.spread is None:
        return axes.plot(line.x, line.y, color=color, **looks[line.look])[0]
    return axes.errorbar(
        line.x, line.y, np.asarray(line.spread, dtype=float), color=color,
        capsize=2, elinewidth=0.9, **looks[line.look],
    )  # fmt: skip
