"""Measured numbers in README and pages are those of benchmarks/measured.csv.

A paragraph, an item of a list or a table that shows a measured time, memory, share or ratio names
where it is from in a comment of its own, anywhere in it: <!-- measured: KEY, KEY -->. Each of its
numbers must then be a value of these keys, as rounded in the text, or the ratio of two of them.
What stands between <!-- filled: NAME --> and <!-- end --> is written by docs/generated.py. Code
that runs is an executed example. `tests/tools/stated_numbers.py` lists what is no measurement.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measured import Value, record, run_of_values, runs, values, values_of_run
from benchmarks.published import COMPARED, readme_table
from tests.tools.numbers_in_text import Shown, holds, numbers_shown
from tests.tools.stated_numbers import STATED, without_stated
from tests.workflows.public_names import THINGS, members

ROOT = Path(__file__).parents[2]
# Every section of it names the command that simulates its tables.
SIMULATIONS = ROOT / "docs" / "calibration.md"
# Statements of the papers and about them.
THEORY = ("errata.md", "papers-to-code.md")
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if page != SIMULATIONS and page.name not in THEORY
]
REMEDY = """
A measured number is one that benchmarks/measured.csv has (benchmarks write it with --publish): name
its key in the paragraph, item or table, <!-- measured: KEY -->, and write the value of the file.
A limit, a parameter or an example says so: <!-- not measured: WHAT IT IS -->.
What no command measures is said without a number."""
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
FILLED = re.compile(r"^<!-- filled: .*?^<!-- end -->$", re.M | re.S)
SOURCE = re.compile(r"<!-- (measured|not measured|checked by): (.*?)-->", re.S)
BREAK = re.compile(r"(?<=\n)(?=\s*\n)|(?<=\n)(?=\s*(?:[*-]|\d+\.) )")


def test_every_value_has_a_run_with_a_date_a_command_and_a_machine() -> None:
    made = runs()
    assert {value.run for value in values()} == set(made)
    for one in made.values():
        assert one.date
        assert one.command.startswith("python ")
        assert "cores" in one.machine
    names = [(value.key, value.side, value.quantity) for value in values()]
    assert len(set(names)) == len(names)


def test_a_new_run_replaces_the_values_of_its_keys_and_sides(tmp_path: Path) -> None:
    paths = tmp_path / "values.csv", tmp_path / "runs.csv"
    paths[0].write_text(
        "key,side,quantity,value,unit,run\na,x,seconds,2,s,old\na,y,seconds,9,s,old\n"
    )
    paths[1].write_text("run,date,command,machine\nold,2026-01-01,python -m a,2 cores\n")
    record([Value("a", "x", "seconds", "1", "s")], "python -m b", "4 cores", paths=paths)
    first, second = sorted(values(paths[0]), key=lambda value: value.value)
    assert (first.value, second.value) == ("1", "9")
    assert runs(paths[1])[first.run].command == "python -m b"
    assert second.run == "old"
    record([replace(second, value="8")], "python -m b", "4 cores", paths=paths)
    assert "old" not in runs(paths[1])  # nothing is left of it


def test_a_run_comes_back_from_the_file() -> None:
    run: dict[str, Any] = {
        "status": "done", "seconds": 1.25, "peak": 2.0**30, "before": 2.0**29, "quality": 0.5,
        "stages": {"certify": 0.25}, "facts": {"certificate": "proved", "gap": 1e-9},
        "levels": ["proved", "proved"],
    }  # fmt: skip
    back = run_of_values(values_of_run("case", "dualfold", run))
    assert {name: back[name] for name in run} == run


def test_readme_shows_six_rows_with_both_sides() -> None:
    rows = [line for line in readme_table().splitlines() if " s" in line and line.startswith("|")]
    assert len(rows) == 6
    assert len(COMPARED) > 6
    assert all(len(list(numbers_shown(row))) >= 2 for row in rows)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.5 s and 2.6 GiB", ["1.5 s", "2.6 GiB"]),
        ("0.7 to 1.9, 0.9 and 0.7 µs", ["0.7 µs", "1.9 µs", "0.9 µs", "0.7 µs"]),
        ("recall 1.0, 374 MB; at 10,000, 2 s", ["374 MB", "2 s"]),
        ("70,000×784 → 50, 20 × 3, k = 10, version 1.9", []),
        ("7 times, 3.5× as fast, 27%", ["7 times", "3.5 ×", "27 %"]),
    ],
)
def test_numbers_with_units_are_seen(text: str, found: list[str]) -> None:
    assert [shown.words for shown in numbers_shown(text)] == found


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("7.4 s", True), ("7 s", True), ("7.5 s", False), ("7400 ms", True), ("7.4 min", False),
        ("44 %", True), ("43.9%", True), ("45 %", False), ("7.4 times", True), ("8 times", False),
        ("344 MB", True), ("0.32 GiB", True), ("0.32 GB", False),
    ],
)  # fmt: skip
def test_a_number_is_held_to_the_digits_that_it_shows(text: str, held: bool) -> None:
    known = [
        Value("case", "dualfold", "seconds", "7.4", "s"),
        Value("case", "openTSNE", "seconds", "54.4", "s"),
        Value("case", "dualfold", "peak", "0.32", "GiB"),
        Value("case", "dualfold", "quality", "0.439", "share"),
    ]
    (shown,) = numbers_shown(text)
    assert isinstance(shown, Shown)
    assert holds(known, shown) is held


# ---- the pages


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, tables and items of lists, with their lines; no code, nothing that is filled."""
    for apart in (FENCE, FILLED):
        text = apart.sub(lambda found: "\n" * found[0].count("\n"), text)
    line = 1
    for part in BREAK.split(text):
        yield line + (len(part) - len(part.lstrip("\n"))), part
        line += part.count("\n")


