"""Files of a working day: titles, units, totals, marks in numbers; files of another kind."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from dualfold.data import Reading, prepare, read_table
from dualfold.errors import InvalidInput
from tests.data.files import said, table

rng = np.random.default_rng(0)
NAMES = ["name", "region", "sales", "staff"]
ROWS = [
    [f"Store {i}", str(rng.choice(["North", "South"])), round(float(v), 2), int(s)]
    for i, (v, s) in enumerate(zip(rng.normal(100, 9, 30), rng.integers(1, 9, 30), strict=True))
]


def written(folder, rows, kind):
    """The cells as a text file or as a sheet."""
    path = folder / f"t.{kind}"
    if kind == "xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)
    else:
        lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
        path.write_text("\n".join(lines) + "\n")
    return path


def holds_the_table(found):
    assert len(found.rows) == len(ROWS)
    assert set(found.sources) == {"region", "sales", "staff"}
    names, numbers = found.numbers
    np.testing.assert_array_equal(numbers[:, names.index("sales")], [row[2] for row in ROWS])
    assert list(found.labels["name"]) == [row[0] for row in ROWS]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_title_above_the_names_and_lines_below_the_table(tmp_path, kind):
    above = [["Sales report 2020"], ["Created by:", "me"], []]
    below = [["Total", None, 3000.5, 120], [], ["Source: the books of all our stores"]]
    found = prepare(written(tmp_path, [*above, NAMES, *ROWS, *below], kind))
    holds_the_table(found)
    assert said(found, "names of the columns in line 4", "'Sales report 2020'", "header_row=4")
    assert said(found, "the last", "'Total'", "left out", "plain=True")


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_units_below_the_names(tmp_path, kind):
    units = [None, None, "kEUR", "persons"]
    found = prepare(written(tmp_path, [NAMES, units, *ROWS], kind))
    holds_the_table(found)
    assert said(found, "line 2", "'kEUR'", "units")


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_names_over_several_columns_are_joined(tmp_path, kind):
    above = [["Report"], [None, "2020", None, "2021", None], ["name", "Q1", "Q2", "Q1", "Q2"]]
    rows = [[f"s{i}", *values] for i, values in enumerate(rng.normal(size=(12, 4)).tolist())]
    found = prepare(written(tmp_path, [*above, *rows], kind))
    assert found.sources == ["2020 Q1", "2020 Q2", "2021 Q1", "2021 Q2"]
    assert said(found, "two lines, 2 and 3")


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_the_caller_says_where_the_names_are(tmp_path, kind):
    rows = [["a", "b", "c", "d"], ["draft", "draft", "draft", "draft"], NAMES, *ROWS]
    path = written(tmp_path, rows, kind)
    holds_the_table(prepare(path, Reading(header_row=3)))
    holds_the_table(prepare(path, Reading(skip_rows=2)))
    bare = prepare(written(tmp_path, ROWS, kind), Reading(header_row=0))
    assert len(bare.rows) == len(ROWS)
    assert bare.sources == ["column_3", "column_4", "column_2"]
    with pytest.raises(InvalidInput, match=r"nothing below line 90|without cells"):
        prepare(path, Reading(skip_rows=90))


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_rows_with_few_values_are_rows(tmp_path, kind):
    """A row of one name is no title or remark, nor is a total that others are, too."""
    sparse = [["Ann", None, None, None], *ROWS, ["Total", "North", 1.5, 2]]
    sparse += [["Total", "South", 2.5, 2], ["Bob", None, None, None]]
    found = read_table(written(tmp_path, [NAMES, *sparse], kind), Reading(missing="keep"))
    assert len(found.rows) == len(sparse)


def test_words_in_one_column_alone_are_no_table(tmp_path):
    rows = [["All about us", "x", "y"], *[[word, None, None] for word in "abcabcabc"]]
    with pytest.raises(InvalidInput, match=r"only 'All about us' holds something.*header_row="):
        prepare(written(tmp_path, rows, "xlsx"))


def test_marks_in_numbers(tmp_path):
    german = table(tmp_path, "a;b;c\n1,5;1.234;12,5 %\n2,5;12.345.678;7,0 %\n")
    np.testing.assert_array_equal(german.X, [[1.5, 1234, 12.5], [2.5, 12345678, 7]])
    assert said(german, "'b'", "'.' between thousands")
    english = table(tmp_path, 'a,b,c\n1,"$1,200",5 kg\n2,($300),7 kg\n2,$4.5,9kg\n')
    np.testing.assert_array_equal(english.X, [[1, 1200, 5], [2, -300, 7], [2, 4.5, 9]])
    assert said(english, "'b'", "in $", "category=['b']")
    swiss = table(tmp_path, "a;b\n1;1'200.50\n2;7\n")
    np.testing.assert_array_equal(swiss.X[:, 1], [1200.5, 7])
    # Words that begin with a number or hold one are words.
    words = table(tmp_path, "a,b,c,d\n1,Q1,1A,10-20\n2,Q2,1B,20-30\n2,Q2,2B,1:30\n")
    assert set(words.labels) == {"b", "c", "d"}
    codes = table(tmp_path, "a,zip\n1,01234\n2,n/a\n3.5,56789\n")
    assert list(codes.labels["zip"]) == ["01234", None, "56789"]


def test_a_few_words_among_numbers_are_missing_values(tmp_path):
    cells = [str(i / 4) for i in range(28)] + ["rotary", "-"]
    text = "a,b\n" + "\n".join(f"{cell},{i % 7}" for i, cell in enumerate(cells))
    found = table(tmp_path, text, missing="drop")
    assert found.names == ("a", "b")
    assert found.rows.tolist() == list(range(28))
    assert said(found, "'a'", "2 cells", "'rotary', '-'")
    many = text.replace("0.5,", "low,").replace("1.5,", "high,").replace("2.5,", "mid,")
    assert "a" in table(tmp_path, many).labels
    codes = text.replace("rotary", "c168")
    assert "a" in table(tmp_path, codes).labels


def test_names_that_repeat_are_numbered(tmp_path):
    found = table(tmp_path, "x,x,x.2,x,v\n1,2,3,4,5\n2,4,3,1,5.5\n")
    assert found.names == ("x", "x.3", "x.2", "x.4", "v")
    assert said(found, "'x' appears more than once", "'x.3', 'x.4'")
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    columns = [arrow.array([1.0, 2.5])] * 2
    parquet.write_table(arrow.Table.from_arrays(columns, names=["a", "a"]), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").names == ("a", "a.2")


def test_days_of_a_spreadsheet_are_dates(tmp_path):
    days = [44000 + 3 * i for i in range(12)]
    text = "date,v\n" + "\n".join(f"{day},{i % 5}" for i, day in enumerate(days))
    found = table(tmp_path, text)
    assert found.labels["date"][0] == np.datetime64("2020-06-18")
    assert said(found, "'date'", "44000 is 2020-06-18")
    numbers = table(tmp_path, text.replace("date", "price"))
    assert "price" not in numbers.labels
    pytest.importorskip("openpyxl")
    start = datetime.datetime(2020, 6, 18)
    rows = [[start + datetime.timedelta(days=3 * i), i % 5] for i in range(12)]
    sheet = read_table(written(tmp_path, [["date", "v"], *rows], "xlsx"))
    np.testing.assert_array_equal(sheet.labels["date"], found.labels["date"])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_encodings(tmp_path, encoding):
    found = table(tmp_path, "größe,v\n1.5,2\n2.5,3\n".encode(encoding))
    assert found.names == ("größe", "v")


def test_empty_columns_and_rows_at_the_end(tmp_path):
    for kind in ("csv", "xlsx"):
        rows = [[*row, None, None] for row in [NAMES, *ROWS]] + [[None] * 6] * 3
        found = prepare(written(tmp_path, rows, kind))
        holds_the_table(found)
        assert not said(found, "empty")


def test_lines_of_json_may_lack_keys(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1.5, "b": 2}\n{"b": 3}\n\n{"a": 2.5, "c": "x", "b": 1}\n')
    found = read_table(path, Reading(missing="keep"))
    np.testing.assert_array_equal(found.X, [[1.5, 2], [np.nan, 3], [2.5, 1]])
    assert list(found.labels["c"]) == [None, None, "x"]


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"<!DOCTYPE html><html><table><tr><td>1", "t.csv", "a web page"),
        (b"\n <HTML>\n<tr><td>1,2", "t.xlsx", "no xlsx file, but a web page"),
        (b"PK\x03\x04rest", "t.csv", "zip archive.*format='xlsx'"),
        (b"\xd0\xcf\x11\xe0rest", "t.xlsx", "old Office.*save its table as CSV"),
        (b"%PDF-1.7", "t.tsv", "PDF"),
        (b"PAR1rest", "t.csv", "format='parquet'"),
    ],
)
def test_files_of_another_kind_are_refused_by_name(tmp_path, content, name, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=words):
        read_table(tmp_path / name)


def test_wide_and_long_tables_are_read_by_chunks_of_rows(tmp_path, set_limits):
    """Sheets and JSON lines of several chunks: kinds of cells that come late, short rows."""
    set_limits("data.spreadsheet", CHUNK_ROWS=7)
    set_limits("data.table_reader", CHUNK_ROWS=7)
    rows = [[i % 5, i / 4, None if i < 20 else "late"] for i in range(30)]
    rows[25][0] = "n/a"
    path = written(tmp_path, [["a", "b", "c"], *rows], "xlsx")
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    for source in (path, tmp_path / "t.jsonl"):
        found = read_table(source, Reading(missing="keep"))
        assert found.names == ("a", "b")
        assert np.flatnonzero(np.isnan(found.X).any(axis=1)).tolist() == [25]
        np.testing.assert_array_equal(found.X[:, 1], frame["b"])
        assert list(found.labels["c"]) == [row[2] for row in rows]
