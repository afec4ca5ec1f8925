"""Tables as text: headers, separators, labels, dates, doubts; files that cannot be read."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest

from dualfold.data import Reading, prepare, read_table
from dualfold.errors import InvalidInput, MissingDependency
from tests.data.door import EXAMPLE_TABLES, example_table, write_table
from tests.data.files import said, table

X = np.array([[1.5, -2.0], [0.25, 3e-9], [7.0, 1e20]])


# ---- text that is written in many ways


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b\n1.5,-2\n0.25,3e-9\n7,1e20\n", "comma.csv"),
        ("a;b\n1.5;-2\n0.25;3e-9\n7;1e20\n", "semicolon.csv"),
        ("a\tb\n1.5\t-2\n0.25\t3e-9\n7\t1e20\n", "tab.csv"),
        ("a\tb\n1.5\t-2\n0.25\t3e-9\n7\t1e20\n", "tab.tsv"),
        ("a|b\n1.5|-2\n0.25|3e-9\n7|1e20\n", "pipe.csv"),
        ("a b\n1.5  -2\n0.25 3e-9\n7 1e20\n", "blank.txt"),
        ("a;b\n1,5;-2\n0,25;3e-9\n7;1e20\n", "decimal.csv"),
        ("a,b\r\n1.5,-2\r\n0.25,3e-9\r\n7,1e20", "windows.csv"),
        ("\ufeffa,b\n1.5,-2\n0.25,3e-9\n7,1e20\n", "bom.csv"),
        ('"a","b"\n"1.5","-2"\n"0.25","3e-9"\n"7","1e20"\n', "quoted.csv"),
        ("\n\na,b\n1.5,-2\n\n0.25,3e-9\n7,1e20\n\n", "blanklines.csv"),
        ("sep=;\na;b\n1.5;-2\n0.25;3e-9\n7;1e20\n", "excel.csv"),
        (" a , b\n1.5, -2\n0.25 , 3e-9\n7, 1e20\n", "spaces.csv"),
        ("a,b,\n1.5,-2,\n0.25,3e-9,\n7,1e20,\n", "trailing.csv"),
        ("a,b\n1.5,-2,\n0.25,3e-9,\n7,1e20,\n", "trailing_rows.csv"),
        ("# by me\n#\na,b\n1.5,-2\n0.25,3e-9\n7,1e20\n", "remark.csv"),
        ("# a b\n1.5 -2\n0.25 3e-9\n7 1e20\n", "savetxt.txt"),
        ("#a,b\n1.5,-2\n0.25,3e-9\n7,1e20\n", "hash.csv"),
        ("a,b\r1.5,-2\r0.25,3e-9\r7,1e20\r", "mac.csv"),
        (gzip.compress(b"a,b\n1.5,-2\n0.25,3e-9\n7,1e20\n", mtime=0), "packed.csv.gz"),
        ("a\tb\n1.5\t-2\n0.25\t3e-9\n7\t1e20\n".encode("utf-16"), "unicode.txt"),
    ],
)
def test_every_way_of_writing_the_same_table(tmp_path, text, name):
    found = table(tmp_path, text, name)
    np.testing.assert_array_equal(found.X, X)
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(found.rows, [0, 1, 2])


def test_no_header(tmp_path):
    found = table(tmp_path, "1.5,-2\n0.25,3e-9\n7,1e20\n")
    np.testing.assert_array_equal(found.X, X)
    assert found.names == ("column_1", "column_2")
    assert said(found, "no header")
    forced = table(tmp_path, "1.5,-2\n0.25,3e-9\n7,1e20\n", header=True)
    np.testing.assert_array_equal(forced.X, X[1:])
    # A word for a missing value in the first row is no name.
    gap = table(tmp_path, "NA,2.0\n0.25,3.0\n", missing="drop")
    np.testing.assert_array_equal(gap.X, [[0.25, 3.0]])
    np.testing.assert_array_equal(gap.rows, [1])


def test_the_numbered_header_of_an_array(tmp_path):
    found = table(tmp_path, ",0,1,2\n0,5.5,6,7\n1,5.5,3,1\n2,4.5,3,2\n")
    assert found.names == ("0", "1", "2")
    np.testing.assert_array_equal(found.X, [[5.5, 6, 7], [5.5, 3, 1], [4.5, 3, 2]])
    assert said(found, "'column_1'", "row numbers")


def test_years_above_numbers(tmp_path):
    found = table(tmp_path, "land,1990,1991\nSpain,1.5,2.5\nItaly,2,2.5\n")
    assert found.names == ("1990", "1991")
    np.testing.assert_array_equal(found.X, [[1.5, 2.5], [2, 2.5]])


def test_a_header_of_several_lines(tmp_path):
    found = table(tmp_path, '"a\nb","c\u2028d"\n1.5,2\n3.5,4\n0,4\n')
    assert found.names == ("a\nb", "c\u2028d")
    np.testing.assert_array_equal(found.X, [[1.5, 2], [3.5, 4], [0, 4]])
    with pytest.raises(InvalidInput, match="line 4 has 1"):
        table(tmp_path, '"a\nb","c\u2028d"\n1.5,2\n3.5\n0,4\n')


def test_row_names_without_a_header_of_their_own(tmp_path):
    found = table(tmp_path, '"x" "y"\n"p" 1.5 2\n"q" 2.5 2\n', separator=" ", name="r.txt")
    np.testing.assert_array_equal(found.X, [[1.5, 2], [2.5, 2]])
    assert found.names == ("x", "y")
    assert list(found.labels["row"]) == ["p", "q"]


def test_quoted_text_with_separators_and_lines(tmp_path):
    found = table(tmp_path, 'who,v\n"Doe, ""J""\nesq.",1.5\nb,2.5\n')
    assert list(found.labels["who"]) == ['Doe, "J"\nesq.', "b"]
    np.testing.assert_array_equal(found.X, [[1.5], [2.5]])


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(gzip.compress(b"a,b\n1.5,x\n2.5,y\n", mtime=0))

    monkeypatch.setattr(sys, "stdin", Stdin)
    found = read_table("-")
    np.testing.assert_array_equal(found.X, [[1.5], [2.5]])
    assert list(found.labels["b"]) == ["x", "y"]
    with pytest.raises(InvalidInput, match="standard input is empty"):
        read_table("-")


def test_latin_1_is_read_and_said(tmp_path):
    lines = "a,b\n" + "1.5,x\n" * 100 + "2.5,é\n"
    found = table(tmp_path, lines.encode("latin-1"))
    assert found.labels["b"][-1] == "é"
    assert said(found, "Latin-1")


# ---- which column is what


def test_labels_are_kept_apart_and_said(tmp_path):
    text = (
        "name,when,ok,v,empty,klass\n"
        "ann,2020-01-02,True,1.5,,3\nbob,2020-01-03,False,2.5,,3\n,2020-02-03,True,2.5,,1\n"
    )
    found = table(tmp_path, text, label_columns=["klass"])
    assert found.names == ("v",)
    assert list(found.labels["name"]) == ["ann", "bob", None]
    assert list(found.labels["ok"]) == [True, False, True]
    assert list(found.labels["klass"]) == [3, 3, 1]
    assert list(found.labels["when"]) == ["2020-01-02", "2020-01-03", "2020-02-03"]
    assert set(found.labels) == {"name", "when", "ok", "klass"}
    assert said(found, "'name'", "text")
    assert said(found, "'when'", "dates")
    assert said(found, "'ok'", "true or false")
    assert said(found, "'empty'", "left out")
    kept = table(tmp_path, text, exclude=["klass", "name"], keep=["ok"])
    assert kept.names == ("ok", "v")
    np.testing.assert_array_equal(kept.X[:, 0], [1, 0, 1])
    assert "name" not in kept.labels
    assert "name" not in table(tmp_path, text, exclude="name").labels


def test_true_or_false_with_gaps(tmp_path):
    text = "a,v\nTRUE,1.5\nFALSE,2.5\n,2\n"
    found = table(tmp_path, text)
    assert list(found.labels["a"]) == [True, False, None]
    assert said(found, "'a'", "true or false")
    kept = table(tmp_path, text, keep=["a"], missing="drop")
    np.testing.assert_array_equal(kept.X, [[1, 1.5], [0, 2.5]])


def test_many_columns_of_a_kind_are_one_sentence(tmp_path):
    names = [f"w{i}" for i in range(50)]
    line = ",".join(["x"] * 50) + ",1.5\n"
    found = table(tmp_path, ",".join(names) + ",v\n" + line + line)
    assert len(found.notices) == 2  # the text, and that v is constant
    assert said(found, "'w0'", "45 more", "text")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("12 kg", ("'12 kg'", "row 2", "units")),
        ("$5", ("'$5'", "row 2")),
        ("five", ("'five'", "row 2")),
    ],
)
def test_numbers_in_clothes_are_named(tmp_path, value, words):
    found = table(tmp_path, f"a,b\n1.5,2\n2.5,{value}\n3.5,999\n4.5,7\n")
    assert found.names == ("a",)
    assert said(found, "'b'", "looks like numbers", *words)


def test_thousands(tmp_path):
    found = table(tmp_path, 'a,b\n1.5,"1,234"\n2.5,"1,234,567"\n', thousands=",")
    np.testing.assert_array_equal(found.X[:, 1], [1234, 1234567])
    plain = table(tmp_path, 'a,b\n1.5,"1,234"\n2.5,7\n', plain=True)
    assert said(plain, "'b'", "looks like numbers", "'1,234'", "row 1", "thousands=','")
    german = table(tmp_path, "a;b\n1,5;1.234,5\n2,5;7,0\n", thousands=".")
    np.testing.assert_array_equal(german.X, [[1.5, 1234.5], [2.5, 7]])


def numbered(column, name="extra"):
    lines = [f"{name},v"] + [f"{value},{0.5 * (i % 7)}" for i, value in enumerate(column)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("column", "name", "left_out"),
    [
        (range(30), "extra", True),
        (range(1, 31), "extra", True),
        (range(1001, 1031), "extra", False),
        (np.random.default_rng(0).permutation(30), "extra", False),
        (np.arange(30) ** 2, "extra", False),
        (np.random.default_rng(0).permutation(30) ** 2, "losses", False),
        (range(1, 31), "rank", False),
        (range(1, 31), "time", False),
        (range(1901, 1931), "index", True),
        (range(1901, 1931), "year", False),
        (range(5), "deaths", False),
        (range(1, 6), "plant", True),
        (np.arange(30) + 7, "", True),
        (np.arange(30) + 1950, "", False),
        (np.repeat(np.arange(15), 2), "nr", True),
        (np.arange(30) % 15, "no", True),
        (np.arange(30) * 7 % 19, "NO", False),
        (np.arange(30) * 3 % 19, "subject", True),
        (np.random.default_rng(0).permutation(30) ** 2, "customer_id", True),
        (np.random.default_rng(0).permutation(30) ** 2, "customerId", True),
        (np.random.default_rng(0).permutation(30) ** 2, "ID", True),
        (np.arange(30) % 7, "humid", False),
        (np.arange(30) % 29, "id", True),
        (np.arange(30) % 5, "patient_id", True),
        (np.arange(30) % 5, "rapid", False),
        (np.arange(30) % 5, "number", False),
        (np.arange(30) + 0.5, "extra", False),
        ([4, 2, 9], "extra", False),
    ],
)
def test_row_numbers_and_identifiers(tmp_path, column, name, left_out):
    """By name or by counting the rows; that all values differ is no reason."""
    found = table(tmp_path, numbered(column, name))
    name = name or "column_1"
    assert (name not in found.names) == left_out
    assert said(found, f"'{name}'", "identifiers") == left_out
    kept = table(tmp_path, numbered(column, name), keep=[name])
    np.testing.assert_array_equal(kept.X[:, 0], list(column))


def test_what_is_doubtful_is_said(tmp_path):
    rng = np.random.default_rng(0)
    many = pd.DataFrame({"a": 7 + np.arange(30) ** 2, "b": rng.permutation(30) ** 2})
    many["people"] = 900 + np.arange(30)  # as they grow in time; identifiers stand first
    found = table(tmp_path, many.to_csv(index=False))
    assert found.names == ("a", "b", "people")
    assert said(found, "'a'", "rise from row to row", "exclude=['a'] leaves it out")
    assert not said(found, "'b'")
    assert not said(found, "'people'")
    found = table(tmp_path, "label,v,c\n1,2.5,4\n1,3.5,4\n0,4.5,4\n")
    assert said(found, "'label'", "label_columns=['label']")
    assert said(found, "'c'", "same value")
    assert found.names == ("label", "v", "c")


# ---- gaps


def dates_of(*words):
    """The dates that these words are, as a map is coloured by them; None where they stay words."""
    frame = pd.DataFrame({"when": words, "v": np.arange(len(words)) ** 1.5})
    colors = prepare(frame, Reading(color="when")).colors
    return [str(day)[:16] for day in colors] if colors.dtype.kind == "M" else None


def test_dates_in_text():
    assert dates_of("2020-01-31", None, "2021-02-01 10:30") == [
        "2020-01-31T00:00", "NaT", "2021-02-01T10:30",
    ]  # fmt: skip
    assert dates_of("31/01/2020", "01/02/2020")[1].startswith("2020-02-01")
    assert dates_of("01/31/2020", "01/02/2020")[1].startswith("2020-01-02")
    for words in (
        ["2020-03", "2019-12"],
        ["3 Mar 2020", "25 December 2019"],
        ["Mar 3, 2020", "Dec 25, 2019"],
        ["03-Mar-2020", "25-DEC-2019"],
    ):
        assert [day[:7] for day in dates_of(*words)] == ["2020-03", "2019-12"], words
    for words in (["2020-01-31", "soon"], ["May", "June"], ["01/02/2020", "03/04/2020"]):
        assert dates_of(*words) is None, words


@pytest.mark.parametrize(
    ("second", "unclear"), [("03/04/2020", True), ("31/02/2020", False), ("dog", False)]
)
def test_days_that_may_be_months_are_words_and_a_notice_says_so(second, unclear):
    frame = pd.DataFrame({"when": ["01/02/2020", second], "v": [1.5, 4.0]})
    notices = prepare(frame, Reading(color="when")).notices
    assert any("unclear which are days" in notice for notice in notices) == unclear


# ---- refused


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "is empty"),
        ("\n \n", {}, "is empty"),
        ("a,b\n", {}, "no row of data"),
        ("a,b\n1,2\n3,4,5\n6,7\n", {}, "must have 2 values, but line 3 has 3"),
        ("a,b,c\n1,2,3\n3,4\n6,7,8\n", {}, "must have 3 values, but line 3 has 2"),
        ("a,b,c\n1,2\n3,4\n", {}, "must have 3 values, but line 2 has 2"),
        ("a,b\n1,2,3,4\n", {}, "must have 2 values, but line 2 has 4"),
        ("1,2\n3,4\n5\n", {}, "must have 2 values, but line 3 has 1"),
        ('w,b\n"x\ny",2\n3,4\n7\n', {}, "line 5 has 1"),
        ('a,b\n1.5,"2\n3,4\n', {}, "quote"),
        ("a,b\nx,y\nz,w\n", {}, r"none is left.*'a', 'b': text"),
        ("a,b\n1.5,2.5\n", {"exclude": ["a", "b"]}, "asked to be left out"),
        ("alpha,b\n1.5,2.5\n", {"exclude": ["alhpa"]}, "did you mean 'alpha'?"),
        ("a,b\n1.5,2.5\n", {"label_columns": ["zz"]}, "label_columns='zz' names no column"),
        ("a,b\n1.5,x\n", {"keep": ["b"]}, "not numbers, for example 'x'"),
        ("a,b\n1.5,2\n", {"separator": "::"}, "one character"),
        ("a,b\n1.5,2\n", {"format": "xls"}, "format must be one of"),
        (b"PK\x03\x04\x00\x00\x00", {}, "is no csv file, but a zip archive.*format='xlsx'"),
        (b"a,b\n\x00\x01\x02,5\n", {}, "zero bytes"),
        (gzip.compress(b"a,b\n1.5,2.5\n" * 1000, mtime=0)[:60], {}, "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path, text, options, words):
    with pytest.raises(InvalidInput, match=f"(?s){words}"):
        table(tmp_path, text, **options)


def test_wrong_paths(tmp_path):
    (tmp_path / "measurements.csv").write_text("a\n1\n")
    (tmp_path / "book.ods").write_text("a")
    with pytest.raises(InvalidInput, match=r"did you mean 'measurements\.csv'"):
        read_table(tmp_path / "mesurements.csv")
    with pytest.raises(InvalidInput, match="nor a folder"):
        read_table(tmp_path / "no" / "x.csv")
    with pytest.raises(InvalidInput, match=r"is a folder.*'measurements.csv'"):
        read_table(tmp_path)
    with pytest.raises(InvalidInput, match=r"readable are \.csv.*\.parquet.*format="):
        read_table(tmp_path / "book.ods")


@pytest.mark.parametrize("name", ["t.parquet", "t.npy", "t.npz", "t.mtx"])
def test_damaged_binary_files(tmp_path, name):
    with pytest.raises(InvalidInput, match=r"not a readable|Python objects"):
        table(tmp_path, b"nonsense, nonsense, nonsense", name)


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"pip install 'dualfold\[parquet\]'"):
        read_table(tmp_path / "t.parquet")
    with pytest.raises(MissingDependency, match=r"pip install 'dualfold\[parquet\]'"):
        write_table(tmp_path / "out.parquet", {"a": [1.0]})
    assert [file.name for file in tmp_path.iterdir()] == ["t.parquet"]


# ---- arrays


def test_parquet_types(tmp_path):
    frame = pd.DataFrame(
        {
            "a": np.array([1.5, 2.5, 3.5], dtype=np.float32),
            "b": np.array([3, 1, 3], dtype=np.float32),
            "c": pd.Categorical(["x", "y", "x"]),
            "d": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
        },
        index=["r", "s", "t"],
    )
    frame.to_parquet(tmp_path / "f.parquet")
    found = read_table(tmp_path / "f.parquet")
    assert found.X.dtype == np.float32
    np.testing.assert_array_equal(found.X, frame[["a", "b"]].to_numpy())
    assert list(found.labels["c"]) == ["x", "y", "x"]
    assert found.labels["d"][1] == np.datetime64("2020-01-02")
    whole = pd.DataFrame({"n": pd.array([5, None, 5], dtype="Int64"), "v": [1.5, 2.5, 2.5]})
    whole.to_parquet(tmp_path / "n.parquet")
    found = read_table(tmp_path / "n.parquet", Reading(missing="drop"))
    np.testing.assert_array_equal(found.X, [[5, 1.5], [5, 2.5]])


# ---- tables of several chunks


def test_chunks_give_the_same_table(tmp_path, set_limits):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 200, (2500, 3))
    codes = [f"{i % 50:03d}" for i in range(2499)] + ["word"]
    columns = {f"v{i}": values[:, i] for i in range(3)} | {"code": np.array(codes)}
    columns["late"] = np.where(np.arange(2500) < 2400, 1.0, 1e9 + 0.5)
    write_table(tmp_path / "t.csv", columns)
    set_limits("data.delimited", CHUNK_CELLS=2)
    found = read_table(tmp_path / "t.csv")
    np.testing.assert_array_equal(found.X, np.column_stack([values, columns["late"]]))
    # The text of the file, not numbers where a chunk had only numbers.
    assert list(found.labels["code"]) == codes
    np.testing.assert_array_equal(found.rows, np.arange(2500))


# ---- whole or not at all


def test_example_tables_are_small_mixed_and_the_same_every_time():

    for name, (rows, _, words) in EXAMPLE_TABLES.items():
        first, again, other = (example_table(name, seed=seed) for seed in (0, 0, 1))
        assert {len(values) for values in first.values()} == {rows}
        assert pd.DataFrame(first).equals(pd.DataFrame(again))
        assert not pd.DataFrame(first).equals(pd.DataFrame(other))
        assert words
    birds = pd.DataFrame(example_table("penguins-like", 2000))
    assert 0 < birds.isna().sum().sum() < 200
    assert birds["species"].nunique() == birds["island"].nunique() == 3
    # Kinds are apart in the lengths, as a first table should be.
    means = birds.groupby("species")["flipper_length_mm"].mean()
    assert means.max() - means.min() > 20
    with pytest.raises(InvalidInput, match="is no example"):
        example_table("iris")
