"""The page inside a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.data.prepared import prepare
from dualfold.data.reading import PLAIN_READING
from dualfold.errors import Argument, InvalidInput
from dualfold.inputs import frame_of, numbers_of
from dualfold.judging import Audit, map_judgement
from dualfold.judging.map_meaning import BEST_COLOR_REASON, map_meaning
from dualfold.view.audit_page import audit_content
from dualfold.view.named_groups import named_groups
from dualfold.view.page import Page, PageContent, make_page
from dualfold.view.page_columns import values_of
from dualfold.view.page_map import Map, measured_map

__all__ = ["InlinePage", "page"]

# Fewer rows have no neighbourhoods to judge; more columns are pixels or genes, not words.
MIN_ROWS = 10
MAX_NAMED_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class InlinePage(Page):
    """A page that a notebook shows; `write` keeps it as a file.

    height : of its frame in a notebook, in pixels
    """

    height: int = 760

    def __repr__(self) -> str:
        return f"InlinePage({self.megabytes}; keep it with .write('map.html'))"

    def _repr_html_(self) -> str:
        # A document of its own: neither sees the other's names and styles.
        return (
            f'<iframe srcdoc="{html.escape(self.html, quote=True)}" title="dualfold" '
            f'style="width:100%;height:{int(self.height)}px;border:0"></iframe>'
        )


def page(
    maps: Any,
    X: Any = None,
    *,
    title: str = "dualfold",
    columns: Any = None,
    names: Any = None,
    color: str | None = None,
    height: int = 760,
) -> InlinePage:
    """Page with maps to explore, shown where a notebook shows results.

    Parameters
    ----------
    maps : Map, estimator, Embedding, Audit, array-like or a list of these
        A map or several: maps, fitted estimators, embeddings or arrays of points; or an `Audit`,
        with X the data of its map.
    X : array-like, sparse matrix, data frame or None, default=None
        Data. With it each map is measured, a click on a point shows its neighbours in the data, and
        points can be coloured by its columns. Columns of a data frame also name axes and groups.
    title : str, default="dualfold"
        Title of the page.
    columns : data frame, mapping or None, default=None
        Names, and one value for each row: what points are coloured by.
    names : sequence of str or None, default=None
        One for each row, to search for.
    color : str or None, default=None
        Column to colour by at first.
    height : int, default=760
        Height of the frame in a notebook, in pixels.

    Returns
    -------
    InlinePage
        A notebook shows it; `write(path)` saves it as a file.

    Raises
    ------
    InvalidInput
        If the maps have different numbers of rows, or `color` names no column.

    See Also
    --------
    make_page : A page with more choices.
    map_figure : A figure.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.view import page
    >>> Y = np.random.default_rng(0).normal(size=(30, 2))
    >>> shown = page(Y, title="Thirty points")
    >>> "Thirty points" in shown.html
    True
    """
    given = maps if isinstance(maps, list | tuple) else [maps]
    if isinstance(maps, Audit):
        content = audit_content(maps, _numbers(X))
        columns = content.columns | {str(key): column for key, column in (columns or {}).items()}
    else:
        shown = [_map_in_words(_map_of(one, place, X), X) for place, one in enumerate(given)]
        content = PageContent(shown, color=color)
        if color is None and columns is None:
            content = _with_best_color(content)
    table = frame_of(X)
    features = table if isinstance(table, np.ndarray) or hasattr(table, "iloc") else None
    content = replace(content, title=title, columns=columns, features=features, names=names)
    made = make_page(content)
    return InlinePage(made.html, made.notices, height)


def _map_in_words(shown: Map, X: Any) -> Map:
    """The map of a data frame, with what it shows and means in the words of its columns."""
    table, n = frame_of(X), len(shown.points)
    if not hasattr(table, "iloc") or shown.judgement is not None or n <= MIN_ROWS:
        return shown
    names = list(table.columns)[:MAX_NAMED_COLUMNS]
    columns = {str(name): values_of(table[name]) for name in names}
    judgement = map_judgement(X, shown.points, columns=columns)
    layout = judgement.layout
    directions = None if layout is None else layout.columns
    meaning = map_meaning(columns, shown.points, directions=directions)
    groups = named_groups(shown.points, X, columns=columns)
    judgement = replace(judgement, meaning=meaning, groups=groups)
    return replace(shown, judgement=judgement)


def _with_best_color(content: PageContent) -> PageContent:
    judgement = next(iter(content.maps)).judgement
    meaning = None if judgement is None else judgement.meaning
    if meaning is None or meaning.best_column is None:
        return content
    return replace(content, color=meaning.best_column, color_reason=BEST_COLOR_REASON)


def _numbers(X: Any) -> Any:
    """The data of an audit, prepared as it prepared them."""
    if X is None:
        raise InvalidInput(Argument("X"), " is needed: the data that the audit was asked about")
    rows = frame_of(numbers_of(X))
    return prepare(rows, PLAIN_READING).X if hasattr(rows, "iloc") else rows


def _map_of(one: Any, place: int, X: Any) -> Map:
    if isinstance(one, Map):
        return one
    points = getattr(one, "embedding_", getattr(one, "points", None))
    name = type(one).__name__ if points is not None else f"map {place + 1}"
    if points is None and hasattr(one, "transform"):
        if X is None:
            raise InvalidInput(
                Argument("X"), f" is needed, since {type(one).__name__} keeps no points of its own"
            )
        points, name = one.transform(X), type(one).__name__
    points = one if points is None else points
    known: dict[str, Any] = {
        "certificate": getattr(one, "certificate_", getattr(one, "certificate", None))
    }
    known["values"] = getattr(one, "eigenvalues_", getattr(one, "values", None))
    shown = Map(name, points, **known)
    return shown if X is None or isinstance(one, Sequence) else measured_map(shown, X)
