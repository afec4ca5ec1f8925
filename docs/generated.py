"""What is written from tables: names for type checkers, the reference, measured numbers in pages.

python docs/generated.py            write it
python docs/generated.py --check    exit code 1 where a file is not what would be written

At run time the names come from the descriptions themselves. Measured numbers are those of
benchmarks/measured.csv; a page has them between <!-- filled: NAME --> and <!-- end -->.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

import dualfold
from dualfold.cli import app
from dualfold.cli.method_list import option_rows
from dualfold.methods.descriptions import DESCRIPTIONS, FUNCTION_MODULES, SIZES_MEAN, Description

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
# Both stand beside the package, uninstalled.
from benchmarks.published import PARTS, RESULTS_PAGE, results_page  # noqa: E402
from papers.items import items_page  # noqa: E402

FILLED = re.compile(r"(<!-- filled: ([^>]*?) -->\n).*?(\n<!-- end -->)", re.S)
SOURCE = ROOT / "src" / "dualfold"


def files() -> dict[Path, str]:
    """Each file with what it should hold."""
    whole = dualfold._HOMES | dualfold._estimators() | dict.fromkeys(dualfold._ROOMS, "dualfold")
    functions = {name: f"dualfold.methods._{home}" for name, home in FUNCTION_MODULES.items()}
    found = {SOURCE / "methods" / "__init__.pyi": stub(functions)}
    found[SOURCE / "__init__.pyi"] = stub(whole) + "\n__version__: str\n"
    pages = {
        "methods.md": methods_page(),
        "commands.md": commands_page(),
        "papers-to-code.md": items_page(),
    }
    found |= {ROOT / "docs" / name: text for name, text in pages.items()}
    found[RESULTS_PAGE] = results_page()
    return found | filled_pages(without=found)


def filled_pages(without: Collection[Path]) -> dict[Path, str]:
    """README and the pages that have marked parts, filled."""
    found = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        if path not in without and FILLED.search(text):
            found[path] = FILLED.sub(lambda part: part[1] + PARTS[part[2]]() + part[3], text)
    return found


def stub(homes: Mapping[str, str]) -> str:
    """One line a name, with the module it is from; "as" says that it is exported."""
    pairs = sorted((home, name) for name, home in homes.items())
    lines = [f"from {home} import {name} as {name}\n" for home, name in pairs]
    return "# Written by docs/generated.py from dualfold.methods.descriptions.\n" + "".join(lines)


METHODS_INTRODUCTION = """# Methods and their options

What `dualfold methods` and `dualfold methods NAME` print, in one place. An option of the command
line is the parameter of the estimator that has its name: the same table and the same options give
the same bits from both. Where the command line has a default of its own, Python's stands beside it.
`compare` gives each of its methods the options that it has. [Choosing a method](which-method.md)
says when to take which; [Commands](commands.md) has the options that do not depend on the method.
"""
COMMANDS_INTRODUCTION = """# Commands and their options

What `dualfold COMMAND --help` prints, in one place. The options of each method are on the page
[Methods](methods.md). Data go to standard output, messages and progress to standard error. Exit
codes: 0 success, 1 failure, 2 a wrong call, 3 finished but not certified (`certify`, and `--strict`
elsewhere), 130 interrupted.
"""
LONGEST_VALUE = 48  # characters of a list of values that a cell still shows whole
COLUMNS = ("name", "estimator", "needs", "preserves", "new points", "practical size", "certificate")


def methods_page() -> str:
    """All methods in one table, then the options of each."""
    rows = [row.words() for row in DESCRIPTIONS.values()]
    whole = table([{name: row[name] for name in COLUMNS} for row in rows])
    parts = [METHODS_INTRODUCTION, whole, SIZES_MEAN + "\n", *map(section, DESCRIPTIONS.values())]
    return "\n".join(parts)


def commands_page() -> str:
    """Every command: what it does, examples, arguments and options."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return "\n".join([COMMANDS_INTRODUCTION, *(command_section(*one) for one in commands.items())])


def command_section(name: str, command: Any) -> str:
    """One command; paragraphs that its help keeps as they are become blocks of text."""
    about = []
    for paragraph in cleandoc(command.help).split("\n\n"):
        kept = paragraph.startswith("\b")
        about.append(f"```text\n{paragraph[2:]}\n```" if kept else " ".join(paragraph.split()))
    # What has no words here belongs to methods, whose page explains it.
    told = [one for one in command.params if one.help and not one.hidden and one.name != "help"]
    panels = dict.fromkeys(one.rich_help_panel for one in told)
    parts = [f"## dualfold {name}\n", "\n\n".join(about), ""]
    for panel in panels:
        head = (panel or "argument or option").lower()
        shown = [one for one in told if one.rich_help_panel == panel]
        parts.append(
            table([{head: f"`{typed(one)}`", "meaning": marked(one.help)} for one in shown])
        )
    return "\n".join(parts)


def marked(words: str) -> str:
    """Options in a sentence as code, which keeps their hyphens."""
    return re.sub(r"(?<![\w`-])--[a-z][\w-]*", r"`\g<0>`", words)


def typed(parameter: Any) -> str:
    """What is typed for an argument or option: `-o, --output FILE`."""
    value = parameter.metavar or ""
    if parameter.param_type_name == "argument":
        return value
    flags = ", ".join((*reversed(parameter.opts), *parameter.secondary_opts))
    return f"{flags} {value if len(value) <= LONGEST_VALUE else value.split('|')[0] + '|…'}".strip()


def section(row: Description) -> str:
    """The options of one method."""
    fixed = "".join(f", {name}={value!r}" for name, value in row.fixed.items()).lstrip(", ")
    named = f"`dualfold embed FILE -m {row.name}`, in Python `{row.class_name}({fixed})`"
    return f"## {row.title}\n\n{named}\n\n{table(option_rows(row))}"


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows as Markdown."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([row[head] or "–" for head in heads] for row in rows)]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def main() -> None:
    wrong = [
        path for path, text in files().items() if not path.exists() or path.read_text() != text
    ]
    if "--check" in sys.argv:
        for path in wrong:
            print(
                f"{path.relative_to(ROOT)} is not what would be written: python docs/generated.py"
            )
        raise SystemExit(bool(wrong))
    for path, text in files().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
