"""How points, axes and keys are drawn: the parts that figures are put together from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.view.colors import POINT_MARKERS, Coloring

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DOTS_PER_INCH = 200  # sharp on screens, enough for print at column width
INK_COLOR = "#222222"
SOFT_COLOR = "#666666"
PALE_COLOR = "#c8c8c8"
COLUMN_COLOR = "#b5402b"
# Points with a name of their own; more names would cover one another.
MAX_NAMED_POINTS = 60
POINT_PIXELS = 7  # from the middle of a named point to its edge
# Where a name may stand beside its point, the best place first: step in points, alignment.
NAME_PLACES: tuple[Any, ...] = (
    ((0, 4), "center", "bottom"),
    ((0, -4), "center", "top"),
    ((5, 0), "left", "center"),
    ((-5, 0), "right", "center"),
    ((4, 4), "left", "bottom"),
    ((-4, 4), "right", "bottom"),
    ((4, -4), "left", "top"),
    ((-4, -4), "right", "top"),
)
# From here on points are drawn as pixels inside a PDF or SVG: a vector file with that
# many circles takes minutes to open.
MANY_POINTS = 50_000
# A strip is from −1 to 1 high; the curve of its density stands above it.
DENSITY_FOOT = 1.3
DENSITY_HEIGHT = 2.0
MAX_DENSITY_CELLS = 512  # finer than a curve is drawn


def new_figure(inches: tuple[float, float], layout: Any = "constrained") -> Figure:
    """An empty figure that a notebook shows, whether pyplot is loaded or not."""
    from dualfold.view.notebook_figure import NotebookFigure

    return NotebookFigure(figsize=inches, dpi=DOTS_PER_INCH, layout=layout)


def frames(
    count: int,
    size: tuple[float, float],
    *,
    columns: int | None = None,
    title: str = "",
    verdict: str = "",
) -> tuple[Figure, list[Any]]:
    """A figure and its quiet axes, side by side or `columns` to a line, of `size` inches each."""
    across = min(columns or count, count)
    lines = -(-count // across)
    figure = new_figure((size[0] * across, size[1] * lines))
    panels = [figure.add_subplot(lines, across, place + 1) for place in range(count)]
    for axes in panels:
        quiet(axes)
    write_around(figure, title, verdict)
    return figure, panels


def write_around(figure: Figure, title: str, verdict: str = "") -> None:
    """The title over a figure and the line under it, where there are any."""
    if title:
        figure.suptitle(title, fontsize=13, color=INK_COLOR, x=0.02, ha="left")
    if verdict:
        figure.supxlabel(
            wrapped_text(verdict, 104), x=0.02, ha="left", fontsize=8, color=SOFT_COLOR
        )


def quiet(axes: Any) -> None:
    """Thin axes on the left and below, no frame, small numbers."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(PALE_COLOR)
    axes.tick_params(which="both", colors=SOFT_COLOR, labelsize=8, length=3, color=PALE_COLOR)


def head(axes: Any, title: str) -> None:
    """The name over one panel."""
    axes.set_title(title, fontsize=10.5, color=INK_COLOR, pad=6)


def draw_points(axes: Any, points: Array, colors: Coloring, *, area: float, equal: bool) -> None:
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
            s=size * (1.2 if marker != POINT_MARKERS[0] else 1.0),
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
    if dimensions == 1:
        _draw_density(axes, points[:, 0])


def strip_density(values: Array) -> tuple[Array, Array] | None:
    """Density of points along their one coordinate: places, and heights of which 1 is the most.

    A normal kernel with Silverman's width for data that may have several groups; None where all
    points are at one place.
    """
    known = np.asarray(values, dtype=float)
    unit = float(np.abs(known).max(initial=0.0)) or 1.0
    known = known / unit
    low, high = np.quantile(known, [0.25, 0.75]) if len(known) else (0.0, 0.0)
    spread = min([s for s in (known.std(), (high - low) / 1.34) if s > 0], default=0.0)
    if len(known) < 3 or not spread > 0:
        return None
    width = 0.9 * spread * len(known) ** -0.2
    ends = known.min() - 3 * width, known.max() + 3 * width
    # Cells of a fourth of the kernel's width draw the same curve as the points themselves.
    cells = int(np.clip(4 * (ends[1] - ends[0]) / width, 16, MAX_DENSITY_CELLS))
    counts, edges = np.histogram(known, bins=cells, range=ends)
    step = edges[1] - edges[0]
    reach = max(1, int(np.ceil(4 * width / step)))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    heights = np.convolve(counts, kernel)[reach : reach + cells]
    return unit * (edges[:-1] + step / 2), heights / heights.max()


