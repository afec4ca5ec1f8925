"""How objects show themselves in a notebook: a verdict, a table of numbers, a drawn map."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CELL_STYLE = "text-align:left;padding:2px 12px 2px 0;vertical-align:top"


def shown_html(
    title: str,
    words: str,
    rows: Iterable[Sequence[str]] = (),
    heads: Sequence[str] = (),
) -> str:
    """A heading, a sentence and a table. All of it is text: nothing in it is read as markup.

    title, words : above the table; rows : its cells; heads : the names of its columns
    """

    def line(cells: Sequence[str], kind: str) -> str:
        return "".join(
            f'<{kind} style="{_CELL_STYLE}">{html.escape(cell)}</{kind}>' for cell in cells
        )

    body = "".join(f"<tr>{line(cells, 'td')}</tr>" for cells in rows)
    head = f"<thead><tr>{line(heads, 'th')}</tr></thead>" if heads else ""
    table = f"<table>{head}<tbody>{body}</tbody></table>" if body else ""
    return (
        f'<div class="dualfold" style="max-width:60em"><strong>{html.escape(title)}</strong>'
        f"<p>{html.escape(words)}</p>{table}</div>"
    )


def number(value: float) -> str:
    """A number as a reader wants it.

    >>> number(0.12345678), number(float("inf"))
    ('0.1235', 'not known')
    """
    known = value == value and abs(value) != float("inf")
    return f"{value:.4g}" if known else "not known"


def drawn_map(points: Any, color: Any, **words: Any) -> Figure:
    """`dualfold.view.map_figure` of these points.

    Rooms below the pictures offer `plot()`. It is looked up by name when somebody draws: nothing
    of matplotlib is loaded before, and no room depends on those that draw.
    """
    figures = import_module("dualfold.view.figures")
    figure: Figure = figures.map_figure(points, color, **words)
    return figure


def drawn_audit(audit: Any, **words: Any) -> Figure:
    """The figure of an audit, looked up as `drawn_map` is."""
    figure: Figure = import_module("dualfold.view.audit_page").audit_figure(audit, **words)
    return figure
