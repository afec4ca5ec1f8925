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
    inputs: tuple[str, ...] = (),
) -> None:
    """Before any work: what cannot be written at the end is refused now.

    `inputs` are read beside the table `source`. None of them, and nothing that belongs to one,
    is ever replaced, `force` or not.
    """
    from dualfold.data.atomic_files import check_place
    from dualfold.data.table_writer import check_table_place

    plain = [*pictures, *models, html]
    written = [*_files(output, *tables), *map(os.path.realpath, filter(None, plain))]
    for given in (source, *inputs):
        if set(_files(given)) & set(written):
            what = "the table itself" if given == source else "read by this command"
            raise InvalidInput(
                f"{given} is {what} and it, or what lies beside it, would be replaced; "
                "write elsewhere"
            )
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
    if len(set(written)) < len(written):
        raise InvalidInput(
            "two outputs have the same name, or one has that of the .json beside another; give "
            "each its own"
        )
    if html is not None:
        if not html.lower().endswith((".html", ".htm")):
            raise InvalidInput(f"{html} must end with .html, or no browser will open it")
        from dualfold.cli.html_page import check_page

        check_page()


def _files(*tables: str | None) -> list[str]:
    """The files of tables: each with the one beside it that says how it was made."""
    from dualfold.data.table_writer import metadata_path

    named = [Path(table) for table in tables if table is not None and table != "-"]
    return [os.path.realpath(file) for table in named for file in (table, metadata_path(table))]
