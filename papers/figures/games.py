"""Pictures of first-order methods: gaps against bounds, and paths on a surface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import INK_COLOR, PALE_COLOR, SOFT_COLOR, frames, head, name_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dualfold.games import Convex
    from dualfold.theory.games.curves import Curve
    from dualfold.theory.games.textbook_methods import Path

GAP, BOUND = FEW_COLORS[0], FEW_COLORS[4]
COLUMNS = 4


def gap_figure(curves: Sequence[Curve], *, title: str = "") -> Figure:
    """The duality gap of each method against its bound, one panel for each method.

        gap_figure(dualfold.games.recipe_curves())

    The axes are logarithmic; for a linear rate the rounds are not, so that it too is a
    straight line.
    """
    if not curves:
        raise InvalidInput("a figure of gaps needs at least one curve, but there is none")
    figure, panels = frames(len(curves), (3.1, 2.7), columns=COLUMNS, title=title)
    for place, (axes, curve) in enumerate(zip(panels, curves, strict=True)):
        _draw_curve(axes, curve)
        below = "rounds" if place >= len(curves) - COLUMNS else ""
        name_axes(axes, 2, (below, "duality gap" if place % COLUMNS == 0 else ""))
    return figure


def path_figure(f: Convex, paths: Sequence[tuple[str, Path]], *, title: str = "") -> Figure:
    """Paths of methods over the level lines of a function of two variables, one panel each."""
    if not paths or any(path.points.shape[1] != 2 for _, path in paths):
        raise InvalidInput(
            "paths are drawn over the plane: one or more, of points with two entries"
        )
    figure, panels = frames(len(paths), (3.4, 3.2), columns=COLUMNS, title=title)
    surface = _surface(f, np.vstack([path.points for _, path in paths]))
    for axes, (name, path) in zip(panels, paths, strict=True):
        # By rank, so that the narrow floor of a valley has lines of its own.
        levels = np.unique(np.quantile(surface[2], np.linspace(0.005, 0.98, 16) ** 1.5))
        axes.contour(*surface, levels, colors=PALE_COLOR, linewidths=0.7, linestyles="solid")
        axes.plot(*path.points.T, "-o", color=GAP, markersize=2.5, linewidth=1.0)
        axes.plot(*path.points[0], "o", color=INK_COLOR, markersize=5)
        axes.plot(*path.answer, "*", color=BOUND, markersize=9)
        head(axes, name)
        words = f"f = {path.upper[-1]:.4g} after {path.rounds}".replace("-", "−")
        _note(axes, 0.97, 0.04, words, SOFT_COLOR, "right")
    return figure


def _surface(f: Convex, points: Array) -> tuple[Array, Array, Array]:
    """Heights of f on a grid around the points."""
    low, high = points.min(axis=0), points.max(axis=0)
    edge = 0.08 * (high - low).max()
    across, up = np.meshgrid(
        np.linspace(low[0] - edge, high[0] + edge, 160),
        np.linspace(low[1] - edge, high[1] + edge, 160),
    )
    heights = [f.value(x) for x in np.column_stack([across.ravel(), up.ravel()])]
    return across, up, np.array(heights).reshape(across.shape)


def _draw_curve(axes: Any, curve: Curve) -> None:
    from matplotlib.ticker import NullFormatter

    linear = curve.rate.exponent == 0
    shown = curve.gap > 1e-15 * curve.gap.max()
    axes.set_yscale("log")
    if not linear:
        axes.set_xscale("log")
    until = curve.rounds <= curve.rounds[shown].max()  # a bound below rounding says nothing
    axes.plot(curve.rounds[until], curve.bound[until], "--", color=BOUND, linewidth=1.3)
    axes.plot(curve.rounds[shown], curve.gap[shown], color=GAP, linewidth=1.6)
    if curve.bound.max() > 100 * curve.gap[shown].min():  # powers of ten are labels enough
        axes.yaxis.set_minor_formatter(NullFormatter())
    head(axes, curve.name)
    measured = f"falls by ×{curve.slope:.3f} a round" if linear else f"slope −{-curve.slope:.2f}"
    _note(axes, 0.04, 0.13, f"gap: {measured}", GAP, "left")
    promised = f"×{curve.rate.factor:.3f}" if linear else curve.rate.words
    _note(axes, 0.04, 0.04, f"bound: {promised}", BOUND, "left")


def _note(axes: Any, x: float, y: float, words: str, color: str, side: str) -> None:
    # A white ground keeps words legible where a line runs behind them.
    ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    axes.text(x, y, words, transform=axes.transAxes, fontsize=8, color=color, ha=side, bbox=ground)
