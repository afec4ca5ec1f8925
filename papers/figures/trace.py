"""A picture of the trace theorem: what random bases reach between the two bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dualfold.arrays import Array
from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import frames, head, name_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def trace_figure(reached: Mapping[str, tuple[Array, float, float]], *, title: str = "") -> Figure:
    """Histograms of traces, with the least and the greatest that the theorem allows.

    reached : name → (traces of random bases, sum of the smallest eigenvalues, of the largest)
    """
    figure, panels = frames(len(reached), (4.6, 3.2), title=title)
    for axes, (name, (traces, least, most)) in zip(panels, reached.items(), strict=True):
        heights, edges = np.histogram(traces, bins=60, range=(least, most))
        axes.stairs(heights, edges, fill=True, color=FEW_COLORS[0], alpha=0.75)
        top = 1.18 * max(int(heights.max()), 1)
        for bound, words, side in ((least, "smallest λ", "left"), (most, "largest λ", "right")):
            axes.axvline(bound, color=FEW_COLORS[4], linewidth=1.5)
            axes.annotate(
                f"{words}: {bound:.2f}".replace("-", "−"), (bound, top), fontsize=8,
                xytext=(4 if side == "left" else -4, -3), textcoords="offset points",
                color=FEW_COLORS[4], ha=side, va="top",
            )  # fmt: skip
        axes.set_ylim(0, top)
        head(axes, name)
        name_axes(axes, 2, ("tr(VᵀAV)", "random bases" if axes is panels[0] else ""))
    return figure
