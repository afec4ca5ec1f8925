"""Charts of the papers' experiments: lines with spreads, the papers' numbers, bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import INK_COLOR, frames, head, name_axes, wrapped_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Look = Literal["line", "faint", "cross", "bound", "paper"]
Scale = Literal["linear", "log", "from zero"]
# In which lines take their colours; the palest come late, since names are written in them.
HUES = (0, 4, 2, 3, 1, 5, 6)
MANY_POINTS = 30  # by eye: from here on marks hide the line


@dataclass(frozen=True, eq=False)
class Line:
    """Line of a chart.

    spread : half the length of the error bar at each point; None: no bars
    look : "line" is what was measured, "faint" the same but thin and unmarked, "cross"
        only crosses, for what lies on another line; "bound" is dashed, "paper" are open
        markers without a line: what a paper printed
    hue : a place in the house palette; lines that belong together share it. None: a
        colour by the line's place in the chart
    """

    label: str
    x: Any
    y: Any
    spread: Any = None
    look: Look = "line"
    hue: int | None = None


@dataclass(frozen=True, eq=False)
class Chart:
    """Panel with its lines, and what its axes are.

    x_scale, y_scale : "from zero" is logarithmic too, but beyond 10, so that 0 has a place
    x_ticks : where the x axis has its numbers; none: where matplotlib puts them
    level : the height of a thin line to hold the others against
    names : of the lines, "below" the panel or "beside" the right end of each, which is
        nicer where the ends are apart
    """

    lines: Sequence[Line]
    title: str = ""
    x_name: str = ""
    y_name: str = ""
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    x_ticks: Sequence[float] = ()
    level: float | None = None
    names: Literal["below", "beside"] = "below"


def chart_figure(charts: Sequence[Chart], *, title: str = "") -> Figure:
    """Charts side by side, each with the names of its lines; `title` is over all.

        bound = Line("at most", [1, 3], [5, 5], look="bound")
        chart_figure([Chart([Line("gap", [1, 2, 3], [4, 2, 1]), bound], x_name="rounds")])

    Lines of 30 points and more are drawn without marks.
    """
    if not charts:
        raise InvalidInput("a figure of charts needs at least one chart, but there is none")
    # Inches: one alone may be wide; names below need room.
    width = {1: 6.6, 2: 4.6}.get(len(charts), 4.1)
    height = 4.3 if any(chart.names == "below" for chart in charts) else 3.4
    figure, panels = frames(len(charts), (width, height), title=title)
    for axes, chart in zip(panels, charts, strict=True):
        _draw_chart(axes, chart)
    return figure


def _draw_chart(axes: Any, chart: Chart) -> None:
    for set_scale, scale in ((axes.set_xscale, chart.x_scale), (axes.set_yscale, chart.y_scale)):
        if scale == "from zero":
            set_scale("symlog", linthresh=10)
        else:
            set_scale(scale)
    hues = [
        HUES[place % len(HUES)] if line.hue is None else line.hue
        for place, line in enumerate(chart.lines)
    ]
    drawn = [(line, FEW_COLORS[hue]) for line, hue in zip(chart.lines, hues, strict=True)]
    few = all(len(line.x) < MANY_POINTS for line in chart.lines if line.look == "line")
    handles = [_draw_line(axes, *one, marker="o" if few else "") for one in drawn]
    if chart.level is not None:
        axes.axhline(chart.level, color=INK_COLOR, linewidth=0.8, zorder=0)
    _number_x(axes, chart)
    name_axes(axes, 2, (chart.x_name, chart.y_name))
    head(axes, wrapped_text(chart.title, 52))
    named = [at for at, line in enumerate(chart.lines) if line.label]
    if chart.names == "beside":
        last = max(float(np.max(line.x)) for line in chart.lines)
        for at in named:
            _name_beside(axes, *drawn[at], last)
    elif named:
        # Under the numbers and the name of the axis, where no line can run through it.
        axes.legend(
            [handles[at] for at in named], [chart.lines[at].label for at in named],
            loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=4.2, ncols=2,
            frameon=False, fontsize=8, labelcolor=INK_COLOR, columnspacing=1.2,
        )  # fmt: skip


def _number_x(axes: Any, chart: Chart) -> None:
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

    if len(chart.x_ticks):
        axes.xaxis.set_major_locator(FixedLocator(list(chart.x_ticks)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:,g}")
    elif chart.x_scale == "log":
        axes.xaxis.set_minor_formatter(NullFormatter())
    elif chart.x_scale == "from zero":
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.set_xlim(left=0)


def _name_beside(axes: Any, line: Line, color: str, last: float) -> None:
    """The name to the right of all lines, with a thin one that leads to it."""
    end = line.y[-1]
    axes.plot([line.x[-1], last], [end, end], color=color, linewidth=0.6, linestyle=":")
    axes.annotate(
        line.label, (last, end), xytext=(7, 0), textcoords="offset points", color=color,
        fontsize=8.5, va="center", annotation_clip=False,
    )  # fmt: skip


def _draw_line(axes: Any, line: Line, color: str, *, marker: str) -> Any:
    looks: dict[str, dict[str, Any]] = {
        "line": {"linestyle": "-", "linewidth": 1.5, "marker": marker, "markersize": 3.2},
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
