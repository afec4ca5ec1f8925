"""Where a command writes: the names of its files, and a check before any work."""

from __future__ import annotations

import os
from pathlib import Path

from dualfold.errors import InvalidInput


def default_output(source: str, method: str) -> str:
    """The table's name with the method in it, in the working directory; "-" for "-"."""
    return "-" if source == "-" else f"{stem(source)}.{method}.csv"


def stem(source: str) -> str:
    """The table's name without folder and ending; "table" for standard input."""
    if source == "-":
        return "table"
    name = Path(source).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def check_places(
    source: str,
    output: str | None,
    force: bool,
    *,
    pictures: tuple[str | None, ...] = (),
    html: str | None = None,
    models: tuple[str | None, ...] = (),
    tables: tuple[str | None, ...] = (),
) -> None:
    """Before any work: what cannot be written at the end is refused now."""
    from dualfold.data.whole_file import check_place
    from dualfold.data.writing import check_table_place

    plain = [*pictures, *models, html]
    named = [place for place in (output, *plain, *tables) if place not in (None, "-")]
    real = [os.path.realpath(str(place)) for place in named]
    if source != "-" and os.path.realpath(source) in real:
        raise InvalidInput(f"{source} is the table itself and would be replaced; write elsewhere")
    for place in (output, *tables):
        if place is not None and place != "-":
            check_table_place(Path(place), overwrite=force)
    for place in pictures:
        if place is not None:
            from dualfold.view.figures import picture_format  # half a second

            picture_format(place)
    for place in plain:
        if place is not None:
            check_place(Path(place), overwrite=force)
    if len(set(real)) < len(real):
        raise InvalidInput("two outputs have the same name; give each its own")
    if html is not None:
        if not html.lower().endswith((".html", ".htm")):
            raise InvalidInput(f"{html} must end with .html, or no browser will open it")
        from dualfold.cli.page import check_page

        check_page()
