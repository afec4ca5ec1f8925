"""One HTML file that shows maps and whether to trust them, and needs nothing else.

    from dualfold.view import Map, PageContent, measured_map, write_page
    isomap = measured_map(Map("Isomap", model.embedding_, certificate=model.certificate_), X)
    write_page("map.html", PageContent([isomap], columns={"species": species}))

The file holds the data and our own JavaScript (`page_parts/`). It asks the network for nothing,
and its content security policy forbids the browser to.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.data.atomic_files import atomic_file
from dualfold.errors import Argument, InvalidInput, Message, PageThinned, warn
from dualfold.view.figures import figure_bytes, map_figure
from dualfold.view.page_columns import (
    MAX_THUMBNAIL_PIXELS,
    Column,
    columns_of,
    first_color,
    row_names,
    row_numbers,
    thumbnails,
)
from dualfold.view.page_data import PageParts
from dualfold.view.page_map import Map
from dualfold.view.page_names import RowTerms
from dualfold.view.page_size import (
    BYTES_PER_MB,
    DEFAULT_MB,
    features_of,
    fit_to_size,
    without_names,
)

__all__ = ["Page", "PageContent", "make_page", "write_page"]

# In this order inside one function: each file uses only what stands before it when it runs.
PAGE_SCRIPTS = (
    *("data", "explain", "audit", "colors", "neighbors", "view", "drawing", "space", "gl_map"),
    *("grid", "moving", "density", "names", "meaning", "groups", "overlay", "column_points"),
    *("terms", "change", "legend", "compare", "point", "chart", "panels", "verdict", "download"),
    *("search", "tools", "keyboard", "print", "page"),
)
# Coordinates of so many rows are exact, of more they have 16 bits; also the most points of a
# still picture.
MOST_EXACT_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class PageContent:
    """Content of a page.

    Parameters
    ----------
    maps : sequence of Map
        One map or more, of the same rows.
    title : str, default="dualfold"
        Title of the page.
    columns : data frame, mapping or None, default=None
        Names, and one value for each row: what points are coloured and filtered by and what is
        shown of them. All of it is data: nothing in it is ever run or read as markup.
    features : data frame, mapping, array-like, tuple or None, default=None
        Table that the maps were made from; a tuple is (names, matrix). Its columns can be coloured
        by and compared, too; of a table that is too large those are kept that neighbours share
        most.
    filled : mapping, default=dict()
        Columns of `features`, and what was filled in for each of their gaps; shown beside the gap.
    names : sequence of str or None, default=None
        One for each row, to search for; None: "row 1", "row 2", ….
    rows : array-like of int or None, default=None
        Number of each row in its table, counted from 1 without the header; None: 1 … n.
    images : tuple or None, default=None
        Height, width and one row of pixels for each point, if each point is a picture.
    color : str or None, default=None
        Column to colour by at first; None: the first, or the first that tells rows apart in groups
        where the first names each row.
    color_reason : str, default=""
        Why that column, for the legend; "" where the caller chose it.
    seed : int, default=0
        Seed of the order in which points are drawn, so that no class hides another.
    most_mb : float or None, default=20.0
        Largest size of the file in megabytes; None: as large as it gets.
    notes : sequence of str, default=()
        Sentences about how the table was read.
    classes : mapping or None, default=None
        Columns, and all classes that they can have, in the order of their colours: pages with the
        same ones share their colours.
    audit : dict or None, default=None
        What an audit of the map found.
    row_terms : RowTerms or None, default=None
        Terms of the text of each row, and how many of its neighbours share each.

    See Also
    --------
    make_page : Makes the page.
    page : The same from estimators and arrays.

    Examples
    --------
    >>> from dualfold.view import Map, PageContent
    >>> content = PageContent([Map("PCA", [[0.0, 1.0], [2.0, 3.0]])], title="Two points")
    >>> content.most_mb
    20.0
    """

    maps: Sequence[Map]
    title: str = "dualfold"
    columns: Any = None
    features: Any = None
    filled: Mapping[str, Any] = field(default_factory=dict)
    names: Any = None
    rows: Any = None
    images: tuple[int, int, Any] | None = None
    color: str | None = None
    color_reason: str = ""
    seed: int = 0
    most_mb: float | None = DEFAULT_MB
    notes: Sequence[str] = ()
    classes: Mapping[str, Sequence[str]] | None = None
    audit: dict[str, object] | None = None
    row_terms: RowTerms | None = None


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
        return f"{self.size / BYTES_PER_MB:.1f} MB"

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write it to `path`, whole or not at all; `overwrite` a file that is there or refuse."""
        with atomic_file(Path(path), overwrite=overwrite) as file:
            file.write(self.html.encode("utf-8"))


