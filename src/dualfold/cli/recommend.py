"""`dualfold recommend`: which method suits a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from dualfold.cli import options as o
from dualfold.cli.commands import embed_words, try_next
from dualfold.cli.console import Console, print_json, printable
from dualfold.cli.output_files import stem
from dualfold.cli.wording import command_texts
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.exploration.method_choice import compared_coordinates, recommendation_for
from dualfold.methods.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class RecommendOptions:
    """What is typed after `dualfold recommend`."""

    file: str
    n_components: str = "2"
    question: str | None = o.own_question("What the map is for")
    reading: Reading = DEFAULT_READING
    as_json: bool = False
    quiet: bool = False


def recommend(options: RecommendOptions) -> None:
    """Which method suits a table, and why.

    \b
    Examples:
      dualfold recommend iris.csv --color species
      dualfold recommend roll.csv -d 3 --json
      dualfold embed roll.csv --method auto --picture roll.png

    It estimates the intrinsic dimension in two ways, finds the numbers of neighbours that make
    short cuts, and tries a handful of methods on five subsamples. They are ranked, with reasons:
    for overall order, for who is near whom and for groups. Where no method is better in all
    subsamples, the data do not decide, and it says so. `embed --method auto` makes the map.
    """
    file, console = options.file, Console(quiet=options.quiet)
    asked = options.n_components
    with o.usage_errors():
        d = compared_coordinates(int(asked) if asked.isdecimal() else asked)
    found, data = recommendation_for(file, options.reading, d, console, options.question)
    if options.as_json:
        print_json(found.to_dict() | {"source": file, "notices": command_texts(data.notices)})
    else:
        typer.echo(printable(str(found)))
    settings: dict[str, Any] = {"method": found.method, "n_components": found.n_components}
    if DESCRIPTIONS[found.method].needs_graph:
        settings["n_neighbors"] = found.n_neighbors
    if file != "-":
        words = embed_words(file, settings, options.reading, standardize=data.scales_differ)
        console.say(try_next([*words, "--picture", f"{stem(file)}.{found.method}.png"]))
