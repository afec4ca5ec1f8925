"""`dualfold reproduce`: the papers' tables and figures in one report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dualfold.cli.options import Force, Json, Quiet
from dualfold.cli.talk import UNCERTIFIED, Voice, print_json

if TYPE_CHECKING:
    from dualfold.experiments import Done, Experiment, Setting

MARKDOWN, PAGE = "report.md", "report.html"


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Papers or experiments (default: everything)."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="The papers' sizes, not quick ones.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the report goes.")
    ] = Path("dualfold-papers"),
    listing: Annotated[bool, typer.Option("--list", help="Only say what there is.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of everything random.")] = 0,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the tables and figures of five papers again, and compare the numbers.

    \b
    Examples:
      dualfold reproduce                     everything, quick sizes, a few minutes
      dualfold reproduce tucker shin         two of the papers
      dualfold reproduce --list              what there is
      dualfold reproduce --full -o papers    the papers' own sizes

    Writes report.html (one file), report.md and its pictures; exit code 3 if a row does not
    come out as expected. Tucker's figures want MNIST:
    DUALFOLD_MNIST names a file of it; the small digits stand in where there is none.
    """
    from dualfold import experiments
    from dualfold.data.whole_file import check_folder, check_place
    from dualfold.experiments.finding import STAND_IN
    from dualfold.experiments.report import counted, summary

    wanted = experiments.chosen(names or [])
    if listing:
        _list(wanted, as_json)
        return
    voice, heard = Voice(quiet=quiet), list[str]()
    check_folder(output)  # before minutes of work, not after
    for name in (PAGE, MARKDOWN):
        if output.exists():
            check_place(output / name, overwrite=force)
    setting = experiments.Setting("full" if full else "quick", seed)
    found: list[Done] = []
    with voice.telling_warnings(heard):
        for place, one in enumerate(wanted):
            with voice.doing(f"{place + 1} of {len(wanted)}: {one.title}"):
                found += experiments.run([one], setting)
            off = found[-1].finding.failed
            words = f"{counted(len(off), 'row')} not as expected" if off else "as expected"
            voice.say(f"{one.name:<28} {found[-1].seconds:6.1f} s  {words}")
    with voice.doing("writing"):
        written = write(output, found, setting)
    if as_json:
        print_json(
            {
                "summary": summary(found),
                "findings": [done.to_dict() for done in found],
                "written": [str(path) for path in written],
                "notices": heard,
            }
        )
    voice.say(f"\n{summary(found)}")
    voice.say(f"\nThe report:  {written[0]}  (and {MARKDOWN} with its pictures beside it)")
    if any(STAND_IN in done.finding.notes for done in found):
        voice.say(STAND_IN)
    if not full:
        again = " ".join(
            ["dualfold reproduce", *(names or []), "--full", "-o", str(output / "full")]
        )
        voice.say(f"\nTry next:  {again}")
    if any(done.finding.failed for done in found):
        raise typer.Exit(UNCERTIFIED)


def write(folder: Path, found: list[Done], setting: Setting) -> list[Path]:
    """The page, the Markdown and its pictures, each whole or not at all."""
    from dualfold.data.whole_file import whole_file
    from dualfold.experiments import html_report, markdown_report
    from dualfold.experiments.report import picture, picture_name

    contents = {
        PAGE: html_report(found, setting).encode(),
        MARKDOWN: markdown_report(found, setting).encode(),
    }
    for done in found:
        for place, (_, figure) in enumerate(done.finding.figures):
            contents[picture_name(done, place)] = picture(figure)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        with whole_file(folder / name, overwrite=True) as file:
            file.write(content)
    return [folder / name for name in contents]


def _list(wanted: tuple[Experiment, ...], as_json: bool) -> None:
    from dualfold.experiments import PAPERS

    authors = {paper.letter: paper.author for paper in PAPERS}
    if as_json:
        print_json(
            {
                "experiments": [
                    {"name": e.name, "paper": authors[e.paper], "place": e.place, "title": e.title}
                    for e in wanted
                ]
            }
        )
        return
    rows = [(one.name, authors[one.paper], one.place, one.title) for one in wanted]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, wide, strict=True))
        typer.echo("  ".join(cells).rstrip())
