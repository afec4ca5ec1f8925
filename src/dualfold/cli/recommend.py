"""`dualfold recommend`: which method suits a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from dualfold.cli.commands import embed_words, try_next
from dualfold.cli.console import Console, print_json, printable
from dualfold.cli.output_files import stem
from dualfold.cli.wording import command_texts
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.descriptions import DESCRIPTIONS
from dualfold.exploration.input_table import read_input

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.recommendation import Recommendation


@dataclass(frozen=True)
class RecommendOptions:
    """What is typed after `dualfold recommend`."""

    file: str
    n_components: str = "2"
    reading: Reading = DEFAULT_READING
    as_json: bool = False
    quiet: bool = False


def recommend(options: RecommendOptions) -> None:
    """Which method suits a table: dimension, neighbours and methods, measured on subsamples.

    \b
    Examples:
      dualfold recommend iris.csv --color species
      dualfold recommend roll.csv -d 3 --json
      dualfold embed roll.csv --method auto --picture roll.png

    The intrinsic dimension by two estimators; which numbers of neighbours make short cuts; a
    handful of methods on five subsamples, ranked with the reason in words. Where no method is
    better in all of them it says that the data do not decide. `embed --method auto` makes the map.
    """
    file, console = options.file, Console(quiet=options.quiet)
    found, data = recommendation_for(file, options.reading, options.n_components, console)
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


def recommendation_for(
    file: str, reading: Reading, n_components: str, console: Console
) -> tuple[Recommendation, Prepared]:
    """Read the table and measure what suits it."""
    if not n_components.isdecimal() or int(n_components) < 1:
        raise typer.BadParameter(
            "methods are compared at a number of coordinates; give one", param_hint="--n-components"
        )
    data = read_input(file, reading, console)
    from dualfold.recommendation import recommend
    from dualfold.recommendation.recommendation import DEFAULT_METHODS

    mixed = data.has_categories
    methods = ["famd" if name == "pca" and mixed else name for name in DEFAULT_METHODS]
    with console.stage("trying methods on subsamples"):
        return recommend(data.X, n_components=int(n_components), methods=methods), data
