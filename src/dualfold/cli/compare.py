"""`dualfold compare`: several methods on one table, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dualfold.cli import options as o
from dualfold.cli.commands import COMPARED_METHODS
from dualfold.data.reading import DEFAULT_READING, Reading


@dataclass(frozen=True)
class CompareOptions:
    """Options of `dualfold compare`, as typed."""

    file: str
    methods: str = o.own_option(
        "--methods",
        "Methods with commas between them.",
        "A,B,…",
        section=o.METHOD_SECTION,
        default=COMPARED_METHODS,
        autocompletion=o.next_method,
    )
    n_components: str = "2"
    n_neighbors: int | None = None
    reading: Reading = DEFAULT_READING
    output: str | None = o.own_output("All coordinates in one table.")
    picture: str | None = None
    html: str | None = None
    html_mb: float = 20
    images: str | None = None
    force: bool = False
    spreadsheet: bool = False
    strict: bool = False
    as_json: bool = False
    quiet: bool = False
    method_options: Mapping[str, object] = field(default_factory=dict)


def compare(options: CompareOptions) -> None:
    """Several methods on one table, side by side.

    \b
    Examples:
      dualfold compare iris.csv --color species --picture iris.png
      dualfold compare roll.csv --methods pca,isomap,lle,mvu --html roll.html
      dualfold compare cells.parquet --methods pca,eigenmaps -o all.parquet
      dualfold compare roll.csv --methods pca,isomap,lle -k 12 --pieces separate

    For each method: what its map keeps, what is proved, how long it took.
    An option of a method (`dualfold methods NAME`) goes to all of the methods that have it.
    """
    from dualfold.cli.run_compare import run_compare  # the numerics

    run_compare(options)
