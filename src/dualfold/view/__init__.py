"""Pictures. matplotlib is imported when the first one is made, never before."""

from dualfold.view.figures import Panel, gallery, map_figure, save_figure
from dualfold.view.quality import (
    co_ranking_figure,
    curve_figure,
    quality_map_figure,
    scree_figure,
    shepard_figure,
)

__all__ = [
    "Panel",
    "co_ranking_figure",
    "curve_figure",
    "gallery",
    "map_figure",
    "quality_map_figure",
    "save_figure",
    "scree_figure",
    "shepard_figure",
]
