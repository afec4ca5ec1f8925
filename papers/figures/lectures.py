"""Pictures of lectures: what a matrix does, the steps of PCA, images, sets of the plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import INK_COLOR, PALE_COLOR, SOFT_COLOR, frames, head

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, RED = FEW_COLORS[0], FEW_COLORS[1], FEW_COLORS[4]


def four_turns_figure(A: Array) -> Figure:
    """The unit circle and its way through A = UΣVᵀ, with the singular vectors v₁ and v₂."""
    U, s, Vt = np.linalg.svd(A)
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.vstack([np.cos(angle), np.sin(angle)])
    stages = (
        ("the circle, v₁ and v₂", np.eye(2)),
        ("Vᵀ turns", Vt),
        ("Σ stretches", np.diag(s) @ Vt),
        ("U turns: A", U @ np.diag(s) @ Vt),
    )
    figure, panels = frames(len(stages), (2.8, 3.1))
    for axes, (name, map_) in zip(panels, stages, strict=True):
        axes.plot(*(map_ @ circle), color=SOFT_COLOR, linewidth=1.3)
        for vector, color in zip(Vt, (BLUE, RED), strict=True):
            _arrow(axes, np.zeros(2), map_ @ vector, color)
        reach = 1.1 * s[0]
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        head(axes, name)
    return figure


def steps_figure(steps: Sequence[Step]) -> Figure:
    """Small scatters, (a) to (f): the data on its way through PCA and back."""
    figure, panels = frames(len(steps), (9.6 / min(3, len(steps)), 3.1), columns=3)
    for place, (axes, step) in enumerate(zip(panels, steps, strict=True)):
        axes.axhline(0, color=PALE_COLOR, linewidth=0.7, zorder=0)
        axes.axvline(0, color=PALE_COLOR, linewidth=0.7, zorder=0)
        if step.before is not None:
            both = np.stack([step.before, step.points], axis=1)
            for pair in both:
                axes.plot(*pair.T, color=PALE_COLOR, linewidth=0.6, zorder=1)
            axes.scatter(*step.before.T, s=9, color=PALE_COLOR, linewidths=0)
        if step.ellipse is not None:
            axes.plot(*step.ellipse, color=SOFT_COLOR, linewidth=1.0)
        axes.scatter(*step.points.T, s=12, color=BLUE, linewidths=0, alpha=0.8, zorder=2)
        for arrow, color in zip(step.arrows, (RED, ORANGE), strict=False):
            _arrow(axes, np.zeros(2), arrow, color)
        axes.set_aspect("equal", adjustable="datalim")
        head(axes, f"({'abcdef'[place]}) {step.name}")
    return figure


@dataclass(frozen=True, eq=False)
class Step:
    """Frame of `steps_figure`.

    before : where the points came from, drawn faintly with a line to where they are
    ellipse : a curve, 2×m
    arrows : directions from the origin
    """

    name: str
    points: Array
    before: Array | None = None
    ellipse: Array | None = None
    arrows: Sequence[Array] = ()


def images_figure(images: Sequence[Sequence[Array]], names: Sequence[str]) -> Figure:
    """Rows of small grey images with a name over each column."""
    height, width = images[0][0].shape
    edge = max(1, width // 10)
    figure, (axes,) = frames(1, (1.05 * len(names), 1.05 * len(images) + 0.25))
    # One picture of all of them: matplotlib takes long to make many frames.
    sheet = np.zeros((len(images) * (height + edge), len(names) * (width + edge)))
    for line, row in enumerate(images):
        for column, image in enumerate(row):
            top, left = line * (height + edge), column * (width + edge)
            sheet[top : top + height, left : left + width] = image
    axes.imshow(sheet, cmap="gray_r", interpolation="nearest", vmin=0)
    axes.set_axis_off()
    for column, name in enumerate(names):
        middle = column * (width + edge) + width / 2
        axes.text(middle, -edge, name, fontsize=9, color=INK_COLOR, ha="center", va="bottom")
    return figure


@dataclass(frozen=True, eq=False)
class Region:
    """A set of the plane, by which rows it contains, with a segment between two of its points."""

    name: str
    contains: Callable[[Array], Array]
    convex: bool
    words: str
    segment: tuple[tuple[float, float], tuple[float, float]]


def regions_figure(regions: Sequence[Region], reach: float = 1.2) -> Figure:
    """Sets of the plane side by side, each with its segment; red where that leaves the set."""
    figure, panels = frames(len(regions), (2.6, 2.8))
    grid = np.linspace(-reach, reach, 300)
    across, up = np.meshgrid(grid, grid)
    points = np.column_stack([across.ravel(), up.ravel()])
    for axes, region in zip(panels, regions, strict=True):
        inside = region.contains(points).reshape(across.shape)
        axes.contourf(across, up, inside, levels=[0.5, 1.5], colors=[BLUE], alpha=0.25)
        start, end = np.array(region.segment)
        along = start + np.linspace(0, 1, 200)[:, None] * (end - start)
        axes.plot(*along.T, color=INK_COLOR, linewidth=1.6)
        out = np.where(region.contains(along)[:, None], np.nan, along)
        axes.plot(*out.T, color=RED, linewidth=2.4)
        axes.plot(*np.array(region.segment).T, "o", color=INK_COLOR, markersize=4)
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axes.set_axis_off()
        head(axes, region.name)
    return figure


def _arrow(axes: Any, start: Array, end: Array, color: str) -> None:
    look = {"arrowstyle": "-|>", "color": color, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=end, xytext=start, arrowprops=look, zorder=5)
