"""Ranks are counted again where single precision cannot tell."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from dualfold.graph.lower_bounds import frame_of
from dualfold.quality import rank_counts


def test_ranks_are_counted_again_between_two_thresholds():
    limits, scale = np.array([[2.0], [3.0]]), 0.5
    near, far = rank_counts._thresholds((limits, limits), scale, 1)
    squares = (limits[:, 0] * scale) ** 2
    spread, margin = rank_counts._SLACK_SHARE, rank_counts._ROUNDING_MARGIN
    below = (squares * (1 - margin) / (1 + spread)).astype(np.float32)
    beyond = (squares * (1 + margin) * (1 + spread)).astype(np.float32)
    assert near[0, 0, :2].tolist() == np.nextafter(below, np.float32(-np.inf)).tolist()
    assert far[0, 0, :2].tolist() == np.nextafter(beyond, np.float32(np.inf)).tolist()
    X = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    frame = frame_of(X, None, None)
    panels, some = rank_counts._Panels(X, frame), frame.coordinates(X)
    square = np.sum(some.vectors.astype(float) ** 2, axis=1)
    error = 1.01 * (X.shape[1] + 16) * 2.0**-24 * square
    error = error + 2.02 * some.slack**2 * (1 + 1 / spread)
    np.testing.assert_allclose(panels.error[:20], error, rtol=1e-6)
    assert (panels.error[:20] >= error).all()


def test_close_calls_of_ranks_pay_for_storing_and_rounding():
    """e = (K + 16)u|f|² + 2δ²(1 + 1/s), of the module's docstring."""
    depth, rng = 20, np.random.default_rng(4)
    vectors = rng.normal(size=(70, depth)).astype(np.float32)
    for slack in (0.0, 1e-3):
        some = SimpleNamespace(vectors=vectors, slack=slack)
        frame = SimpleNamespace(coordinates=lambda X, some=some: some)
        found = rank_counts._Panels(vectors, frame).error[:70]
        squares = np.sum(vectors.astype(float) ** 2, axis=1)
        least = (depth + 16) * 2.0**-24 * squares + 2 * slack**2 * (
            1 + 1 / rank_counts._SLACK_SHARE
        )
        assert (found >= least).all()
        assert (found <= 1.05 * least).all()
