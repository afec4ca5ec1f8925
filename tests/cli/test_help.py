"""Help: options in sections, every line within the terminal, every command and method."""

from __future__ import annotations

import re

import pytest

from dualfold.methods.descriptions import DESCRIPTIONS
from tests.cli.command_line import run
from tests.cli.door import READING_OPTIONS

COMMANDS = re.findall(r"^  ([a-z]+)  ", run("--help").stdout.partition("Commands:")[2], re.M)
HELPS = [(), *((name,) for name in COMMANDS), *(("embed", "-m", name) for name in DESCRIPTIONS)]


@pytest.mark.parametrize("words", HELPS, ids=" ".join)
@pytest.mark.parametrize("width", [60, 80])
def test_help_fits_the_terminal(words, width):
    shown = run(*words, "--help", terminal_width=width).stdout
    examples = re.compile(r"dualfold |^  -")  # commands to copy, and the long names of options
    wide = [line for line in shown.splitlines() if len(line) > width]
    assert not [line for line in wide if width == 80 or not examples.search(line)]


def test_options_are_in_sections_by_what_a_user_decides():
    shown = run("embed", "--help").stdout
    titles = re.findall(r"^([A-Z].*):$", shown, re.M)
    assert titles[:2] == ["Arguments", "Method"]
    assert titles[-1] == "General"
    found = {}
    for part in re.split(r"^(?=[A-Z].*:$)", shown, flags=re.M)[1:]:
        title, _, rows = part.partition(":\n")
        found[title] = re.findall(r"^  (?:-\w, )?(--[\w-]+)", rows, re.M)
    assert {"--method", "--n-components", "--n-neighbors"} <= set(found["Method"])
    assert {"--color", "--id", "--labels", "--exclude"} <= set(found["Columns"])
    assert {"--missing", "--standardize", "--log"} <= set(found["Values"])
    assert {"--separator", "--decimal", "--header-row"} <= set(found["Format of FILE"])
    assert {"--output", "--picture", "--html", "--force"} <= set(found["Output"])
    assert max(map(len, found.values())) < 15
    assert sum(map(len, found.values())) >= len(READING_OPTIONS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_of_commands_says_whole_sentences(command):
    [row] = re.findall(rf"^  {command}  +(.*)$", run("--help").stdout, re.M)
    assert row.endswith(".")
    assert not row.endswith("...")


def test_topics():
    assert run("help", "embed", prog_name="dualfold").stdout.startswith("Usage: dualfold embed")
    assert run("help").stdout.splitlines()[2:] == run("--help").stdout.splitlines()[2:]
    assert "--landmarks" in run("help", "isomap").stdout
    assert "--install-completion" in run("help", "completion").stdout
    assert "did you mean isomap?" in run("help", "isomp", code=2).stderr


def test_exit_codes_are_told_and_are_those_of_commands(here):
    told = re.findall(r"^(\d+) ", run("help", "exit-codes").stdout, re.M)
    assert told == ["0", "1", "2", "3", "130"]  # test_interrupts.py has the last one
    run("certify", "t.csv", "m.csv", code=0)
    run("certify", "t.csv", "none.csv", code=1)
    run("certify", "t.csv", code=2)
    moved = (here / "m.csv").read_text().replace("1.", "2.")
    (here / "m.csv").write_text(moved)
    run("certify", "t.csv", "m.csv", code=3)


def test_the_manual_page_has_every_command_and_exit_code():
    page = run("help", "man").stdout
    assert page.startswith(".TH DUALFOLD 1")
    assert re.findall(r"^\.SH (\w+)$", page, re.M) == ["NAME", *(one.upper() for one in COMMANDS)]
    assert not re.findall(r"^[.'](?!TH|SH|TP|nf|fi)", page, re.M)  # no text is read as a request
    assert r"\-\-n\-neighbors" in page
    assert page.partition(".SH EXIT STATUS")[2].count(".TP") == 5
