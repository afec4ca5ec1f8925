"""Names that tests of pages and figures need: parts of a page, colours, bytes of a figure."""

from __future__ import annotations

from dualfold.exploration.listener import NoteCollector
from dualfold.exploration.page_texts import MAX_TEXT_BYTES, page_texts
from dualfold.exploration.series_moves import Exchange, RowMove
from dualfold.judging.map_meaning import shared_by_neighbors
from dualfold.judging.nearness import Nearness
from dualfold.quality.coranking import co_ranking
from dualfold.unfolding.solution import Record
from dualfold.view.audit_page import audit_columns, audit_content, audit_figure, judgements
from dualfold.view.colors import FEW_COLORS, MANY_COLORS, MOST_CLASSES, coloring_of
from dualfold.view.drawing import draw_behind, frames, name_axes, strip_density
from dualfold.view.figures import Panel, figure_bytes, gallery, save_figure
from dualfold.view.page import write_page
from dualfold.view.page_columns import (
    column_of,
    columns_of,
    first_color,
    packed_numbers,
    thumbnails,
    values_of,
)
from dualfold.view.page_data import PageParts
from dualfold.view.page_map import Map, measured_map
from dualfold.view.page_size import Features, features_of, fit_to_size
from dualfold.view.page_terms import PAGE_TERMS
from dualfold.view.quality_figures import co_ranking_figure
from dualfold.view.series_page import MAX_POINTS, SeriesContent, make_series_page
