"""Figures, and pages to explore in a browser.

matplotlib is imported when the first figure is made, not before.
"""

from dualfold.view.figures import biplot_figure, map_figure
from dualfold.view.inline_page import page
from dualfold.view.named_groups import named_groups
from dualfold.view.page import PageContent, make_page
from dualfold.view.page_map import Map, measured_map
from dualfold.view.quality_figures import (
    curve_figure,
    quality_map_figure,
    scree_figure,
    shepard_figure,
)

__all__ = [
    "Map",
    "PageContent",
    "biplot_figure",
    "curve_figure",
    "make_page",
    "map_figure",
    "measured_map",
    "named_groups",
    "page",
    "quality_map_figure",
    "scree_figure",
    "shepard_figure",
]
