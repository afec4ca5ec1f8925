"""Files that a command writes: their names, a check before any work, the page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dualfold.arrays import Array
from dualfold.cli.console import Console
from dualfold.cli.wording import command_texts
from dualfold.data.atomic_files import atomic_file, check_place
from dualfold.data.table_writer import check_table_place, metadata_path, write_table
from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    from dualfold.cli.audit import AuditOptions
    from dualfold.cli.compare import CompareOptions
    from dualfold.cli.embed import EmbedOptions
    from dualfold.cli.transform import TransformOptions
    from dualfold.view.page import PageContent

# The fields of commands' options that name tables and pictures to write.
TABLE_FIELDS = ("output", "loadings")
PICTURE_FIELDS = ("picture", "biplot")
# Matrices without text, and files that name their rows themselves: found names are not written.
UNNAMED_ENDINGS = (".npy", ".h5ad")


class CommandOptions(Protocol):
    """Options of a command that writes files; its other fields name them."""

    @property
    def force(self) -> bool: ...


def default_output(source: str, method: str) -> str:
    """The table's name with the method in it, in the working directory; "-" for "-"."""
    return "-" if source == "-" else f"{stem(source)}.{method}.csv"


def stem(source: str) -> str:
    """The table's name without folder and ending; "table" for standard input."""
    if source == "-":
        return "table"
    name = Path(source).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def written_lines(files: Mapping[str, str | None]) -> list[str]:
    """A line for each file that was written, from what it holds to its name."""
    return [f"{what} in {path}" for what, path in files.items() if path is not None]


def write_picture(path: str | None, content: bytes | None, *, force: bool) -> None:
    """Write a picture that was drawn before, whole or not at all; nothing for None."""
    if path is not None and content is not None:
        with atomic_file(Path(path), overwrite=force) as file:
            file.write(content)


def write_map(
    options: EmbedOptions | TransformOptions,
    columns: dict[str, Array],
    summary: dict[str, object],
    rows: Array,
) -> None:
    """Write the coordinates of a command with its summary; an .h5ad file is copied to them."""
    write_table(
        str(options.output),
        columns,
        overwrite=options.force,
        metadata=summary,
        onto=options.file if options.file.lower().endswith(".h5ad") else None,
        rows=rows,
        spreadsheet=options.spreadsheet,
    )


def write_content(
    options: EmbedOptions | CompareOptions | AuditOptions | TransformOptions,
    content: PageContent,
    console: Console,
) -> None:
    """Make the page of --html and write it; its size and what is left out are noted before."""
    from dualfold.view.page import make_page

    with console.stage("making the page"):
        notes = command_texts(content.notes)
        page = make_page(replace(content, notes=notes, most_mb=options.html_mb or None))
    for notice in page.notices:
        console.note(notice)
    console.say(f"The page takes {page.megabytes}.")
    with console.stage("writing the page"):
        page.write(Path(str(options.html)), overwrite=options.force)


def refuse_bad_outputs(options: CommandOptions, *inputs: str) -> None:
    """Before any work: what cannot be written at the end is refused now.

    options : of a command; its fields say what it writes
    inputs : files that are read, the table first. None of them, and nothing that belongs to one,
        is ever replaced, --force or not.
    """
    tables, pictures = _paths_in(options, TABLE_FIELDS), _paths_in(options, PICTURE_FIELDS)
    html = getattr(options, "html", None)
    plain = [*pictures, *_paths_in(options, ("save_model", "html"))]
    written = [*_files_of(*tables), *map(os.path.realpath, plain)]
    for given in inputs:
        if set(_files_of(given)) & set(written):
            what = "the table itself" if given == inputs[0] else "read by this command"
            raise InvalidInput(
                f"{given} is {what} and it, or what lies beside it, would be replaced; "
                "write elsewhere"
            )
    for table in tables:
        if table != "-":
            check_table_place(Path(table), overwrite=options.force)
    for picture in pictures:
        from dualfold.view.figures import picture_format  # half a second

        picture_format(picture)
    for path in plain:
        check_place(Path(path), overwrite=options.force)
    if len(set(written)) < len(written):
        raise InvalidInput(
            "two outputs have the same name, or one has that of the .json beside another; give "
            "each its own"
        )
    if html is not None and not html.lower().endswith((".html", ".htm")):
        raise InvalidInput(f"{html} must end with .html, or no browser will open it")


def _paths_in(options: CommandOptions, fields: tuple[str, ...]) -> list[str]:
    """The files that these fields name, where the command has them."""
    values = [getattr(options, name, None) for name in fields]
    return [value for value in values if value is not None]


def _files_of(*tables: str) -> list[str]:
    """The files of tables: each with the one beside it that says how it was made."""
    named = [Path(table) for table in tables if table != "-"]
    return [os.path.realpath(file) for table in named for file in (table, metadata_path(table))]
