"""Pictures of PCA by descent on the points: gaps, and the forces that move them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import INK_COLOR, PALE_COLOR, frames, head, name_axes
from papers.figures.charts import Chart, Line, chart_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dualfold.theory.point_pca.point_descent import PointForces


PULL, PUSH, NET = FEW_COLORS[0], FEW_COLORS[4], INK_COLOR


def convergence_figure(gaps: Mapping[str, Any], *, title: str = "", floor: float = 1e-15) -> Figure:
    """Relative gaps against iterations, one line for each run, on a logarithmic axis.

    A run that climbs is drawn until it leaves the top at 100, one that arrives until it
    comes to `floor`: what is below is rounding.
    """
    if not gaps:
        raise InvalidInput("a figure of gaps needs at least one run, but there is none")
    lines = []
    for name, gap in gaps.items():
        heights = np.asarray(gap, dtype=float)
        ends = ~((heights <= 100) & (heights > floor))
        until = int(np.argmax(ends)) + 1 if ends.any() else len(heights)
        lines.append(Line(name, np.arange(until), np.maximum(heights[:until], floor)))
    y_name = "gap to the exact minimum, as a share of the fall"
    chart = Chart(lines, "", "iterations", y_name, x_scale="from zero", y_scale="log")
    figure = chart_figure([chart], title=title)
    figure.axes[0].set_ylim(top=100)
    return figure


def pull_figure(
    pulls: Mapping[str, tuple[Array, Array]], *, chosen: int = 0, title: str = ""
) -> Figure:
    """How strongly a pair is pushed apart against its distance, one panel for each kind of force.

    pulls : name → (distances, coefficients), n×n each; all pairs are drawn as a cloud and
        those of the `chosen` point as a line from its nearest to its farthest neighbour,
        which a monotone force would not let turn back
    """
    verdict = "Black: one point's neighbours, from the nearest to the farthest."
    figure, panels = frames(len(pulls), (4.6, 3.9), title=title, verdict=verdict)
    for axes, (name, (distances, strengths)) in zip(panels, pulls.items(), strict=True):
        axes.axhline(0, color=PALE_COLOR, linewidth=1, zorder=0)
        pairs = np.triu(np.ones(distances.shape, dtype=bool), 1)
        for some, color in ((pairs & (strengths > 0), PUSH), (pairs & (strengths <= 0), PULL)):
            axes.scatter(
                distances[some], strengths[some], s=3, color=color, alpha=0.25,
                linewidths=0, rasterized=True,
            )  # fmt: skip
        order = np.argsort(distances[chosen])
        order = order[order != chosen]
        line = distances[chosen][order], strengths[chosen][order]
        axes.plot(*line, "-o", color=INK_COLOR, linewidth=0.5, markersize=1.3)
        head(axes, name)
        upwards = "coefficient: above 0 pushes apart" if axes is panels[0] else ""
        name_axes(axes, 2, ("distance of the pair", upwards))
    return figure


def force_figure(
    points: Array, forces: PointForces, *, groups: Any = None, title: str = ""
) -> Figure:
    """Arrows on each point: what the data wants (F_X), what the map answers (−F_Y), their sum.

    `forces` are those of `dualfold.forces.point_forces`; `groups` are whole numbers that colour
    the points. One scale for the three panels: the longest arrow is a quarter of the map's width.
    """
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
    figure, panels = frames(len(parts), (3.4, 3.3 * tall + 0.9), title=title)
    kinds = np.zeros(len(points), dtype=int) if groups is None else np.asarray(groups)
    hues = np.array([FEW_COLORS[1:4][kind % 3] for kind in kinds])  # not those of the arrows
    for axes, (name, (arrows, color)) in zip(panels, parts.items(), strict=True):
        axes.quiver(
            *points.T, *(scale * arrows).T, color=color, angles="xy", scale_units="xy", scale=1,
            width=0.008, zorder=3,
        )  # fmt: skip
        axes.scatter(
            points[:, 0], points[:, 1], s=26, c=hues, edgecolors="white", linewidths=0.6, zorder=4
        )
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
        axes.set_aspect("equal")
        head(axes, name)
    return figure
