"""Which method suits a table, and the map by that one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from dualfold.cli import options as o
from dualfold.cli.console import Console, print_json, printable
from dualfold.cli.reading_options import reads_table
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.recommendation import Recommendation


@reads_table()
def recommend(
    file: o.File,
    n_components: o.Components = "2",
    reading: Reading = DEFAULT_READING,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Which method suits a table: dimension, neighbours and methods, measured on subsamples.

    \b
    Examples:
      dualfold recommend iris.csv --color species
      dualfold recommend roll.csv -d 3 --json
      dualfold embed roll.csv --method auto --picture roll.png

    The intrinsic dimension by two estimators; which numbers of neighbours make short cuts; a
    handful of methods on five subsamples, ranked with the reason in words. Where the subsamples
    disagree it says that the data do not decide. `embed --method auto` makes the map.
    """
    from dualfold.cli.closing import embed_words, try_next
    from dualfold.cli.input_table import notices_of
    from dualfold.cli.output_files import stem

    console = Console(quiet=quiet)
    found, data = recommended(file, reading, n_components, console)
    if as_json:
        print_json(found.to_dict() | {"source": file, "notices": notices_of(data)})
    else:
        typer.echo(printable(str(found)))
    row = DESCRIPTIONS[found.method]
    settings: dict[str, Any] = {"method": found.method, "n_components": found.n_components}
    settings |= {"n_neighbors": found.n_neighbors} if row.needs_graph else {}
    if file != "-":
        words = embed_words(file, settings, reading, standardize=data.scales_differ)
        console.say(try_next([*words, "--picture", f"{stem(file)}.{found.method}.png"]))


def recommended(
    file: str, reading: Reading, n_components: str, console: Console
) -> tuple[Recommendation, Prepared]:
    """Read the table and measure what suits it."""
    from dualfold.cli.input_table import read
    from dualfold.recommendation import recommend
    from dualfold.recommendation.recommendation import DEFAULT_METHODS

    if not n_components.isdecimal() or int(n_components) < 1:
        raise typer.BadParameter(
            "methods are compared at a number of coordinates; give one", param_hint="--n-components"
        )
    data = read(file, reading, console)
    mixed = getattr(data, "mixed", False)
    methods = ["famd" if name == "pca" and mixed else name for name in DEFAULT_METHODS]
    with console.doing("trying methods on subsamples"):
        return recommend(data.X, n_components=int(n_components), methods=methods), data
