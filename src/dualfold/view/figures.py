"""Maps as matplotlib figures, one at a time or side by side.

Figures are made as objects (`matplotlib.figure.Figure`); pyplot and its global state
are never touched, so this works in a server, a thread and a notebook alike.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.atomic_files import atomic_file
from dualfold.errors import Argument, InvalidInput
from dualfold.view.colors import coloring_of
from dualfold.view.drawing import (
    INK_COLOR,
    SOFT_COLOR,
    draw_behind,
    draw_columns,
    draw_key,
    draw_points,
    head,
    name_axes,
    new_figure,
    without_numbers,
    wrapped_text,
    write_around,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LONGEST_ARROW_SHARE = 0.85  # of the map's extent, in a biplot
PICTURE_ENDINGS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp")


@dataclass(frozen=True, eq=False)
class Panel:
    """Picture of a gallery.

    points : n×1, n×2 or n×3; None with an `image` (a grey 2-D array) instead
    color : a column to colour by, as for `map_figure`
    title, verdict : over and under the picture
    equal : whether one unit is as long on every axis
    """

    points: Any = None
    color: Any = None
    title: str = ""
    verdict: str = ""
    equal: bool = True
    image: Any = None


def map_figure(
    points: Any,
    color: Any = None,
    *,
    title: str = "",
    verdict: str = "",
    color_name: str = "",
    axis_names: Sequence[str] = (),
    equal: bool = True,
    behind: Any = None,
    classes: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    names: Sequence[str] = (),
) -> Figure:
    """Scatter plot of a map: a strip, a plane or a space, by its number of columns.

    Parameters
    ----------
    points : array-like of shape (n_samples,) or (n_samples, n_components)
        Map, one row for each point; of more than three columns the first two are drawn.
    color : array-like of shape (n_samples,) or None, default=None
        Column to colour by. Numbers and dates give a colour bar; words and up to 20 different whole
        numbers give a legend. Of more classes the largest are shown, and the rest is "others".
        Missing values are grey.
    title : str, default=""
        Text above the figure.
    verdict : str, default=""
        Line under the figure, for example that of a certificate.
    color_name : str, default=""
        What the colours stand for, in words.
    axis_names : sequence of str, default=()
        Names of the axes, in the order of the columns.
    equal : bool, default=True
        Whether one unit is as long on every axis. False where lengths mean nothing, as in
        eigenmaps, whose coordinates have the same spread by construction.
    behind : array-like or None, default=None
        Other points on the same map, drawn grey under these.
    classes : sequence of str, default=()
        All classes that `color` may hold, in order; figures with the same ones share their colours.
    columns : mapping or None, default=None
        Names of columns that have a place on the map, as in correspondence analysis, and their
        coordinates; they are drawn as diamonds with their names.
    names : sequence of str, default=()
        Names of the points, which are written beside them where `columns` are given and points few.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `savefig` writes it.

    Raises
    ------
    InvalidInput
        If `points` is no table, or `color` has another length.

    See Also
    --------
    biplot_figure : With an arrow for each column.
    page : A map to explore in a browser.

    Examples
    --------
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.view import map_figure
    >>> sample = swiss_roll(50, random_state=0)
    >>> figure = map_figure(sample.flat, sample.color, title="A roll", axis_names=sample.names)
    >>> len(figure.axes)  # the map and its colour bar
    2
    """
    placed = _as_points(points)
    if placed.shape[1] > 3:
        placed = placed[:, :2]
    colors = coloring_of(color, len(placed), classes)
    strip = placed.shape[1] == 1
    figure = new_figure((6.4, 3.4 if strip else 5.2))
    axes = figure.add_subplot(projection="3d" if placed.shape[1] == 3 else None)
    if behind is not None:
        draw_behind(axes, _as_points(behind)[:, : placed.shape[1]])
    draw_points(axes, placed, colors, area=1.0, equal=equal)
    name_axes(axes, placed.shape[1], axis_names)
    draw_key(figure, axes, colors, color_name, rows=8 if strip else 22)
    write_around(figure, title, verdict)
    if columns:
        draw_columns(axes, placed, columns, names)
    return figure


def gallery(
    rows: Sequence[Sequence[Panel]],
    *,
    title: str = "",
    row_names: Sequence[str] = (),
    color_names: Sequence[str] = (),
) -> Figure:
    """Several maps side by side: a row a data set, a column a method.

    rows : the panels of each row; row_names, color_names : one for each row, at its ends

    The key of each row (colour bar or legend) stands at its end and is that of its
    last panel, so the panels of a row should share their colours.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = max((len(row) for row in rows), default=0)
    if columns == 0:
        raise InvalidInput("a gallery needs at least one panel, but there is none")
    # A map is square, with a name above it and up to two lines below.
    inches = 3.1 * columns + 0.7, 3.7 * len(rows) + (0.4 if title else 0)
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, wspace=0.03, hspace=0.04)
    figure = new_figure(inches, layout)
    # A narrow last column holds the keys, so that the maps of all rows line up.
    grid = figure.add_gridspec(len(rows), columns + 1, width_ratios=[*[1.0] * columns, 0.03])
    for line, row in enumerate(rows):
        for column, panel in enumerate(row):
            axes = _panel(figure, grid[line, column], panel)
            if column == 0 and row_names:
                _write(axes, -0.08, 0.5, row_names[line], 11, INK_COLOR, va="center", rotation=90)
        if row[-1].points is not None:
            colors = coloring_of(row[-1].color, len(_as_points(row[-1].points)))
            place = figure.add_subplot(grid[line, -1])
            name = color_names[line] if color_names else ""
            draw_key(figure, place, colors, name, rows=11, inside=True)
    if title:
        figure.suptitle(title, fontsize=14, color=INK_COLOR, x=0.012, ha="left")
    return figure


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
    """Biplot: the first two axes of a map, and an arrow for each column of the data.

    Parameters
    ----------
    points : array-like of shape (n_samples, n_components)
        Map, one row for each point.
    arrows : array-like of shape (n_features, n_components)
        One row for each column of the data: the loadings of PCA (`PCA.loadings_`), or the
        correlations of columns and axes (`dualfold.quality.column_correlations`). All are drawn at
        one scale.
    names : sequence of str
        Names of the columns of the data.
    color : array-like of shape (n_samples,) or None, default=None
        Column to colour the points by, as in `map_figure`.
    title : str, default=""
        Text above the figure.
    verdict : str, default=""
        Line under the figure, for example that of a certificate.
    color_name : str, default=""
        What the colours stand for, in words.
    axis_names : sequence of str, default=()
        Names of the axes, in the order of the columns.
    most : int, default=12
        Largest number of arrows; of more columns the longest ones are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `savefig` writes it.

    Raises
    ------
    InvalidInput
        If the map has fewer than two axes, or the numbers of names and arrows differ.

    See Also
    --------
    map_figure : Without arrows.

    References
    ----------
    .. [1] K. R. Gabriel, "The biplot graphic display of matrices with application to principal
       component analysis", Biometrika, 58(3), 453–467, 1971.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.view import biplot_figure
    >>> points = np.random.default_rng(0).normal(size=(30, 2))
    >>> figure = biplot_figure(points, [[1.0, 0.0], [0.5, 0.5]], ["size", "price"])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    ['size', 'price']
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
        _draw_arrows(
            figure.axes[0], middle, LONGEST_ARROW_SHARE * float(room.min()) * tips, names, order
        )
    return figure


def _draw_arrows(
    axes: Any, middle: Any, steps: Any, names: Sequence[str], order: list[int]
) -> None:
    axes.margins(0.12)  # room for the names
    boxes = list[Any]()
    for j in order:
        tip = middle + steps[j]
        arrow = {"arrowstyle": "-|>", "color": INK_COLOR, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", tip, middle, arrowprops=arrow)
    axes.figure.draw_without_rendering()  # only now is it known where a name comes to lie
    for j in order:
        away = 1 if steps[j][1] >= 0 else -1
        where = {"xytext": (0, 4 * away), "textcoords": "offset points", "ha": "center"}
        look = {"va": "bottom" if away > 0 else "top", "fontsize": 8, "color": INK_COLOR}
        words = names[j][:30].replace("$", r"\$")
        text = axes.annotate(words, middle + steps[j], **where, **look)
        text.set_bbox({"facecolor": "white", "alpha": 0.65, "edgecolor": "none", "pad": 0.6})
        boxes.append(_move_free(text, away, boxes))


def _move_free(text: Any, away: int, boxes: list[Any]) -> Any:
    """Move a name up or down until it covers none of those before it; where it lies then."""
    while any(text.get_window_extent().overlaps(box) for box in boxes):
        text.set_position((0, text.get_position()[1] + away))
    return text.get_window_extent()


def save_figure(figure: Figure, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a figure whole or not at all; the ending chooses PNG, PDF, SVG, JPEG or WebP."""
    with atomic_file(Path(path), overwrite=overwrite) as file:
        file.write(figure_bytes(figure, path))


