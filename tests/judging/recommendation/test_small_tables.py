"""Dimension and scan of few rows and of lists."""

from __future__ import annotations

import numpy as np

from dualfold.judging.recommendation import intrinsic_dimension, neighbor_scan

X = np.random.default_rng(0).normal(size=(60, 4))


def test_four_rows_have_an_intrinsic_dimension():
    assert intrinsic_dimension(X[:4]).value >= 1


def test_a_scan_takes_lists_of_rows():
    assert str(neighbor_scan(X.tolist())) == str(neighbor_scan(X))
