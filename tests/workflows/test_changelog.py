"""Fragments of changes end up under their version, by kind, each once."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NONE = {"added": [], "changed": [], "fixed": [], "limit": []}
OLD = "# Changelog\n\n## 0.1.0, 2030-01-01\n\n### Added\n\n* Maps.\n\n---\nEnd.\n"


@pytest.fixture(scope="module")
def gather():
    spec = importlib.util.spec_from_file_location("gather", ROOT / "docs" / "gather_changes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_new_version_stands_first(gather):
    new = gather.with_changes(OLD, "0.2.0", "2031-02-03", NONE | {"fixed": ["B."], "added": ["A."]})
    begin, rest = new.split("## 0.1.0")
    wanted = "# Changelog ## 0.2.0, 2031-02-03 ### Added * A. ### Fixed * B."
    assert begin.split() == wanted.split()
    assert f"## 0.1.0{rest}" == OLD[OLD.index("## 0.1.0") :]


def test_entries_of_a_version_that_is_there_join_it(gather):
    new = gather.with_changes(OLD, "0.1.0", "2031-02-03", NONE | {"limit": ["C."], "added": ["A."]})
    wanted = (
        "# Changelog ## 0.1.0, 2031-02-03 ### Added * Maps. * A. ### Known limits * C. --- End."
    )
    assert new.split() == wanted.split()


def test_fragments_have_a_known_kind(gather, tmp_path):
    gather.fragments()  # those of this checkout
    (tmp_path / "one.added.md").write_text("Two\nlines.\n")
    assert gather.fragments(tmp_path)["added"] == ["Two lines."]
    (tmp_path / "two.better.md").write_text("What?")
    with pytest.raises(SystemExit, match="better"):
        gather.fragments(tmp_path)
