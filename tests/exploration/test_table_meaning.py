"""A map says what its axes and groups mean in words of its table."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dualfold
from dualfold.data import Reading, prepare
from dualfold.view import make_page
from tests.exploration.door import NoteCollector, app, first_color
from tests.tools.page_contents import data_of

N = 240


def table(seed=0):
    """Two clouds of stones: heavy ones and light ones; a year; a cost in $; one far row."""
    rng = np.random.default_rng(seed)
    heavy = np.arange(N) < N // 2
    carat = np.where(heavy, 9.0, 1.0) + rng.normal(size=N)
    return pd.DataFrame(
        {
            "carat": carat.round(2),
            "price in $": (carat + 0.5 * rng.normal(size=N)).round(2),
            "length in $": (carat + 0.5 * rng.normal(size=N)).round(2),
            "height": (3 * rng.normal(size=N)).round(2),
            "mine": np.where(heavy, "north", "south"),
            "number": rng.permutation(N) * 1.5,
        }
    )


@pytest.fixture(scope="module")
def stones():
    return dualfold.explore(table(), method="pca", label_columns=("mine", "number"))


def test_the_terminal_and_json_say_what_axes_and_groups_mean(tmp_path):
    table().to_csv(tmp_path / "stones.csv", index=False)
    words = [
        "embed",
        str(tmp_path / "stones.csv"),
        "-m",
        "pca",
        "--exclude",
        "number",
        "-o",
        str(tmp_path / "map.csv"),
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    first, second = (next(x for x in lines if x.startswith(f"Axis {axis}:")) for axis in (1, 2))
    assert {"carat", "price in $", "length in $"} <= set(first[8:-2].split(", "))
    assert "height" in second
    (groups,) = [place for place, line in enumerate(lines) if line == "The map shows 2 groups:"]
    assert "; 120 rows; " in lines[groups + 1]
    assert "found in the data" in lines[groups + 1]
    stored = json.loads((tmp_path / "map.csv.json").read_text())
    assert f"A{stored['meaning']['axes'][0]['text'][1:]}" == first
    listed = [group for group in stored["named_groups"]["groups"] if group["level"] == 1]
    assert [f"  {group['text']}" for group in listed] == lines[groups + 1 : groups + 3]
    assert {group["verdict"] for group in listed} == {"found"}
    assert sorted(group["size"] for group in listed) == [120, 120]
    assert stored["map_verdict"]["groups"]["found"] == len(listed)


def test_a_picture_has_the_columns_at_its_axes_and_the_headline_under_it(stones):
    figure = stones.plot()
    axes = figure.axes[0]
    assert r"\$" in axes.get_xlabel()  # no formula
    assert "→" in axes.get_xlabel() or "←" in axes.get_xlabel()
    figure.canvas.draw()
    assert stones.judgement.headline.split()[0] in " ".join(
        text.get_text() for text in figure.texts
    )


def test_the_first_colours_are_those_of_a_target_or_of_what_the_map_separates_best(stones):
    meaning = stones.judgement.meaning
    color, why = first_color(stones.data, meaning)
    assert color in ("mine", "carat", "price in $", "length in $"), "values of 'number' all differ"
    assert "separates" in why
    known = prepare(table().rename(columns={"mine": "target"}))
    color, why = first_color(known, meaning)
    assert (color, "answer" in why) == ("target", True)
    assert first_color(prepare(table(), Reading(color="carat")), meaning) == (
        "carat",
        "",
    )


def test_the_page_has_the_three_answers_and_what_was_noticed():
    far = table()
    far.loc[3, ["carat", "price in $", "length in $"]] = 1e4
    found = dualfold.explore(far, method="pca", standardize=True)
    content = found.page_content(NoteCollector())
    page = data_of(make_page(content).html)
    assert page["color"] == content.color
    (verdict,) = (shown["verdict"] for shown in page["maps"])
    assert verdict["headline"] == found.judgement.headline
    assert [part["question"] for part in verdict["parts"]] == [
        "Overall order",
        "Who is near whom",
        "Groups",
    ]
    (note,) = [note for note in page["notes"] if "far out" in note]
    assert "row 4 " in note, "rows are counted from 1"


@pytest.mark.full
def test_of_wide_tables_the_columns_that_follow_the_map_are_looked_at():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(120, 310)), columns=[f"c{i}" for i in range(310)])
    wide["c200"] *= 30
    found = dualfold.explore(wide, method="pca", standardize=False)
    assert len(found.judgement.meaning.directions) == 300
    assert found.judgement.meaning.axes[0].columns == ("c200",)
