"""Maps as matplotlib figures, one at a time or side by side.

Figures are made as objects (`matplotlib.figure.Figure`); pyplot and its global state
are never touched, so this works in a server, a thread and a notebook alike.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.data.whole_file import whole_file
from dualfold.errors import InvalidInput
from dualfold.view.colors import MARKERS, Coloring, coloring

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, np.dtype[Any]]

INK, SOFT, FAINT = "#222222", "#666666", "#c8c8c8"
# From here on points are drawn as pixels inside a PDF or SVG: a vector file with that
# many circles takes minutes to open.
MANY_POINTS = 50_000
ENDINGS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp")
RESOLUTION = 200  # dots per inch: sharp on screens, enough for print at column width


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture of a gallery.

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
) -> Figure:
    """A scatter of an embedding: a strip, a map or a space, by its number of columns.

    color : numbers and dates give a colour bar, words and up to 20 different whole
        numbers a legend; of more classes the largest are shown and the rest is "others".
        Missing ones are grey.
    verdict : a line under the map; a certificate's, for example
    equal : one unit is as long on every axis. False where lengths mean nothing, as in
        eigenmaps, whose coordinates have the same spread by construction.

    Of more than three columns the first two are drawn.
    """
    from matplotlib.figure import Figure

    placed = _as_points(points)
    if placed.shape[1] > 3:
        placed = placed[:, :2]
    colors = _coloring_of(color, len(placed))
    strip = placed.shape[1] == 1
    figure = Figure(figsize=(6.4, 2.8 if strip else 5.2), dpi=RESOLUTION, layout="constrained")
    axes = figure.add_subplot(projection="3d" if placed.shape[1] == 3 else None)
    _draw(axes, placed, colors, area=1.0, equal=equal)
    _name_axes(axes, placed.shape[1], axis_names)
    if title:
        figure.suptitle(title, fontsize=13, color=INK, x=0.02, ha="left")
    _key(figure, axes, colors, color_name, rows=8 if strip else 22)
    if verdict:
        figure.supxlabel(_wrapped(verdict, 92), x=0.02, ha="left", fontsize=8.5, color=SOFT)
    return figure


def gallery(
    rows: Sequence[Sequence[Panel]],
    *,
    title: str = "",
    row_names: Sequence[str] = (),
    color_names: Sequence[str] = (),
) -> Figure:
    """Several maps side by side: a row a data set, a column a method.

    The key of each row (colour bar or legend) stands at its end and is that of its
    last panel, so the panels of a row should share their colours.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = max((len(row) for row in rows), default=0)
    if columns == 0:
        raise InvalidInput("a gallery needs at least one panel, but there is none")
    figure = Figure(
        figsize=(3.1 * columns + 0.7, 3.3 * len(rows) + (0.4 if title else 0)),
        dpi=RESOLUTION,
        layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, wspace=0.03, hspace=0.04),
    )
    # A narrow last column holds the keys, so that the maps of all rows line up.
    grid = figure.add_gridspec(len(rows), columns + 1, width_ratios=[*[1.0] * columns, 0.03])
    for line, row in enumerate(rows):
        for column, panel in enumerate(row):
            axes = _panel(figure, grid[line, column], panel)
            if column == 0 and row_names:
                _write(axes, -0.08, 0.5, row_names[line], 11, INK, va="center", rotation=90)
        if row[-1].points is not None:
            colors = _coloring_of(row[-1].color, len(_as_points(row[-1].points)))
            place = figure.add_subplot(grid[line, -1])
            name = color_names[line] if color_names else ""
            _key(figure, place, colors, name, rows=11, inside=True)
    if title:
        figure.suptitle(title, fontsize=14, color=INK, x=0.012, ha="left")
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a figure whole or not at all; the ending chooses PNG, PDF, SVG, JPEG or WebP."""
    with whole_file(Path(path), overwrite=overwrite) as file:
        file.write(figure_bytes(figure, path))


def figure_bytes(figure: Figure, path: str | os.PathLike[str]) -> bytes:
    """The figure as the file `path` would hold it; nothing is written."""
    from matplotlib import rc_context

    kind = picture_format(path)
    # No date inside, and ids from a fixed salt, so that equal pictures are equal files.
    dateless = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    rendered = BytesIO()
    with rc_context({"svg.hashsalt": "dualfold"}):
        figure.savefig(rendered, format=kind, facecolor="white", metadata=dateless.get(kind))
    return rendered.getvalue()


def picture_format(path: str | os.PathLike[str]) -> str:
    """The format that the ending of a picture's name chooses."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(
            f"{os.fspath(path)} must end with one of {', '.join(ENDINGS)}, which chooses the format"
        )
    return ending[1:]


