"""Pictures. matplotlib is imported when the first one is made, never before."""

from dualfold.view.figures import Panel, gallery, map_figure, save_figure
from dualfold.view.games import gap_figure, path_figure, zigzag_figure
from dualfold.view.quality import (
    co_ranking_figure,
    curve_figure,
    quality_map_figure,
    scree_figure,
    shepard_figure,
)
from dualfold.view.unfolding import unfolding_figure

__all__ = [
    "Panel",
    "co_ranking_figure",
    "curve_figure",
    "gallery",
    "gap_figure",
    "map_figure",
    "path_figure",
    "quality_map_figure",
    "save_figure",
    "scree_figure",
    "shepard_figure",
    "unfolding_figure",
    "zigzag_figure",
]
