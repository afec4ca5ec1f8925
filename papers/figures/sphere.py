"""A sphere and the planes that touch it: local linear structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import DOTS_PER_INCH, PALE_COLOR, SOFT_COLOR, head

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_NEIGHBORS = 12
# Half the side of a patch, and where patches touch: (longitude, latitude) in degrees.
PATCH_SIZE = 0.38
PLACES = ((-72.0, 42.0), (-12.0, 12.0), (-66.0, -26.0))


def tangent_planes_figure(points: Any) -> Figure:
    """A sphere with tangent planes, and a neighbourhood of points beside the plane that fits it.

    points : n×3 rows on the unit sphere, whose neighbourhoods are drawn
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), dpi=DOTS_PER_INCH, layout="constrained")
    whole: Any = figure.add_subplot(1, 2, 1, projection="3d")
    _draw_sphere(whole)
    for color, place in zip(FEW_COLORS, PLACES, strict=False):
        centre = _on_sphere(*place)
        corners = _patch(centre, _tangent_basis(centre), PATCH_SIZE)
        _draw_patch(whole, corners, color)
        whole.plot(*centre[:, None], "o", ms=4, color=color, zorder=5)
    head(whole, "a sphere and its tangent planes")
    near: Any = figure.add_subplot(1, 2, 2, projection="3d")
    _draw_neighborhood(near, np.asarray(points, dtype=float))
    head(near, f"{N_NEIGHBORS} neighbours and their plane")
    return figure


def _on_sphere(longitude: float, latitude: float) -> Any:
    a, b = np.radians([longitude, latitude])
    return np.array([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])


def _tangent_basis(normal: Any) -> Any:
    """Two unit rows orthogonal to the normal and to each other."""
    return np.linalg.svd(normal[None])[2][1:]


def _patch(centre: Any, basis: Any, size: float) -> Any:
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return centre + size * signs @ basis


def _draw_sphere(axes: Any) -> None:
    """Meridians and parallels of the half that faces the viewer, and the outline."""
    turn = np.linspace(0, 2 * np.pi, 61)
    up = np.linspace(-np.pi / 2, np.pi / 2, 31)
    axes.plot_surface(
        np.outer(np.cos(turn), np.cos(up)),
        np.outer(np.sin(turn), np.cos(up)),
        np.outer(np.ones_like(turn), np.sin(up)),
        rcount=24, ccount=16, color="white", edgecolor=PALE_COLOR, lw=0.4, alpha=0.35, shade=False,
    )  # fmt: skip
    axes.view_init(elev=15, azim=-40)
    _equal_box(axes, np.zeros(3), 1.1, zoom=1.45)


def _draw_patch(axes: Any, corners: Any, color: Any) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes.add_collection3d(
        Poly3DCollection([corners], facecolor=color, edgecolor=color, alpha=0.45, zorder=4)
    )


def _draw_neighborhood(axes: Any, X: Any) -> None:
    """The points around the one nearest to the pole, and the plane of its neighbours."""
    middle = X[np.argmax(X[:, 2])]
    order = np.argsort(np.sum((X - middle) ** 2, axis=1))
    chosen = X[order[: N_NEIGHBORS + 1]]
    around = X[order[N_NEIGHBORS + 1 : 8 * N_NEIGHBORS]]
    centre = chosen.mean(axis=0)
    _, _, axes_of = np.linalg.svd(chosen - centre)
    size = 1.15 * np.abs((chosen - centre) @ axes_of[:2].T).max()
    _draw_patch(axes, _patch(centre, axes_of[:2], size), FEW_COLORS[0])
    axes.plot(*around.T, "o", ms=2.5, color=PALE_COLOR)
    axes.plot(*chosen[1:].T, "o", ms=4, color=FEW_COLORS[0])
    axes.plot(*chosen[:1].T, "o", ms=6, color=FEW_COLORS[4])
    for row in chosen[1:]:
        axes.plot(*np.array([chosen[0], row]).T, color=SOFT_COLOR, lw=0.8)
    axes.view_init(elev=24, azim=-40)
    _equal_box(axes, centre - [0, 0, 0.4 * size], 1.9 * size, zoom=1.55)


def _equal_box(axes: Any, centre: Any, half: float, zoom: float) -> None:
    for set_limits, middle in zip(
        (axes.set_xlim, axes.set_ylim, axes.set_zlim), centre, strict=True
    ):
        set_limits(middle - half, middle + half)
    axes.set_box_aspect((1, 1, 1), zoom=zoom)
    axes.set_axis_off()
