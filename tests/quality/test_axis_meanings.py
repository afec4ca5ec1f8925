"""Axes are named by the columns that follow them, and by no other."""

import numpy as np
from scipy.stats import spearmanr

from dualfold.quality import column_directions
from tests.quality.door import axis_meanings


def test_an_axis_names_the_columns_that_rise_and_fall_along_it():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(600, 2)) * [3.0, 1.0]
    columns = {
        "price": np.exp(Y[:, 0]),
        "size": Y[:, 0] + rng.normal(size=600),
        "depth": -(Y[:, 1] ** 3),
        "kind": np.where(Y[:, 1] > 0, "warm", "cold"),
        "noise": rng.normal(size=600),
    }
    first, second = axis_meanings(column_directions(columns, Y), 2)
    assert str(first) == "axis 1: price, size ↑"
    assert {name.split("=")[0] for name in second.columns} == {"depth", "kind"}
    assert [name for name, _ in second.falling if name == "depth"]
    (_, correlation), *_ = (pair for pair in first.rising if pair[0] == "size")
    assert abs(correlation - spearmanr(columns["size"], Y[:, 0])[0]) < 1e-9
    assert first.to_dict()["text"] == str(first)


def test_an_axis_that_no_column_follows_says_so():
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(400, 2))
    columns = {"along": Y[:, 0], "noise": rng.normal(size=400)}
    _, second = axis_meanings(column_directions(columns, Y), 2)
    assert str(second) == "axis 2: no column rises or falls along it beyond chance"


def test_columns_of_noise_name_no_axis():
    rng = np.random.default_rng(2)
    named = 0
    for _ in range(8):
        columns = {f"c{place}": rng.normal(size=300) for place in range(10)}
        found = axis_meanings(column_directions(columns, rng.normal(size=(300, 2))), 2)
        named += sum(len(one.columns) for one in found)
    assert named == 0  # a correlation of 0.3 in 300 rows is five standard deviations


def test_many_columns_of_few_rows_name_no_axis_by_chance():
    """Of ten columns one passes the level of a single column on every third map of 60 rows."""
    rng = np.random.default_rng(21)
    named = 0
    for _ in range(12):
        columns = {str(place): rng.standard_t(3, size=60) for place in range(10)}
        directions = column_directions(columns, rng.normal(size=(60, 2)))
        named += any(one.columns for one in axis_meanings(directions, 2))
    assert named <= 3  # at a level of 0.05 more are drawn once in 500 times
