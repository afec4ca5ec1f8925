"""Rare words on the command line: each is done, or refused in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from dualfold.cli import app
from dualfold.errors import PiecesJoined

X = np.random.default_rng(0).normal(size=(40, 3)).round(4)


def run(*words, text=None):
    done = CliRunner().invoke(app, [str(word) for word in words], input=text)
    assert "mistake in dualfold" not in done.stderr, done.stderr
    return done


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(",".join(map(str, r)) for r in X) + "\n")
    assert run("embed", "t.csv", "-m", "pca", "-o", "m.csv", "-q").exit_code == 0
    return tmp_path


USAGE = {
    "the report goes to standard output": ("report", "t.csv", "m.csv", "-o", "-"),
    "the audit goes to standard output": ("audit", "t.csv", "m.csv", "-o", "-"),
    "the table of results goes to standard output": (
        "compare", "t.csv", "--methods", "pca", "-o", "-",
    ),
    "--landmark-rows is for tables in tiles": ("embed", "t.csv", "--landmark-rows", "9"),
    "'9' is no shape of a picture": ("embed", "t.csv", "--images", "9"),
    "'²x3' is no shape of a picture": ("embed", "t.csv", "--images", "²x3"),
    "'0x3' is no shape of a picture": ("embed", "t.csv", "--images", "0x3"),
    "name one method or more": ("compare", "t.csv", "--methods", ","),
    "'²' is not": ("embed", "t.csv", "--n-components", "²"),
    "--n-components": ("recommend", "t.csv", "--n-components", "²"),
}  # fmt: skip


@pytest.mark.parametrize("said", USAGE)
def test_wrong_usage(here, said):
    done = run(*USAGE[said])
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.stderr.split())


REFUSED = {
    "m.csv is the table itself": ("report", "m.csv", "m.csv"),
    "there is no map none.csv": ("certify", "t.csv", "none.csv"),
    "comparing needs more than 21 rows": ("compare", "few.csv", "--methods", "pca"),
    "is no JSON object": ("certify", "t.csv", "list.csv"),
    "none of the methods gave a map": ("compare", "t.csv", "--methods", "isomap", "-k", "40"),
}


@pytest.mark.parametrize("said", REFUSED)
def test_refusals(here, said):
    lines = (here / "t.csv").read_text().splitlines()
    (here / "few.csv").write_text("\n".join(lines[:10]))
    (here / "list.csv").write_text((here / "m.csv").read_text())
    (here / "list.csv.json").write_text("[1]")
    done = run(*REFUSED[said])
    assert done.exit_code == 1, done.output
    assert said in done.stderr


def test_an_example_on_standard_output_is_the_file_and_nothing_else(here):
    shown = run("data", "roll", "--rows", "20", "-o", "-")
    run("data", "roll", "--rows", "20", "-o", "roll.csv", "-q")
    assert shown.stdout == (here / "roll.csv").read_text()
    assert shown.stderr == ""


def test_advice_about_standard_input_names_no_file(here):
    done = run("recommend", "-", "--json", text=(here / "t.csv").read_text())
    assert done.exit_code == 0
    assert json.loads(done.stdout)["source"] == "-"
    assert "Try next" not in done.stderr


def test_coordinates_never_replace_a_column_of_the_table(here):
    text = (here / "t.csv").read_text().splitlines()
    named = ["pca_1," + text[0], *(f"r{place}," + row for place, row in enumerate(text[1:]))]
    (here / "n.csv").write_text("\n".join(named))
    assert run("embed", "n.csv", "-m", "pca", "--id", "pca_1", "-o", "o.csv").exit_code == 0
    head, first = (here / "o.csv").read_text().splitlines()[:2]
    assert head == "pca_1,pca_1_new,pca_2"
    assert first.startswith("r0,")


def test_two_different_rows_have_one_direction(here):
    (here / "two.csv").write_text("a,b\n" + "1,2\n" * 9 + "3,5\n" * 9)
    said = run("embed", "two.csv", "-m", "pca", "-o", "o.csv").stderr
    assert "only 2 of 18 rows are different, which span 1 direction: of 2 coordinates" in said


@pytest.mark.filterwarnings("ignore", category=PiecesJoined)
def test_a_method_without_a_map_has_its_row_and_strict_counts_it(here):
    words = ("compare", "t.csv", "--methods", "pca,isomap", "-k", "40", "--strict")
    done = run(*words)
    assert done.exit_code == 3
    assert "no map: " in done.stdout
    told = json.loads(run(*words, "--json").stdout)["results"]
    assert ["error" in row for row in told] == [False, True]


def test_rows_without_names_are_taken_in_the_models_order(here):
    run("embed", "t.csv", "-m", "pca", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    np.save("new.npy", X[:5])
    done = run("transform", "m.dualfold", "new.npy", "-o", "p.csv")
    assert "taken in the model's order" in done.stderr
    placed = np.loadtxt("p.csv", delimiter=",", skiprows=1)[:, -2:]
    known = np.loadtxt("m.csv", delimiter=",", skiprows=1)[:5, -2:]
    np.testing.assert_allclose(placed, known, atol=1e-12)
    assert "names no label" in run("transform", "m.dualfold", "t.csv", "--color", "z").stderr
