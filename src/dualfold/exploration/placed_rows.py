"""What a page shows of new rows on an existing map: beside the old ones, and marked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.data.prepared import colors_of
from dualfold.exploration.map_page import SHOWN_NEIGHBORS
from dualfold.exploration.plan import SCORED_NEIGHBORS
from dualfold.judging import map_judgement
from dualfold.models.old_and_new_rows import old_rows, rows_in_map_units
from dualfold.quality.foreign_rows import ForeignRows
from dualfold.view.figures import map_figure
from dualfold.view.page import PageContent
from dualfold.view.page_map import Map, measured_map
from dualfold.weights.encoding import words_of
from dualfold.weights.written_dates import as_dates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from dualfold.arrays import Matrix, Metric
    from dualfold.data.preparation import PreparedRows
    from dualfold.models import Model

# Old points that are drawn with the new ones.
MAX_OLD_POINTS = 5_000
# Classes of points in the legend, in the order of their colours.
FAR_ROWS, NEW_ROWS, OLD_ROWS = "new rows, far out", "new rows", "old rows"
OLD_VALUES_NOTE = (
    "old rows are shown with the values that the map was made of, so their gaps are filled in; "
    "a model may hold some of the old rows only, and it counts them on its own"
)


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """New rows on the map of a model.

    new : the rows; points : where they lie; foreign : how they were judged, None if not
    title : of the page; identifier, color : columns of the new rows, where they were named
    """

    model: Model
    new: PreparedRows
    points: Array
    foreign: ForeignRows | None
    title: str = "dualfold"
    identifier: str | None = None
    color: str | None = None

    @property
    def verdict(self) -> str:
        """Sentence on how far the new rows are from the old ones."""
        if self.foreign is None:
            return "Placed; the model holds no old rows, so the new ones could not be judged."
        return str(self.foreign)

    def figure(self) -> Figure:
        """The new points, and before grey ones of rows that the model holds."""
        old = old_rows(self.model)
        labels = self.new.table.labels
        return map_figure(
            self.points,
            None if self.color is None else colors_of(labels[self.color]),
            title=self.title,
            verdict=self.verdict,
            color_name=self.color or "",
            behind=None if old is None else self.model.map(old[0][:MAX_OLD_POINTS]),
        )

    def page_content(self) -> PageContent:
        """Map of old and new rows with their values, p-values and nearest rows."""
        table, both = self.new.table, rows_in_map_units(self.model, self.new.X)
        old = None if both is None else both.stored[:MAX_OLD_POINTS]
        n_old = 0 if old is None else old.shape[0]
        columns = self._columns(n_old)
        points = np.asarray(self.points, dtype=float)
        if old is not None:
            points = np.concatenate([self.model.map(old), points])
        shown = Map(self.model.method, points)
        if both is not None:
            rows = _stacked_rows(both.old[:n_old], both.new)
            shown = self._measured_map(shown, rows, both.metric)
        marks = next(iter(columns))
        names = [f"old row {place + 1}" for place in range(n_old)]
        known = None if self.identifier is None else table.labels[self.identifier]
        for place, row in enumerate(table.rows):
            names.append(f"new row {row + 1}" if known is None else str(known[place]))
        judged = [] if self.foreign is None else [self.verdict]
        return PageContent(
            [shown],
            title=self.title,
            columns=columns,
            features=self._features(old),
            names=names,
            rows=np.concatenate([np.arange(n_old), table.rows]) + 1,
            color=self.color or marks,
            notes=[*judged, *self.new.notices, *([OLD_VALUES_NOTE] if n_old else [])],
            classes={marks: (FAR_ROWS, NEW_ROWS, OLD_ROWS)},
        )

    def _measured_map(self, shown: Map, rows: Matrix, metric: Metric) -> Map:
        """The map with what it shows of all these rows."""
        judgement = None
        if len(shown.points) > SCORED_NEIGHBORS:
            dense = isinstance(rows, np.ndarray)
            known = dict(zip(self.model.columns, rows.T, strict=True)) if dense else None
            judgement = map_judgement(rows, shown.points, columns=known, metric=metric)
        measured = measured_map(shown, rows, n_neighbors=SHOWN_NEIGHBORS, metric=metric)
        return replace(measured, judgement=judgement)

    def _columns(self, n_old: int) -> dict[str, Array]:
        """Which rows are new, how they were judged, and their labels; the old ones have none."""
        table, features = self.new.table, {*self.new.values, *self.model.columns}
        labels = {name: v for name, v in table.labels.items() if name not in features}
        marks = "rows"
        while marks in features or marks in labels:
            marks += "_new"
        words = np.full(len(table.rows), NEW_ROWS, dtype=object)
        measured: dict[str, Array | None] = {}
        if self.foreign is not None:
            words[self.foreign.far_out] = FAR_ROWS
            measured = {"p-value": self.foreign.p_values, "distance": self.foreign.distances}
        kept = {name: v for name, v in measured.items() if v is not None and name not in labels}
        columns = {marks: np.concatenate([np.full(n_old, OLD_ROWS, dtype=object), words])}
        return columns | {name: _after_gaps(v, n_old) for name, v in (kept | labels).items()}

    def _features(self, old: Matrix | None) -> tuple[Sequence[str], Matrix] | dict[str, Array]:
        """The columns that the map was made of, of old and new rows, as they are in the files."""
        model, new = self.model, self.new
        before = None if old is None else _as_read(model, old)
        if sp.issparse(new.table.X) or sp.issparse(before):
            return model.columns, _stacked_rows(before, new.table.X)
        known = {} if before is None else model.preparation.decoded(before)
        return {
            name: values if before is None else _joined_column(known[name], values)
            for name, values in new.values.items()
        }


def _as_read(model: Model, old: Any) -> Any:
    """Old rows before they were standardised, without rounding errors of storing them."""
    if sp.issparse(old):
        return old
    rows = np.asarray(old, dtype=float)
    digits = np.finfo(old.dtype).precision
    standard = model.preparation.standard
    if standard is not None:
        scale = np.where(np.isfinite(standard.deviation), standard.deviation, 0.0)
        steps, rows = np.abs(rows * scale).max(axis=0), rows * scale + standard.mean
    else:
        steps = np.abs(rows).max(axis=0)
    with np.errstate(divide="ignore"):
        places = digits - np.ceil(np.log10(np.where(steps > 0, steps, 1.0))).astype(int)
    return np.stack(
        [np.round(column, int(place)) for column, place in zip(rows.T, places, strict=True)], axis=1
    )


def _after_gaps(values: ArrayLike, n_old: int) -> Array:
    """A column of the new rows, with nothing for the old ones before them."""
    values = np.asarray(values)
    if values.dtype.kind in "iuf":
        return np.concatenate([np.full(n_old, np.nan), values])
    return np.concatenate([np.full(n_old, None, dtype=object), values.astype(object)])


def _joined_column(old: Array, new: ArrayLike) -> Array:
    """Column of old and new rows, as words where one of them has words."""
    new = np.asarray(new)
    if old.dtype.kind in "iuf" and new.dtype.kind in "iuf":
        return np.concatenate([old, new])
    if old.dtype.kind == "M":
        dates = as_dates(new)
        new = new if dates is None else dates
    if old.dtype.kind == new.dtype.kind == "M":
        return np.concatenate([old, new])

    joined = np.array([*words_of(old), *words_of(new)], dtype=object)
    joined[joined == ""] = None
    return joined


def _stacked_rows(first: Matrix | None, second: Matrix) -> Matrix:
    if first is None:
        return second
    if sp.issparse(first) or sp.issparse(second):
        return sp.vstack([sp.csr_array(first), sp.csr_array(second)]).tocsr()
    return np.concatenate([first, second])
