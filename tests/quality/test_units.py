"""Measures of maps do not depend on the units of the data or of the map, powers of 2 here."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from dualfold import ClassicalMDS, audit, quality, recommend
from dualfold.errors import InvalidInput
from dualfold.graph import knn
from dualfold.recommendation import intrinsic_dimension

RNG = np.random.default_rng(11)
X = RNG.standard_normal((100, 5))
Y = X[:, :2] + 0.3 * RNG.standard_normal((100, 2))
CLASSES = np.arange(100) % 3
UNITS = [(-900, 0), (-530, -530), (520, 520), (500, -500), (0, 700)]
SLOW = ("recommend", "audit")
MEASURES = {
    "trustworthiness": lambda X, Y: quality.trustworthiness(X, Y),
    "continuity": lambda X, Y: quality.continuity(X, Y),
    "t-similarity": lambda X, Y: quality.t_similarity(X, Y, 10),
    "stress": lambda X, Y: quality.stress(X, Y),
    "nonmetric stress": lambda X, Y: quality.nonmetric_stress(X, Y),
    "distance correlation": lambda X, Y: quality.distance_correlation(X, Y),
    "local distortion": lambda X, Y: quality.local_distortion(X, Y),
    "density correlation": lambda X, Y: quality.density_correlation(X, Y),
    "silhouette": lambda X, Y: quality.silhouette(X, CLASSES),
    "procrustes": lambda X, Y: quality.procrustes(X, Y).disparity,
    "report": lambda X, Y: list(quality.report(X, Y).measures.values()),
    "p-values": lambda X, Y: quality.conformal_p_values(X[:40], X[40:]),
    "dimension": lambda X, Y: float(intrinsic_dimension(X).two_nn),
    "recommend": lambda X, Y: [one.mean_kept for one in recommend(X, methods=("pca",)).candidates],
    "audit": lambda X, Y: audit(X, Y).dubious,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.full] * (name in SLOW)) for name in MEASURES],
)
def test_measures_do_not_depend_on_units(name):
    measure = MEASURES[name]
    plain = measure(X, Y)
    for of_data, of_map in UNITS[: 1 if name in SLOW else None]:
        there = measure(np.ldexp(X, of_data), np.ldexp(Y, of_map))
        # A logarithm of a power of 2 is rounded; all else is the same to the last bit.
        np.testing.assert_allclose(there, plain, rtol=1e-12, err_msg=f"2^{of_data}, 2^{of_map}")


def test_given_distances_and_geodesics_in_other_units():
    D, graph = squareform(pdist(X)), knn(X, 8)
    for power in (-700, 700):
        for measure in (quality.stress, quality.distance_correlation, quality.trustworthiness):
            there = measure(np.ldexp(D, power), Y, metric="precomputed")
            assert there == measure(D, Y, metric="precomputed")
        along = quality.residual_variance(knn(np.ldexp(X, power), 8), Y)
        assert along == pytest.approx(quality.residual_variance(graph, Y), rel=1e-9)


def test_ratios_of_distances_are_those_of_the_units():
    for of_data, of_map in ((-560, -560), (520, 520), (900, 900), (-30, 10)):
        found = quality.measured_distortion(np.ldexp(X, of_data), np.ldexp(X, of_map))
        assert found.mean == pytest.approx(4.0 ** (of_map - of_data), rel=1e-12)
        assert (found.share == 1) == (of_data == of_map)


def test_lengths_come_back_in_the_units_given():
    plain, fit = quality.shepard(X, Y), quality.procrustes(X, Y)
    there = quality.shepard(np.ldexp(X, 600), np.ldexp(Y, -600))
    np.testing.assert_array_equal(there.counts, plain.counts)
    np.testing.assert_array_equal(there.before, np.ldexp(plain.before, 600))
    np.testing.assert_array_equal(there.after, np.ldexp(plain.after, -600))
    moved = quality.procrustes(np.ldexp(X, 300), np.ldexp(Y, -300))
    np.testing.assert_array_equal(moved.points, np.ldexp(fit.points, 300))
    assert moved.scale == np.ldexp(fit.scale, 600)
    fixed = quality.procrustes(np.ldexp(X, 300), np.ldexp(Y, -300), scale=2.0**600)
    assert fixed.disparity == pytest.approx(quality.procrustes(X, Y, scale=1.0).disparity)
    as_given = quality.stress(np.ldexp(X, 300), np.ldexp(Y, -300), scale=2.0**600)
    assert as_given == quality.stress(X, Y, scale=1.0)


def test_distortions_between_units_that_no_ratio_holds_are_refused():
    X = np.random.default_rng(5).normal(size=(20, 3))
    for one, other in ((1e160, 1.0), (1e-160, 1.0), (1.0, 1e160), (1.0, 1e-160), (1e300, 1e-300)):
        with pytest.raises(InvalidInput, match="units of the two tables"):
            quality.measured_distortion(X * one, X * other)
    assert quality.measured_distortion(X * 1e160, X * 1e120).share == 0


def test_the_factor_of_a_refusal_is_a_double():
    X = np.random.default_rng(6).uniform(-1, 1, size=(30, 3))
    for unit in (1.7e308, 1e-310, 1e-320):
        with pytest.raises(InvalidInput) as said:
            ClassicalMDS(n_components=2).fit(X * unit)
        power = int(str(said.value).split("2^")[1].split(",")[0])
        factor = 2.0**power if "multiply" in str(said.value) else 1 / 2.0**power
        ClassicalMDS(n_components=2).fit(X * unit * factor)


def test_a_table_has_no_more_dimensions_than_columns():
    grid = np.argwhere(np.ones((12, 10))).astype(float)
    found = intrinsic_dimension(grid)
    assert found.value == 2
    assert found.two_nn.high <= 2
    assert "cannot all be right" not in audit(grid, grid, n_jobs=1).verdict


def test_equal_rows_count_once_in_a_dimension():
    X = np.random.default_rng(8).normal(size=(100, 3))
    once = intrinsic_dimension(X)
    for copies in (np.repeat(X, 3, axis=0), np.concatenate([X, X[:60]])):
        found = intrinsic_dimension(copies)
        assert found.n == 100
        assert float(found.two_nn) == pytest.approx(float(once.two_nn))
        assert float(found.levina_bickel) == pytest.approx(float(once.levina_bickel))
