"""`dualfold recommend`."""

from __future__ import annotations

import json

from tests.cli.command_line import run


def test_advice_about_standard_input_names_no_file(here):
    done = run("recommend", "-", "--json", input=(here / "t.csv").read_text())
    assert json.loads(done.stdout)["source"] == "-"
    assert "Try next" not in done.stderr
