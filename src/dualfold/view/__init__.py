"""Pictures. matplotlib is imported when the first one is made, never before."""

from dualfold.view.figures import Panel, gallery, map_figure, save_figure
from dualfold.view.unfolding import unfolding_figure

__all__ = ["Panel", "gallery", "map_figure", "save_figure", "unfolding_figure"]