def _draw_density(axes: Any, values: Array) -> None:
    """A curve above the strip."""
    density = strip_density(values)
    if density is None:
        return
    places, heights = density
    tops = DENSITY_FOOT + DENSITY_HEIGHT * heights
    axes.fill_between(places, DENSITY_FOOT, tops, color=PALE_COLOR, alpha=0.45, linewidth=0)
    axes.plot(places, tops, color=SOFT_COLOR, linewidth=1.0)
    axes.set_ylim(-1.4, DENSITY_FOOT + 1.15 * DENSITY_HEIGHT)


def draw_behind(axes: Any, points: Array) -> None:
    """Points that others are compared with: small and grey, under all else."""
    n, dimensions = points.shape
    if dimensions == 1:
        points = np.column_stack([points[:, 0], np.random.default_rng(2).uniform(-1, 1, n)])
    size = float(np.clip(20 * (100 / max(n, 1)) ** 0.45, 0.3, 20))
    options: dict[str, Any] = {"depthshade": False} if dimensions == 3 else {}
    axes.scatter(*points.T, s=size, color=PALE_COLOR, linewidths=0, zorder=0.5, **options)


def draw_columns(
    axes: Any, points: Array, columns: Mapping[str, Any], names: Sequence[str]
) -> None:
    """Columns of the table as diamonds with their names, and a key of both kinds of points.

    names : of the points themselves, written beside them where they are few
    """
    from matplotlib.lines import Line2D

    dimensions = points.shape[1]
    places = np.array([np.ravel(place)[:dimensions] for place in columns.values()], dtype=float)
    options: dict[str, Any] = {"depthshade": False} if dimensions == 3 else {}
    if dimensions == 1:  # under the strip, whose height means nothing
        places = np.column_stack([places[:, 0], np.full(len(places), -1.3)])
    look: dict[str, Any] = {"marker": "D", "color": COLUMN_COLOR, "linewidths": 0, "zorder": 3}
    axes.scatter(*places.T, s=30 if len(places) <= MAX_NAMED_POINTS else 12, **look, **options)
    seen = np.unique(axes.collections[0].get_facecolors(), axis=0)
    kinds = (
        ("o", seen[0] if len(seen) == 1 else SOFT_COLOR, "rows"),
        ("D", COLUMN_COLOR, "columns"),
    )
    handles = [
        Line2D([], [], linestyle="", marker=marker, markersize=5, color=color, label=label)
        for marker, color, label in kinds
    ]
    key = axes.get_legend()
    where: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
    axes.legend(handles=handles, fontsize=8.5, labelcolor=INK_COLOR, frameon=False, **where)
    if key is not None:
        axes.add_artist(key)
    named = [(name, place, COLUMN_COLOR) for name, place in zip(columns, places, strict=True)]
    if dimensions == 2 and len(names) == len(points) <= MAX_NAMED_POINTS - len(named):
        named += [(name, place, INK_COLOR) for name, place in zip(names, points, strict=True)]
    _write_names(axes, named[:MAX_NAMED_POINTS])


def _write_names(axes: Any, named: Sequence[tuple[str, Array, str]]) -> None:
    """Names beside their points, on no point and no other name; left out where there is no room."""
    from matplotlib.transforms import Bbox

    axes.margins(0.1)
    axes.figure.draw_without_rendering()  # only now is it known where a name comes to lie
    taken = list[Any]()
    if not hasattr(axes, "zaxis"):
        pixels = [axes.transData.transform(place) for _, place, _ in named]
        taken = [Bbox([pixel - POINT_PIXELS, pixel + POINT_PIXELS]) for pixel in pixels]
    for name, place, color in named:
        words = _short(str(name).replace("$", r"\$"))
        if len(place) == 3:
            axes.text(*place, words, fontsize=8, color=color)
            continue
        for which in range(len(NAME_PLACES)):
            text = axes.annotate(words, place, color=color, **_name_place(which))
            box = text.get_window_extent()
            if not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()
        else:
            if color == COLUMN_COLOR:  # a diamond without a name says nothing
                axes.annotate(words, place, color=color, **_name_place(0))


