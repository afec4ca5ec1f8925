"""What is said at the end of `dualfold embed`: files, verdict, the next command worth trying."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold.cli.method_options import as_word, option_words
from dualfold.cli.reading_options import reading_words
from dualfold.cli.solving import SCORED_NEIGHBORS

if TYPE_CHECKING:
    from dualfold.cli.embed import Request

HOLD_METADATA = (".parquet", ".h5ad")


def default_output(source: str, method: str) -> str:
    """The table's name with the method in it, in the working directory; "-" for "-"."""
    return "-" if source == "-" else f"{stem(source)}.{method}.csv"


def stem(source: str) -> str:
    """The table's name without folder and ending; "table" for standard input."""
    if source == "-":
        return "table"
    name = Path(source).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def closing_words(request: Request, summary: dict[str, Any]) -> list[str]:
    """What was written where, one verdict, and the next command worth trying."""
    d, width = len(summary["coordinates"]), len(summary["features"])
    where = "standard output" if request.output == "-" else request.output
    made = f"{d} coordinate{'s' if d > 1 else ''} in {where}"
    lines = [f"{summary['rows']:,} rows × {width:,} columns → {made}"]
    if request.output != "-" and not request.output.endswith(HOLD_METADATA):
        lines[0] += f" (certificate and settings in {Path(request.output).name}.json)"
    if request.picture is not None:
        lines.append(f"Picture in {request.picture}")
    if request.html is not None:
        lines.append(f"Page in {request.html}; open it in a browser, it needs no network")
    if request.model is not None:
        lines.append(
            f"Model in {request.model}; `dualfold transform {shlex.quote(request.model)} NEW_FILE` "
            "places new rows"
        )
    if summary["t_similarity"] is not None:
        asked = summary["t_similarity_rows"]
        some = "" if asked == summary["rows"] else f" (measured on {asked:,} of the rows)"
        lines.append(
            f"{100 * summary['t_similarity']:.0f} % of the {SCORED_NEIGHBORS} nearest neighbours "
            f"are still neighbours in the map{some}"
        )
    return [*lines, summary["verdict"], f"Try next:  {next_command(request, summary)}"]


def next_command(request: Request, summary: dict[str, Any]) -> str:
    """The command worth trying after this one: a picture first, then other kinds of map."""
    method, source, reading = request.job.method.name, request.source, request.reading
    own = option_words(request.job.method, summary["settings"])
    standardize = summary["scales_differ"]
    if request.picture is not None or request.html is not None:
        rivals = [name for name in ("pca", "isomap", "eigenmaps") if name != method]
        words = ["dualfold", "compare", source, "--methods", ",".join([method, *rivals])]
        words += reading_words(reading, standardize=standardize)
        words += own
        return shlex.join([*words, "--picture", f"{stem(source)}.compare.png"])
    words = ["dualfold", "embed", source, "--method", method]
    if request.job.n_components != 2:
        words += ["--n-components", as_word(request.job.n_components)]
    words += own
    words += reading_words(reading, standardize=standardize)
    name = "map" if source == "-" else stem(source)
    words += ["--picture", f"{name}.{method}.png"]
    if request.output != default_output(source, method):
        words += ["--output", request.output]
    return shlex.join([*words, "--force"] if request.output != "-" else words)
