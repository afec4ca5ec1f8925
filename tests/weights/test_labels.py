"""Classes of rows: what is accepted as y, and what is refused with its remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dualfold.errors import InvalidInput
from tests.weights.door import labels_of


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b", "a"],
        np.array([True, False, True, False]),
        np.array([2.0, -1.0, 2.0, -1.0]),
        np.array([[1], [0], [1], [0]]),
        pd.Series(["b", "a", "b", "a"], dtype="category"),
        pd.Series(["b", "a", "b", "a"], dtype="string"),
        np.array(["b", "a", "b", "a"], dtype=object),
    ],
    ids=lambda y: type(y).__name__,
)
def test_labels_of_many_kinds(y):
    labels = labels_of(y, 4)
    assert labels.codes.tolist() == [1, 0, 1, 0]
    assert len(labels.classes) == 2
    assert [rows.tolist() for rows in labels.members] == [[1, 3], [0, 2]]
    assert labels.sizes.tolist() == [2, 2]


MISSING = [
    np.array([1.0, np.nan, 1.0, 2.0]),
    ["a", None, "b", "a"],
    pd.Series(["a", pd.NA, "b", "a"], dtype="string"),
    pd.Series(["a", None, "b", "a"], dtype="category"),
    np.array(["a", np.nan, "b", "a"], dtype=object),
]


REFUSED = [
    *((y, r"lacks 1 of 4 labels .* row 1 .counted from 0.; leave these rows out") for y in MISSING),
    (["a"] * 4, "one class, a, for all 4 rows; two or more"),
    ([0, 1, 2, 3], "4 classes for 4 rows"),
    ([0.25, 1.5, 2.0, 2.0], "such as 0.25, which look continuous.*pandas.cut"),
    (np.array([0.25, 1.5, 2.0, 3.0], dtype=object), "continuous"),
    (["a", 1, "a", 1.5], None),  # NumPy makes text of all of them
    (np.array(["a", 1, "a", 1], dtype=object), "turn all of them into text"),
    ([0, 1], "2 labels for 4 rows"),
    (np.zeros((4, 2)), "should be a 1d array.*its shape is"),
]


@pytest.mark.parametrize(("y", "words"), REFUSED)
def test_labels_that_are_no_classes_are_refused_with_the_remedy(y, words):
    if words is None:
        assert len(labels_of(y, 4).classes) == 3
        return
    with pytest.raises(InvalidInput, match=words):
        labels_of(y, 4)
