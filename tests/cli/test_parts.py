"""What commands share: durations, names of files, equal rows, work that can be interrupted."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.cli.console import duration
from dualfold.cli.input_table import duplicate_counts
from dualfold.cli.output_files import stem


def test_times_and_names_in_words():
    assert [duration(s) for s in (12.4, 185, 7_800)] == ["12 s", "3 min 05 s", "2 h 10 min"]
    assert [stem(name) for name in ("-", "a/b.csv.gz", "b.parquet")] == ["table", "b", "b"]


def test_copies_are_counted_in_sparse_rows_too():
    rows = np.array([[1.0, 0, 2], [0, 3, 0], [1, 0, 2], [1, 0, 2], [0, 3, 0], [5, 5, 5]])
    assert (
        duplicate_counts(rows).tolist()
        == duplicate_counts(sp.csr_array(rows)).tolist()
        == [3, 2, 1]
    )
