"""What `dualfold embed` was asked for, and what it says at the end."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dualfold.cli.registry import METHODS, Method

# Neighbours that are counted again in the map.
SCORED_NEIGHBORS = 10


@dataclass(frozen=True)
class Request:
    """Everything that `dualfold embed` was asked for."""

    source: str
    method: Method
    n_components: int
    n_neighbors: int
    color: str | None
    identifier: str | None
    exclude: tuple[str, ...]
    keep: tuple[str, ...]
    missing: Any
    standardize: bool
    pieces: str
    format: str | None
    thousands: str | None
    array: str | None
    output: str
    picture: str | None
    force: bool

    def settings(self) -> dict[str, Any]:
        """What must be known to get the same numbers again, JSON-ready."""
        chosen: dict[str, Any] = {
            "method": self.method.name,
            "n_components": self.n_components,
            "standardize": self.standardize,
            "missing": self.missing,
        }
        if self.method.needs == "graph":
            chosen |= {"n_neighbors": self.n_neighbors, "pieces": self.pieces}
        return chosen


def default_output(source: str, method: str) -> str:
    """The table's name with the method in it, in the working directory; "-" for "-"."""
    if source == "-":
        return "-"
    name = Path(source).name
    name = name[:-3] if name.lower().endswith(".gz") else name
    return f"{Path(name).stem}.{method}.csv"


def closing_words(request: Request, summary: dict[str, Any]) -> list[str]:
    """What was written where, one verdict, and the next command worth trying."""
    d, width = request.n_components, len(summary["features"])
    where = "standard output" if request.output == "-" else request.output
    made = f"{d} coordinate{'s' if d > 1 else ''} in {where}"
    lines = [f"{summary['rows']:,} rows × {width:,} columns → {made}"]
    if request.output != "-" and not request.output.endswith(".parquet"):
        lines[0] += f" (certificate and settings in {Path(request.output).name}.json)"
    if request.picture is not None:
        lines.append(f"Picture in {request.picture}")
    if summary["t_similarity"] is not None:
        lines.append(
            f"{100 * summary['t_similarity']:.0f} % of the {SCORED_NEIGHBORS} nearest neighbours "
            "are still neighbours in the map"
        )
    return [*lines, summary["verdict"], f"Try next:  {next_command(request, summary)}"]


def next_command(request: Request, summary: dict[str, Any]) -> str:
    """The command worth trying after this one: a picture first, then another kind of map."""
    method, again = request.method.name, request.picture is None
    if not again:
        method = "pca" if request.method.needs == "graph" else "eigenmaps"
    words = ["dualfold", "embed", request.source, "--method", method]
    for option, value, usual in (
        ("--n-components", request.n_components, 2),
        ("--n-neighbors", request.n_neighbors if METHODS[method].needs == "graph" else 10, 10),
        ("--color", request.color, None),
        ("--id", request.identifier, None),
        ("--missing", request.missing, "raise"),
        ("--format", request.format, None),
        ("--thousands", request.thousands, None),
        ("--array", request.array, None),
    ):
        words += [option, str(value)] if value != usual else []
    for option, values in (("--exclude", request.exclude), ("--keep", request.keep)):
        words += [word for value in values for word in (option, value)]
    if request.standardize or any("--standardize" in note for note in summary["notices"]):
        words.append("--standardize")
    stem = "map." if request.source == "-" else default_output(request.source, "")[: -len(".csv")]
    words += ["--picture", f"{stem}{method}.png"]
    if again and request.output != default_output(request.source, method):
        words += ["--output", request.output]
    return shlex.join([*words, "--force"] if again and request.output != "-" else words)
