"""`dualfold demo`: every method on two data sets that need no download."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dualfold.cli import options as o


@dataclass(frozen=True)
class DemoOptions:
    """Options of `dualfold demo`, as typed."""

    output: Path = o.own_output(  # noqa: RUF009 (it returns a field)
        "The folder to write to.", "FOLDER", default=Path("dualfold-demo")
    )
    as_json: bool = False
    quiet: bool = False


def demo(options: DemoOptions) -> None:
    """Every method on two data sets: no download, some seconds.

    \b
    Examples:
      dualfold demo
      dualfold demo --output /tmp/maps

    The data are a swiss roll and handwritten digits. It writes a picture of all maps, a page to
    explore, the data and the coordinates. Its own files from an earlier run are replaced.
    """
    from dualfold.cli.run_demo import run_demo  # the numerics

    run_demo(options)
