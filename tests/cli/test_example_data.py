"""`dualfold data`: examples as files and on standard output."""

from __future__ import annotations

from tests.cli.command_line import run


def test_an_example_on_standard_output_is_the_file_and_nothing_else(here):
    shown = run("data", "roll", "--rows", "20", "-o", "-")
    run("data", "roll", "--rows", "20", "-o", "own.csv", "-q")
    assert shown.stdout == (here / "own.csv").read_text()
    assert shown.stderr == ""
