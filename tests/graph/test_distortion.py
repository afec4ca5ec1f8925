"""Distortion of distances: all pairs by brute force, samples that cover the truth."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from scipy.spatial.distance import pdist

from dualfold.errors import InvalidInput
from dualfold.methods import random_projection
from dualfold.quality import measured_distortion
from tests.graph.door import distortion_of_pairs, drawn_pairs
from tests.tools.tables import digit_points

pytestmark = pytest.mark.usefixtures("one_blas_thread")

RNG = np.random.default_rng(0)
DIGITS = digit_points(300)


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
    assert f"ratios from {ratios.min():.3g} to {ratios.max():.3g}" in str(seen)
    assert (seen.level, seen.tolerance, seen.chance, seen.bound) == ("measured", 0.0, 0.0, 1.0)
    assert (seen.value, seen.gap) == (seen.share, pytest.approx(1 - seen.share))


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


@pytest.mark.parametrize("inside", [0, 3, 8])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(inside):
    X = np.arange(9.0)[:, None]
    Y = X.copy()
    Y[inside + 1 :] += 1000.0
    first, second = np.arange(8), np.arange(1, 9)
    far = np.full(8, 5.0)
    far[:inside] = 1.0
    Y = np.r_[0.0, np.cumsum(far)][:, None]
    found = distortion_of_pairs(X, Y, first, second, eps=0.1, confidence=0.9)
    wanted = scipy.stats.binomtest(inside, 8).proportion_ci(0.9, method="exact")
    assert (found.low, found.high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    assert found.chance == pytest.approx(0.1)
    assert not found.exhaustive


def test_drawn_pairs_are_different_and_all_equally_likely():
    first, second = drawn_pairs(4, 24_000, 0)
    assert (first != second).all()
    counts = np.bincount(4 * first + second, minlength=16).reshape(4, 4)
    off = counts[~np.eye(4, dtype=bool)]
    assert (off > 1_700).all()  # 2,000 expected, standard deviation 43
    assert (off < 2_300).all()
