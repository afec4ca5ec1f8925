"""The page of a series: points that walk from slice to slice, in one HTML file.

It is drawn by our own script on a canvas (`page_parts/series.js`), asks the network for nothing,
and its content security policy forbids the browser to.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Message
from dualfold.view.colors import SCALE_LEVELS, Coloring, coloring_of
from dualfold.view.page import Page, _encodable, _fingerprint
from dualfold.view.page_data import as_json

# A browser draws so many points of a slice in every frame of a walk.
MAX_POINTS = 20_000
# Columns to colour by: the page holds all of their values.
MAX_COLUMNS = 20


@dataclass(frozen=True, eq=False)
class SeriesContent:
    """Content of the page of a series.

    names : of the slices, in their order
    slice_of_row, ids, points : of each row of all slices
    columns : names and one value for each row, to colour by; color : which one at first
    moves, exchanges : which rows moved most and why; which came and left
    verdict, weight : sentences about the certificate and the weight of staying near
    """

    title: str
    names: Sequence[str]
    slice_of_row: Array
    ids: Array
    points: Array
    columns: Mapping[str, Any]
    color: str | None
    moves: Sequence[Any]
    exchanges: Sequence[Any]
    verdict: str
    weight: str
    method: str = ""
    notes: Sequence[str] = ()


def make_series_page(content: SeriesContent, notes: Sequence[str] | None = None) -> Page:
    """The page of a series as one file; `notes` in the words of the caller, if not the content's.

    Of more rows than a browser can draw it keeps all that moved most and others by chance.
    """
    notes = content.notes if notes is None else notes
    kept, notices = _kept_rows(content)
    columns, left_out = _columns(content, kept)
    notices += left_out
    ids, place_of_row = np.unique(content.ids[kept].astype(str), return_inverse=True)
    slices = content.slice_of_row[kept]
    points = content.points[kept]
    data = {
        "names": [str(name) for name in content.names],
        "method": content.method,
        "ids": [str(one) for one in ids],
        "slices": [
            {
                "rows": place_of_row[slices == t].tolist(),
                "x": _rounded_values(points[slices == t, 0]),
                "y": _rounded_values(
                    points[slices == t, 1] if points.shape[1] > 1 else points[slices == t, 0] * 0
                ),
            }
            for t in range(len(content.names))
        ],
        "columns": [
            {**key, "codes": [codes[slices == t].tolist() for t in range(len(content.names))]}
            for key, codes in columns
        ],
        "color": next(
            (k for k, (key, _) in enumerate(columns) if key["name"] == content.color), -1
        ),
        "moves": [
            [one.id, one.before, one.after, f"{one.movement:.3g}", one.beyond_chance, one.reasons]
            for one in content.moves
        ],
        "exchanges": [
            {"words": str(one), "came": list(one.came), "went": list(one.went)}
            for one in content.exchanges
        ],
        "verdict": content.verdict,
        "weight": content.weight,
        "notes": [str(one) for one in (*notes, *notices)],
    }
    return Page(_series_file(content.title, as_json(data)), tuple(notices))


def _kept_rows(content: SeriesContent) -> tuple[Array, list[Message]]:
    """Rows that are drawn: all, or those of ids that moved most and a random rest."""
    ids = content.ids.astype(str)
    sizes = np.bincount(content.slice_of_row, minlength=len(content.names))
    if sizes.max() <= MAX_POINTS:
        return np.arange(len(ids)), []
    different = np.unique(ids)
    shuffled = np.random.default_rng(0).permutation(different)
    moved = {one.id for one in content.moves}
    chosen = [*moved, *(one for one in shuffled if one not in moved)]
    wanted = set(chosen[: int(MAX_POINTS * len(different) / sizes.max())])
    kept = np.flatnonzero([one in wanted for one in ids])
    words = f"the page shows {len(kept):,} of {len(ids):,} rows, those that moved most among them"
    return kept, [Message(words)]


def _columns(
    content: SeriesContent, kept: Array
) -> tuple[list[tuple[dict[str, object], Array]], list[Message]]:
    """Columns that the page can colour by: a key and codes of each column, the first one first."""
    names = sorted(content.columns, key=lambda name: name != content.color)
    found = []
    for name in names[:MAX_COLUMNS]:
        coloring = coloring_of(np.asarray(content.columns[name])[kept], len(kept))
        found.append((_key(str(name), coloring), np.asarray(coloring.codes)))
    more = len(names) - MAX_COLUMNS
    left_out = [Message(f"the page colours by {MAX_COLUMNS} columns; {more} more were left out")]
    return found, left_out if more > 0 else []


def _key(name: str, coloring: Coloring) -> dict[str, object]:
    """Colours and what they mean, JSON-ready."""
    palette = [
        "#" + "".join(f"{round(255 * float(part)):02x}" for part in color)
        for color in coloring.palette
    ]
    key: dict[str, object] = {"name": name, "palette": palette, "classes": None, "ends": None}
    if coloring.scale is None:
        key["classes"] = [[label, color] for label, color, _ in coloring.classes]
        return key
    low, high = coloring.scale.norm.vmin, coloring.scale.norm.vmax
    if coloring.scale.dates:
        from matplotlib.dates import num2date

        key["ends"] = [num2date(low).date().isoformat(), num2date(high).date().isoformat()]
    else:
        key["ends"] = [f"{low:.4g}", f"{high:.4g}"]
    key["levels"] = SCALE_LEVELS
    return key


def _rounded_values(values: Array) -> list[float]:
    """Six digits: finer than a screen."""
    return [float(f"{value:.6g}") for value in values]


def _series_file(title: str, data: str) -> str:
    """The whole file, with its content security policy."""
    parts = files("dualfold.view").joinpath("page_parts")

    def text_of(name: str) -> str:
        return parts.joinpath(name).read_text(encoding="utf-8")

    script = f'\n"use strict";\n(() => {{\n{text_of("series.js")}\n}})();\n'
    filling = {
        "title": html.escape(_encodable(title)),
        # Only this text may run: a script inside a label has another hash.
        "policy": f"default-src 'none'; script-src {_fingerprint(script)}; "
        "style-src 'unsafe-inline'; img-src data:",
        "style": text_of("page.css") + text_of("series.css"),
        "data": data,
        "script": script,
    }
    # One pass: text that was filled in is not searched for placeholders.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filling[found[1]], text_of("series.html"))
