"""Pictures of unfoldings: maps with their bounds, and how the gap closes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.certificate import distance
from dualfold.errors import InvalidInput
from dualfold.unfolding import UnfoldingCertificate, UnfoldingProblem
from dualfold.unfolding.bounds import feasible_scale
from dualfold.unfolding.solution import Record, relative_gap
from dualfold.view.colors import FEW_COLORS, coloring_of
from dualfold.view.drawing import (
    DOTS_PER_INCH,
    INK_COLOR,
    PALE_COLOR,
    SOFT_COLOR,
    draw_points,
    head,
    name_axes,
    quiet,
    write_around,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOWER, UPPER, GAP = FEW_COLORS[0], FEW_COLORS[4], INK_COLOR


def unfolding_figure(
    maps: Sequence[tuple[str, Any, str]],
    history: Sequence[Record],
    color: Any = None,
    *,
    title: str = "",
) -> Figure:
    """Maps side by side to one scale, and the gap against the iterations beneath them.

    maps : (title, n×2 points, words under the map) of each method
    history : the solver's records (`MaximumVarianceUnfolding.history_`)
    color : a column to colour the points by
    """
    from matplotlib.figure import Figure

    if not maps:
        raise InvalidInput("a figure of unfoldings needs at least one map, and there is none")
    spans = np.array([np.ptp(np.asarray(points)[:, :2], axis=0) for _, points, _ in maps])
    room = 1.08 * np.maximum(spans.max(axis=0), 0.3 * spans.max())
    # Each map is 3.6 inches wide and as high as the tallest needs; words take another inch.
    heights = [3.4 * room[1] / room[0] + 1.0, 2.6][: 2 if history else 1]
    figure = Figure(
        figsize=(3.6 * len(maps), sum(heights) + 0.3), dpi=DOTS_PER_INCH, layout="constrained"
    )
    grid = figure.add_gridspec(len(heights), len(maps), height_ratios=heights)
    for column, (name, points, words) in enumerate(maps):
        axes = figure.add_subplot(grid[0, column])
        _draw_map(axes, name, np.asarray(points), words, color, room)
    if history:
        _draw_history(figure.add_subplot(grid[1, :]), history)
    write_around(figure, title)
    return figure


def bounds_in_words(certificate: UnfoldingCertificate) -> str:
    """The two bounds of an unfolding and their gap, for the lines under its map."""
    said: str = certificate.level
    if said in ("proved", "within"):
        said = f"proved {distance(certificate.gap)}"
    return (
        f"variance {certificate.lower:.6g}, at most {certificate.upper:.6g}\n"
        f"gap {certificate.gap:.1e}, {said}"
    )


def as_unfolding_in_words(
    problem: UnfoldingProblem, points: Any, certificate: UnfoldingCertificate
) -> str:
    """Quality of another method's points as an unfolding of the same graph.

    They are scaled so that the longest edge is just not too long; the variance that is left
    then is a value that can be compared with the proved bound.
    """
    fit, value = feasible_scale(problem, np.asarray(points, dtype=float))
    gap = relative_gap(value, certificate.upper)
    scale = f"scaled by {np.sqrt(fit):.2g} to fit the edges"
    return f"variance {value:.6g}, {scale};\ngap {gap:.2g} to the same bound"


def _draw_map(axes: Any, name: str, points: Any, words: str, color: Any, room: Any) -> None:
    draw_points(axes, points[:, :2], coloring_of(color, len(points)), area=0.5, equal=True)
    middle = (points[:, :2].max(axis=0) + points[:, :2].min(axis=0)) / 2
    axes.set_aspect("auto")
    axes.set_xlim(middle[0] - room[0] / 2, middle[0] + room[0] / 2)
    axes.set_ylim(middle[1] - room[1] / 2, middle[1] + room[1] / 2)
    axes.set_box_aspect(room[1] / room[0])
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(visible=True, color="#e4e4e4")
    head(axes, name)
    axes.set_xlabel(words, fontsize=8, color=SOFT_COLOR)


def _draw_history(axes: Any, history: Sequence[Record]) -> None:
    steps = [record.iteration for record in history]
    axes.semilogy(steps, [max(r.gap, 1e-16) for r in history], color=GAP, lw=1.6, marker="o", ms=3)
    name_axes(axes, 2, ("iteration", "relative gap"))
    beside = axes.twinx()
    known = [r for r in history if np.isfinite(r.lower)]
    beside.plot([r.iteration for r in known], [r.lower for r in known], color=LOWER, lw=1.2)
    beside.plot(steps, [r.upper for r in history], color=UPPER, lw=1.2)
    best = history[-1].upper
    beside.set_ylim(0, 2 * best)
    name_axes(beside, 2, ("", "variance: bound and value"))
    place = max(1, len(steps) // 3)
    beside.annotate(
        "upper bound", (steps[-1], 1.04 * best), color=UPPER, fontsize=8, ha="right", va="bottom"
    )
    beside.annotate(
        "feasible value", (steps[-1], 0.96 * best), color=LOWER, fontsize=8, ha="right", va="top"
    )
    axes.annotate(
        "gap (left scale)",
        (steps[place], max(history[place].gap, 1e-16)),
        xytext=(6, 6),
        textcoords="offset points",
        color=GAP,
        fontsize=8,
    )
    quiet(axes)
    quiet(beside)
    beside.spines["right"].set(visible=True, color=PALE_COLOR)
