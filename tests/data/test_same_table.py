"""The same table gives the same result from every format, whatever its words are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dualfold.data import Reading, prepare

rng = np.random.default_rng(0)
n = 40
CELLS = {
    "weight": [f"{value:.2f}" for value in rng.normal(50, 5, n)],
    "bags": rng.choice(["Driver only", "Driver & Passenger", "None"], n).tolist(),
    "country": rng.choice(["DE", "FR", "NA", "ES", "IT", "PT", "PL"], n).tolist(),
    "size": [["n/a", "unknown", "<0.5"][i // 15] if i % 15 == 0 else str(i % 7) for i in range(n)],
    "price": [f"${1000 + 37.25 * i:,}" for i in rng.permutation(n)],
    "share": [f"{value:.1f} %" for value in rng.uniform(0, 100, n)],
    "smoker": ["NA" if i % 9 == 0 else ("yes", "no")[i % 2] for i in range(n)],
}
FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet", "frame", "categories")


def source(cells, kind, folder):
    """The table as a file of that kind, or as a data frame."""
    frame = pd.DataFrame(cells)
    path = folder / f"t.{kind}"
    if kind == "frame":
        return frame
    if kind == "categories":
        return frame.astype("category")
    if kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="\t" if kind == "tsv" else ",", index=False)
    return path


@pytest.mark.parametrize("kind", FORMATS)
def test_words_have_the_same_meaning_in_every_format(tmp_path, kind):
    found = prepare(source(CELLS, kind, tmp_path), Reading(missing="mean"))
    assert set(found.sources) == set(CELLS)
    features = set(found.names)
    assert "bags=None" in features
    assert "country=NA" in features
    assert "smoker=NA" not in features
    names, numbers = found.numbers
    columns = dict(zip(names, numbers.T, strict=True))
    np.testing.assert_array_equal(columns["weight"], np.array(CELLS["weight"], dtype=float))
    price = [float(cell.replace("$", "").replace(",", "")) for cell in CELLS["price"]]
    np.testing.assert_array_equal(columns["price"], price)
    np.testing.assert_array_equal(
        columns["share"], [float(cell.removesuffix(" %")) for cell in CELLS["share"]]
    )
    assert np.flatnonzero(np.isnan(columns["size"])).tolist() == [0, 15, 30]
    assert set(found.reading.levels) == {"bags=None", "country=NA"}
    assert found.reading.gap_markers == ("size=<0.5",)
    words = " ".join(found.notices)
    assert "gap_markers=['bags=None'] takes it as missing" in words
    assert "'price': read as numbers in $ and with ',' between thousands" in words
    assert "'size': 2 cells without a number were taken as missing" in words


def decided(word, others, **more):
    """Whether a word is a level of the column that holds it."""
    cells = pd.DataFrame({"w": others, "v": rng.normal(size=len(others)), **more})
    found = prepare(cells, Reading(missing="mean"))
    return f"w={word}" in found.names


def test_a_word_for_missing_is_a_level_where_it_is_as_frequent_and_written_as_the_others():
    assert decided("None", ["Some", "None", "Freq", "None"] * 10)
    assert decided("none", ["red", "none", "blue"] * 10)
    assert not decided("None", ["red", "None", "blue"] * 10)  # written by a program
    assert not decided("None", ["Some", "Freq"] * 20 + ["None"])  # one of 41
    assert not decided("None", [f"Name {i}" for i in range(30)] + ["None"] * 10)  # no levels
    assert not decided("NULL", ["OPEN", "NULL", "CLOSED"] * 10)  # SQL writes it
    assert not decided("NA", ["F", "NA", "M"] * 10)
    assert not decided("nan", ["red", "nan", "blue"] * 10)
    assert decided("Inf", ["Ctrl", "Inf"] * 15)


def test_a_word_that_is_missing_among_numbers_is_missing_everywhere():
    words = ["Some", "None", "Freq", "None"] * 10
    numbers = ["1.5", "2.5", "None", "4.5"] * 10
    assert not decided("None", words, n=numbers)


def test_the_caller_decides(tmp_path):
    path = source(CELLS, "csv", tmp_path)
    asked = Reading(gap_markers=["bags=None", "country=NA"], levels=["smoker=NA"], missing="mean")
    found = prepare(path, asked)
    assert "bags=None" not in found.names
    assert "country=NA" not in found.names
    assert "smoker=NA" in found.names
    everywhere = prepare(path, Reading(gap_markers=["None"], levels=["NA"], missing="mean"))
    assert "bags=None" not in everywhere.names
    assert {"country=NA", "smoker=NA"} <= set(everywhere.names)
    words = prepare(path, Reading(category=["size", "share"], missing="mean"))
    assert "size=<0.5" in words.names