def figure_bytes(
    figure: Figure, path: str | os.PathLike[str], *, dpi: float | None = None
) -> bytes:
    """The figure as the file `path` would hold it; nothing is written.

    dpi : dots per inch (None: the figure's own)
    """
    from matplotlib import rc_context

    kind = picture_format(path)
    # No date inside, and ids from a fixed salt, so that equal pictures are equal files.
    dateless = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    rendered = BytesIO()
    with rc_context({"svg.hashsalt": "dualfold"}):
        figure.savefig(
            rendered,
            format=kind,
            facecolor="white",
            metadata=dateless.get(kind),
            dpi="figure" if dpi is None else dpi,
        )
    return rendered.getvalue()


def picture_format(path: str | os.PathLike[str]) -> str:
    """The format that the ending of a picture's name chooses."""
    ending = Path(path).suffix.lower()
    if ending not in PICTURE_ENDINGS:
        raise InvalidInput(
            f"{os.fspath(path)} must end with one of {', '.join(PICTURE_ENDINGS)}, which chooses "
            "the format"
        )
    return ending[1:]


def _as_points(points: Any) -> Array:
    placed = np.asarray(points, dtype=float)
    placed = placed[:, None] if placed.ndim == 1 else placed
    if placed.ndim != 2 or 0 in placed.shape:
        raise InvalidInput(
            Argument("points"),
            f" must be rows of one or more coordinates, but their shape is {placed.shape}",
        )
    return placed


def _panel(figure: Figure, place: Any, panel: Panel) -> Any:
    if panel.points is None:
        axes = figure.add_subplot(place)
        axes.imshow(panel.image, cmap="gray_r", interpolation="nearest")
    else:
        points = _as_points(panel.points)[:, :3]
        axes = figure.add_subplot(place, projection="3d" if points.shape[1] == 3 else None)
        draw_points(
            axes, points, coloring_of(panel.color, len(points)), area=0.5, equal=panel.equal
        )
    if panel.points is None or np.shape(panel.points)[1] != 3:
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set(visible=True, color="#e4e4e4")
        axes.set_box_aspect(1)
    else:
        without_numbers(axes, points, equal=panel.equal)
    head(axes, panel.title)
    if panel.verdict:
        _write(axes, 0.5, -0.03, wrapped_text(panel.verdict, 44), 7.5, SOFT_COLOR, va="top")
    return axes


def _write(axes: Any, x: float, y: float, text: str, size: float, color: str, **where: Any) -> None:
    """Text at a place of the frame; in a 3-D one `text` itself wants a third coordinate."""
    write = getattr(axes, "text2D", axes.text)
    write(x, y, text, transform=axes.transAxes, fontsize=size, color=color, ha="center", **where)
