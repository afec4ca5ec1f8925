"""Every value on a page is the value of the table."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dualfold.cli import app
from tests.tools.page_contents import data_of, numbers_of
from tests.view.door import column_of, features_of, values_of

pytest_plugins = ["tests.tools.page_fixtures"]  # tab, file_of, opened
N = 60


@pytest.fixture(scope="module")
def table():
    """Years, large and small numbers, long fractions, dates, hours, categories, gaps."""
    rng = np.random.default_rng(4)
    hours = pd.Timestamp("2021-03-04 05:00") + pd.to_timedelta(rng.integers(0, 900, N), "h")
    kind = rng.choice(["oak", "elm"], N).astype(object)
    kind[::9] = None
    share = rng.random(N)
    share[::11] = np.nan
    return pd.DataFrame(
        {
            "plot": [f"plot {place}" for place in range(N)],
            "year": rng.integers(1950, 2020, N),
            "price": rng.choice([123456, 1234567, 98765432], N) + rng.integers(0, 99, N),
            "weight": np.round(rng.normal(size=N) * 1e-5, 9),
            "share": share,
            "planted": rng.choice(["1977-05-01", "1980-12-31", "2001-01-02"], N),
            "seen": hours.strftime("%Y-%m-%d %H:%M"),
            "kind": kind,
            "row": rng.integers(5, 9, N),
        }
    )


def page_of(table, folder, *more):
    """The page of `dualfold embed`, and the file as text."""
    table.to_csv(folder / "forest.csv", index=False)
    words = ["embed", str(folder / "forest.csv"), "--id", "plot", "--keep", "price", *more]
    words += [
        "--output",
        str(folder / "map.csv"),
        "--keep",
        "row",
        "--html",
        str(folder / "forest.html"),
        "--quiet",
        "--force",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    text = pd.read_csv(folder / "forest.csv", dtype=str, keep_default_na=False)
    return (folder / "forest.html").read_text(encoding="utf-8"), text


@pytest.fixture(scope="module")
def forest(table, tmp_path_factory):
    return page_of(table, tmp_path_factory.mktemp("values"))


def same(shown, word):
    """Whether a page and a table have the same value; a date may go without its midnight."""
    if shown == word:
        return True
    try:
        return float(shown) == float(word)
    except ValueError:
        return f"{shown} 00:00" == word


def test_cards_and_tables_of_a_page_have_the_values_of_the_table(opened, forest):
    html, table = forest
    page = opened(html)
    for place in (0, 10, 33):
        page.evaluate("row => dualfold.focus(row)", place)
        row = table.iloc[place]
        number = table.index[place] + 1
        assert page.inner_text("#point h2") == row["plot"]
        assert f"row {number}" in page.inner_text("#point")
        cells = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('#point tbody tr')].map(line =>"
            " [line.querySelector('th').textContent, [line.querySelector('td').textContent,"
            " line.querySelector('td').title]]))"
        )
        assert set(cells) == set(table.columns) - {"plot"}
        for name, (text, title) in cells.items():
            word = row[name]
            assert same(title, word or "missing"), name
            if name == "share" and not word:  # the mean of a column is what fills it in
                assert re.fullmatch(r"– \(filled in: 0\.\d+\)", text)
                continue
            assert same(text, word or "–") or (text[-1] == "…" and word.startswith(text[:-1]))


def test_a_selection_goes_out_with_the_values_of_the_table_and_each_column_once(opened, forest):
    html, table = forest
    page = opened(html)
    lines = list(csv.reader(io.StringIO(page.evaluate(f"dualfold.csv([...Array({N}).keys()])"))))
    heads = lines[0]
    assert len(set(heads)) == len(heads)
    assert sorted(heads[:-2]) == sorted([*table.columns, "row 2"])
    found = pd.DataFrame(lines[1:], columns=heads)
    assert found["row"].astype(int).tolist() == (table.index + 1).tolist()
    for name in table.columns:
        shown = found["row 2" if name == "row" else name]
        assert all(same(a, b) for a, b in zip(shown, table[name], strict=True)), name


def test_means_and_ends_of_scales_are_as_fine_as_the_column(opened, forest):
    html, table = forest
    page = opened(html)
    page.evaluate("dualfold.select([...Array(20).keys()])")
    cells = {
        line.locator("th button").inner_text(): line.locator("td").first.inner_text()
        for line in page.locator("#selection tbody tr").all()
    }
    for name in ("year", "price", "weight", "share", "row"):
        values = pd.to_numeric(table[name])
        assert (
            abs(float(cells[name]) - values[:20].mean()) <= (values.max() - values.min()) / 100
        ), name
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", cells["planted"])
    page.evaluate("dualfold.colorBy('column:year')")
    ends = page.locator("#legend .ends span").all_inner_texts()
    assert ends == [table["year"].min(), table["year"].max()]
    assert "counted from 1" in page.inner_text("#keys")


def test_a_page_rounds_fractions_only_and_says_of_which_column():
    wide = np.array([16777217.0, 3e9 + 1, np.nan])  # no numbers of single precision
    features = features_of({"count": wide, "mass": np.array([1 / 3, 2.0, np.nan])}, 3)
    count, mass = (
        column_of(name, features.column(place), 3, rounded=True).content
        for place, name in enumerate(features.names)
    )
    assert (count["type"], count.get("rounded")) == ("f8", None)
    assert (mass["type"], mass["rounded"]) == ("f4", True)


def test_whole_numbers_that_a_browser_cannot_hold_are_text():
    long = np.array([2**53 + 1, 2**60 + 1, -5])
    column = column_of("key", values_of(long), 3)
    assert column.content["labels"] == [str(number) for number in long]


def test_whole_numbers_among_words_have_no_decimal_point():
    column = column_of("code", values_of(np.array([3.0, "a", None, 2.5], dtype=object)), 4)
    assert column.content["labels"] == ["3", "a", "", "2.5"]


def test_rows_keep_their_numbers_where_some_are_left_out(table, tmp_path):
    html, text = page_of(table, tmp_path, "--missing", "drop")
    data = data_of(html)
    shown = pd.to_numeric(text["share"]).notna() & (text["kind"] != "")
    assert numbers_of(data["rows"]).tolist() == (text.index[shown] + 1).tolist()
