"""How large a page may be, and what is left out where it would be larger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.view.page_columns import Column, Images, column_of
from dualfold.view.page_data import as_json, content_of
from dualfold.view.page_features import Features, in_order
from dualfold.view.page_map import Map

MEGABYTE = 1_000_000
# As large as most mail lets through, and opens in a few seconds.
MOST_MB = 20.0
# Rows of the trial page that says what a row takes.
TRIAL = 500


@dataclass(frozen=True, eq=False)
class Parts:
    """What a page shows of its rows.

    total : rows that were given; of them n are here
    notices, notes : what was left out; what was decided about the table
    audit : what an audit said, as `page_parts/audit.js` reads it; None without one
    """

    title: str
    maps: list[Map]
    columns: list[Column]
    names: list[str] | None
    images: Images | None
    color: str | None
    seed: int
    n: int
    total: int
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    audit: dict[str, Any] | None = None

    def json(self) -> str:
        """As the browser gets it."""
        return as_json(
            content_of(
                self.maps, self.n, self.title, self.columns, self.names, self.images, self.color,
                self.seed, self.total, self.notices, self.notes, self.audit,
            )
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Bytes in the page."""
        return len(self.json())

    @property
    def neighbors(self) -> Any:
        """Of the first map that has them."""
        return next((m.neighbors for m in self.maps if m.neighbors is not None), None)

    def of_rows(self, rows: Array) -> Parts:
        """These rows alone. Neighbours go, since most of them would not be there."""
        maps = []
        for shown in self.maps:
            scores = {name: np.asarray(v)[rows] for name, v in (shown.scores or {}).items()}
            quality = shown.quality
            if quality is not None:
                cut = {name: values[rows] for name, values in quality.per_point.items()}
                quality = replace(quality, per_point=cut)
            points = np.asarray(shown.points)[rows]
            maps.append(
                replace(shown, points=points, neighbors=None, quality=quality, scores=scores)
            )
        return replace(
            self,
            maps=maps,
            columns=[column.of_rows(rows) for column in self.columns],
            names=None if self.names is None else [self.names[row] for row in rows],
            images=None if self.images is None else Images(self.images.pixels[rows]),
            n=len(rows),
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """What goes on the page, and what is said about the rest."""

    parts: Parts
    notices: tuple[Message, ...]


def within(parts: Parts, features: Features, fixed: int, most_mb: float | None) -> Fitted:
    """As much as `most_mb` megabytes hold, beside the `fixed` bytes of every page.

    Left out first are columns of the table, then neighbours, pictures of rows, and rows.
    """
    room = np.inf if most_mb is None else most_mb * MEGABYTE - fixed
    limit = "" if most_mb is None else f"{most_mb:g} MB"
    if room < TRIAL:
        raise InvalidInput(
            Argument("most_mb", most_mb),
            f" is too little: a page without any data takes {fixed / MEGABYTE:.1f} MB",
        )
    notices: list[Message] = []
    size = parts.size
    if size > room and parts.neighbors is not None:
        parts = replace(parts, maps=[replace(shown, neighbors=None) for shown in parts.maps])
        notices.append(_left("the neighbours in the data are left out", limit))
        size = parts.size
    if size > room and parts.images is not None:
        parts = replace(parts, images=None)
        notices.append(_left("the pictures of the rows are left out", limit))
        size = parts.size
    if size > room:
        parts = _fewer_rows(parts, size, int(room))
        notices.append(
            _left(
                f"the page shows {parts.n:,} of {parts.total:,} rows, drawn at random; quality "
                "was measured before",
                limit,
            )
        )
        size = parts.size
        features = Features((), features.column)
    chosen, said = _columns_within(parts, features, int(min(room - size, 2**62)))
    notices += [_left(words, limit) for words in said]
    words = tuple(notice.parts[0] for notice in notices)
    parts = replace(parts, columns=[*parts.columns, *chosen], notices=words)
    return Fitted(parts, tuple(notices))


def _left(words: str, limit: str) -> Message:
    """The first part is for readers of the page, who cannot change it."""
    said = f"{words}, so that the page is no larger than {limit}"
    return Message(said, " (", Argument("most_mb"), ")")


def _fewer_rows(parts: Parts, size: int, room: int) -> Parts:
    rng = np.random.default_rng(parts.seed)
    drawn = rng.permutation(parts.n)
    few = min(TRIAL, parts.n // 2)
    small = parts.of_rows(np.sort(drawn[:few])).size
    each = max((size - small) / (parts.n - few), 1e-9)
    held = int(few + 0.97 * (room - small) / each)
    if held < 2:
        raise InvalidInput(
            Argument("most_mb"), f" leaves {room:,} bytes for the rows, and that is room for none"
        )
    return parts.of_rows(np.sort(drawn[: min(held, parts.n)]))


def _columns_within(parts: Parts, features: Features, room: int) -> tuple[list[Column], list[str]]:
    """All of them if there is room, in seven digits if that helps, else those that tell most."""
    n, total = parts.n, len(features.names)
    if total == 0:
        return [], []
    # Base64 makes four bytes of three; names and ends of scales take less than the rest.
    rounded = total * (4 / 3 * 8 * n + 300) > room
    order = in_order(features, parts.neighbors, n) if rounded else range(total)
    held: dict[int, Column] = {}
    for place in order:
        values = features.column(place)
        column = column_of(features.names[place], values, n, "feature", rounded=rounded)
        room -= len(as_json(column.content)) + 1
        if room < 0 and rounded:
            break
        held[place] = column
    words = []
    if len(held) < total:
        which = "that neighbours share most" if parts.neighbors is not None else "that come first"
        words = [f"of the {total:,} columns of the table the page has the {len(held):,} {which}"]
    elif rounded and any(column.content.get("type") == "f4" for column in held.values()):
        words = ["the numbers of the table are kept to seven digits"]
    return [held[place] for place in sorted(held)], words
