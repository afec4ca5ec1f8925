"""Tables as files, and what is said of them."""

from __future__ import annotations

from dualfold.data import Reading, read_table


def table(folder, text, name="t.csv", **options):
    """The table of a file with this content."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_table(path, Reading(**options))


def said(found, *words):
    """Whether one notice holds all of these words."""
    return any(all(word in notice for word in words) for notice in found.notices)
