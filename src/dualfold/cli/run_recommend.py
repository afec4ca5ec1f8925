"""Methods tried on a table: what `dualfold recommend` does."""

from __future__ import annotations

import typer

from dualfold.cli import options as o
from dualfold.cli.commands import embed_words, try_next
from dualfold.cli.console import Console, print_json, printable
from dualfold.cli.output_files import stem
from dualfold.cli.recommend import RecommendOptions
from dualfold.cli.wording import command_texts
from dualfold.exploration.method_choice import compared_coordinates, recommendation_for
from dualfold.methods.descriptions import DESCRIPTIONS


def run_recommend(options: RecommendOptions) -> None:
    """Try methods on a table and print which suits it."""
    file, console = options.file, Console(quiet=options.quiet)
    asked = options.n_components
    with o.usage_errors():
        d = compared_coordinates(int(asked) if asked.isdecimal() else asked)
    advice, data = recommendation_for(file, options.reading, d, console, options.question)
    if options.as_json:
        print_json(advice.to_dict() | {"source": file, "notices": command_texts(data.notices)})
    else:
        typer.echo(printable(str(advice)))
    settings: dict[str, object] = {"method": advice.method, "n_components": advice.n_components}
    if DESCRIPTIONS[advice.method].needs_graph:
        settings["n_neighbors"] = advice.n_neighbors
    if file != "-":
        words = embed_words(file, settings, options.reading, standardize=data.scales_differ)
        console.say(try_next([*words, "--picture", f"{stem(file)}.{advice.method}.png"]))
