"""What a page shows of maps of one table: their measures, and the table beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dualfold.exploration.page_texts import page_texts, row_terms
from dualfold.exploration.table_meaning import first_color, label_columns
from dualfold.view.page import PageContent
from dualfold.view.page_map import Map, measured_map

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.data import Prepared
    from dualfold.exploration.fitted_map import FittedMap
    from dualfold.exploration.listener import Listener
    from dualfold.exploration.neighbor_cache import NeighborCache
    from dualfold.judging import Judgement

# Neighbours of a point that the page shows.
SHOWN_NEIGHBORS = 10


def maps_content(
    data: Prepared,
    maps: Sequence[FittedMap],
    judgements: Sequence[Judgement],
    cache: NeighborCache,
    listener: Listener,
    *,
    notes: Sequence[str] = (),
    images: tuple[int, int] | None = None,
    with_text: bool = True,
) -> PageContent:
    """The content of one page with these maps of one table, and all of its columns.

    notes : sentences about the table and the maps
    images : the shape of the rows, where they are pictures
    with_text : whether the page holds the texts of the rows
    """
    with listener.stage("measuring the map for the page"):
        measured = [
            _map_on_page(fitted, judgement, cache)
            for fitted, judgement in zip(maps, judgements, strict=True)
        ]
    color, why = first_color(data, judgements[0].meaning)
    columns, remarks = page_texts(data, label_columns(data), with_text=with_text)
    for one in remarks:
        listener.note(one)
    return PageContent(
        measured,
        title="table" if data.source == "-" else Path(data.source).name,
        columns=columns,
        features=data.numbers,
        filled=_filled_numbers(data),
        names=_page_names(data),
        rows=data.rows + 1,
        images=_images(data, images),
        color=color,
        color_reason=why,
        notes=[*notes, *remarks],
        row_terms=row_terms(data, measured[0].neighbors) if with_text else None,
    )


def _page_names(data: Prepared) -> Array | None:
    """The column that was named for it; of counts also the one that was found."""
    if data.reading.identifier is None and data.reading.mixed == "counts":
        return next(iter(data.table.row_names.values()), None)
    return data.label(data.reading.identifier)


def _map_on_page(fitted: FittedMap, judgement: Judgement, cache: NeighborCache) -> Map:
    """The map as a page draws it, with its quality and neighbours."""
    method = fitted.plan.method
    shown = Map(
        method.name,
        fitted.points,
        values=fitted.values or None,
        certificate=fitted.certificate,
        neighbors=cache.nearest(min(SHOWN_NEIGHBORS, (len(fitted.points) - 1) // 2)),
        history=fitted.estimator.history_ if method.dual else None,
        pieces=fitted.pieces,
        equal=method.lengths,
        explained=fitted.variance_shares,
        judgement=judgement,
        columns=fitted.column_points,
        explains=method.explains,
    )
    measured = measured_map(
        shown, cache.spaces[0], n_neighbors=SHOWN_NEIGHBORS, sample_weight=cache.weights
    )
    if measured.quality is None or judgement.is_measured:
        return measured
    return replace(measured, quality=replace(measured.quality, doubt=judgement.doubt))


def _filled_numbers(data: Prepared) -> dict[str, Array]:
    """Values filled into the gaps of columns that are features as they are, by name."""
    names, known = data.numbers
    plain = {one.name for one in data.encodings if one.kind == "number"}
    if not isinstance(known, np.ndarray) or not isinstance(data.table.X, np.ndarray):
        return {}
    places = {name: place for place, name in enumerate(data.names) if name in plain}
    gaps = {name: ~np.isfinite(known[:, place]) for place, name in enumerate(names)}
    return {
        name: data.table.X[gap, places[name]]
        for name, gap in gaps.items()
        if name in places and gap.any()
    }


def _images(data: Prepared, shape: tuple[int, int] | None) -> tuple[int, int, Array] | None:
    """The rows as pictures, as a page takes them."""
    if shape is None:
        return None

    dense = data.table.X if isinstance(data.table.X, np.ndarray) else data.table.X.toarray()
    return (*shape, dense)