def _as_points(points: Any) -> Array:
    placed = np.asarray(points, dtype=float)
    placed = placed[:, None] if placed.ndim == 1 else placed
    if placed.ndim != 2 or 0 in placed.shape:
        raise InvalidInput(
            f"points must be rows of one or more coordinates, but their shape is {placed.shape}"
        )
    return placed


def _coloring_of(color: Any, n: int) -> Coloring:
    if color is not None and np.shape(color) != (n,):
        raise InvalidInput(
            f"color must be one value a point ({n}), but its shape is {np.shape(color)}"
        )
    return coloring(color, n)


def _draw(axes: Any, points: Array, colors: Coloring, *, area: float, equal: bool) -> None:
    """The points, shuffled: in the order of the file the last class would hide the first."""
    n, dimensions = points.shape
    order = np.random.default_rng(0).permutation(n)
    # By eye: 100 points get discs of 36 pt², 10,000 get 4.5 pt², and more let light through.
    size = area * float(np.clip(36 * (100 / max(n, 1)) ** 0.45, 0.3, 36))
    alpha = float(np.clip(0.9 * (1000 / max(n, 1)) ** 0.15, 0.3, 0.9))
    if dimensions == 1:
        height = np.random.default_rng(1).uniform(-1, 1, n)
        points = np.column_stack([points[:, 0], height])
    options: dict[str, Any] = {"depthshade": False} if dimensions == 3 else {}
    for rows, facecolors, marker in _layers(colors, order):
        axes.scatter(
            *points[rows].T,
            s=size * (1.2 if marker != MARKERS[0] else 1.0),
            facecolors=facecolors,
            alpha=alpha,
            marker=marker,
            linewidths=0,
            rasterized=n >= MANY_POINTS,
            **options,
        )
    if dimensions == 3:
        _quiet_space(axes, points, equal)
    else:
        _quiet_plane(axes, strip=dimensions == 1, equal=equal)


def _layers(colors: Coloring, order: Array) -> Iterator[tuple[Array, Array, str]]:
    """(rows, their colours, marker) in the order of drawing.

    Of many points, those of one colour go together: matplotlib then draws one marker
    and copies it, five times as fast. Four rounds keep the colours mixed.
    """
    few = len(order) < MANY_POINTS
    for part in [order] if few else np.array_split(order, 4):
        for shape, marker in enumerate(MARKERS):
            rows = part[colors.shapes[part] == shape]
            if few:
                if len(rows):
                    yield rows, colors.palette[colors.codes[rows]], marker
                continue
            rows = rows[np.argsort(colors.codes[rows], kind="stable")]
            starts = np.flatnonzero(np.diff(colors.codes[rows], prepend=-1))
            for same in np.split(rows, starts[1:]):
                if len(same):
                    yield same, colors.palette[colors.codes[same[:1]]], marker


def _quiet_plane(axes: Any, *, strip: bool, equal: bool) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.tick_params(colors=SOFT, labelsize=8, length=3, color=FAINT)
    axes.locator_params(nbins=5)
    if strip:  # the height is there to keep points apart and means nothing
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_ylim(-1.8, 1.8)
    elif equal:
        axes.set_aspect("equal", adjustable="datalim")


def _quiet_space(axes: Any, points: Array, equal: bool) -> None:
    axes.view_init(elev=14, azim=-72)
    if equal:
        axes.set_box_aspect(np.maximum(np.ptp(points, axis=0), 1e-9), zoom=0.95)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.pane.set_facecolor("white")
        axis.pane.set_edgecolor(FAINT)
        axis.line.set_color(FAINT)
        axis._axinfo["grid"].update(color="#ececec", linewidth=0.6)
    axes.tick_params(colors=SOFT, labelsize=7, pad=0)
    axes.locator_params(nbins=4)


