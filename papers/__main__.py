"""`python -m papers`: the papers' tables and figures in one report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import papers
from dualfold.cli.console import Console, print_json
from dualfold.cli.exit_codes import with_exit_codes
from dualfold.cli.options import COMMON_OPTIONS
from dualfold.cli.wording import command_texts
from dualfold.data.atomic_files import atomic_file, check_folder, check_place
from papers.finding import STAND_IN, Done, Experiment, Setting
from papers.report import counted, counts, picture, picture_name, summary

MARKDOWN, PAGE = "report.md", "report.html"
SOMETHING_WRONG = 3

Full = Annotated[bool, typer.Option("--full", help="The papers' sizes, not quick ones.")]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the report goes.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of everything random.")]
REPORT = Path("dualfold-papers")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 every theorem and identity holds on our code, 1 failure, 2 wrong usage, "
    "3 one does not hold, 130 interrupted. A claim that is not confirmed is no failure.",
)


@app.callback()
def top() -> None:
    """Make the tables and figures of five papers again, and put their claims to the test.

    \b
    Examples:
      python -m papers list                     what there is
      python -m papers run tucker shin          two of the papers
      python -m papers all                      everything, quick sizes, a few minutes
      python -m papers all --full -o report     the papers' own sizes

    `run` and `all` write report.html (one file), report.md and its pictures. Tucker's figures
    need MNIST: DUALFOLD_MNIST names a file of it; the small digits replace it where there is
    none.
    """


@app.command("list")
@with_exit_codes
def show(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Papers or experiments (default: everything)."),
    ] = None,
    as_json: Annotated[bool, COMMON_OPTIONS["as_json"]] = False,
) -> None:
    """Name, paper, place and title of each experiment."""
    wanted = papers.chosen(names or [])
    authors = {paper.letter: paper.author for paper in papers.PAPERS}
    rows = [(one.name, authors[one.paper], one.place, one.title) for one in wanted]
    if as_json:
        keys = ("name", "paper", "place", "title")
        print_json({"experiments": [dict(zip(keys, row, strict=True)) for row in rows]})
        return
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, wide, strict=True))
        typer.echo("  ".join(cells).rstrip())


@app.command("run")
@with_exit_codes
def run_some(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Papers or experiments.")],
    full: Full = False,
    output: Output = REPORT,
    seed: Seed = 0,
    force: Annotated[bool, COMMON_OPTIONS["force"]] = False,
    as_json: Annotated[bool, COMMON_OPTIONS["as_json"]] = False,
    quiet: Annotated[bool, COMMON_OPTIONS["quiet"]] = False,
) -> None:
    """Run the experiments of these papers, or these experiments."""
    setting = Setting("full" if full else "quick", seed)
    console = Console(quiet=quiet)
    found = reproduced(papers.chosen(names), setting, output, console, force=force, as_json=as_json)
    finish(found, ["run", *names], setting, output, console)


@app.command("all")
@with_exit_codes
def run_all(
    full: Full = False,
    output: Output = REPORT,
    seed: Seed = 0,
    force: Annotated[bool, COMMON_OPTIONS["force"]] = False,
    as_json: Annotated[bool, COMMON_OPTIONS["as_json"]] = False,
    quiet: Annotated[bool, COMMON_OPTIONS["quiet"]] = False,
) -> None:
    """Run every experiment."""
    setting = Setting("full" if full else "quick", seed)
    console = Console(quiet=quiet)
    found = reproduced(papers.chosen([]), setting, output, console, force=force, as_json=as_json)
    finish(found, ["all"], setting, output, console)


def reproduced(
    wanted: tuple[Experiment, ...],
    setting: Setting,
    output: Path,
    console: Console,
    *,
    force: bool,
    as_json: bool,
) -> list[Done]:
    """Run them and write the report; a place that cannot be written to is refused before."""
    check_folder(output)
    for name in (PAGE, MARKDOWN):
        if output.exists():
            check_place(output / name, overwrite=force)
    found, notices = list[Done](), list[str]()
    with console.note_warnings(notices):
        for place, one in enumerate(wanted):
            with console.stage(f"{place + 1} of {len(wanted)}: {one.title}"):
                found += papers.run([one], setting)
            console.say(f"{one.name:<28} {found[-1].seconds:6.1f} s  {outcome(found[-1])}")
    with console.stage("writing"):
        written = write(output, found, setting)
    if as_json:
        print_json(
            {
                "summary": summary(found),
                "counts": counts(found),
                "findings": [done.to_dict() for done in found],
                "written": [str(path) for path in written],
                "notices": command_texts(notices),
            }
        )
    return found


def outcome(done: Done) -> str:
    """Outcome of one experiment, in a few words."""
    finding = done.finding
    judged = [row for row in finding.rows if row.kind is not None]
    parts = [f"{sum(bool(row.holds) for row in judged)} of {counted(len(judged), 'row')}"]
    if finding.unconfirmed:
        parts.append(f"{len(finding.unconfirmed)} of the paper's not confirmed")
    if finding.failed:
        parts.append(f"{len(finding.failed)} WRONG")
    return ", ".join(parts)


def finish(
    found: list[Done], words: list[str], setting: Setting, output: Path, console: Console
) -> None:
    """Say what came out and what to try next; a mistake of ours ends in exit code 3."""
    console.say(f"\n{summary(found)}")
    console.say(f"\nThe report:  {output / PAGE}  (and {MARKDOWN} with its pictures beside it)")
    if any(STAND_IN in done.finding.notes for done in found):
        console.say(STAND_IN)
    if setting.size != "full":
        # Another folder: files that are there now would be refused.
        again = ["python -m papers", *words, "--full", "-o", str(output / "full")]
        console.say(f"\nTry next:  {' '.join(again)}")
    if any(done.finding.failed for done in found):
        raise typer.Exit(SOMETHING_WRONG)


def write(folder: Path, found: list[Done], setting: Setting) -> list[Path]:
    """The page, the Markdown and its pictures, each whole or not at all."""
    contents = {
        PAGE: papers.html_report(found, setting).encode(),
        MARKDOWN: papers.markdown_report(found, setting).encode(),
    }
    for done in found:
        for place, (_, figure) in enumerate(done.finding.figures):
            contents[picture_name(done, place)] = picture(figure)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        with atomic_file(folder / name, overwrite=True) as file:
            file.write(content)
    return [folder / name for name in contents]


def main() -> None:
    """What `python -m papers` runs."""
    app(prog_name="python -m papers")


if __name__ == "__main__":
    main()
