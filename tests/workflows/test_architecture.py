"""ARCHITECTURE.md says what is true: its rooms are import-linter's, its files are there."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import dualfold

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_rooms_are_those_of_the_import_contract_in_its_order():
    table = TEXT[TEXT.index("| room |") : TEXT.index("`benchmarks/`")]
    rooms = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in table.splitlines()[2:] if line]
    stated = [names for names in rooms if names]  # a line without a room names a floor
    contract = SETTINGS["tool"]["importlinter"]["contracts"][0]["layers"]
    layers = [[name.strip() for name in layer.split("|")] for layer in contract]
    assert stated == [layer for layer in layers if layer != ["__main__"]]


def test_every_public_room_stands_once_in_the_page_of_what_is_stable():
    page = (ROOT / "docs" / "dev" / "stability.md").read_text(encoding="utf-8")
    rooms = [line.split("|")[2] for line in page.splitlines() if line.startswith("| ")]
    named = re.findall(r"`([a-z_]+)`", " ".join(rooms))
    assert sorted(named) == sorted([*dualfold._ROOMS, "certify"])


def test_every_file_that_it_names_is_there():
    named = set(re.findall(r"`((?:\w+/)+\w+\.(?:py|c|md))`", TEXT)) - {
        "methods/_yours.py",
        "kernels/yours.c",
        "tests/methods/test_yours.py",
    }
    assert len(named) > 15
    places = (ROOT, ROOT / "src" / "dualfold")
    missing = [name for name in named if not any((place / name).is_file() for place in places)]
    assert not missing
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert not [link for link in links if not (ROOT / link).exists()]


def test_every_note_that_the_code_links_to_is_there():
    source = (ROOT / "src" / "dualfold").rglob("*.py")
    pages = {
        page for path in source for page in re.findall(r"docs/dev/[\w/-]+\.md", path.read_text())
    }
    assert len(pages) > 10
    assert not [page for page in pages if not (ROOT / page).is_file()]


def test_every_test_and_tool_that_ci_and_contributors_run_is_there():
    missing = []
    for page in (".ci/run", "CONTRIBUTING.md", "README.md", "SECURITY.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        paths = re.findall(r"\btests/[\w/]+\.(?:py|json)", text)
        modules = re.findall(r"python -m (tests(?:\.\w+)+)", text)
        paths += [module.replace(".", "/") + ".py" for module in modules]
        missing += [(page, path) for path in paths if not (ROOT / path).is_file()]
    assert not missing


def test_the_steps_of_a_fit_are_those_of_the_code():
    begin = TEXT.index("fit_graph_method(X, method, stage)")
    block = TEXT[begin : TEXT.index("`GraphMethod` is data")]
    code = (ROOT / "src" / "dualfold" / "methods" / "fitting" / "graph_fit.py").read_text(
        encoding="utf-8"
    )
    for step in re.findall(r"^    (\S+)", block, re.M):
        assert step in code, step


def test_a_newcomer_can_read_it_in_ten_minutes():
    assert len(TEXT.split()) <= 1_800


def test_a_certificate_needs_few_modules():
    count = """
import sys
import dualfold.trace.certificate
print(sum(name.startswith("dualfold") for name in sys.modules))
"""
    run = subprocess.run([sys.executable, "-c", count], capture_output=True, text=True, check=True)
    assert int(run.stdout) <= 35


def test_dependency_groups_have_what_the_extras_have():
    extras, groups = SETTINGS["project"]["optional-dependencies"], SETTINGS["dependency-groups"]
    of_ours = {"dualfold[all]"}
    assert [*groups["test"], *groups["lint"]] == [
        one for one in extras["dev"] if one not in of_ours
    ]
    assert groups["docs"] == [one for one in extras["docs"] if one not in of_ours]