def _name_axes(axes: Any, dimensions: int, names: Sequence[str]) -> None:
    setters = (axes.set_xlabel, axes.set_ylabel, getattr(axes, "set_zlabel", None))
    for name, setter in zip(names, setters[:dimensions], strict=False):
        if setter is not None:
            setter(name, fontsize=9, color=SOFT, labelpad=-4 if dimensions == 3 else 4)


def _key(
    figure: Any, axes: Any, colors: Coloring, name: str, *, rows: int, inside: bool = False
) -> None:
    """A slim colour bar or a legend beside these axes (or in their place), or nothing."""
    if inside:
        axes.set_axis_off()
    if colors.scale is not None:
        from matplotlib.cm import ScalarMappable

        scale = colors.scale
        where: dict[str, Any] = {"ax": axes, "shrink": 0.8, "fraction": 0.04, "pad": 0.02}
        if inside:
            where = {"cax": axes.inset_axes([0.0, 0.1, 1.0, 0.8])}
        else:
            where["aspect"] = 36
        bar = figure.colorbar(
            ScalarMappable(scale.norm, scale.colors), extend=scale.extend, **where
        )
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=SOFT, labelsize=8, length=2, color=FAINT)
        if scale.dates:
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            places = AutoDateLocator()
            bar.ax.yaxis.set_major_locator(places)
            bar.ax.yaxis.set_major_formatter(ConciseDateFormatter(places))
        if name:
            bar.set_label(name, fontsize=9, color=SOFT)
    elif colors.classes:
        _legend(axes, colors, name, rows, side=-0.5 if inside else 1.02)


def _legend(axes: Any, colors: Coloring, name: str, rows: int, side: float) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=marker, markersize=6, color=color, label=_short(label))
        for label, color, marker in colors.classes
    ]
    legend = axes.legend(
        handles=handles,
        title=name or None,
        loc="center left",
        bbox_to_anchor=(side, 0.5),
        frameon=False,
        ncols=-(-len(handles) // rows),
        columnspacing=1.0,
        fontsize=8.5,
        labelcolor=INK,
        handletextpad=0.2,
        borderaxespad=0.0,
        alignment="left",
    )
    legend.get_title().set(fontsize=9, color=SOFT)


def _panel(figure: Any, place: Any, panel: Panel) -> Any:
    if panel.points is None:
        axes = figure.add_subplot(place)
        axes.imshow(panel.image, cmap="gray_r", interpolation="nearest")
    else:
        points = _as_points(panel.points)[:, :3]
        axes = figure.add_subplot(place, projection="3d" if points.shape[1] == 3 else None)
        _draw(axes, points, _coloring_of(panel.color, len(points)), area=0.5, equal=panel.equal)
    if panel.points is None or np.shape(panel.points)[1] != 3:
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set(visible=True, color="#e4e4e4")
        axes.set_box_aspect(1)
    else:
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_ticklabels([])
            axis.set_tick_params(length=0)
        if panel.equal:  # without numbers around it there is room
            axes.set_box_aspect(np.maximum(np.ptp(points, axis=0), 1e-9), zoom=1.2)
    axes.set_title(panel.title, fontsize=10.5, color=INK, pad=6)
    if panel.verdict:
        _write(axes, 0.5, -0.03, _wrapped(panel.verdict, 44), 7.5, SOFT, va="top")
    return axes


def _write(axes: Any, x: float, y: float, text: str, size: float, color: str, **where: Any) -> None:
    """Text at a place of the frame; in a 3-D one `text` itself wants a third coordinate."""
    write = getattr(axes, "text2D", axes.text)
    write(x, y, text, transform=axes.transAxes, fontsize=size, color=color, ha="center", **where)


def _wrapped(text: str, width: int) -> str:
    return "\n".join(part for line in text.splitlines() for part in textwrap.wrap(line, width))


def _short(label: str, most: int = 24) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"
