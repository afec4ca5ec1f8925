"""Options of commands: what is typed becomes one object, and its words make the same again."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
import typer
from typer.testing import CliRunner

from dualfold.data import Reading
from dualfold.methods.descriptions import DESCRIPTIONS
from tests.cli.command_line import run
from tests.cli.door import (
    DEFAULT_N_NEIGHBORS,
    DEFAULT_READING,
    DEFAULT_VALUES,
    METHOD_OPTIONS,
    READING_OPTIONS,
    SWITCH_OPTIONS,
    Plan,
    as_command,
    method_options,
    option_words,
    read_metadata,
    reading_flag,
    reading_of,
    reading_words,
)

# One value for every field that is an option, each another one than by default.
EVERY = {
    "color": "kind of thing",
    "identifier": "name",
    "labels": "class",
    "weight": "times",
    "exclude": ("a", "b c"),
    "keep": ("id",),
    "category": ("zip", "b c"),
    "ordered": ("size=small, medium,large",),
    "season": ("sown on",),
    "text": ("review", "title of it"),
    "vectors": ("dim_*", "rows.npy"),
    "text_options": ("min_df=3", "weight=0.7"),
    "mixed": "numbers",
    "plain": True,
    "log": ("price",),
    "tails": "keep",
    "auto": True,
    "standardize": True,
    "missing": "drop",
    "gap_markers": ("-999", "none"),
    "levels": ("None", "bags=None"),
    "format": "csv",
    "encoding": "cp1252",
    "separator": "|",
    "thousands": "'",
    "decimal": ",",
    "header_row": 3,
    "skip_rows": 2,
    "array": "X_pca",
}


@dataclass(frozen=True)
class ReadingOptions:
    reading: Reading = DEFAULT_READING


def parsed(words):
    """The reading that the command line makes of words."""
    found = []

    def command(options: ReadingOptions) -> None:
        found.append(options.reading)

    alone = typer.Typer()
    alone.command()(as_command(command))
    result = CliRunner().invoke(alone, words)
    assert result.exit_code == 0, result.output
    return found[0]


def test_every_option_is_tried():
    assert set(EVERY) == set(READING_OPTIONS)
    assert all(EVERY[name] != DEFAULT_VALUES[name] for name in EVERY)


@pytest.mark.parametrize("name", READING_OPTIONS)
def test_an_option_goes_through_words_settings_and_help(name):
    reading = Reading(**{name: EVERY[name]})
    assert parsed(reading_words(reading)) == reading
    assert reading_of(json.loads(json.dumps(reading.settings()))) == reading
    assert reading.non_default() == {name: EVERY[name]}
    shown = run("embed", "--help").stdout
    assert f" {reading_flag(name)} " in shown


def test_all_options_at_once():
    reading = Reading(**EVERY)
    assert parsed(reading_words(reading)) == reading
    assert parsed([]) == Reading()
    assert reading_words(Reading()) == []
    assert reading_of({}) == Reading()
    assert reading_words(Reading(), standardize=True) == ["--standardize"]


def test_switches_are_the_options_that_are_true_or_false():
    found = [one for method in DESCRIPTIONS for one in method_options(method)]
    assert {one.name for one in found if "boolean" in one.rules} == SWITCH_OPTIONS
    assert {one.name for one in found} - {"n_neighbors"} == set(METHOD_OPTIONS)


def test_a_method_in_another_spelling_has_its_options(here):
    run("embed", "t.csv", "-m", "t-SNE", "--max-iter", "250", "-o", "o.csv", "-q")
    assert read_metadata("o.csv")["settings"]["max_iter"] == 250


def test_options_wait_for_the_method_wherever_it_stands(here):
    run("embed", "--landmarks", "9", "t.csv", "--method=isomap", "-o", "o.csv", "-q")
    assert read_metadata("o.csv")["settings"]["landmarks"] == 9
    shown = run("embed", "--help", "-m", "isomap").stdout
    assert "Options of isomap" in shown
    assert "--landmarks" in shown
    assert "Options of" not in run("embed", "--help").stdout


def test_options_of_one_command_do_not_reach_the_next(here):
    """A program may run several commands; each has the options that it was given."""
    run("embed", "t.csv", "-m", "isomap", "--landmarks", "9", "-o", "one.csv", "-q")
    run("embed", "t.csv", "-m", "isomap", "-o", "two.csv", "-q")
    assert read_metadata("two.csv")["settings"]["landmarks"] == "auto"


@pytest.mark.parametrize(
    ("method", "settings", "words"),
    [
        ("tsne", {"perplexity": 15.0, "n_neighbors": 12}, ["--n-neighbors", "12"]),
        ("tsne", {"perplexity": 15.0, "n_neighbors": None}, ["--perplexity", "15"]),
        ("isomap", {"n_neighbors": None, "radius": 2.5}, ["--radius", "2.5"]),
        ("isomap", {"n_neighbors": 7, "radius": None}, ["--n-neighbors", "7"]),
    ],
)
def test_words_show_no_option_that_another_one_replaces(method, settings, words):
    assert option_words(DESCRIPTIONS[method], settings) == words


def test_the_number_of_neighbours_that_the_help_names_is_that_of_every_graph_method():
    numbers = {Plan(row, 2, {}).n_neighbors for row in DESCRIPTIONS.values() if row.needs_graph}
    assert numbers == {DEFAULT_N_NEIGHBORS}
    assert f"Default: {DEFAULT_N_NEIGHBORS}," in " ".join(run("embed", "--help").stdout.split())
