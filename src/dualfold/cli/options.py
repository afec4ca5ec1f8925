"""The options that several commands share, each written once, and what their words stand for."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

import typer

from dualfold.cli.usage import meant, number, whole_number
from dualfold.cli.wording import command_text
from dualfold.data.reading import OPTION_SUBJECTS, READING_OPTIONS
from dualfold.errors import InvalidInput
from dualfold.methods.descriptions import DESCRIPTIONS, description_of
from dualfold.methods.descriptions.graph_methods import DEFAULT_N_NEIGHBORS

# Of the first line of a file, which completion reads.
MAX_HEADER_CHARACTERS = 100_000
SEPARATORS = (",", ";", "\t", "|")
QUESTIONS = ("neighbours", "order", "groups")
# The sections of help, in their order; a command has those of its options.
METHOD_SECTION = "Method"
MEASURES_SECTION = "Measures"
JUDGING_SECTION = "Judging"
COLUMNS_SECTION = "Columns"
VALUES_SECTION = "Values"
FILE_SECTION = "Format of FILE"
OUTPUT_SECTION = "Output"
TILES_SECTION = "Tables larger than memory"


def option(
    flags: str, help: str, metavar: str | None = None, *, section: str | None = None, **more: Any
) -> Any:
    """An option of typer; `flags` are what is typed, with blanks between them.

    section : of the help, in which it is listed
    """
    return typer.Option(*flags.split(), help=help, metavar=metavar, rich_help_panel=section, **more)


def method_name(name: str, hint: str | None = None) -> str:
    """The method of that name, or a usage error that names the close ones."""
    try:
        return description_of(name).name
    except LookupError as error:
        raise typer.BadParameter(str(error.args[0]), param_hint=hint) from None


def method_if_named(name: str | None) -> str | None:
    """The method of that name, or a usage error; None for None."""
    return None if name is None else method_name(name)


def method_or_auto(name: str | None) -> str | None:
    """The method of that name, or a usage error; None and auto stay."""
    return name if name in (None, "auto") else method_name(str(name))


def one_of(*words: str) -> Callable[[str | None], str | None]:
    """A check that a value is one of some words, where there is one."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in words:
            raise typer.BadParameter(
                f"{value!r} is none of {', '.join(words)}{meant(value, words)}"
            )
        return value

    return check


def completion(*words: str) -> Callable[[str], list[str]]:
    """Completes to those of some words that begin as what is typed."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes to the columns that the first line of FILE names, where it is text."""
    for path in filter(None, (ctx.params.get("file"), *ctx.args)):
        try:
            with open(path, encoding="utf-8-sig") as file:
                header = file.readline(MAX_HEADER_CHARACTERS)
            names = next(csv.reader([header], delimiter=max(SEPARATORS, key=header.count)))
        except (OSError, ValueError, csv.Error, StopIteration):  # no such file, or no text
            continue
        return [name for name in map(str.strip, names) if name.startswith(incomplete)]
    return []


def next_method(incomplete: str) -> list[str]:
    """Completes the last name of pca,isomap,… to those that are not in the list yet."""
    before, comma, last = incomplete.rpartition(",")
    used = before.split(",")
    return [
        before + comma + name for name in DESCRIPTIONS if name.startswith(last) and name not in used
    ]


