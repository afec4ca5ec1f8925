"""TSNE: map, certificate and new rows, against scikit-learn and the definition."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import _t_sne

import dualfold
from dualfold import TSNE
from dualfold.errors import Interrupted, InvalidInput, PointsCollapse, RowsFarAway, TooLarge
from dualfold.graph import nearest
from tests.methods.door import AttractionMap, Phase, late_phases
from tests.methods.points.tsne.problems import DIGITS, problem_of
from tests.tools.tables import digit_points


def test_the_same_bits_in_two_processes_and_three_runs():
    code = (
        "from dualfold import TSNE; from dualfold.data import digits; import sys\n"
        "Y = TSNE(perplexity=10, max_iter=250, n_jobs=2).fit_transform(digits().points[:300])\n"
        "sys.stdout.buffer.write(Y.tobytes())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    for _ in range(3):
        mine = TSNE(perplexity=10, max_iter=250, n_jobs=1).fit_transform(digit_points(300))
        assert mine.tobytes() == told


@pytest.fixture(scope="module")
def fitted():
    return TSNE(perplexity=10).fit(DIGITS)


def test_the_map_is_as_good_as_scikit_learns(fitted):
    theirs = _t_sne.TSNE(perplexity=10, max_iter=500).fit(DIGITS)
    judged = TSNE(perplexity=10).judged_points(DIGITS, theirs.embedding_)
    mine = TSNE(perplexity=10, max_iter=500).fit(DIGITS)
    assert mine.kl_divergence_ <= 1.02 * judged.kl
    assert mine.certificate_.neighbors_kept >= judged.neighbors_kept - 0.02
    assert fitted.embedding_.dtype == np.float32
    assert fitted.n_iter_ == 999


def test_the_certificate_is_about_the_stored_points(fitted):
    found = fitted.certificate_
    assert (found.level, found.holds, found.bound) == (
        "stationary",
        False,
        pytest.approx(np.nan, nan_ok=True),
    )
    assert "proved" not in str(found)
    again = TSNE(perplexity=10).judged_points(DIGITS, fitted.embedding_)
    assert again.to_dict() == found.to_dict()
    moved = fitted.embedding_ + np.random.default_rng(0).normal(size=(300, 2))
    worse = TSNE(perplexity=10).judged_points(DIGITS, moved)
    assert (worse.level, bool(worse.reasons)) == ("not stationary", True)
    assert worse.kl > found.kl
    moved[3, 1] = np.nan
    assert TSNE(perplexity=10).judged_points(DIGITS, moved).level == "failed"


def test_other_starts_are_told():
    found = TSNE(perplexity=10, max_iter=400, n_starts=3, random_state=0).fit(DIGITS).certificate_
    assert [name for name, _ in found.starts] == ["spectral", "random"]
    assert all(0.5 * found.kl < value < 2 * found.kl for _, value in found.starts)
    assert 0 < found.spread < 3
    assert "other starts ended at" in str(found)


def test_infinite_attraction_gives_the_eigenmaps_of_the_affinities():
    model = TSNE(perplexity=10, attraction=np.inf).fit(DIGITS)
    L = problem_of(n_neighbors=31).laplacian().toarray()
    values, vectors = np.linalg.eigh(L)
    np.testing.assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-6)
    overlap = np.linalg.svd(vectors[:, 1:3].T @ model.embedding_.astype(float))[1]
    np.testing.assert_allclose(overlap, 1.0, atol=1e-5)
    assert model.certificate_.level == "proved"
    with pytest.warns(PointsCollapse, match="to a line"):
        TSNE(perplexity=10, attraction=1.5 / values[2], max_iter=250).fit(DIGITS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PointsCollapse)
        TSNE(perplexity=10, attraction=0.5 / values[2], max_iter=250).fit(DIGITS)


def test_more_attraction_draws_groups_together():
    spans = []
    for rho in (0.5, 1.0, 4.0):
        Y = TSNE(perplexity=10, attraction=rho, max_iter=500).fit_transform(DIGITS)
        spans.append(float(np.ptp(Y)))
    assert spans[0] > spans[1] > spans[2]


def test_new_rows_do_not_depend_on_one_another(fitted):
    new = digit_points()[300:360].astype(float)
    together = fitted.transform(new)
    alone = np.vstack([fitted.transform(new[i : i + 1]) for i in range(0, 60, 7)])
    np.testing.assert_array_equal(together[::7], alone)
    np.testing.assert_array_equal(fitted.transform(DIGITS[:9]), fitted.embedding_[:9])
    # A new row lies where its nearest old rows lie.
    near = nearest(DIGITS, 5, queries=new).indices
    apart = np.linalg.norm(together[:, None] - fitted.embedding_[near], axis=2).min(axis=1)
    assert np.median(apart) < 0.1 * np.ptp(fitted.embedding_)


def test_rows_far_from_all_old_ones_are_named(fitted):
    new = digit_points()[300:340].astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowsFarAway)
        usual = fitted.transform(new)
    new[[3, 9]] += 1e6
    with pytest.warns(
        RowsFarAway, match=r"2 of 40 new rows, rows 3, 9 \(counted from 0\), are"
    ) as told:
        placed = fitted.transform(new)
    assert told[0].filename == __file__
    others = np.delete(np.arange(40), [3, 9])
    np.testing.assert_array_equal(placed[others], usual[others])


def on_circle(angles):
    """Rows of mean 0 in three columns, by their angles."""
    plane = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
    return np.column_stack([np.cos(angles), np.sin(angles)]) @ plane


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "correlation", "braycurtis"])
def test_no_row_is_called_far_that_is_nearer_than_old_rows_are(metric):
    """Twice the longest distance from one row is a bound by the triangle inequality alone."""
    angles = np.linspace(-np.pi / 3, np.pi / 3, 13)  # the middle one comes first
    old = on_circle(np.roll(angles, -6))
    new = np.vstack([on_circle(np.linspace(2, 4, 40)), -1.5 * old, 3 * old[6:] - 2 * old[:7]])
    far = cdist(new, old, metric).min(axis=1) > cdist(old, old, metric).max()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        AttractionMap(old, old, 3, None, np.inf, metric)(new)
    for words in (str(one.message) for one in told if one.category is RowsFarAway):
        assert int(words.split(" of ")[0]) <= far.sum()


def test_new_rows_on_a_grid_lie_where_all_pairs_put_them(fitted, set_limits):
    new = digit_points()[300:330].astype(float)
    by_pairs = fitted.transform(new)
    set_limits("methods.points.tsne.field", MAX_POINTS_BY_PAIRS=10)
    moved = np.linalg.norm(fitted.transform(new) - by_pairs, axis=1)
    assert np.median(moved) < 0.02 * np.ptp(fitted.embedding_)


def test_neighbours_and_graphs_in_place_of_a_perplexity(fitted):
    lists = nearest(DIGITS, 31)
    same = TSNE(perplexity=10, graph=lists).fit_transform(DIGITS)
    np.testing.assert_array_equal(same, fitted.embedding_)
    alike = TSNE(n_neighbors=15, max_iter=400).fit(DIGITS)
    graph = dualfold.graph.knn(DIGITS, 15)
    other = TSNE(perplexity=10, graph=graph, max_iter=400).fit(DIGITS)
    edges = TSNE(perplexity=10, graph=graph.lengths, max_iter=400).fit(DIGITS)
    np.testing.assert_array_equal(other.embedding_, edges.embedding_)
    assert alike.transform(DIGITS[:3] + 0.1).shape == (3, 2)


def test_a_callback_stops_the_descent(fitted):
    seen = []

    def look(number, objective, points):
        seen.append((number, objective, points.shape))
        return number >= 300

    model = TSNE(perplexity=10, callbacks=[look]).fit(DIGITS)
    assert [number for number, _, _ in seen] == [50, 100, 150, 200, 250, 300]
    assert seen[-1][1] == pytest.approx(model.history_[-1, 1])
    assert model.n_iter_ == 299
    assert np.abs(model.embedding_ - fitted.embedding_).max() > 1e-3


@pytest.mark.parametrize("width", [1, 3])
def test_one_and_three_coordinates(width):
    model = TSNE(width, perplexity=10, max_iter=400).fit(DIGITS)
    assert model.embedding_.shape == (300, width)
    assert model.certificate_.neighbors_kept > (0.3 if width == 1 else 0.5)


def test_copies_of_one_row_settle():
    """Long steps throw them to and fro; they become shorter where nothing is gained."""
    for seed in range(2):
        CLOUD = np.random.default_rng(seed).normal(size=(200, 5))
        CLOUD[:150] = 0
        found = TSNE(perplexity=10).fit(CLOUD).certificate_
        assert found.level == "stationary"
        careful = TSNE(perplexity=10, learning_rate=20.0).fit(CLOUD).certificate_
        assert found.kl <= 1.02 * careful.kl


@pytest.mark.parametrize("n", [40, 1_600])  # all pairs, and a grid
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_equal_rows_are_said_to_be_on_one_spot(n, n_components):
    with pytest.warns(PointsCollapse, match="on one spot"):
        model = TSNE(n_components, perplexity=5, max_iter=250).fit(np.ones((n, 3)))
    assert not np.ptp(model.embedding_, axis=0).any()


RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(40, 5))
FEW = {"perplexity": 5, "max_iter": 250}


def test_tsne_says_what_it_does_line_by_line(capsys):
    TSNE(verbose=2, **FEW).fit(CLOUD)
    said = capsys.readouterr().out
    assert "[t-SNE] Computed 16 nearest neighbors..." in said
    assert "[t-SNE] Mean sigma:" in said
    assert "with early exaggeration" in said
    assert "Finished." in said


def test_tsne_without_repulsion_is_judged_as_an_eigenproblem():
    model = TSNE(attraction=np.inf, perplexity=5)
    points = model.fit_transform(CLOUD)
    assert model.judged_points(CLOUD, points).level == "proved"
    assert model.judged_points(CLOUD, RNG.normal(size=points.shape)).level == "failed"


def test_tsne_places_by_a_metric_with_parameters():
    settings = {"metric": "minkowski", "metric_params": {"p": 3}}
    model = TSNE(**settings, **FEW).fit(CLOUD)
    placed = model.transform(CLOUD[:4])
    assert np.linalg.norm(placed - model.embedding_[:4]) < 0.3 * np.ptp(model.embedding_)


def test_full_tables_of_tsne_have_a_limit(set_limits):
    set_limits("methods.points.attracting_lists", MAX_FULL_ROWS=10)
    with pytest.raises(TooLarge, match="keeps 40² affinities"):
        TSNE(method="exact", perplexity=5).fit(CLOUD)
    with pytest.raises(TooLarge, match="all distances between 40 rows"):
        TSNE(metric="minkowski", metric_params={"p": 3}, perplexity=5).fit(CLOUD)


def _interrupt_at(asked):
    def look(iteration, objective, points):
        if iteration == asked:
            raise KeyboardInterrupt

    return look


def test_an_interrupt_after_the_exaggeration_leaves_a_map():
    model = TSNE(perplexity=10, callbacks=_interrupt_at(400))
    with pytest.warns(Interrupted, match="after 400 of 1000 iterations"):
        model.fit(DIGITS)
    whole = TSNE(perplexity=10).fit(DIGITS)
    assert model.n_iter_ == 399
    assert model.kl_divergence_ < 1.3 * whole.kl_divergence_
    assert model.transform(DIGITS[:5]).shape == (5, 2)
    with pytest.raises(KeyboardInterrupt):
        TSNE(perplexity=10, callbacks=_interrupt_at(100)).fit(DIGITS)
    with pytest.raises(KeyboardInterrupt):  # whoever compares maps wants to end all of it
        model.for_comparison().set_params(callbacks=_interrupt_at(400)).fit(DIGITS)


def test_an_approximate_search_is_named_with_its_recall(set_limits):
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 12)) + 6 * random.normal(size=(9, 12))[np.arange(1500) % 9]
    exact = TSNE(max_iter=250).fit(X)
    assert "approximate" not in str(exact.certificate_)
    model = TSNE(max_iter=250, search="approximate").fit(X)
    assert "approximate neighbours (cells)" in str(model.certificate_)
    set_limits("methods.points.attracting_lists", MAX_EXACT_ROWS=1000)
    again = TSNE(max_iter=250).fit(X)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    lists = nearest(X, 91, search="approximate", random_state=0)
    given = TSNE(max_iter=250, graph=lists).fit(X)
    assert given.certificate_.about == model.certificate_.about
    assert TSNE(max_iter=250, search="exact").fit(X).kl_divergence_ == exact.kl_divergence_
    with pytest.raises(InvalidInput, match="Euclidean or cosine"):
        TSNE(search="approximate", metric="manhattan").fit(X)


def test_large_maps_take_as_many_iterations_and_end_with_short_steps():
    whole = Phase(750, 1.0, 4.0, 0.9, 300, 4.0)
    assert late_phases(70_000, whole) == [whole]
    for rounds in (0, 7, 100, 500, 750):
        parts = late_phases(1_000_000, replace(whole, rounds=rounds))
        assert sum(part.rounds for part in parts) == rounds
        assert min(part.rounds for part in parts) >= 0
        assert [part.momentum for part in parts] == [0.97, 0.935, 0.9, 0.8]
        assert parts[-1].rate == 1.0


def test_a_large_map_is_better_with_more_momentum_at_first(set_limits):
    """Few rows are taken for many: the objective is lower after as many iterations."""
    X = digit_points(1500)
    usual = TSNE(max_iter=500).fit(X).kl_divergence_
    set_limits("methods.points.schedule", MOMENTUM_ROWS=300)
    model = TSNE(max_iter=500).fit(X)
    assert model.kl_divergence_ < usual
    assert model.certificate_.unbalanced < 0.05


def test_many_rows_with_one_of_zeros_are_compared_by_cosine(set_limits):
    """It has no direction, so that near cells of directions cannot be searched."""
    X = np.random.default_rng(0).normal(size=(2_100, 6))
    X[7] = 0
    set_limits("methods.points.attracting_lists", MAX_EXACT_ROWS=2_000)
    model = TSNE(perplexity=5, metric="cosine", max_iter=250).fit(X)
    assert np.isfinite(model.embedding_).all()