def sources(block: str) -> dict[str, str]:
    """The kinds of sources that a block names, with what it says of each."""
    return dict(SOURCE.findall(block))


def complaints(page: str, text: str, known: Mapping[str, list[Value]]) -> Iterator[str]:
    """What a writer must do, number by number."""
    for line, block in blocks(text):
        said = sources(block)
        if "not measured" in said or "checked by" in said:
            continue
        keys = [key.strip() for key in said.get("measured", "").split(",") if key.strip()]
        for key in keys:
            if key not in known:
                yield f"{page}:{line}: benchmarks/measured.csv has no key {key!r}"
        own = [value for key in keys for value in known.get(key, [])]
        shown = numbers_shown(without_stated(SOURCE.sub("", block)))
        wrong = ", ".join(dict.fromkeys(one.words for one in shown if not holds(own, one)))
        if wrong:
            where = f"is no value of {', '.join(keys)}" if keys else "has no source"
            yield f"{page}:{line}: {wrong} {where}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_measured_numbers_are_those_of_the_data_file(page: Path) -> None:
    known: dict[str, list[Value]] = {}
    for value in values():
        known.setdefault(value.key, []).append(value)
    text = page.read_text(encoding="utf-8")
    found = list(complaints(page.name, text, known))
    assert not found, "\n".join([*found, REMEDY])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_checks_a_number_exists(page: Path) -> None:
    for _, block in blocks(page.read_text(encoding="utf-8")):
        said = sources(block)
        assert all(words.strip() for words in said.values())
        if "checked by" in said:
            assert (ROOT / said["checked by"].strip()).exists()


def test_sections_of_simulations_name_their_commands() -> None:
    text = SIMULATIONS.read_text(encoding="utf-8")
    for section in re.split(r"^(?=## )", text, flags=re.M)[1:]:
        commands = re.findall(r"`python -m (benchmarks\.[\w.]+)", section)
        assert commands, section.partition("\n")[0]
        for module in commands:
            assert importlib.util.find_spec(module)


def test_a_writer_is_told_what_to_do() -> None:
    known = {"case": [Value("case", "dualfold", "seconds", "7.4", "s")]}
    good = (
        "It takes 7.4 s. <!-- measured: case -->\n\n* At most 20 MB. <!-- not measured: a limit -->"
    )
    assert list(complaints("page.md", good, known)) == []
    [wrong] = complaints("page.md", "It takes 8 s. <!-- measured: case -->", known)
    assert wrong == "page.md:1: 8 s is no value of case"
    [nowhere] = complaints("page.md", "Text.\n\nIt takes 8 s.", known)
    assert nowhere == "page.md:3: 8 s has no source"
    [missing] = complaints("page.md", "Text. <!-- measured: other -->", known)
    assert "no key 'other'" in missing


def prose(doc: str) -> str:
    """A docstring without its examples, which run."""
    return re.sub(r"^\s*>>>.*?(?:\n\s*\n|\Z)", "\n", inspect.cleandoc(doc), flags=re.M | re.S)


@pytest.mark.parametrize("name", THINGS)
def test_docstrings_state_no_measured_numbers(name: str) -> None:
    thing = THINGS[name]
    docs = [thing.__doc__ or ""]
    if inspect.isclass(thing):
        docs += [member.__doc__ or "" for _, member in members(thing)]
    found = [shown.words for doc in docs for shown in numbers_shown(without_stated(prose(doc)))]
    assert not found, (
        f"the docstring of {name} says {', '.join(found)}. Measured numbers belong on a page of "
        "measurements, with their key; a limit or a level goes into tests/tools/stated_numbers.py"
    )


def test_every_stated_phrase_is_still_said_somewhere() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    for thing in THINGS.values():
        kinds = (
            [thing, *(member for _, member in members(thing))]
            if inspect.isclass(thing)
            else [thing]
        )
        texts += [kind.__doc__ or "" for kind in kinds]
    whole = "\n".join(texts)
    for phrase, meaning in STATED.items():
        assert meaning
        assert re.search(phrase.replace(" ", r"\s+"), whole), phrase
