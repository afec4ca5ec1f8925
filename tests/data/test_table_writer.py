"""Tables that were written are read again to the last bit, or are refused before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dualfold.data import read_table
from dualfold.errors import InvalidInput
from tests.data.door import read_metadata, write_table

X = np.array([[1.5, -2.0], [0.25, 3e-9], [7.0, 1e20]])


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.csv.gz", "o.parquet"])
def test_round_trip(tmp_path, name):
    x = np.random.default_rng(0).standard_normal(200) * 10.0 ** np.arange(-100, 100)
    word = np.array(['a,"b"', "c\td", "é;|", "line\nline"] * 50, dtype=object)
    whole = np.arange(200) % 9
    write_table(tmp_path / name, {"x y": x, "n": whole, "w": word}, metadata={"seed": 3})
    found = read_table(tmp_path / name)
    np.testing.assert_array_equal(found.X, np.column_stack([x, whole]))
    assert found.names == ("x y", "n")
    assert list(found.labels["w"]) == list(word)
    assert read_metadata(tmp_path / name) == {"seed": 3}
    beside = [] if name == "o.parquet" else [name + ".json"]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, *beside])


def test_npy_round_trip(tmp_path):
    write_table(tmp_path / "o.npy", {"a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), X)
    assert read_metadata(tmp_path / "o.npy") is None
    with pytest.raises(InvalidInput, match="'w'"):
        write_table(tmp_path / "w.npy", {"w": ["a", "b"]})


def test_standard_output(capfdbinary):
    write_table("-", {"a": [1.5, 2.0], "b": ["x", "y"]}, metadata={"k": 1})
    assert capfdbinary.readouterr().out == b"a,b\n1.5,x\n2.0,y\n"


finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


shapes = st.tuples(st.integers(2, 8), st.integers(1, 5))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    matrix=hnp.arrays(np.float64, shapes, elements=finite),
    # A letter first: a header of numbers alone is rightly taken for data.
    stems=st.lists(
        st.text(st.characters(exclude_categories=("C", "Z")), max_size=6),
        min_size=5,
        max_size=5,
    ),
    ending=st.sampled_from([".csv", ".tsv"]),
)
def test_every_number_and_name_survives(tmp_path_factory, matrix, stems, ending):
    names = [f"c{i}{stem}" for i, stem in enumerate(stems)][: matrix.shape[1]]
    path = tmp_path_factory.mktemp("h") / f"t{ending}"
    write_table(path, dict(zip(names, matrix.T, strict=True)))
    found = read_table(path)
    assert found.names == tuple(names)
    np.testing.assert_array_equal(found.X, matrix)


@pytest.mark.parametrize(
    ("name", "columns", "options", "words"),
    [
        ("o.xls", {"a": [1]}, {}, "must end with one of .csv"),
        ("o.csv", {}, {}, "at least one column"),
        ("o.csv", {"a": [1], "b": [1, 2]}, {}, "same length"),
        ("o.csv", {"a": [[1, 2]]}, {}, "same length"),
        ("o.csv", {"a": [1]}, {"metadata": {"k": object()}}, "JSON-ready"),
        ("no/o.csv", {"a": [1]}, {}, "no folder"),
    ],
)
def test_what_cannot_be_written_says_why(tmp_path, name, columns, options, words):
    with pytest.raises(InvalidInput, match=words):
        write_table(tmp_path / name, columns, **options)
    assert list(tmp_path.iterdir()) == []
