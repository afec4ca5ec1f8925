"""A map with the columns as arrows: which way each of them grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.errors import Argument, InvalidInput
from dualfold.view.drawing import INK
from dualfold.view.figures import map_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REACH = 0.85  # of the map's extent, for the longest arrow


def biplot_figure(
    points: Any,
    arrows: Any,
    names: Sequence[str],
    color: Any = None,
    *,
    title: str = "",
    verdict: str = "",
    color_name: str = "",
    axis_names: Sequence[str] = (),
    most: int = 12,
) -> Figure:
    """The first two axes of a map, and an arrow for each column.

    arrows : a row a column: the loadings of PCA (`PCA.loadings_`), or the correlations of columns
        and axes (`quality.column_correlations`); all are drawn at one scale
    names : of the columns
    color : a column to colour the points by
    most : of more columns the longest arrows are drawn

    Gabriel, "The biplot graphic display of matrices" (1971).
    """
    placed, tips = np.asarray(points, dtype=float), np.asarray(arrows, dtype=float)
    if placed.ndim != 2 or placed.shape[1] < 2 or tips.ndim != 2 or tips.shape[1] < 2:
        raise InvalidInput(
            "a biplot needs two axes; ",
            Argument("points"),
            f" have the shape {placed.shape} and ",
            Argument("arrows"),
            f" {tips.shape}; ask for ",
            Argument("n_components", 2),
        )
    if len(names) != len(tips):
        raise InvalidInput(
            Argument("names"), f" must be one for each arrow ({len(tips)}); they are {len(names)}"
        )
    placed, tips = placed[:, :2], tips[:, :2]
    figure = map_figure(
        placed, color, title=title, verdict=verdict, color_name=color_name, axis_names=axis_names
    )
    lengths = np.linalg.norm(tips, axis=1)
    order = [int(j) for j in np.argsort(-lengths, kind="stable")[:most] if lengths[j] > 0]
    if order:
        # From the middle of the map: there the columns have their means.
        middle = placed.mean(axis=0)
        room = np.abs(placed - middle).max(axis=0) / np.maximum(np.abs(tips).max(axis=0), 1e-300)
        _draw(figure.axes[0], middle, REACH * float(room.min()) * tips, names, order)
    return figure


def _draw(axes: Any, middle: Any, steps: Any, names: Sequence[str], order: list[int]) -> None:
    axes.margins(0.12)  # room for the names
    boxes = list[Any]()
    for j in order:
        tip = middle + steps[j]
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", tip, middle, arrowprops=arrow)
    axes.figure.draw_without_rendering()  # only now is it known where a name comes to lie
    for j in order:
        away = 1 if steps[j][1] >= 0 else -1
        drawn = axes.annotate(
            names[j][:30].replace("$", r"\$"), middle + steps[j], xytext=(0, 4 * away),
            textcoords="offset points", ha="center", va="bottom" if away > 0 else "top",
            fontsize=8, color=INK,
        )  # fmt: skip
        drawn.set_bbox({"facecolor": "white", "alpha": 0.65, "edgecolor": "none", "pad": 0.6})
        boxes.append(_moved_free(drawn, away, boxes))


def _moved_free(drawn: Any, away: int, boxes: list[Any]) -> Any:
    """Move a name up or down until it covers none of those before it; where it lies then."""
    while any(drawn.get_window_extent().overlaps(box) for box in boxes):
        drawn.set_position((0, drawn.get_position()[1] + away))
    return drawn.get_window_extent()