def _name_place(which: int) -> dict[str, Any]:
    step, across, up = NAME_PLACES[which]
    where = {"xytext": step, "textcoords": "offset points", "ha": across, "va": up}
    return where | {"fontsize": 8, "zorder": 4}


def _layers(colors: Coloring, order: Array) -> Iterator[tuple[Array, Array, str]]:
    """(rows, their colours, marker) in the order of drawing.

    Of many points, those of one colour go together: matplotlib then draws one marker
    and copies it, five times as fast. Four rounds keep the colours mixed.
    """
    few = len(order) < MANY_POINTS
    for part in [order] if few else np.array_split(order, 4):
        for shape, marker in enumerate(POINT_MARKERS):
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
    quiet(axes)
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
        # 0.88 leaves room for the names of the axes, which no layout counts.
        axes.set_box_aspect(np.maximum(np.ptp(points, axis=0), 1e-9), zoom=0.88)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.pane.set_facecolor("white")
        axis.pane.set_edgecolor(PALE_COLOR)
        axis.line.set_color(PALE_COLOR)
        axis._axinfo["grid"].update(color="#ececec", linewidth=0.6)
    axes.tick_params(colors=SOFT_COLOR, labelsize=7, pad=0)
    axes.locator_params(nbins=4)


def without_numbers(axes: Any, points: Array, *, equal: bool) -> None:
    """A space for a small panel; what the numbers leave is room for the points."""
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_ticklabels([])
        axis.set_tick_params(length=0)
    if equal:
        axes.set_box_aspect(np.maximum(np.ptp(points, axis=0), 1e-9), zoom=1.2)


def name_axes(axes: Any, dimensions: int, names: Sequence[str]) -> None:
    setters = (axes.set_xlabel, axes.set_ylabel, getattr(axes, "set_zlabel", None))
    for name, setter in zip(names, setters[:dimensions], strict=False):
        if setter is not None:
            setter(name, fontsize=9, color=SOFT_COLOR, labelpad=1 if dimensions == 3 else 4)


def draw_key(
    figure: Figure, axes: Any, colors: Coloring, name: str, *, rows: int, inside: bool = False
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
        bar.ax.tick_params(colors=SOFT_COLOR, labelsize=8, length=2, color=PALE_COLOR)
        if scale.dates:
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            places = AutoDateLocator()
            bar.ax.yaxis.set_major_locator(places)
            bar.ax.yaxis.set_major_formatter(ConciseDateFormatter(places))
        if name:
            bar.set_label(name, fontsize=9, color=SOFT_COLOR)
    elif colors.classes:
        _legend(axes, colors, name, rows, side=-0.5 if inside else 1.02)


def _legend(axes: Any, colors: Coloring, name: str, rows: int, side: float) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=marker, markersize=6, color=color, label=_short(label))
        for label, color, marker in colors.classes
    ]
    place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (side, 0.5)}
    if hasattr(axes, "zaxis"):
        # A space writes the names of its axes outside its frame; the corner above is free.
        corner = axes.figure.transFigure
        place = {"loc": "upper right", "bbox_to_anchor": (0.98, 0.93), "bbox_transform": corner}
    legend = axes.legend(
        handles=handles,
        title=name or None,
        **place,
        frameon=False,
        ncols=-(-len(handles) // rows),
        columnspacing=1.0,
        fontsize=8.5,
        labelcolor=INK_COLOR,
        handletextpad=0.2,
        borderaxespad=0.0,
        alignment="left",
    )
    legend.get_title().set(fontsize=9, color=SOFT_COLOR)


def wrapped_text(text: str, width: int) -> str:
    return "\n".join(part for line in text.splitlines() for part in textwrap.wrap(line, width))


def _short(label: str, most: int = 24) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"
