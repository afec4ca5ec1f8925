"""t-SNE: forces, objective, certificate and map against brute force and scikit-learn."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.manifold import _t_sne

import dualfold
from dualfold import TSNE
from dualfold.data import digits
from dualfold.errors import InvalidInput, PointsCollapse, RowsFarAway, TooLarge
from dualfold.graph import Lists, nearest
from dualfold.kernels.threads import Threads
from dualfold.saved import load_model, model_of, rechecked_model, save_model
from dualfold.tsne import Phase, TsneProblem, certify_tsne, descend, tsne_objective
from dualfold.tsne.attraction import DoubleAttraction, PackedAttraction
from dualfold.tsne.checks import neighbors_kept
from dualfold.tsne.repulsion import MAX_ROWS_BY_PAIRS, ByGrid, ByPairs, ByTree, repulsion_for
from dualfold.weights.perplexity import conditional_affinities, joint_affinities

DIGITS = digits().points[:300].astype(float)


def brute(Y):
    """φ without the point itself, and the push, by the definition."""
    apart = Y[:, None] - Y[None]
    near = 1 / (1 + (apart**2).sum(axis=-1))
    return near.sum(axis=1) - 1, (near[..., None] ** 2 * apart).sum(axis=1)


def lists_of(X, k):
    found = nearest(X, k)
    return Lists(np.arange(0, len(X) * k + 1, k), found.indices.ravel(), found.distances.ravel())


def problem_of(X=DIGITS, perplexity=10.0, attraction=1.0, count=2):
    lists = lists_of(X, int(3 * perplexity))
    P = joint_affinities(lists, conditional_affinities(lists, perplexity)[0])
    return TsneProblem(P, count, attraction)


def summed(kind, Y, *more, **others):
    found = kind(*Y.shape, *more, **others)
    for task in found.before(Y):
        task()
    found.Z = found.after(Y, Threads(1), 1)
    return found


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_sums_over_all_pairs_are_those_of_the_definition(width):
    Y = np.random.default_rng(width).normal(size=(77, width)) * 3
    found = summed(ByPairs, Y)
    phi, push = brute(Y)
    np.testing.assert_allclose(found.phi, phi, rtol=1e-12)
    np.testing.assert_allclose(found.push, push, atol=1e-12)


@pytest.mark.parametrize("size", [1e-4, 1.0, 100.0])
def test_packed_edges_attract_as_the_edges_of_p(size):
    problem = problem_of()
    Y = np.random.default_rng(3).normal(size=(300, 2)) * size
    packed, given = PackedAttraction(problem.P), DoubleAttraction(problem.P)
    order = packed.order(Y)
    assert sorted(order) == list(range(300))
    for parts in (1, 7):
        for of in ("tasks", "costs"):
            out, wanted = np.zeros_like(Y), np.zeros_like(Y)
            if of == "costs":
                out, wanted = out[:, 0].copy(), wanted[:, 0].copy()
            for task in getattr(packed, of)(Y[order], out, parts):
                task()
            for task in getattr(given, of)(Y, wanted, parts):
                task()
            # Places are rounded once, and up to 70 terms of a row, to 2⁻²⁴ of the largest each; a
            # logarithm is that of 1 + t, rounded.
            room = (
                1e-5 * np.abs(wanted).max() + (of == "costs") * 2**-22 * problem.P.sum(axis=1).max()
            )
            np.testing.assert_allclose(out, wanted[order], rtol=0, atol=room)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("size", [1e-4, 1.0, 8.0])
def test_the_grid_is_near_the_sums_and_nearer_when_refined(width, size):
    Y = np.random.default_rng(0).normal(size=(500, width)) * size
    phi, push = brute(Y)
    errors = []
    for fine in (False, True):
        found = ByGrid(*Y.shape)
        if fine:
            found.refine()
        for task in found.before(Y):
            task()
        Z = found.after(Y, Threads(1), 3)
        np.testing.assert_allclose(
            Z, phi.sum(), rtol=1e-2
        )  # half of Z is the points' own share here
        errors.append(np.linalg.norm(found.push - push) / np.linalg.norm(push))
    assert errors[0] < 0.03
    if size == 8.0:  # small maps have fine grids anyway
        assert errors[1] < 0.3 * errors[0]


def test_the_gradient_of_the_grid_is_that_of_its_own_sum():
    rng = np.random.default_rng(1)
    Y, move = rng.normal(size=(60, 2)) * 4, rng.normal(size=(60, 2))
    anchors = np.array([[-30.0, -30.0], [30.0, 30.0]])  # the box stays

    def of(points):
        return summed(ByGrid, np.ascontiguousarray(np.vstack([points, anchors])), np.float64)

    step = 1e-5
    slope = (of(Y + step * move).Z - of(Y - step * move).Z) / (2 * step)
    # Z counts each pair twice, and a pair pushes by −½∇φ on either side.
    assert slope == pytest.approx(-4 * float((of(Y).push[:60] * move).sum()), rel=1e-6)


@pytest.mark.parametrize("size", [1e-4, 1.0, 8.0, 60.0])
def test_a_grid_of_single_precision_pushes_as_one_of_double_precision(size):
    """Small maps have double precision: φ is nearly n everywhere, and its slope would be lost."""
    Y = np.random.default_rng(0).normal(size=(2_000, 2)) * size
    single, double = summed(ByGrid, Y), summed(ByGrid, Y, np.float64)
    assert single.grid.dtype == (np.float64 if size <= 1 else np.float32)
    # Sums of φ are right to some units in the last place of the largest.
    np.testing.assert_allclose(single.phi, double.phi, rtol=0, atol=2e-6 * double.phi.max())
    apart = np.linalg.norm(single.push - double.push)
    assert apart < 2e-5 * np.linalg.norm(double.push)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("angle", [0.2, 0.6])
def test_errors_of_the_tree_are_within_their_bounds(width, angle):
    rng = np.random.default_rng(2)
    Y = rng.normal(size=(400, width)) * np.exp(rng.normal(size=(400, 1)))
    Y[:20] = Y[0]  # points that no tree parts
    found = summed(ByTree, Y, angle, bounded=True)
    phi, push = brute(Y)
    assert np.all(np.abs(found.phi - phi) <= found.off + 1e-11)
    assert np.all(np.linalg.norm(found.push - push, axis=1) <= found.off_push + 1e-11)
    assert 0 < np.median(found.off) < 0.5 * np.median(phi)


def test_affinities_are_scikit_learns():
    lists = lists_of(DIGITS, 90)
    conditional, widths = conditional_affinities(lists, 30.0)
    rows = conditional.reshape(len(DIGITS), -1)
    entropy = -(rows * np.log(np.maximum(rows, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), 30.0, rtol=1e-8)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    kernel = np.exp(-(lists.distances.reshape(rows.shape) ** 2) / (2 * widths[:, None] ** 2))
    np.testing.assert_allclose(rows, kernel / kernel.sum(axis=1)[:, None], rtol=1e-9)
    squares = sp.csr_matrix(
        (lists.distances**2, lists.indices.copy(), lists.indptr.copy()), shape=(len(DIGITS),) * 2
    )
    theirs = _t_sne._joint_probabilities_nn(squares, 30.0, 0)
    ours = joint_affinities(lists, conditional)
    assert abs(ours - sp.csr_array(theirs)).max() < 2e-5 * ours.max()  # their search ends at 1e-5


def test_rows_that_cannot_have_the_perplexity_draw_alike():
    lists = Lists(np.array([0, 3, 3, 5]), np.array([1, 2, 0, 0, 1]), np.array([1.0, 2, 3, 4, 4]))
    found = conditional_affinities(lists, 50.0)[0]
    np.testing.assert_allclose(found[:3], 1 / 3, rtol=1e-6)
    np.testing.assert_allclose(found[3:], 1 / 2, rtol=1e-12)


def test_a_perplexity_below_one_is_refused():
    """scikit-learn takes it, and ends at a divergence of 1.8e308."""
    with pytest.raises(InvalidInput, match=r"perplexity=0.5 is below 1"):
        TSNE(perplexity=0.5).fit(DIGITS[:40])
    lists = lists_of(DIGITS[:40], 5)
    nearest_alone = conditional_affinities(lists, 1.0)[0].reshape(40, 5)
    np.testing.assert_allclose(nearest_alone[:, 0], 1.0, atol=1e-6)


@pytest.mark.parametrize(("count", "rho"), [(1, 1.0), (2, 1.0), (2, 4.0), (3, 0.5)])
def test_objective_and_gradient_are_exact(count, rho):
    problem = problem_of(attraction=rho, count=count)
    rng = np.random.default_rng(3)
    Y, move = rng.normal(size=(300, count)) * 5, rng.normal(size=(300, count))
    found = tsne_objective(problem, Y)
    P, phi = problem.P.toarray(), brute(Y)[0]
    squares = ((Y[:, None] - Y[None]) ** 2).sum(axis=-1)
    Q = 1 / (1 + squares) / phi.sum()
    some = P > 0
    kl = float((P[some] * np.log(P[some] / Q[some])).sum())
    assert found.kl == pytest.approx(kl, abs=1e-12)
    assert found.error < 1e-11
    extra = (rho - 1) * float((P * np.log1p(squares)).sum())
    assert found.value == pytest.approx(kl + extra, abs=1e-12)
    step = 1e-5
    up, down = (tsne_objective(problem, Y + s * step * move).value for s in (1, -1))
    assert (up - down) / (2 * step) == pytest.approx(float((found.gradient * move).sum()), rel=1e-5)


def test_kl_and_gradient_are_scikit_learns():
    problem, Y = problem_of(), np.random.default_rng(4).normal(size=(300, 2))
    P = problem.P.toarray()[np.triu_indices(300, 1)[::1]]
    kl, gradient = _t_sne._kl_divergence(Y.ravel(), np.maximum(P, 1e-16), 1, 300, 2)
    found = tsne_objective(problem, Y)
    assert found.kl == pytest.approx(2 * kl / 2, rel=1e-6)
    np.testing.assert_allclose(found.gradient.ravel(), gradient, atol=1e-7)


def test_large_maps_are_summed_within_a_stated_bound(monkeypatch):
    problem, Y = problem_of(), np.random.default_rng(5).normal(size=(300, 2)) * 8
    exact = tsne_objective(problem, Y)
    monkeypatch.setattr(objective_module_of(), "MAX_ROWS_BY_PAIRS", 10)
    found = tsne_objective(problem, Y)
    assert exact.exact
    assert not found.exact
    assert abs(found.value - exact.value) <= found.error
    assert abs(found.slope - exact.slope) <= found.gradient_error


def objective_module_of():
    return sys.modules[tsne_objective.__module__]


def test_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(6)
    n, k = 4_200, 15
    lists = Lists(np.arange(0, n * k + 1, k), rng.integers(0, n, n * k), rng.random(n * k))
    P = joint_affinities(lists, conditional_affinities(lists, None)[0])
    start = rng.normal(size=(n, 2))
    phases = [Phase(30, 4.0, 300.0, 0.8), Phase(60, 1.0, 1000.0, 0.9)]
    runs = [
        descend(TsneProblem(P), start, phases, n_jobs=threads).points for threads in (1, 2, 3, 2)
    ]
    for other in runs[1:]:
        np.testing.assert_array_equal(runs[0], other)


def test_the_same_bits_in_two_processes_and_three_runs():
    code = (
        "from dualfold import TSNE; from dualfold.data import digits; import sys\n"
        "Y = TSNE(perplexity=10, max_iter=250, n_jobs=2).fit_transform(digits().points[:300])\n"
        "sys.stdout.buffer.write(Y.tobytes())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    for _ in range(3):
        mine = TSNE(perplexity=10, max_iter=250, n_jobs=1).fit_transform(digits().points[:300])
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
    L = problem_of().laplacian().toarray()
    lists = lists_of(DIGITS, 31)
    P = joint_affinities(lists, conditional_affinities(lists, 10.0)[0])
    L = TsneProblem(P).laplacian().toarray()
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
    new = digits().points[300:360].astype(float)
    together = fitted.transform(new)
    alone = np.vstack([fitted.transform(new[i : i + 1]) for i in range(0, 60, 7)])
    np.testing.assert_array_equal(together[::7], alone)
    np.testing.assert_array_equal(fitted.transform(DIGITS[:9]), fitted.embedding_[:9])
    # A new row lies where its nearest old rows lie.
    near = nearest(DIGITS, 5, queries=new).indices
    apart = np.linalg.norm(together[:, None] - fitted.embedding_[near], axis=2).min(axis=1)
    assert np.median(apart) < 0.1 * np.ptp(fitted.embedding_)


def test_rows_far_from_all_old_ones_are_named(fitted):
    new = digits().points[300:340].astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowsFarAway)
        usual = fitted.transform(new)
    new[[3, 9]] += 1e6
    with pytest.warns(RowsFarAway, match=r"2 of 40 new rows \(counted from 0: 3, 9\)") as told:
        placed = fitted.transform(new)
    assert told[0].filename == __file__
    others = np.delete(np.arange(40), [3, 9])
    np.testing.assert_array_equal(placed[others], usual[others])


def test_new_rows_on_a_grid_lie_where_all_pairs_put_them(fitted, monkeypatch):
    from dualfold.maps import attraction_map

    new = digits().points[300:330].astype(float)
    by_pairs = fitted.transform(new)
    monkeypatch.setattr(attraction_map, "MAX_POINTS_BY_PAIRS", 10)
    apart = np.linalg.norm(fitted.transform(new) - by_pairs, axis=1)
    assert np.median(apart) < 0.02 * np.ptp(fitted.embedding_)


def test_a_saved_model_places_rows_and_is_judged(fitted, tmp_path):
    path = tmp_path / "m.dualfold"
    save_model(path, model_of(fitted))
    model = load_model(path)
    new = digits().points[300:320].astype(float)
    np.testing.assert_array_equal(model.transform(new), fitted.transform(new))
    again = rechecked_model(model, DIGITS)
    assert (again.level, again.kl) == ("stationary", fitted.kl_divergence_)
    forged = model.map.points.copy()
    forged[:50] += 5
    object.__setattr__(model.map, "points", forged)
    assert rechecked_model(model, DIGITS).level == "not stationary"
    object.__setattr__(model.map, "points", fitted.embedding_)
    object.__setattr__(model.map, "n_neighbors", 5)
    assert rechecked_model(model, DIGITS).level == "failed"


def test_neighbours_and_graphs_in_place_of_a_perplexity(fitted):
    lists = nearest(DIGITS, 31)
    same = TSNE(perplexity=10, graph=lists).fit_transform(DIGITS)
    np.testing.assert_array_equal(same, fitted.embedding_)
    alike = TSNE(n_neighbors=15, max_iter=400).fit(DIGITS)
    P = alike._problem(DIGITS)[1].P
    assert len(np.unique(P.data.round(12))) == 2  # one-sided and mutual neighbours
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


def test_kept_neighbours_are_counted():
    line = np.arange(40.0)[:, None]
    lists = lists_of(line, 10)
    assert neighbors_kept(lists, line) == 1.0
    shuffled = np.random.default_rng(0).permutation(40).astype(float)[:, None]
    theirs = nearest(shuffled, 10).indices
    both = [len(set(a) & set(b)) for a, b in zip(nearest(line, 10).indices, theirs, strict=True)]
    assert neighbors_kept(lists, shuffled) == pytest.approx(np.mean(both) / 10)


@pytest.mark.parametrize("width", [1, 3])
def test_one_and_three_coordinates(width):
    model = TSNE(width, perplexity=10, max_iter=400).fit(DIGITS)
    assert model.embedding_.shape == (300, width)
    assert model.certificate_.neighbors_kept > (0.3 if width == 1 else 0.5)


def test_what_has_no_answer_is_refused():
    with pytest.raises(InvalidInput, match="perplexity"):
        TSNE(perplexity=300).fit(DIGITS)
    with pytest.raises(InvalidInput, match="n_neighbors"):
        TSNE(n_neighbors=300).fit(DIGITS)
    with pytest.raises(InvalidInput, match="graph"):
        TSNE(perplexity=10, graph=dualfold.graph.knn(DIGITS[:99], 5)).fit(DIGITS)
    with pytest.raises(InvalidInput, match="init"):
        TSNE(perplexity=10, init=np.zeros((5, 2))).fit(DIGITS)
    with pytest.raises(TooLarge, match="exact"):
        TSNE(method="exact").fit(np.zeros((20_001, 1)))
    with pytest.raises(InvalidInput, match="affinities"):
        TsneProblem(sp.csr_array(-np.ones((3, 3))))
    with pytest.raises(InvalidInput, match="rows"):
        certify_tsne(problem_of(), np.zeros((5, 2)))


def narrowest(Y):
    return np.linalg.svd(Y - Y.mean(axis=0), compute_uv=False)[-1] / np.sqrt(len(Y))


def test_early_exaggeration_does_not_make_a_line_of_a_cloud():
    """ρλ > 1 in the second coordinate: it would shrink from 1e-4 to 1e-8 and be lost."""
    X = np.random.default_rng(0).standard_normal((800, 10))
    problem = problem_of(X, perplexity=30.0)
    start = 1e-4 * X[:, :2]
    ended = descend(problem, start, [Phase(250, 12.0, 50.0, 0.8)])
    assert narrowest(ended.points) > 0.05
    # Digits have groups: nothing is halved, and no bit changes.
    some = problem_of()
    begin = 1e-4 * np.random.default_rng(1).standard_normal((300, 2))
    phases = [Phase(100, 12.0, 50.0, 0.8)]
    there = descend(some, begin, phases).points
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dualfold.tsne.gradient_descent.VANISHING_EXTENT", 0.0)
        assert descend(some, begin, phases).points.tobytes() == there.tobytes()
        assert narrowest(descend(problem, start, [Phase(250, 12.0, 50.0, 0.8)]).points) < 1e-5


def test_hubs_are_not_thrown_to_and_fro():
    """A row that all others list attracts with n·Σp of about n/2; steps are for those with 1."""
    X = np.random.default_rng(0).standard_normal((400, 30))
    X[0] = 0.0
    problem = problem_of(X, perplexity=5.0)
    attracted = 400 * np.asarray(problem.P.sum(axis=1)).ravel()
    assert attracted.argmax() == 0
    assert attracted[0] > 15
    start = 1e-4 * X[:, 1:3]
    phases = [Phase(100, 12.0, 50.0, 0.8), Phase(300, 1.0, 200.0, 0.9)]
    assert certify_tsne(problem, descend(problem, start, phases).points).unbalanced < 0.02


def test_the_last_rounds_are_fine_though_an_earlier_phase_ends_before_its_time(monkeypatch):
    refined = []
    monkeypatch.setattr(ByGrid, "refine", lambda self: refined.append(True))
    X = np.random.default_rng(0).standard_normal((450, 1))
    problem = problem_of(X, perplexity=10.0, count=1)
    phases = [Phase(200, 4.0, 50.0, 0.5), Phase(80, 1.0, 50.0, 0.5)]
    ended = descend(problem, 1e-4 * X, phases, least_gradient=1e9)
    assert ended.rounds == 100  # each phase ends at its first look
    assert refined == [True]  # 50 rounds before the second one would have been over


def test_copies_of_one_row_settle():
    """Long steps throw them to and fro; they become shorter where nothing is gained."""
    for seed in range(2):
        X = np.random.default_rng(seed).normal(size=(200, 5))
        X[:150] = 0
        found = TSNE(perplexity=10).fit(X).certificate_
        assert found.level == "stationary"
        careful = TSNE(perplexity=10, learning_rate=20.0).fit(X).certificate_
        assert found.kl <= 1.02 * careful.kl


def test_equal_rows_are_said_to_be_on_one_spot():
    with pytest.warns(PointsCollapse, match="on one spot"):
        model = TSNE(perplexity=5, max_iter=250).fit(np.ones((40, 3)))
    assert not np.ptp(model.embedding_, axis=0).any()


def test_a_start_with_gaps_is_named():
    start = np.full((40, 2), np.nan)
    with pytest.raises(InvalidInput, match="NaN or infinity"):
        TSNE(init=start).fit(np.random.default_rng(0).normal(size=(40, 3)))


def test_repulsion_of_many_points_in_space_is_by_a_tree():
    many = repulsion_for(MAX_ROWS_BY_PAIRS[3] + 1, 3, exact=False)
    few = repulsion_for(10, 3, exact=False)
    assert type(many).__name__ == "ByTree"
    assert type(few).__name__ == type(repulsion_for(10**6, 3, exact=True)).__name__ == "ByPairs"