def make_page(content: PageContent) -> Page:
    """Make a page of maps: one HTML file that works without a network.

    Parameters
    ----------
    content : PageContent
        Maps, columns and words of the page.

    Returns
    -------
    Page
        `html`, the file as text; `megabytes`, its size in words; `notices`, what was left out so
        that it is no larger; `write(path)` writes it.

    Raises
    ------
    InvalidInput
        If there is no map, the maps have different numbers of rows, or `color` names no column.

    See Also
    --------
    page : The same from estimators and arrays.

    Examples
    --------
    >>> from dualfold.view import Map, PageContent, make_page
    >>> made = make_page(PageContent([Map("PCA", [[0.0, 1.0], [2.0, 3.0]])], title="Two points"))
    >>> "Two points" in made.html
    True
    """
    maps, color, most_mb = list(content.maps), content.color, content.most_mb
    n = _rows_of(maps)
    table = columns_of(content.columns, n, content.classes)
    features = replace(
        features_of(content.features, n, {column.name for column in table}), filled=content.filled
    )
    if color is not None and color not in [*(column.name for column in table), *features.names]:
        raise InvalidInput(
            f"there is no column {color!r} to colour by; give it in ", Argument("columns")
        )
    if color is not None and color in features.names:  # named by the caller: never left out
        place = features.names.index(color)
        table = [*table, features.page_column(place, n)]
        features = without_names(features, {column.name for column in table})
    color = first_color(table, n) if color is None else color
    half: float = MAX_THUMBNAIL_PIXELS
    if most_mb is not None:
        half = min(half, 0.5 * most_mb * BYTES_PER_MB)
    images = content.images
    parts = PageParts(
        title=content.title,
        maps=maps,
        columns=table,
        names=row_names(content.names, n),
        rows=row_numbers(content.rows, n),
        images=None if images is None else thumbnails(images, n, half),
        color=color,
        color_reason=content.color_reason,
        seed=content.seed,
        total=n,
        notes=tuple(content.notes),
        audit=content.audit,
        row_terms=content.row_terms,
        large=n > MOST_EXACT_ROWS,
    )
    pictures = _still_pictures(maps, table, color)
    fixed_bytes = len(_html_file(content.title, "", pictures).encode("utf-8"))
    parts, notices = fit_to_size(parts, features, fixed_bytes, most_mb)
    return Page(_html_file(content.title, parts.json(), pictures), notices)


def write_page(
    path: str | os.PathLike[str], content: PageContent, *, overwrite: bool = False
) -> None:
    """Write the page to `path`, whole or not at all.

    A file that is there is replaced only with overwrite=True. What is left out is named by a
    `PageThinned` warning, before anything is written.
    """
    page = make_page(content)
    for notice in page.notices:
        warn(PageThinned(notice, f"; it takes {page.megabytes}"))
    page.write(path, overwrite=overwrite)


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


def _still_pictures(maps: Sequence[Map], table: list[Column], color: str | None) -> str:
    """Pictures for browsers without WebGL or scripts: each map as a PNG inside the page."""
    chosen = next((c for c in table if c.name == color), None)
    values: Any = None if chosen is None else chosen.given
    if chosen is not None and chosen.kind == "class":
        values = [None if word is None else _plain(str(word)) for word in chosen.given]
    figures = []
    n = len(maps[0].points)
    rows: Any = slice(None)
    if n > MOST_EXACT_ROWS:  # more would be seconds of work for the same picture
        rows = np.random.default_rng(0).choice(n, MOST_EXACT_ROWS, replace=False)
        values = None if values is None else np.asarray(values)[rows]
    for shown in maps:
        figure = map_figure(
            np.asarray(shown.points)[rows],
            values,
            color_name="" if chosen is None else _plain(chosen.name),
            classes=() if chosen is None else chosen.classes,
            equal=shown.equal,
            columns=shown.columns and {_plain(name): at for name, at in shown.columns.items()},
        )
        with warnings.catch_warnings():
            # matplotlib's font has no emoji; the page itself has the label.
            warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            # As sharp as a screen needs; the page travels by mail.
            code = base64.b64encode(figure_bytes(figure, "map.png", dpi=110)).decode()
        name = html.escape(_encodable(shown.name))
        figures.append(
            f'<figure><img alt="The map {name}, as a still picture" '
            f'src="data:image/png;base64,{code}"><figcaption>{name}</figcaption></figure>'
        )
    return "\n".join(figures)


def _plain(text: str) -> str:
    """For matplotlib, which reads $…$ as a formula and draws one line of a few words."""
    return _encodable(text[:60]).replace("$", r"\$").replace("\n", " ")


def _encodable(text: str) -> str:
    """Without the lone surrogates that no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _html_file(title: str, data: str, pictures: str) -> str:
    """The whole file, with its content security policy."""
    parts = files("dualfold.view").joinpath("page_parts")

    def text_of(name: str) -> str:
        return parts.joinpath(name).read_text(encoding="utf-8")

    ours = "\n".join(text_of(f"{name}.js") for name in PAGE_SCRIPTS)
    script = f'\n"use strict";\n(() => {{\n{ours}\n}})();\n'
    # Only this text may run: a script smuggled in by a label would be another one.
    filling = {
        "title": html.escape(_encodable(title)),
        "policy": (
            f"default-src 'none'; script-src {_fingerprint(script)}; "
            "style-src 'unsafe-inline'; img-src data: blob:"
        ),
        "style": text_of("page.css"),
        "data": data,
        "pictures": pictures,
        "script": script,
    }
    # One pass: what is filled in is never looked through again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filling[found[1]], text_of("page.html"))


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
