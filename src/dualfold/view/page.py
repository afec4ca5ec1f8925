"""One HTML file that shows maps and whether to trust them, and needs nothing else.

    from dualfold.view.page import measured_map, write_page
    isomap = measured_map("Isomap", X, model.embedding_, certificate=model.certificate_)
    write_page("map.html", [isomap], columns={"species": species})

The file holds the data, plotly's JavaScript (out of its Python package) and our own
(`page_parts/`). It asks the network for nothing, and its content security policy forbids
the browser to.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.data.whole_file import whole_file
from dualfold.errors import Argument, InvalidInput, MissingDependency
from dualfold.quality import NeighborRanks, QualityReport, neighbor_ranks, report
from dualfold.quality.estimate import sample_size
from dualfold.quality.ranks import both_spaces
from dualfold.view.figures import figure_bytes, map_figure
from dualfold.view.page_columns import Column, first_color, labelled, row_names, thumbnails
from dualfold.view.page_data import as_json, content_of

__all__ = ["Map", "measured_map", "page_html", "write_page"]

# In this order inside one function: each file uses only what stands before it when it runs.
SCRIPTS = (
    "data.js", "colors.js", "neighbors.js", "drawing.js", "overlay.js", "change.js", "legend.js",
    "point.js", "panels.js", "verdict.js", "download.js", "keyboard.js", "page.js",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Map:
    """One embedding on the page; only its name and its points are needed.

    name : what the tab says, for example the method
    points : n×1, n×2 or n×3 (of more columns the first two are drawn)
    values : eigenvalues, wanted ones first
    certificate : a `dualfold.Certificate`, how far from the optimum the map can be
    quality : `dualfold.quality.report(X, points)`
    neighbors : n×k, the nearest rows of each in the data, nearest first
    history : the solver's records, or rows of (value, relative gap)
    ranks : `dualfold.quality.neighbor_ranks(X, points, k)`, for the curves over 1 … k
    pieces : of the neighbour graph
    equal : whether one unit is as long on every axis (False where lengths mean nothing)
    explained : the share of the variance that each axis explains, where it does
    """

    name: str
    points: Any
    values: Any = None
    certificate: Any = None
    quality: QualityReport | None = None
    neighbors: Any = None
    history: Any = None
    ranks: NeighborRanks | None = None
    pieces: int | None = None
    equal: bool = True
    explained: Any = None


def measured_map(
    name: str,
    X: Any,
    points: Any,
    *,
    values: Any = None,
    certificate: Any = None,
    history: Any = None,
    labels: Any = None,
    pieces: int | None = None,
    equal: bool = True,
    explained: Any = None,
    n_neighbors: int = 10,
    neighbors: Any = None,
    metric: Any = "euclidean",
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Map:
    """A `Map` with its quality, its curves and its neighbours in the data X measured here.

    name : the map's, on its tab; points : n×2 or n×3
    values, certificate, history : eigenvalues, verdict and steps of the solver, if there are any
    labels : classes, to measure how well the map keeps them together
    pieces : in how many the neighbour graph was
    equal : False where lengths on the map mean nothing, as in eigenmaps
    explained : the share of the variance that each axis explains
    n_neighbors, metric : of the neighbourhoods that are held against each other
    random_state, n_jobs : of the sample; threads (None: all cores)
    sample : points asked for the quality (None: all up to 5,000, else 1,000 of them); the
        page says how many
    neighbors : n×k, if they are known already
    """
    placed = np.asarray(points, dtype=float)
    placed = placed[:, None] if placed.ndim == 1 else placed
    n = len(placed)
    asked = sample_size(n, sample)
    k = min(n_neighbors, (n - 1) // 2)
    if k < 1:  # one or two points: there is nothing to measure
        known = {"history": history, "pieces": pieces, "equal": equal, "explained": explained}
        return Map(name, placed, values, certificate, **known)
    drawn = {"metric": metric, "sample": asked, "random_state": random_state, "n_jobs": n_jobs}
    # Spaces keep the neighbours that they found: each side is searched once.
    x, y = both_spaces(X, placed, metric, n_jobs)
    quality = report(x, y, labels=labels, n_neighbors=k, **drawn)
    ranks = neighbor_ranks(x, y, max(k, min(50, (n - 1) // 2)), **drawn)
    if neighbors is None:
        neighbors = x.nearest(k)[0]
    return Map(
        name, placed, values, certificate, quality, neighbors, history, ranks, pieces, equal,
        explained,
    )  # fmt: skip


def page_html(
    maps: Sequence[Map],
    *,
    title: str = "dualfold",
    columns: Any = None,
    names: Any = None,
    images: tuple[int, int, Any] | None = None,
    color: str | None = None,
    seed: int = 0,
) -> str:
    """The page as text; `write_page` puts it into a file.

    title : of the page
    maps : one or more, of the same rows
    columns : a DataFrame, or name → one value for each row: what points are coloured and filtered
        by and what is said about them. All of it is data: nothing in it is ever run or
        read as markup.
    names : one for each row, to search for (default: the row numbers, from 0)
    images : (h, w, n×(h·w)) if each row is a picture, shown under the pointer
    color : the column to colour by at first (default: the first, or the first that tells
        rows apart in groups where the first names each row)
    seed : of the order in which points are drawn, so that no class hides another
    """
    maps = list(maps)
    n = _rows_of(maps)
    table = labelled(columns, n)
    if color is not None and color not in [column.name for column in table]:
        raise InvalidInput(
            f"there is no column {color!r} to colour by; give it in ", Argument("columns")
        )
    color = first_color(table, n) if color is None else color
    pictures = None if images is None else thumbnails(images, n)
    content = content_of(maps, n, title, table, row_names(names, n), pictures, color, seed)
    return _filled(title, as_json(content), _pictures(maps, table, color))


def write_page(
    path: str | os.PathLike[str],
    maps: Sequence[Map],
    *,
    title: str = "dualfold",
    columns: Any = None,
    names: Any = None,
    images: tuple[int, int, Any] | None = None,
    color: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> None:
    """Write the page to `path`, whole or not at all.

    `maps`, `title`, `columns`, `names`, `images`, `color` and `seed` are those of `page_html`;
    a file that is there is replaced only with overwrite=True.
    """
    page = page_html(
        maps, title=title, columns=columns, names=names, images=images, color=color, seed=seed
    )
    with whole_file(Path(path), overwrite=overwrite) as file:
        file.write(page.encode("utf-8"))


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


def _pictures(maps: list[Map], table: list[Column], color: str | None) -> str:
    """What is seen without WebGL or without scripts: each map as a PNG inside the page."""
    chosen = next((c for c in table if c.name == color), None)
    values: Any = None if chosen is None else chosen.given
    if chosen is not None and chosen.kind == "class":
        values = [None if word is None else _plain(str(word)) for word in chosen.given]
    figures = []
    for shown in maps:
        drawn = map_figure(
            shown.points,
            values,
            color_name="" if chosen is None else _plain(chosen.name),
            equal=shown.equal,
        )
        with warnings.catch_warnings():
            # matplotlib's font has no emoji; the page itself has the label.
            warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            # As sharp as a screen needs; the page travels by mail.
            code = base64.b64encode(figure_bytes(drawn, "map.png", dpi=110)).decode()
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


def _filled(title: str, data: str, pictures: str) -> str:
    parts = files("dualfold.view").joinpath("page_parts")

    def text_of(name: str) -> str:
        return parts.joinpath(name).read_text(encoding="utf-8")

    ours = "\n".join(text_of(name) for name in SCRIPTS)
    script = f'\n"use strict";\n(() => {{\n{ours}\n}})();\n'
    library = _plotly()
    # Only these two texts may run: a script smuggled in by a label would not be among them.
    # Plotly compiles its WebGL programs with `Function`, hence unsafe-eval.
    allowed = " ".join(_fingerprint(text) for text in (library, script))
    filling = {
        "title": html.escape(_encodable(title)),
        "policy": (
            f"default-src 'none'; script-src {allowed} 'unsafe-eval'; "
            "style-src 'unsafe-inline'; img-src data: blob:"
        ),
        "style": text_of("page.css"),
        "data": data,
        "pictures": pictures,
        "plotly": library,
        "script": script,
    }
    # One pass: what is filled in is never looked through again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filling[found[1]], text_of("page.html"))


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as missing:
        raise MissingDependency(
            "the page is drawn by plotly, which is not installed: pip install plotly"
        ) from missing
    library = str(get_plotlyjs()).replace("\r\n", "\n")  # as the browser will read it
    if "</script" in library.lower():
        raise MissingDependency(
            "this plotly cannot be put into a page; install another: pip install -U plotly"
        )
    return library
