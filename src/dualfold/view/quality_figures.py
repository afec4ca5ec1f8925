"""Figures of quality: spectrum, curves, Shepard density, reliability, ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.errors import Argument, InvalidInput
from dualfold.methods.fitting.dimension import widest_gap
from dualfold.quality.coranking import CoRanking, NeighborhoodCurve
from dualfold.quality.shepard import Shepard
from dualfold.view.colors import FEW_COLORS, MANY_COLORS
from dualfold.view.drawing import INK_COLOR, PALE_COLOR, SOFT_COLOR, frames, name_axes
from dualfold.view.figures import map_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PLANE_INCHES = (6.4, 4.6)  # inches

__all__ = [
    "co_ranking_figure",
    "curve_figure",
    "quality_map_figure",
    "scree_figure",
    "shepard_figure",
]


def scree_figure(
    values: Any, *, kept: int | None = None, title: str = "", verdict: str = ""
) -> Figure:
    """Eigenvalues in their order, and the widest gap between two of them.

    Parameters
    ----------
    values : array-like
        Eigenvalues, wanted ones first, best with some beyond those kept.
    kept : int or None, default=None
        Number of coordinates of the map, whose eigenvalues are filled in; None: all.
    title : str, default=""
        Text above the figure.
    verdict : str, default=""
        Line under the figure, for example that of a certificate.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `savefig` writes it.

    Raises
    ------
    InvalidInput
        If `values` are empty or not finite.

    Notes
    -----
    The widest gap is relative to the larger of its two eigenvalues.

    Examples
    --------
    >>> from dualfold.view import scree_figure
    >>> figure = scree_figure([4.0, 3.0, 0.2, 0.1], kept=2)
    >>> figure.axes[0].get_xlabel()
    'eigenvalue number'
    """
    spectrum = np.asarray(values, dtype=float).ravel()
    if len(spectrum) == 0 or not np.isfinite(spectrum).all():
        raise InvalidInput(
            Argument("values"), f" must be finite eigenvalues, one or more; they are {values!r}"
        )
    figure, (axes,) = frames(1, PLANE_INCHES, title=title, verdict=verdict)
    places = np.arange(1, len(spectrum) + 1)
    axes.plot(places, spectrum, color=PALE_COLOR, linewidth=1, zorder=1)
    inside = places <= (len(spectrum) if kept is None else kept)
    axes.scatter(places[inside], spectrum[inside], s=26, color=FEW_COLORS[0], zorder=3)
    hollow = {"facecolors": "white", "edgecolors": FEW_COLORS[0], "linewidths": 1.1}
    axes.scatter(places[~inside], spectrum[~inside], s=26, zorder=3, **hollow)
    if len(spectrum) > 1:
        widest = widest_gap(spectrum).count - 1
        between = sorted(spectrum[widest : widest + 2])
        axes.axhspan(*between, color=FEW_COLORS[1], alpha=0.18, linewidth=0, zorder=0)
        axes.annotate(
            f"widest gap, after {widest + 1}",
            (1, float(np.mean(between))),
            xycoords=("axes fraction", "data"),
            xytext=(-6, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8.5,
            color=SOFT_COLOR,
        )
    axes.xaxis.get_major_locator().set_params(integer=True)
    name_axes(axes, 2, ("eigenvalue number", "eigenvalue"))
    return figure


def curve_figure(
    curves: NeighborhoodCurve | Mapping[str, NeighborhoodCurve],
    *,
    title: str = "",
    verdict: str = "",
) -> Figure:
    """Neighbours kept beyond chance over the size of the neighbourhood, a line for each map.

    0 is what a random map keeps, and 1 is a perfect map. The number after each name is the area
    under the curve. Bands are 95 % intervals, for each size on its own, where points were sampled.

    Parameters
    ----------
    curves : NeighborhoodCurve or mapping
        One curve of `dualfold.quality.neighborhood_curve`, or names and curves.
    title : str, default=""
        Text above the figure.
    verdict : str, default=""
        Line under the figure, for example that of a certificate.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `savefig` writes it.

    Raises
    ------
    InvalidInput
        If there is no curve.

    See Also
    --------
    dualfold.quality.neighborhood_curve : Makes a curve.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import neighborhood_curve
    >>> from dualfold.view import curve_figure
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> figure = curve_figure({"two columns": neighborhood_curve(X, X[:, :2])})
    >>> figure.axes[0].get_xlabel()
    'neighbourhood size K'
    """
    from matplotlib.ticker import StrMethodFormatter

    named = {"": curves} if isinstance(curves, NeighborhoodCurve) else dict(curves)
    if not named:
        raise InvalidInput("a figure of curves needs at least one curve, but there is none")
    figure, (axes,) = frames(1, PLANE_INCHES, title=title, verdict=verdict)
    hues = FEW_COLORS if len(named) <= len(FEW_COLORS) else MANY_COLORS
    for turn, (name, curve) in enumerate(named.items()):
        color = hues[turn % len(hues)]
        style = "-" if turn < len(hues) else "--"
        sizes = curve.sizes
        label = f"{name} (area {curve.auc:.3f})" if name else f"area {curve.auc:.3f}"
        axes.plot(sizes, curve.r_nx, style, color=color, linewidth=1.6, label=label)
        if not np.array_equal(curve.low, curve.high):
            axes.fill_between(sizes, *curve.bands(), color=color, alpha=0.18, linewidth=0)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlim(1, max(curve.max_rank for curve in named.values()))
    lowest = min(float(curve.r_nx.min()) for curve in named.values())
    axes.set_ylim(min(0.0, 1.1 * lowest), 1.0)
    axes.axhline(0, color=PALE_COLOR, linewidth=1, zorder=0)
    name_axes(axes, 2, ("neighbourhood size K", "neighbours kept beyond chance, R$_{NX}$(K)"))
    axes.legend(frameon=False, fontsize=8.5, labelcolor=INK_COLOR)
    return figure


def shepard_figure(diagram: Shepard, *, title: str = "", verdict: str = "") -> Figure:
    """Shepard diagram: distances on the map over distances in the data.

    The darker a cell, the more pairs it has. The line is the mean distance on the map. On a map
    that keeps distances it is straight, and the cloud around it is thin.

    Parameters
    ----------
    diagram : Shepard
        Counts that `dualfold.quality.shepard` returns.
    title : str, default=""
        Text above the figure.
    verdict : str, default=""
        Line under the figure, for example that of a certificate.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `savefig` writes it.

    See Also
    --------
    dualfold.quality.shepard : Makes the diagram.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import shepard
    >>> from dualfold.view import shepard_figure
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> figure = shepard_figure(shepard(X, X[:, :2], bins=16))
    >>> len(figure.axes)  # the diagram and its colour bar
    2
    """
    from matplotlib.colors import LogNorm

    figure, (axes,) = frames(1, PLANE_INCHES, title=title, verdict=verdict)
    counts = diagram.counts.T.astype(float)
    most = max(float(counts.max()), 2.0)
    # Cells with a ten-thousandth of the fullest are the palest that can be distinguished.
    image = axes.pcolormesh(
        diagram.before,
        diagram.after,
        np.where(counts > 0, counts, np.nan),
        cmap="Blues",
        norm=LogNorm(max(1.0, most * 1e-4), most),
        rasterized=True,
        linewidth=0,
    )
    middle = (diagram.before[:-1] + diagram.before[1:]) / 2
    enough = diagram.counts.sum(axis=1) >= max(10, 1e-5 * diagram.counts.sum())
    line = {"color": FEW_COLORS[4], "linewidth": 1.6, "label": "mean"}
    axes.plot(middle[enough], diagram.typical()[enough], **line)
    axes.set_xlim(0, diagram.before[-1])
    axes.set_ylim(0, diagram.after[-1])
    name_axes(axes, 2, ("distance in the data", "distance on the map"))
    axes.legend(frameon=False, fontsize=8.5, labelcolor=INK_COLOR, loc="upper left")
    _bar(figure, axes, image, "pairs, from either end")
    return figure


def quality_map_figure(
    points: Any,
    values: Any,
    *,
    name: str = "trustworthiness",
    title: str = "",
    verdict: str = "",
    equal: bool = True,
) -> Figure:
    """Map coloured by how far each of its points can be believed.

    Parameters
    ----------
    points : array-like of shape (n_samples, n_components)
        Map, one row for each point.
    values : array-like of shape (n_samples,)
        One number for each point, as measures return it with `per_point=True`; NaN is grey.
    name : str, default="trustworthiness"
        Name of the measure.
    title : str, default=""
        Text above the figure.
    verdict : str, default=""
        Line under the figure, for example that of a certificate.
    equal : bool, default=True
        Whether one unit is as long on every axis. False where lengths mean nothing, as in
        eigenmaps, whose coordinates have the same spread by construction.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `savefig` writes it.

    Raises
    ------
    InvalidInput
        If `values` are not one for each point.

    See Also
    --------
    map_figure : Colours of any kind.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import trustworthiness
    >>> from dualfold.view import quality_map_figure
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> figure = quality_map_figure(X[:, :2], trustworthiness(X, X[:, :2], per_point=True))
    >>> len(figure.axes)
    2
    """
    return map_figure(
        points,
        np.asarray(values, dtype=float),
        title=title,
        verdict=verdict,
        color_name=f"{name} of each point",
        equal=equal,
    )


def co_ranking_figure(ranks: CoRanking, *, title: str = "", verdict: str = "") -> Figure:
    """Ranks in the data against ranks on the map, as dark as there are pairs.

    All on the diagonal is a perfect map. Left of it (below) neighbours on the map come
    from far away in the data: intruders; right of it (above) real neighbours went away.
    """
    from matplotlib.colors import PowerNorm

    figure, (axes,) = frames(1, PLANE_INCHES, title=title, verdict=verdict)
    share = ranks.counts / ranks.sampled
    top = float(np.quantile(share, 0.999)) or float(share.max()) or 1.0
    edges = np.arange(ranks.max_rank + 1) + 0.5
    # Square-root steps: off the diagonal most cells hold little, and it is them one reads.
    image = axes.pcolormesh(
        edges, edges, share, cmap="Blues", norm=PowerNorm(0.5, 0, top), rasterized=True
    )
    axes.plot(edges[[0, -1]], edges[[0, -1]], color=FEW_COLORS[4], linewidth=0.8, alpha=0.7)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.xaxis.set_label_position("bottom")
    for x, y, words in ((0.03, 0.04, "intruders"), (0.97, 0.96, "lost neighbours")):
        where = {"ha": "left" if x < 0.5 else "right", "va": "bottom" if y < 0.5 else "top"}
        axes.text(x, y, words, transform=axes.transAxes, fontsize=8.5, color=INK_COLOR, **where)
    name_axes(axes, 2, ("rank on the map", "rank in the data"))
    _bar(figure, axes, image, "share of points", extend="max")
    return figure


def _bar(figure: Figure, axes: Any, image: Any, name: str, extend: str = "neither") -> None:
    bar = figure.colorbar(
        image, ax=axes, shrink=0.8, fraction=0.04, pad=0.02, aspect=36, extend=extend
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(which="both", colors=SOFT_COLOR, labelsize=8, length=2, color=PALE_COLOR)
    bar.set_label(name, fontsize=9, color=SOFT_COLOR)
