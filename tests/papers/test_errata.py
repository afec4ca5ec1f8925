"""docs/errata.md and its checks name each other, one to one."""

from __future__ import annotations

import inspect
from collections import Counter

from tests.papers.errata import DOCUMENT, checks, entries


def test_every_entry_has_its_check_and_every_check_its_entry():
    named = [entry.check for entry in entries()]
    assert [name for name, times in Counter(named).items() if times > 1] == []
    assert sorted(named) == sorted(checks())


def test_every_check_states_its_numbers():
    silent = [name for name, test in checks().items() if "shows(" not in inspect.getsource(test)]
    assert silent == []


def test_entries_are_under_the_heading_of_their_file():
    """A reader finds a check in the file that the section names."""
    text = DOCUMENT.read_text(encoding="utf-8").splitlines()
    tests = checks()
    for entry in entries():
        above = [line for line in text[: entry.line] if line.startswith("Checks: ")][-1]
        assert tests[entry.check].__module__.replace(".", "/") + ".py" in above, entry.check


def test_the_picture_is_there():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text.rstrip().splitlines()[-1].startswith("![")
    assert (DOCUMENT.parent / "errata.png").exists()
