"""A picture of the trace theorem: what random bases reach between the two bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.view.colors import FEW_COLORS
from dualfold.view.drawing import FAINT, INK, SOFT
from dualfold.view.figures import RESOLUTION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, np.dtype[Any]]


def trace_figure(reached: Mapping[str, tuple[Array, float, float]], *, title: str = "") -> Figure:
    """Histograms of traces, with the least and the greatest that the theorem allows.

    reached : name → (traces of random bases, sum of the smallest eigenvalues, of the largest)
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(reached), 3.2), dpi=RESOLUTION, layout="constrained")
    for place, (name, (traces, least, most)) in enumerate(reached.items()):
        axes = figure.add_subplot(1, len(reached), place + 1)
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
        axes.set_title(name, fontsize=10.5, color=INK, pad=6)
        axes.set_xlabel("tr(VᵀAV)", fontsize=9, color=SOFT)
        if place == 0:
            axes.set_ylabel("random bases", fontsize=9, color=SOFT)
        axes.tick_params(colors=SOFT, labelsize=8, length=3, color=FAINT)
        for edge in ("top", "right"):
            axes.spines[edge].set_visible(False)
        for edge in ("left", "bottom"):
            axes.spines[edge].set_color(FAINT)
    if title:
        figure.suptitle(title, fontsize=13, color=INK, x=0.02, ha="left")
    return figure
