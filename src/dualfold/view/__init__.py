"""Pictures. matplotlib is imported when the first one is made, never before.

What figures share:

points : the map, one row for each point
title : above the picture
verdict : a line under it, the certificate's for example
equal : one unit is as long on every axis; False where lengths mean nothing
name, color_name : what the colours stand for, in words
axis_names : what the axes are called, in the order of the columns
"""

from dualfold.view.figures import biplot_figure, map_figure
from dualfold.view.inline_page import page
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
    "page",
    "quality_map_figure",
    "scree_figure",
    "shepard_figure",
]
