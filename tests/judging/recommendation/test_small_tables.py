"""Dimension, scan and advice of few rows, and of lists."""

from __future__ import annotations

import numpy as np

import dualfold
from dualfold.recommendation import intrinsic_dimension, neighbor_scan

X = np.random.default_rng(0).normal(size=(60, 4))


def test_four_rows_have_an_intrinsic_dimension():
    assert intrinsic_dimension(X[:4]).value >= 1


def test_a_scan_takes_lists_of_rows():
    assert str(neighbor_scan(X.tolist())) == str(neighbor_scan(X))


def test_groups_that_no_test_was_made_of_are_not_counted():
    random = np.random.default_rng(0)
    clusters = np.concatenate([random.normal(9 * k, 1, (30, 4)) for k in range(3)])
    advice = dualfold.recommend(clusters)
    measured = [row.shown for row in advice.candidates if row.shown.is_measured]
    assert any(shown.groups.visible for shown in measured)
    assert all(shown.groups.grade == "not tested" for shown in measured if shown.groups.visible)
    assert {shown.group_counts for shown in measured} == {(0, 0)}
    assert " 0 of 0 " in str(advice)
