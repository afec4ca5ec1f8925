"""Columns and rows that are mostly empty, and categories in which missing tells something."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, kruskal

from dualfold.data import Reading, prepare
from dualfold.errors import InvalidInput
from tests.data.door import level_chance, rank_chance
from tests.data.files import said


def numbers(rows=60, columns="abcd", seed=0):
    X = np.random.default_rng(seed).standard_normal((rows, len(columns)))
    return pd.DataFrame(X, columns=list(columns))


def test_columns_that_are_mostly_missing_are_left_out():
    frame = numbers()
    frame.loc[10:, "b"] = np.nan  # 83 %
    frame.loc[40:, "c"] = np.nan
    data = prepare(frame)
    assert data.names == ("a", "c", "d")
    assert said(data, "'b' (83.3 %): mostly missing, left out", "keep=['b'] uses it")
    assert "b" in prepare(frame, Reading(keep="b")).names
    assert "b" in prepare(frame, Reading(missing="mean")).names


def test_a_table_of_empty_columns_is_refused():
    frame = numbers()
    frame.loc[5:, list("abcd")] = np.nan
    with pytest.raises(InvalidInput, match="all 4 columns are mostly empty") as caught:
        prepare(frame)
    assert "missing='mean'" in str(caught.value)


def test_rows_that_are_mostly_missing_are_left_out():
    frame = numbers(columns="abcdef")
    frame.loc[[3, 17], list("abcde")] = np.nan
    data = prepare(frame)
    assert list(data.rows) == [row for row in range(60) if row not in (3, 17)]
    assert said(data, "2 of 60 rows have less than a fifth of the values and were left out")
    # The others are complete: nothing was filled in, and nothing says so.
    assert not any("filled in" in str(one) for one in data.notices)
    assert data.filled_share == 0
    assert len(prepare(frame, Reading(missing="mean")).rows) == 60


def test_a_table_of_which_few_rows_would_be_left_is_refused():
    """Of noise with 82 % missing a column or two may have just enough values."""
    rng = np.random.default_rng(0)
    doubts = []
    for _ in range(8):
        X = np.where(rng.random((300, 14)) < 0.82, np.nan, rng.standard_normal((300, 14)))
        try:
            doubts.append(prepare(X).doubt)
        except InvalidInput as error:
            doubts.append(str(error))
    assert all(doubts)
    assert sum("missing='mean' fills all with means" in words for words in doubts) >= 1
    blank = numbers(30).reindex(range(100))  # as spreadsheets have them below a table
    assert len(prepare(blank).rows) == 30


def test_missing_is_a_level_where_it_tells_something():
    rng = np.random.default_rng(1)
    frame = numbers(200)
    frame["kind"] = rng.choice(["p", "q"], 200)
    by_chance = frame.copy()
    by_chance.loc[rng.choice(200, 50, replace=False), "kind"] = None
    plain = prepare(by_chance)
    assert [name for name in plain.names if "kind" in name] == ["kind=p", "kind=q"]
    frame.loc[frame["a"] > 0.7, "kind"] = None
    data = prepare(frame)
    assert data.names[-3:] == ("kind=p", "kind=q", "kind=(missing)")
    assert said(data, "'kind': rows in which it is missing differ in 'a'", "missing='mean'")
    np.testing.assert_array_equal(data.table.X[:, -1], frame["a"] > 0.7)
    assert data.filled is None  # nothing else was missing


def test_the_tests_of_missing_values_are_those_of_scipy():
    rng = np.random.default_rng(2)
    values, group = rng.integers(0, 9, 80).astype(float), rng.random(80) < 0.3
    assert rank_chance(values, group) == pytest.approx(kruskal(values[group], values[~group])[1])
    words = rng.choice(np.array(["p", "q", "r"], dtype=object), 80)
    table = pd.crosstab(words, group)
    assert level_chance(words, group) == pytest.approx(chi2_contingency(table, False)[1])


def test_missing_by_chance_is_found_to_tell_something_at_the_level():
    """Binomially, at most 20 of 1,000 tests at the level 0.01 find something."""
    rng = np.random.default_rng(3)
    ranks = [rank_chance(rng.standard_normal(40), rng.random(40) < 0.4) for _ in range(1000)]
    words = np.array(["p", "q", "r"], dtype=object)
    levels = [level_chance(rng.choice(words, 40), rng.random(40) < 0.4) for _ in range(1000)]
    assert np.sum(np.array(ranks) < 0.01) <= 20
    assert np.sum(np.array(levels) < 0.01) <= 20


HARD = {
    "one level and gaps": {"a": [1.5, 2, 4, 7], "b": [2.0, 1, 0, 5], "c": ["x", None, "x", None]},
    "one known value": {"a": [1.5, 2, 4, 7], "b": [np.nan, 1, np.nan, np.nan]},
    "constant with gaps": {"a": [1.5, 2, 4, 7], "b": [3.0, np.nan, 3, 3]},
    "all rows incomplete": {"a": [1.5, 2, np.nan, np.nan], "b": [np.nan, np.nan, 4, 8.5]},
    "infinite": {"a": [1.5, np.inf, 4, 7], "b": [2.0, 1, -np.inf, 5], "c": [1.0, 5, 2, 2]},
    "nearly constant": {"a": [1e9, 1e9 + 1e-6, np.nan, 1e9], "b": [1.5, 2, 4, 7]},
    "large": {"a": [1e130, -1e130, np.nan, 3e129], "b": [1.5, 2, 4, 7]},
    "a level of one row": {"a": np.arange(40.0) ** 2, "b": ["x"] * 20 + ["y"] + [None] * 19},
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("kept", [False, True])
def test_filling_never_fails(name, kept):
    frame = pd.DataFrame(HARD[name])
    names = tuple(frame.columns) if kept else ()
    for small in (False, True):
        if small and name != "large":
            frame = frame.astype({c: np.float32 for c in frame if frame[c].dtype == float})
        data = prepare(frame, Reading(keep=names))
        assert np.isfinite(data.X).all()
        for X in data.plausible_tables():
            assert np.isfinite(X).all()
