"""Pictures of PCA by descent on the points: gaps, and the forces that move them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import FAINT, INK, SOFT, wrapped
from dualfold.view.figures import RESOLUTION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dualfold.descent import Forces

Array = np.ndarray[Any, np.dtype[Any]]

PULL, PUSH, NET = FEW_COLORS[0], FEW_COLORS[4], INK


def convergence_figure(gaps: Mapping[str, Any], *, title: str = "", floor: float = 1e-15) -> Figure:
    """Relative gaps against iterations, a line a run, on a logarithmic axis.

    A run that climbs is drawn until it leaves the top at 100, one that arrives until it
    comes to `floor`: what is below is rounding.
    """
    from matplotlib.figure import Figure

    if not gaps:
        raise InvalidInput("a figure of gaps needs at least one run, but there is none")
    figure = Figure(figsize=(6.4, 4.4), dpi=RESOLUTION, layout="constrained")
    axes = figure.add_subplot()
    axes.set_yscale("log")
    axes.set_xscale("symlog", linthresh=10)  # the start, 0, has a place too
    for turn, (name, gap) in enumerate(gaps.items()):
        heights = np.asarray(gap, dtype=float)
        steps = np.arange(len(heights))
        ends = ~((heights <= 100) & (heights > floor))
        until = int(np.argmax(ends)) + 1 if ends.any() else len(heights)
        color = FEW_COLORS[turn % len(FEW_COLORS)]
        axes.plot(
            steps[:until],
            np.maximum(heights[:until], floor),
            color=color,
            linewidth=1.6,
            label=name,
        )
    axes.set_ylim(top=100)
    axes.set_xlim(left=0)
    axes.set_xlabel("iterations", fontsize=9, color=SOFT)
    axes.set_ylabel("gap to the exact minimum, as a share of the fall", fontsize=9, color=SOFT)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8.5, labelcolor=INK)
    _quiet(axes)
    _words(figure, title, "")
    return figure


def pull_figure(
    pulls: Mapping[str, tuple[Array, Array]], *, chosen: int = 0, title: str = ""
) -> Figure:
    """How strongly a pair is pushed apart against its distance, one panel a kind of force.

    pulls : name → (distances, coefficients), n×n each; all pairs are drawn as a cloud and
        those of the `chosen` point as a line from its nearest to its farthest neighbour,
        which a monotone force would not let turn back
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(pulls), 3.9), dpi=RESOLUTION, layout="constrained")
    for place, (name, (distances, strengths)) in enumerate(pulls.items()):
        axes = figure.add_subplot(1, len(pulls), place + 1)
        axes.axhline(0, color=FAINT, linewidth=1, zorder=0)
        pairs = np.triu(np.ones(distances.shape, dtype=bool), 1)
        for some, color in ((pairs & (strengths > 0), PUSH), (pairs & (strengths <= 0), PULL)):
            axes.scatter(
                distances[some], strengths[some], s=3, color=color, alpha=0.25,
                linewidths=0, rasterized=True,
            )  # fmt: skip
        order = np.argsort(distances[chosen])
        order = order[order != chosen]
        line = distances[chosen][order], strengths[chosen][order]
        axes.plot(*line, "-o", color=INK, linewidth=0.5, markersize=1.3)
        axes.set_title(name, fontsize=10.5, color=INK, pad=6)
        axes.set_xlabel("distance of the pair", fontsize=9, color=SOFT)
        if place == 0:
            axes.set_ylabel("coefficient: above 0 pushes apart", fontsize=9, color=SOFT)
        _quiet(axes)
    _words(figure, title, "Black: one point's neighbours, from the nearest to the farthest.")
    return figure


def force_figure(points: Array, forces: Forces, *, groups: Any = None, title: str = "") -> Figure:
    """Arrows on each point: what the data wants (F_X), what the map answers (−F_Y), their sum.

    `forces` are those of `dualfold.descent.point_forces`; `groups` are whole numbers that colour
    the points. One scale for the three panels: the longest arrow is a quarter of the map's width.
    """
    from matplotlib.figure import Figure

    parts = {
        "F$_X$: the data's pull": (forces.of_data, PULL),
        "−F$_Y$: the map's answer": (-forces.of_points, PUSH),
        "F$_X$ − F$_Y$: where descent moves": (forces.descent / 8, NET),
    }
    longest = max(float(np.linalg.norm(arrows, axis=1).max()) for arrows, _ in parts.values())
    extent = float(np.ptp(points, axis=0).max())
    scale = 0.25 * extent / longest if longest else 1.0
    ends = np.vstack([points, *(points + scale * arrows for arrows, _ in parts.values())])
    low, high = ends.min(axis=0) - 0.06 * extent, ends.max(axis=0) + 0.06 * extent
    tall = float(np.clip((high[1] - low[1]) / (high[0] - low[0]), 0.4, 1.6))
    figure = Figure(figsize=(10.2, 3.3 * tall + 0.9), dpi=RESOLUTION, layout="constrained")
    kinds = np.zeros(len(points), dtype=int) if groups is None else np.asarray(groups)
    hues = np.array([FEW_COLORS[1:4][kind % 3] for kind in kinds])  # not those of the arrows
    for place, (name, (arrows, color)) in enumerate(parts.items()):
        axes = figure.add_subplot(1, 3, place + 1)
        axes.quiver(
            *points.T, *(scale * arrows).T, color=color, angles="xy", scale_units="xy", scale=1,
            width=0.008, zorder=3,
        )  # fmt: skip
        axes.scatter(
            points[:, 0], points[:, 1], s=26, c=hues, edgecolors="white", linewidths=0.6, zorder=4
        )
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
        axes.set_aspect("equal")
        axes.set_title(name, fontsize=10.5, color=INK, pad=6)
        _quiet(axes)
    _words(figure, title, "")
    return figure


def _words(figure: Any, title: str, verdict: str) -> None:
    if title:
        figure.suptitle(title, fontsize=13, color=INK, x=0.02, ha="left")
    if verdict:
        figure.supxlabel(wrapped(verdict, 104), x=0.02, ha="left", fontsize=8, color=SOFT)


def _quiet(axes: Any) -> None:
    axes.tick_params(which="both", colors=SOFT, labelsize=8, length=3, color=FAINT)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
