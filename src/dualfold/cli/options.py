"""The options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from dualfold.descriptions import DESCRIPTIONS, description_of


def method_name(name: str, option: str | None = None) -> str:
    """The method of that name, or a usage error that names the close ones."""
    try:
        return description_of(name).name
    except LookupError as error:
        raise typer.BadParameter(str(error.args[0]), param_hint=option) from None


def one_of(*words: str) -> Callable[[str], str]:
    """A check that a value is one of some words."""

    def checked(value: str) -> str:
        if value not in words:
            raise typer.BadParameter(f"{value!r} is none of {', '.join(words)}")
        return value

    return checked


def beginning(*words: str) -> Callable[[str], list[str]]:
    """Completes to those of some words that begin so."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


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
        raise typer.BadParameter(f"{text!r} is no shape of a picture; write it as 28x28")
    return int(height), int(width)


def gap_that_passes(gap: float) -> float:
    """A tolerance from 0 to 1, or a usage error."""
    from dualfold.certificate import checked_tolerance
    from dualfold.cli.wording import shown
    from dualfold.errors import InvalidInput

    try:
        return checked_tolerance(gap)
    except InvalidInput as error:
        raise typer.BadParameter(shown(error.message, "certify")) from None


def coordinates(text: str, method: str) -> Any:
    """The number of coordinates, or a word that lets the data decide."""
    if text.isdecimal() and int(text) > 0:
        return int(text)  # the usual case; the others need the estimator
    from dualfold.cli.method_options import coordinates_option

    try:
        return coordinates_option(method).parsed(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error} ({method})", param_hint="--n-components") from None


def several_methods(text: str) -> list[str]:
    """Names with commas between them, each once."""
    names = [method_name(word.strip(), "--methods") for word in text.split(",") if word.strip()]
    if not names:
        usual = "name one method or more, with commas: pca,isomap,lle"
        raise typer.BadParameter(usual, param_hint="--methods")
    return list(dict.fromkeys(names))


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A table (CSV, TSV, JSON lines, xlsx, Parquet, NPY, NPZ, MTX, h5ad) or - for CSV.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option("--method", "-m", metavar="|".join(DESCRIPTIONS),
                 callback=lambda name: name if name in (None, "auto") else method_name(name),
                 autocompletion=beginning(*DESCRIPTIONS, "auto"),
                 help="See `dualfold methods`. Default: pca, or famd where there are categories; "
                 "auto tries some, as `dualfold recommend` does."),
]  # fmt: skip
Components = Annotated[
    str,
    typer.Option("--n-components", "-d", metavar="INTEGER", help="How many coordinates; most "
                 "methods take auto, too."),
]  # fmt: skip
Neighbors = Annotated[
    int | None,
    typer.Option("--n-neighbors", "-k", min=1, help="For methods that need a graph; 10 if nothing "
                 "is said."),
]  # fmt: skip
Picture = Annotated[
    str | None,
    typer.Option("--picture", "-p", metavar="OUT.png", help="Draw it: .png, .pdf, .svg, .jpg."),
]
Html = Annotated[
    str | None,
    typer.Option("--html", metavar="OUT.html", help="One page to explore, that works offline."),
]
HtmlMb = Annotated[
    float,
    typer.Option("--html-mb", metavar="MB", min=0, help="The page is no larger than so many "
                 "megabytes; what is left out is said. 0: as large as it gets."),
]  # fmt: skip
Images = Annotated[
    str | None,
    typer.Option("--images", metavar="HxW",
                 help="Each row is a picture of this shape; the page shows it."),
]  # fmt: skip
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")]
Spreadsheet = Annotated[
    bool,
    typer.Option("--spreadsheet", help="Write labels that begin with = + - @ with an apostrophe "
                 "before them, so that a spreadsheet does not run them as formulas."),
]  # fmt: skip
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit code 3 unless it is proved, or measured, to the "
                 "tolerance."),
]  # fmt: skip
Tolerance = Annotated[
    float,
    typer.Option(metavar="GAP", callback=lambda gap: gap_that_passes(gap),
                 help="The largest relative gap that passes, from 0 to 1; never taken from the "
                 "file."),
]  # fmt: skip
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Random searches start at numbers from the system, which nobody "
                 "could know before: for files of other people. The answer's digits may vary."),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
