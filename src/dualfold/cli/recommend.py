"""`dualfold recommend`: which method suits a table."""

from __future__ import annotations

from dataclasses import dataclass

from dualfold.cli import options as o
from dualfold.data.reading import DEFAULT_READING, Reading


@dataclass(frozen=True)
class RecommendOptions:
    """Options of `dualfold recommend`, as typed."""

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
    from dualfold.cli.run_recommend import run_recommend  # the numerics

    run_recommend(options)
