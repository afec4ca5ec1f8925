"""Distortion of distances: all pairs by brute force, samples that cover the truth."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from dualfold.data import digits
from dualfold.errors import InvalidInput
from dualfold.methods import random_projection
from dualfold.quality import measured_distortion

RNG = np.random.default_rng(0)
DIGITS = digits().points[:300]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Matrices this small make LAPACK's threads wait for each other on a busy machine."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.mark.parametrize("sparse", [False, True])
def test_distortion_of_all_pairs_is_brute_force(sparse):
    X = np.vstack([DIGITS[:150], DIGITS[:3]])
    Y = random_projection(X, n_components=20, random_state=0).encode(X)
    seen = measured_distortion(sp.csr_array(X) if sparse else X, Y, eps=0.3)
    before, after = pdist(X) ** 2, pdist(Y) ** 2
    ratios = after[before > 0] / before[before > 0]
    assert seen.exhaustive
    assert seen.duplicates == 3
    assert seen.n_pairs == len(ratios)
    assert seen.share == pytest.approx(np.mean(np.abs(ratios - 1) <= 0.3))
    assert seen.low == seen.high == seen.share
    assert seen.mean == pytest.approx(ratios.mean())
    np.testing.assert_allclose(
        [ratio for _, ratio in seen.quantiles], np.quantile(ratios, [q for q, _ in seen.quantiles])
    )
    assert "all pairs" in str(seen)


def test_distortion_of_a_sample_covers_the_truth():
    Y = random_projection(DIGITS, n_components=20, random_state=0).encode(DIGITS)
    truth = measured_distortion(DIGITS, Y, eps=0.2, n_pairs=10**6).share
    held = 0
    for seed in range(100):
        seen = measured_distortion(
            DIGITS, Y, eps=0.2, n_pairs=400, confidence=0.9, random_state=seed
        )
        assert not seen.exhaustive
        held += seen.low <= truth <= seen.high
    # 90 of 100 are promised (Clopper and Pearson give a little more); 5σ below is 75.
    assert 75 <= held < 100
    assert seen.level == "measured"
    plain = json.loads(json.dumps(seen.to_dict()))
    assert plain["share"] == seen.share
    assert "within 1±0.2" in plain["verdict"]


def test_distortion_knows_an_isometry_and_the_extremes():
    turned = DIGITS @ np.linalg.qr(RNG.standard_normal((64, 64)))[0]
    same = measured_distortion(DIGITS, turned, eps=1e-6, n_pairs=1000)
    assert (same.share, same.high) == (1.0, 1.0)
    assert same.low == pytest.approx(0.005 ** (1 / 1000))  # exact for no failures
    none = measured_distortion(DIGITS, 2 * DIGITS, eps=0.1, n_pairs=1000)
    assert (none.share, none.low) == (0.0, 0.0)
    assert none.mean == pytest.approx(4)
    with pytest.raises(InvalidInput, match="same points"):
        measured_distortion(DIGITS, DIGITS[:5])
    with pytest.raises(InvalidInput, match="equal"):
        measured_distortion(np.ones((5, 2)), np.ones((5, 2)))
