"""Pictures. matplotlib is imported when the first one is made, never before."""

from dualfold.view.figures import Panel, gallery, map_figure, save_figure
from dualfold.view.games import gap_figure, path_figure, zigzag_figure
from dualfold.view.unfolding import unfolding_figure

__all__ = [
    "Panel",
    "gallery",
    "gap_figure",
    "map_figure",
    "path_figure",
    "save_figure",
    "unfolding_figure",
    "zigzag_figure",
]
