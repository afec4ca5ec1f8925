"""Files by their kind: encodings of text, links to nothing, Parquet of other programs."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.data import read_table
from dualfold.errors import InvalidInput
from tests.data.door import write_table

X = np.random.default_rng(0).normal(size=(12, 3))


def test_text_in_other_encodings_and_with_blank_lines(here):
    (here / "wide.csv").write_bytes("a,b\n1,2\n3,5\n".encode("utf-32"))
    np.testing.assert_array_equal(read_table("wide.csv").X, [[1, 2], [3, 5]])
    (here / "blank.txt").write_text("1.5 2.5\n\n3.5 4.5\n   \n5.5 7.5\n")
    np.testing.assert_array_equal(read_table("blank.txt").X, [[1.5, 2.5], [3.5, 4.5], [5.5, 7.5]])


def test_files_that_are_not_there_or_hold_too_long_numbers(here):
    (here / "link.csv").symlink_to(here / "gone.csv")
    with pytest.raises(InvalidInput, match="is a link to a file that is not there"):
        read_table("link.csv")
    np.save("long.npy", np.array([[2**60, 1], [3, 4]]))
    with pytest.raises(InvalidInput, match="2\\^53"):
        read_table("long.npy")


def test_a_parquet_file_needs_no_metadata(here):
    pytest.importorskip("pyarrow")
    write_table("x.parquet", {"a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_array_equal(read_table("x.parquet").X, X[:, :2])
