"""Samples, maps against maps, the report and its pictures."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from dualfold import quality
from dualfold.data import digits
from dualfold.errors import InvalidInput
from dualfold.graph import knn
from tests.quality.door import MEASURE_MEANINGS, Picture, co_ranking


@pytest.fixture(scope="module")
def example():
    """(images, plane of their principal components, labels)"""
    table = digits()
    X = table.points[:600]
    centred = X - X.mean(axis=0)
    return X, centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T, table.labels[:600]


SAMPLED = {
    "trustworthiness": lambda X, Y, **drawn: quality.trustworthiness(X, Y, **drawn),
    "continuity": lambda X, Y, **drawn: quality.continuity(X, Y, **drawn),
    "t_similarity": lambda X, Y, **drawn: quality.t_similarity(X, Y, **drawn),
    "stress": lambda X, Y, **drawn: quality.stress(X, Y, **drawn),
    "correlation": lambda X, Y, **drawn: quality.distance_correlation(X, Y, **drawn),
    "distortion": lambda X, Y, **drawn: quality.local_distortion(X, Y, **drawn),
    "area": lambda X, Y, **drawn: quality.neighborhood_curve(X, Y, 40, **drawn).auc,
}


@pytest.mark.parametrize("name", SAMPLED)
def test_the_interval_of_a_sample_holds_the_truth_nearly_always(example, name):
    X, Y, _ = example
    measure = SAMPLED[name]
    truth = measure(X, Y)
    drawn = [measure(X, Y, sample=100, random_state=seed) for seed in range(24)]
    held = [value.low <= truth <= value.high for value in drawn]
    # Of 24 intervals of 95 %, fewer than 19 have a chance below 1e-4; much wider ones than
    # the errors, or than what 100 points cannot exclude (errors at 3.7 % of the points with a
    # chance of 0.025, on either side), would be of no use.
    assert sum(held) >= 19
    errors = np.array(drawn) - truth
    widths = np.array([value.high - value.low for value in drawn])
    assert np.abs(errors.mean()) < 3 * errors.std() / np.sqrt(24) + 0.01
    assert widths.mean() < 8 * errors.std() + 2 * 0.037


def test_a_sample_is_an_exact_measure_of_its_points(example):
    X, Y, labels = example
    every = quality.trustworthiness(X, Y, per_point=True)
    some = quality.trustworthiness(X, Y, per_point=True, sample=50, random_state=1)
    asked = np.isfinite(some)
    assert asked.sum() == 50
    np.testing.assert_array_equal(some[asked], every[asked])
    value = quality.trustworthiness(X, Y, sample=50, random_state=1)
    assert value == pytest.approx(every[asked].mean())
    assert value.sampled == 50
    assert quality.trustworthiness(X, Y, sample=600) == every.mean()
    for measure, given in (
        (quality.silhouette, (Y, labels)),
        (quality.knn_accuracy, (Y, labels)),
        (quality.neighborhood_hit, (Y, labels)),
        (quality.local_distortion, (X, Y)),
        (quality.stress, (X, Y)),
    ):
        whole = measure(*given, per_point=True)
        part = measure(*given, per_point=True, sample=50)
        close = np.isfinite(part)
        assert close.sum() == 50
        # The stress of a point depends on the common scale, which the sample estimates.
        room = 0.05 if measure is quality.stress else 1e-12
        np.testing.assert_allclose(part[close], whole[close], atol=room)
    copy = pickle.loads(pickle.dumps(value))
    assert (copy, copy.low, copy.high) == (value, value.low, value.high)


def test_the_report_holds_every_measure_as_computed_alone(example):
    X, Y, labels = example
    graph = knn(X, 10)
    whole = quality.report(X, Y, labels=labels, graph=graph)
    errors = quality.mean_relative_rank_errors(X, Y)
    alone = {
        "t_similarity": quality.t_similarity(X, Y),
        "trustworthiness": quality.trustworthiness(X, Y, n_neighbors=10),
        "continuity": quality.continuity(X, Y, n_neighbors=10),
        "rank_error_intruders": errors[0],
        "rank_error_lost": errors[1],
        "lcmc": quality.lcmc(X, Y),
        "r_nx_area": quality.neighborhood_curve(X, Y, 100).auc,
        "local_distortion": quality.local_distortion(X, Y),
        "density_correlation": quality.density_correlation(X, Y, n_neighbors=10),
        "stress": quality.stress(X, Y),
        "nonmetric_stress": quality.nonmetric_stress(X, Y),
        "distance_correlation": quality.distance_correlation(X, Y),
        "residual_variance": quality.residual_variance(X, Y, metric="euclidean"),
        "geodesic_residual_variance": quality.residual_variance(graph, Y),
        "silhouette": quality.silhouette(Y, labels),
        "neighborhood_hit": quality.neighborhood_hit(Y, labels, n_neighbors=10),
        "knn_accuracy": quality.knn_accuracy(Y, labels, n_neighbors=10),
        "knn_accuracy_before": quality.knn_accuracy(X, labels, n_neighbors=10),
    }
    assert whole.measures == pytest.approx(alone, abs=1e-12)
    assert set(alone) == set(MEASURE_MEANINGS)
    np.testing.assert_array_equal(whole.co_ranking.counts, co_ranking(X, Y, 100).counts)
    np.testing.assert_array_equal(whole.shepard.counts, quality.shepard(X, Y).counts)
    for name, values in whole.per_point.items():
        assert values.shape == (600,)
        if name != "stress":
            assert values.mean() == pytest.approx(whole.measures[name], abs=1e-12)
    frame = whole.to_frame()
    assert frame.loc["stress", "value"] == whole.measures["stress"]
    assert list(whole.points_frame().columns) == list(whole.per_point)
    plain = json.loads(json.dumps(whole.to_dict()))
    assert plain["measures"] == pytest.approx(alone, abs=1e-12)
    assert plain["bounds"] == {}
    assert str(whole).startswith(whole.verdict)


def test_the_verdict_says_what_the_numbers_say(example):
    X, Y, labels = example
    poor = quality.report(X, Y, labels=labels)
    assert "need a second look" in poor.verdict or "mostly be believed" in poor.verdict
    assert f"trustworthiness {poor.measures['trustworthiness']:.3f}" in poor.verdict
    assert "name the class of" in poor.verdict
    best = quality.report(X, X)
    assert "keeps 100 %" in best.verdict
    assert "can be believed" in best.verdict
    assert "mean what they seem to" in best.verdict
    random = quality.report(X, np.random.default_rng(0).standard_normal((600, 2)))
    assert "cannot be believed" in random.verdict
    assert "next to nothing" in random.verdict


def test_a_sampled_report_has_bounds(example):
    X, Y, labels = example
    drawn = quality.report(X, Y, labels=labels, sample=80)
    without = {"density_correlation", "nonmetric_stress"}
    with_bounds = set(drawn.measures) - without
    assert set(drawn.to_dict()["bounds"]) == with_bounds
    measures = (drawn.measures[name] for name in with_bounds)
    assert all(value.low <= value <= value.high for value in measures)
    assert " to " in str(drawn)
    with pytest.raises(InvalidInput, match="less than half"):
        quality.report(X[:20], Y[:20])


def test_quality_is_loaded_when_asked_for():
    words = (
        "import sys, dualfold; dualfold.trustworthiness, dualfold.quality.report;"
        "late = [m for m in ('matplotlib', 'pandas', 'sklearn') if m in sys.modules];"
        "sys.exit(' '.join(late) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_map_is_held_against_chance_and_against_other_maps(example):
    X, _, _ = example
    rng = np.random.default_rng(1)
    kept = [
        quality.t_similarity(X, rng.standard_normal((600, 2)), n_neighbors=10) for _ in range(20)
    ]
    by_chance = Picture(float(np.mean(kept)), 600, 10, {"a": 0.3, "b": 0.5})
    # The mean of 20 × 600 × 10 draws of 1 in 60: its deviation is below 4e-4.
    assert by_chance.chance == pytest.approx(np.mean(kept), abs=2e-3)
    assert by_chance.beyond_chance == pytest.approx(0, abs=2e-3)
    assert by_chance.grade == "hardly any"
    assert by_chance.poor
    assert "b: 50 %" in str(by_chance)
    assert by_chance.to_dict()["tried"] == {"a": 0.3, "b": 0.5}
    whole = quality.report(X, X).picture
    assert (whole.grade, whole.beyond_chance, whole.poor) == ("good", 1, False)
