"""`dualfold embed`: from a table to a certified map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import typer

from dualfold.cli import options as o
from dualfold.cli.usage import whole_number
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.methods.descriptions import DESCRIPTIONS


@dataclass(frozen=True)
class EmbedOptions:
    """Options of `dualfold embed`, as typed."""

    file: str
    method: str | None = o.own_option(
        "--method -m",
        f"{', '.join(DESCRIPTIONS)} (see `dualfold methods`), or auto, which tries some as "
        "`dualfold recommend` does. Default: pca, or famd where there are categories.",
        "METHOD",
        section=o.METHOD_SECTION,
        callback=o.method_or_auto,
        autocompletion=o.completion(*DESCRIPTIONS, "auto"),
    )
    contingency: bool = o.own_option(
        "--contingency",
        "FILE is a contingency table: the first column of text names the rows, all others are "
        "counts. Short for --method correspondence.",
        section=o.METHOD_SECTION,
        default=False,
    )
    question: str | None = o.own_question("What --method auto is to be best for")
    n_components: str | None = None
    n_neighbors: int | None = None
    reading: Reading = DEFAULT_READING
    output: str | None = None
    append: bool = o.own_option(
        "--append",
        "Write all columns of FILE as they are, with the coordinates beside them; rows that were "
        "left out get none.",
        section=o.OUTPUT_SECTION,
        default=False,
    )
    picture: str | None = None
    html: str | None = None
    html_mb: float = 20
    images: str | None = None
    no_text: bool = o.own_option(
        "--no-text",
        "Leave the texts of the rows out of the page.",
        section=o.OUTPUT_SECTION,
        default=False,
    )
    save_model: str | None = o.own_option(
        "--save-model",
        "Keep the map as a file that `dualfold transform` places new rows with.",
        "OUT.dualfold",
        section=o.OUTPUT_SECTION,
    )
    loadings: str | None = o.own_option(
        "--loadings",
        "A table of what each column has to do with each axis: loadings of pca, and correlations.",
        "OUT.csv",
        section=o.OUTPUT_SECTION,
    )
    biplot: str | None = o.own_option(
        "--biplot",
        "Draw the map with the columns as arrows.",
        "OUT.png",
        section=o.OUTPUT_SECTION,
    )
    memory_limit: str | None = o.own_option(
        "--memory-limit",
        "Read the table in tiles and keep under SIZE, as 2GB: Parquet (folders too), Zarr, .npy.",
        "SIZE",
        section=o.TILES_SECTION,
    )
    scheduler: str | None = o.own_option(
        "--scheduler",
        "Read it in tiles on the Dask cluster at ADDRESS, as tcp://host:8786.",
        "ADDRESS",
        section=o.TILES_SECTION,
    )
    landmark_rows: int | None = o.own_option(
        "--landmark-rows",
        "Of tables in tiles: rows that methods with a graph are fitted on; they place the others "
        "(10000).",
        "N",
        section=o.TILES_SECTION,
        parser=whole_number(3),
    )
    force: bool = False
    spreadsheet: bool = False
    strict: bool = False
    as_json: bool = False
    quiet: bool = False
    method_options: Mapping[str, object] = field(default_factory=dict)


def _contingency_method(method: str | None) -> str:
    """The method that --contingency stands for; another one is refused."""
    if method not in (None, "correspondence"):
        raise typer.BadParameter(
            f"--contingency stands for --method correspondence; leave out --method {method}"
        )
    return "correspondence"


def embed(options: EmbedOptions) -> None:
    """A table becomes a certified map.

    \b
    Examples:
      dualfold embed iris.csv --color species --picture iris.png
      dualfold embed cells.parquet -m eigenmaps -k 15 --id cell -p cells.pdf
      dualfold embed sales.csv --category region --missing drop -o sales.map.csv
      dualfold embed roll.csv -m isomap --save-model roll.dualfold
      dualfold embed roll.csv -m isomap --landmarks 200 --pieces separate
      dualfold embed roll.csv --method auto           as `dualfold recommend` says
      dualfold embed eyes.csv --contingency   counts: rows and columns on a map
      dualfold embed reviews.csv --text review        its words make the map
      dualfold embed big.parquet --memory-limit 2GB   larger than memory: in tiles
      cat table.csv | dualfold embed - -o - > map.csv

    A method has further options: `dualfold methods isomap`, or `dualfold embed -m isomap --help`.

    It uses numbers, categories and dates; other text becomes labels. It standardises columns whose
    scales differ, imputes missing values, leaves out columns without information, and prints
    each of these decisions. The certificate and all settings are stored with the coordinates
    (OUT.json, or inside a Parquet or h5ad file).
    """
    o.refuse_two_on_stdout(options.output, as_json=options.as_json)
    o.picture_shape(options.images)  # refused before any work
    if options.contingency:
        options = replace(options, method=_contingency_method(options.method))
    from dualfold.cli.run_embed import run_embed  # the numerics

    run_embed(options)
