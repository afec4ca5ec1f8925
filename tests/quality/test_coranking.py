"""Ranks before and after, and the curves made of them."""

from __future__ import annotations

import numpy as np

from dualfold import quality

X = np.random.default_rng(0).normal(size=(120, 4))


def test_a_sampled_curve_lies_within_its_limits():
    curve = quality.neighborhood_curve(X, X[:, :2].copy(), 20, sample=40)
    whole = quality.neighborhood_curve(X, X[:, :2].copy(), 20)
    assert (curve.low <= curve.q_nx).all()
    assert (curve.q_nx <= curve.high).all()
    assert (curve.low < curve.high).any()
    assert (curve.low >= 0).all()
    assert (curve.high <= 1).all()
    assert np.mean((curve.low <= whole.q_nx) & (whole.q_nx <= curve.high)) >= 0.7
