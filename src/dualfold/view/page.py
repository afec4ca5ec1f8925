"""One HTML file that shows maps and whether to trust them, and needs nothing else.

    from dualfold.view.page import measured_map, write_page
    isomap = measured_map("Isomap", X, model.embedding_, certificate=model.certificate_)
    write_page("map.html", [isomap], columns={"species": species})

The file holds the data, plotly's JavaScript (out of its Python package) and our own
(`page_parts/`). It asks the network for nothing, and its content security policy forbids
the browser to.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.data.atomic_files import atomic_file
from dualfold.errors import Argument, InvalidInput, Message, PageThinned, warn
from dualfold.view.page_columns import (
    MOST_PIXELS,
    column_of,
    first_color,
    labelled,
    row_names,
    thumbnails,
)
from dualfold.view.page_features import features_of
from dualfold.view.page_file import filled, still_pictures
from dualfold.view.page_maps import Map, measured_map
from dualfold.view.page_size import MEGABYTE, MOST_MB, Parts, within

__all__ = ["Map", "Page", "make_page", "measured_map", "page_html", "write_page"]


@dataclass(frozen=True, eq=False)
class Page:
    """A page that is ready to be written: its size is known before.

    html : all of it
    notices : what was left out so that it is no larger, in sentences
    """

    html: str
    notices: tuple[Message, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.html.encode("utf-8"))

    @property
    def megabytes(self) -> str:
        """The size in words.

        >>> Page("12345" * 1_000_000).megabytes
        '5.0 MB'
        """
        return f"{self.size / MEGABYTE:.1f} MB"

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write it to `path`, whole or not at all; `overwrite` a file that is there or refuse."""
        with atomic_file(Path(path), overwrite=overwrite) as file:
            file.write(self.html.encode("utf-8"))


def make_page(
    maps: Sequence[Map],
    *,
    title: str = "dualfold",
    columns: Any = None,
    features: Any = None,
    names: Any = None,
    images: tuple[int, int, Any] | None = None,
    color: str | None = None,
    seed: int = 0,
    most_mb: float | None = MOST_MB,
    notes: Sequence[str] = (),
    classes: Mapping[str, Sequence[str]] | None = None,
    audit: dict[str, Any] | None = None,
) -> Page:
    """The page, and what was left out of it.

    title : of the page
    maps : one or more, of the same rows
    columns : a DataFrame, or name → one value for each row: what points are coloured and filtered
        by and what is said about them. All of it is data: nothing in it is ever run or
        read as markup.
    features : the table that the maps were made from: a DataFrame, a mapping as `columns`, an n×D
        matrix, or (names, matrix). Its columns can be coloured by and compared as the others;
        of a table that is too large those are kept that neighbours share most.
    names : one for each row, to search for (default: the row numbers, from 0)
    images : (h, w, n×(h·w)) if each row is a picture, shown under the pointer
    color : the column to colour by at first (default: the first, or the first that tells
        rows apart in groups where the first names each row)
    seed : of the order in which points are drawn, so that no class hides another
    most_mb : megabytes of the file (None: as large as it gets). 5 of them are plotly.
    notes : sentences about how the table was read, to be looked up on the page
    classes : column → all classes it can have, in the order of their colours, so that pages of
        maps that lack some give the others the same colours
    audit : what an audit of the map says (`dualfold.view.audit`)
    """
    maps = list(maps)
    n = _rows_of(maps)
    table = labelled(columns, n, classes)
    beside = features_of(features, n, {column.name for column in table})
    if color is not None and color not in [*(column.name for column in table), *beside.names]:
        raise InvalidInput(
            f"there is no column {color!r} to colour by; give it in ", Argument("columns")
        )
    if color is not None and color in beside.names:  # asked for by name: never left out
        place = beside.names.index(color)
        table = [*table, column_of(color, beside.column(place), n, "feature")]
        beside = features_of(features, n, {column.name for column in table})
    color = first_color(table, n) if color is None else color
    half = MOST_PIXELS if most_mb is None else min(MOST_PIXELS, 0.5 * most_mb * MEGABYTE)
    pictures = None if images is None else thumbnails(images, n, half)
    given = Parts(
        title, maps, table, row_names(names, n), pictures, color, seed, n, n,
        notes=tuple(notes), audit=audit,
    )  # fmt: skip
    shown = still_pictures(maps, table, color)
    fixed = len(filled(title, "", shown).encode("utf-8"))
    fitted = within(given, beside, fixed, most_mb)
    return Page(filled(title, fitted.parts.json(), shown), fitted.notices)


def page_html(
    maps: Sequence[Map],
    *,
    title: str = "dualfold",
    columns: Any = None,
    features: Any = None,
    names: Any = None,
    images: tuple[int, int, Any] | None = None,
    color: str | None = None,
    seed: int = 0,
    most_mb: float | None = MOST_MB,
) -> str:
    """The page as text; `write_page` puts it into a file.

    `maps`, `title`, `columns`, `features`, `names`, `images`, `color`, `seed` and `most_mb` are
    those of `make_page`; what is left out is said by a `PageThinned` warning.
    """
    page = make_page(
        maps, title=title, columns=columns, features=features, names=names, images=images,
        color=color, seed=seed, most_mb=most_mb,
    )  # fmt: skip
    for notice in page.notices:
        warn(PageThinned(notice, f"; it takes {page.megabytes}"))
    return page.html


def write_page(
    path: str | os.PathLike[str],
    maps: Sequence[Map],
    *,
    title: str = "dualfold",
    columns: Any = None,
    features: Any = None,
    names: Any = None,
    images: tuple[int, int, Any] | None = None,
    color: str | None = None,
    seed: int = 0,
    most_mb: float | None = MOST_MB,
    overwrite: bool = False,
) -> None:
    """Write the page to `path`, whole or not at all.

    `maps`, `title`, `columns`, `features`, `names`, `images`, `color`, `seed` and `most_mb` are
    those of `make_page`; a file that is there is replaced only with overwrite=True. What is left
    out is said by a `PageThinned` warning, before anything is written.
    """
    html = page_html(
        maps, title=title, columns=columns, features=features, names=names, images=images,
        color=color, seed=seed, most_mb=most_mb,
    )  # fmt: skip
    Page(html).write(path, overwrite=overwrite)


def _rows_of(maps: list[Map]) -> int:
    if not maps:
        raise InvalidInput("a page needs at least one map, and there is none")
    for shown in maps:
        shape = np.shape(shown.points)
        if len(shape) not in (1, 2) or 0 in shape:
            raise InvalidInput(
                f"the points of {shown.name!r} must be rows of coordinates; their shape is {shape}"
            )
        if shape[0] != len(maps[0].points):
            raise InvalidInput(
                f"{shown.name!r} has {shape[0]} points and {maps[0].name!r} has "
                f"{len(maps[0].points)}; all maps of a page must be of the same rows"
            )
        if not np.isfinite(np.asarray(shown.points, dtype=float)).all():
            raise InvalidInput(f"the points of {shown.name!r} hold NaN or infinite coordinates")
    return len(maps[0].points)
