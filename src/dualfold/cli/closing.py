"""What is said at the end of a command: files, verdict, the next command worth trying."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dualfold.cli.axis_remarks import explained_line
from dualfold.cli.console import UNCERTIFIED, Console, print_json
from dualfold.cli.job import SCORED_NEIGHBORS
from dualfold.cli.method_options import as_word, option_words
from dualfold.cli.output_files import default_output, stem
from dualfold.cli.reading_options import reading_words
from dualfold.data.notices import quoted_names
from dualfold.data.reading import Reading, reading_of
from dualfold.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.cli.audit import AuditRequest
    from dualfold.cli.certify import CertifyRequest
    from dualfold.cli.compare import CompareRequest
    from dualfold.cli.embed import Request
    from dualfold.cli.report import ReportRequest
    from dualfold.cli.transform import TransformRequest

# Columns that are named at the end; of more, the first ones.
MOST_NAMED = 20
HOLD_METADATA = (".parquet", ".h5ad")


def after_embed(request: Request, summary: dict[str, Any]) -> list[str]:
    """What was written where, one verdict, and the next command worth trying."""
    d, width = len(summary["coordinates"]), len(summary["columns"])
    coordinates = f"{d} coordinate{'s' if d > 1 else ''} in {_where(request.output)}"
    lines = [f"{summary['rows']:,} rows × {width:,} columns → {coordinates}"]
    if request.output != "-" and not request.output.endswith(HOLD_METADATA):
        lines[0] += f" (certificate and settings in {Path(request.output).name}.json)"
    lines.append(f"Columns used: {quoted_names(summary['columns'], MOST_NAMED)}")
    written = {"Picture": request.picture, "Biplot": request.biplot, "Loadings": request.loadings}
    lines += _written(written)
    if request.html is not None:
        lines.append(f"Page in {request.html}; open it in a browser, it needs no network")
    if request.model is not None:
        lines.append(
            f"Model in {request.model}; `dualfold transform {shlex.quote(request.model)} NEW_FILE` "
            "places new rows; it holds rows of the table, to judge them by"
        )
    if (asked := summary["t_similarity_rows"]) < summary["rows"]:
        lines.append(f"Neighbours were counted on {asked:,} of the rows")
    lines += explained_line(summary["explained_variance_ratio"])
    return [*lines, summary["verdict"], try_next(_next_of_embed(request, summary))]


def _next_of_embed(request: Request, summary: dict[str, Any]) -> list[str]:
    """A picture first, then other kinds of map."""
    method, source, reading = request.job.method.name, request.source, request.reading
    differ = summary["scales_differ"]
    if request.picture is not None or request.html is not None:
        rivals = [name for name in ("pca", "isomap", "eigenmaps") if name != method]
        words = ["dualfold", "compare", source, "--methods", ",".join([method, *rivals])]
        words += reading_words(reading, standardize=differ)
        words += option_words(request.job.method, summary["settings"])
        return [*words, "--picture", f"{stem(source)}.compare.png"]
    words = embed_words(source, summary["settings"], reading, standardize=differ)
    name = "map" if source == "-" else stem(source)
    words += ["--picture", f"{name}.{method}.png"]
    if request.output != default_output(source, method):
        words += ["--output", request.output]
    return [*words, "--force"] if request.output != "-" else words


def after_transform(request: TransformRequest, summary: dict[str, Any]) -> list[str]:
    """What was written where, a verdict, and the next command."""
    rows, where = summary["rows"], _where(request.output)
    lines = [f"{rows:,} rows placed on the map of {request.model} → {where}"]
    lines += [*_written({"Picture": request.picture}), summary["verdict"]]
    if request.output == "-" or request.source == "-":
        return lines
    words = ["dualfold", "report", request.source, request.output]
    return [*lines, try_next([*words, *reading_words(reading_of(summary["reading"]))])]


def after_compare(request: CompareRequest, summary: dict[str, Any]) -> list[str]:
    """What the numbers are, what was written where, and the next command."""
    from dualfold.cli.compare import best_of

    sampled = next(row["sampled"] for row in summary["results"] if "error" not in row)
    whole = sampled == summary["rows"]
    lines = [
        f"1 is best in each column; of {SCORED_NEIGHBORS} neighbours{_space_of(summary)}"
        + ("." if whole else f", measured on {sampled:,} of {summary['rows']:,} points.")
    ]
    places = {"Coordinates": request.output, "Picture": request.picture, "Page": request.html}
    lines += _written(places)
    best = best_of(summary["results"], "t_similarity")
    job = next(job for job in request.jobs if job.method.name == best)
    differ = summary["scales_differ"]
    words = embed_words(request.source, job.settings(), request.reading, standardize=differ)
    words += ["--picture", f"{stem(request.source)}.{best}.png"]
    return [*lines, summary["verdict"], try_next(words)]


def _space_of(summary: dict[str, Any]) -> str:
    from dualfold.quality.picture import AS_PREPARED

    first = next(row for row in summary["results"] if "error" not in row)
    space = first["picture_quality"]["space"]
    return "" if space == AS_PREPARED else f" {space}"


def after_report(request: ReportRequest) -> list[str]:
    """What was written where, and the next command."""
    lines = _written(
        {
            "Measures of each point": request.output,
            "Picture, coloured by trustworthiness,": request.picture,
        }
    )
    source, stored = request.source, request.embedding
    if request.picture is not None:
        return [*lines, try_next(["dualfold", "certify", source, stored])]
    words = ["dualfold", "report", source, stored, *reading_words(request.reading)]
    return [*lines, try_next([*words, "--picture", f"{stem(stored)}.quality.png"])]


def after_audit(request: AuditRequest) -> list[str]:
    """What was written where, and the next command."""
    lines = _written(
        {
            "What is said of each point": request.output,
            "Picture, coloured by the audit,": request.picture,
            "Page": request.html,
        }
    )
    if request.html is not None or request.source == "-":
        return lines
    words = ["dualfold", "audit", request.source, request.embedding]
    words += reading_words(request.reading)
    return [*lines, try_next([*words, "--html", f"{stem(request.embedding)}.audit.html"])]


def after_certify(request: CertifyRequest, summary: dict[str, Any]) -> list[str]:
    """What was judged, what was found, and the next command."""
    from dualfold.cli.certify import is_model

    source, lines = request.source, [summary["judged_as"], summary["verdict"]]
    if "method" not in summary["settings"]:
        return lines
    if summary["certificate"]["level"] == "failed":
        return [*lines, try_next(_again(source, summary))]
    own = reading_words(request.reading)
    if not summary["holds"] and summary["certificate"]["gap"] is not None:
        words = ["dualfold", "certify", source, request.embedding, *own]
        words += [] if request.model is None else ["--model", request.model]
        words += ["--tolerance", f"{1.1 * summary['certificate']['gap']:.1g}"]
        return [*lines, f"A wider gap passes with:  {shlex.join(words)}"]
    if is_model(request.embedding):
        return lines
    return [*lines, try_next(["dualfold", "report", source, request.embedding, *own])]


def _again(source: str, summary: dict[str, Any]) -> list[str]:
    """The command that makes the map anew, with the settings that are stored with it."""
    method = summary["settings"]["method"]
    words = embed_words(source, summary["settings"], reading_of(summary["reading"]))
    words += ["--output", f"{stem(source)}.{method}.again.csv"]
    if DESCRIPTIONS[method].dual:
        words += ["--save-model", f"{stem(source)}.dualfold"]
    return words


def embed_words(
    source: str, settings: dict[str, Any], reading: Reading, *, standardize: bool = False
) -> list[str]:
    """The command that makes a map with these settings."""
    words = ["dualfold", "embed", source, "--method", settings["method"]]
    if settings["n_components"] != 2:
        words += ["--n-components", as_word(settings["n_components"])]
    words += option_words(DESCRIPTIONS[settings["method"]], settings)
    return words + reading_words(reading, standardize=standardize)


def try_next(words: list[str]) -> str:
    """A command to copy."""
    return f"Try next:  {shlex.join(words)}"


def _where(output: str) -> str:
    return "standard output" if output == "-" else output


def _written(places: Mapping[str, str | None]) -> list[str]:
    return [f"{what} in {place}" for what, place in places.items() if place is not None]


def finish(
    summary: dict[str, Any], lines: Sequence[str], console: Console, as_json: bool, strict: bool
) -> None:
    """What `embed` says at the end, and its exit code."""
    if as_json:
        print_json(summary)
    for line in lines:
        console.say(line)
    certified = summary["certificate"]["holds"]
    if console.quiet and not certified:  # an answer that may be wrong is never kept quiet
        Console().note(summary["verdict"])
    if strict and not certified:
        raise typer.Exit(UNCERTIFIED)