def picture_shape(text: str | None) -> tuple[int, int] | None:
    """28x28 as two numbers."""
    if text is None:
        return None
    height, _, width = text.lower().replace("×", "x").partition("x")
    if not (height.isdecimal() and width.isdecimal()) or 0 in (int(height), int(width)):
        words = f"{text!r} is no shape of a picture; write it as 28x28"
        raise typer.BadParameter(words, param_hint="--images")
    return int(height), int(width)


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Meanwhile what the library refuses is wrong usage of the command that runs."""
    try:
        yield
    except InvalidInput as error:
        raise typer.BadParameter(command_text(error.message)) from None


def refuse_two_on_stdout(output: str | None, *, as_json: bool) -> None:
    """Standard output holds one thing."""
    if as_json and output == "-":
        raise typer.BadParameter(
            "--json and the coordinates both want standard output; give -o a file name"
        )


def own_option(
    flags: str, help: str, metavar: str | None = None, *, default: Any = None, **more: Any
) -> Any:
    """A field of options that is an option of one command alone."""
    return field(default=default, metadata={"option": option(flags, help, metavar, **more)})


def own_output(help: str, metavar: str = "OUT", *, default: Any = None) -> Any:
    """The field of `--output` of a command that writes something else than a map of FILE."""
    return own_option("--output -o", help, metavar, default=default, section=OUTPUT_SECTION)


def own_question(help: str) -> Any:
    """The field of `--question`: which of QUESTIONS the map is to answer best."""
    return own_option(
        "--question",
        f"{help}: neighbours (who is near whom), order (overall order) or groups. Default: "
        f"{QUESTIONS[0]}.",
        "|".join(QUESTIONS),
        section=METHOD_SECTION,
        callback=one_of(*QUESTIONS),
        autocompletion=completion(*QUESTIONS),
    )


def own_argument(metavar: str, help: str, **more: Any) -> Any:
    """A field of options that is an argument of one command alone; needed without a default."""
    given = {"default": more.pop("default")} if "default" in more else {}
    metadata = {"option": typer.Argument(metavar=metavar, help=help, **more)}
    return field(**given, metadata=metadata)


# The sections of help that the fields of a reading name.
READING_SECTIONS = {"columns": COLUMNS_SECTION, "values": VALUES_SECTION, "file": FILE_SECTION}
# A stored map says how its columns were read; of the file of its table the command line does.
FILE_FIELDS = tuple(name for name in READING_OPTIONS if OPTION_SUBJECTS[name] != "columns")
FILE_READING = {"fields": FILE_FIELDS}
# Measures of a map learn nothing from classes.
REPORT_FIELDS = tuple(name for name in READING_OPTIONS if name != "labels")
REPORT_READING = {"fields": REPORT_FIELDS}
# New rows have the columns and the scales of the old ones.
NEW_ROWS_FIELDS = {*FILE_FIELDS, "color", "identifier", "missing", "vectors"}
NEW_ROWS_READING = {"fields": tuple(name for name in READING_OPTIONS if name in NEW_ROWS_FIELDS)}
# What several commands have, by the names of the fields of their options.
COMMON_OPTIONS: dict[str, object] = {
    "file": typer.Argument(
        metavar="FILE",
        help="A table (CSV, TSV, JSON lines, xlsx, Parquet, NPY, NPZ, MTX, h5ad) or - for CSV.",
    ),
    "embedding": typer.Argument(
        metavar="EMBEDDING", help="A map of FILE, one point a row, made by anybody."
    ),
    "n_components": option(
        "--n-components -d",
        "How many coordinates: 2, or 1 where a table allows no more; most methods take auto, too.",
        "N",
        section=METHOD_SECTION,
    ),
    "n_neighbors": option(
        "--n-neighbors -k",
        "Neighbours of each row, for methods with a graph. Default: "
        f"{DEFAULT_N_NEIGHBORS}, or fewer where there are not as many other rows (in Python a "
        "method may have another).",
        "N",
        section=METHOD_SECTION,
        parser=whole_number(1),
    ),
    "output": option(
        "--output -o",
        "Where the coordinates go: .csv, .tsv (.gz), .parquet, .npy, .h5ad, or - for standard "
        "output. Default: FILE's name with the method in it, here. Rows are counted "
        "from 1, without the header.",
        "OUT",
        section=OUTPUT_SECTION,
    ),
    "picture": option(
        "--picture -p", "Draw it: .png, .pdf, .svg, .jpg.", "OUT.png", section=OUTPUT_SECTION
    ),
    "html": option(
        "--html", "One page to explore, that works offline.", "OUT.html", section=OUTPUT_SECTION
    ),
    "html_mb": option(
        "--html-mb",
        "Largest size of the page, in megabytes; what it leaves out for that is named. 0: no "
        "limit.",
        "MB",
        section=OUTPUT_SECTION,
        parser=number(0),
    ),
    "images": option(
        "--images",
        "Each row is a picture of this shape; the page shows it.",
        "HxW",
        section=OUTPUT_SECTION,
    ),
    "force": option("--force -f", "Replace files that exist.", section=OUTPUT_SECTION),
    "spreadsheet": option(
        "--spreadsheet",
        "Write labels that begin with = + - @ with an apostrophe before them, so that a "
        "spreadsheet does not run them as formulas.",
        section=OUTPUT_SECTION,
    ),
    "strict": option("--strict", "Exit code 3 unless it is proved, or measured, to the tolerance."),
    "as_json": option("--json", "Print one JSON object on standard output."),
    "quiet": option("--quiet -q", "Say nothing but errors."),
}
