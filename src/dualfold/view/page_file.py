"""The file of a page: its frame, our scripts, plotly, and still pictures of the maps."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import warnings
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from dualfold.errors import MissingDependency
from dualfold.view.figures import figure_bytes, map_figure
from dualfold.view.page_columns import Column
from dualfold.view.page_map import Map

# In this order inside one function: each file uses only what stands before it when it runs.
SCRIPTS = (
    "data.js", "explain.js", "audit.js", "colors.js", "neighbors.js", "view.js", "drawing.js",
    "density.js", "names.js", "overlay.js", "change.js", "legend.js", "compare.js", "point.js",
    "panels.js", "verdict.js", "download.js", "search.js", "tools.js", "keyboard.js", "print.js",
    "page.js",
)  # fmt: skip


def still_pictures(maps: Sequence[Map], table: list[Column], color: str | None) -> str:
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
            classes=() if chosen is None else chosen.classes,
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


def filled(title: str, data: str, pictures: str) -> str:
    """The whole file, with its content security policy."""
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
