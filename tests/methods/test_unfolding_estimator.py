"""MaximumVarianceUnfolding: what the estimator adds to the solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist

import dualfold
from dualfold import MaximumVarianceUnfolding
from dualfold.data import swiss_roll
from dualfold.errors import DisconnectedGraph, RowsLeftOut
from dualfold.unfolding import certify_unfolding
from tests.tools.tables import roll_points


@pytest.fixture(scope="module")
def roll():
    X = roll_points(150, random_state=0)
    return X, MaximumVarianceUnfolding(n_neighbors=6, tol=1e-8).fit(X)


def test_the_parts_fit_together(roll):
    X, model = roll
    K = model.factor_ @ model.factor_.T
    values = np.linalg.eigvalsh(K)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, values[:2], rtol=1e-9)
    np.testing.assert_allclose(
        model.embedding_.T @ model.embedding_, np.diag(values[:2]), atol=1e-6
    )
    assert model.variance_outside_ == pytest.approx(1 - values[:2].sum() / values.sum(), abs=1e-9)
    assert np.trace(K) == pytest.approx(model.certificate_.lower, rel=1e-6)
    w = model.dual_weights_
    assert abs(w - w.T).max() == 0
    assert w.min() >= 0
    dense = w.toarray()
    L = np.diag(dense.sum(axis=1)) - dense
    squares = cdist(X, X, "sqeuclidean")
    upper = 0.5 * np.sum(dense * squares) / np.linalg.eigvalsh(L)[1]
    assert model.certificate_.upper == pytest.approx(upper, rel=1e-8)
    assert model.certificate_.gap < 1e-7
    assert model.n_iter_ == len(model.history_) - 1
    edges = model.graph_.lengths.tocoo()
    lengths = np.linalg.norm(model.factor_[edges.row] - model.factor_[edges.col], axis=1)
    assert np.all(lengths <= edges.data * (1 + 1e-6))


@pytest.mark.parametrize("options", [{}, {"constraints": "equal"}, {"angles": True}])
def test_method_solver_and_certificate_are_about_one_problem(options):
    X = roll_points(40, random_state=1)
    graph = dualfold.graph.join_pieces(dualfold.graph.knn(X, 4))
    stated = dualfold.methods.mvu(graph, n_components=3, **options)
    found = dualfold.embed(stated)
    assert found.problem is stated.problem
    assert found.problem.constraints == options.get("constraints", "at_most")
    answer = found.solution
    again = certify_unfolding(found.problem, answer.factor, answer.weights)
    assert again.to_dict() == found.certificate.to_dict()
    assert found.certificate.holds
    # Coordinates: the principal components of the factor, which has all of the variance.
    np.testing.assert_allclose(pdist(found.points) <= pdist(found.factor) + 1e-9, True)
    spread = np.linalg.eigvalsh(found.solution.factor.T @ found.factor)[::-1][:3]
    np.testing.assert_allclose(found.values, spread, rtol=1e-9)
    np.testing.assert_allclose(found.points.T @ found.points, np.diag(spread), atol=1e-6)
    model = MaximumVarianceUnfolding(n_components=3, n_neighbors=4, **options).fit(X)
    assert np.array_equal(model.embedding_, found.points)
    assert model.certificate_.to_dict() == found.certificate.to_dict()
    assert len(model.unfoldings_) == 1


def test_the_tolerance_is_the_callers():
    X = roll_points(60, random_state=0)
    for solver in ("interior_point", "low_rank", "landmark"):
        rough = MaximumVarianceUnfolding(solver=solver, tolerance=0.6, n_neighbors=6).fit(X)
        assert rough.certificate_.tolerance == 0.6
        assert rough.certificate_.level == "proved"
        strict = MaximumVarianceUnfolding(solver=solver, tolerance=1e-12, n_neighbors=6).fit(X)
        assert strict.certificate_.level == "within"


def test_an_arc_becomes_a_line():
    t = np.linspace(0, 4, 60)
    arc = np.column_stack([np.cos(t), np.sin(t)])
    model = MaximumVarianceUnfolding(n_components=1, n_neighbors=2, tol=1e-9).fit(arc)
    step = np.linalg.norm(arc[1] - arc[0])
    steps = np.abs(np.diff(model.embedding_[:, 0]))
    # the end points have an edge to the second next, a chord a little shorter than two steps
    np.testing.assert_allclose(steps[1:-1], step, rtol=1e-4)
    np.testing.assert_allclose(steps[0] + steps[1], np.linalg.norm(arc[2] - arc[0]), rtol=1e-4)
    assert model.variance_outside_ < 1e-6


def test_new_points_stand_between_their_neighbours(roll):
    X, model = roll
    np.testing.assert_allclose(model.transform(X), model.embedding_)
    flat = swiss_roll(400, random_state=0)
    half = MaximumVarianceUnfolding(n_neighbors=6).fit(flat.points[::2])
    beside = np.linalg.norm(half.transform(flat.points[1::2])[:, None] - half.embedding_, axis=2)
    near = cdist(flat.points[1::2], flat.points[::2])
    # the nearest old point of a new one is among the nearest ones of its place
    rank = np.argsort(np.argsort(beside, axis=1), axis=1)[np.arange(200), near.argmin(axis=1)]
    assert np.mean(rank < 6) > 0.85  # by chance: 0.03


def test_distances_alone_give_the_same(roll):
    X, model = roll
    D = cdist(X, X)
    given = MaximumVarianceUnfolding(n_neighbors=6, tol=1e-8, metric="precomputed").fit(D)
    np.testing.assert_allclose(pdist(given.embedding_), pdist(model.embedding_), atol=1e-3)
    new = X[:20] + 0.01
    expected, placed = model.transform(new), given.transform(cdist(new, X))
    np.testing.assert_allclose(
        cdist(placed, given.embedding_), cdist(expected, model.embedding_), atol=5e-3
    )


def test_a_given_graph_is_used(roll):
    X, model = roll
    graph = sp.csr_array(model.graph_.lengths)
    given = MaximumVarianceUnfolding(graph=graph, tol=1e-8).fit(X)
    assert given.certificate_.lower == pytest.approx(model.certificate_.lower, rel=1e-7)


def test_pieces():
    X = roll_points(60, random_state=1)
    both = np.vstack([X, X[:40] + 200, [[900.0, 0, 0]]])
    lengths = dualfold.graph.radius(both, 9.0).lengths
    settings = {"graph": lengths, "tol": 1e-8}
    with pytest.raises(DisconnectedGraph, match="unbounded"):
        MaximumVarianceUnfolding(pieces="raise", **settings).fit(both)
    apart = MaximumVarianceUnfolding(pieces="separate", **settings).fit(both)
    assert apart.n_connected_components_ == 3
    alone = MaximumVarianceUnfolding(graph=lengths[:60][:, :60], tol=1e-8).fit(X)
    first = apart.factor_[:60]
    np.testing.assert_allclose(first @ first.T, alone.factor_ @ alone.factor_.T, atol=1e-3)
    assert np.all(first @ apart.factor_[60:].T == 0)
    assert len(apart.unfoldings_) == 2
    weights = apart.dual_weights_.toarray()
    np.testing.assert_allclose(weights[:60, :60], alone.dual_weights_.toarray(), atol=1e-8)
    assert not weights[:60, 60:].any()
    assert not weights[100].any()
    assert apart.certificate_.level == "proved"
    with pytest.warns(dualfold.errors.PiecesJoined):
        joined = MaximumVarianceUnfolding(**settings).fit(both)
    assert joined.certificate_.level == "proved"
    assert joined.certificate_.lower > apart.factor_.var() * apart.factor_.size


def test_equal_lengths_are_kept():
    X = roll_points(80, random_state=0)
    model = MaximumVarianceUnfolding(n_neighbors=5, constraints="equal", relaxation=1e-3).fit(X)
    edges = model.graph_.lengths.tocoo()
    squares = np.sum((model.factor_[edges.row] - model.factor_[edges.col]) ** 2, axis=1)
    np.testing.assert_allclose(squares, edges.data**2, rtol=2.1e-3)
    at_most = MaximumVarianceUnfolding(n_neighbors=5).fit(X)
    assert model.certificate_.lower <= at_most.certificate_.upper * (1 + 2e-3)
    assert model.certificate_.relaxation == pytest.approx(1e-3, rel=0.1)


def test_the_duality_view_in_numbers(roll):
    _, model = roll
    found = model.connections()
    assert found.isomap >= found.value
    assert found.local_linearity < 1e-4
    assert found.eigenmaps_angle < 0.1
    assert found.normalised_angle > 5  # with B = Deg there is no such theorem
    assert found.scaling_law == pytest.approx(1, abs=1e-6)
    assert found.variance_outside == pytest.approx(model.variance_outside_, abs=1e-9)
    edges = model.graph_.lengths.tocoo()
    kept = np.sum((model.embedding_[edges.row] - model.embedding_[edges.col]) ** 2, axis=1)
    whole = np.sum((model.factor_[edges.row] - model.factor_[edges.col]) ** 2, axis=1)
    assert found.longest == pytest.approx(np.max((whole - kept) / edges.data**2), rel=1e-6)
    assert "eigenmaps" in str(found)


def test_more_components_than_directions():
    line = np.arange(12.0)[:, None] * [[1.0, 2.0]]
    model = MaximumVarianceUnfolding(n_components=3, n_neighbors=2).fit(line)
    assert model.embedding_.shape == (12, 3)
    assert model.certificate_.level == "proved"
    np.testing.assert_allclose(model.embedding_[:, 2], 0, atol=1e-2)


def test_rows_without_a_shape_are_unfolded_in_part_and_said(set_limits):
    """Rows whose graph has no small separators; thresholds of size are lower here."""
    minute = {"MAX_MINUTE_FLOPS": 1.0, "MAX_MINUTE_FLOPS_PER_POINT": 0.0}
    set_limits("unfolding.solvers.unfolder", MAX_MINUTE_GRADIENT_FLOPS=1.0, **minute)
    set_limits("methods._mvu", MAX_QUICK_ROWS=150)
    X = np.random.default_rng(0).standard_normal((240, 6))
    model = MaximumVarianceUnfolding(n_neighbors=10, random_state=0)
    with pytest.warns(RowsLeftOut, match="drawn at random"):
        model.fit(X)
    rows = model.rows_
    assert len(rows) == len(model.factor_) == 120
    assert len(model.embedding_) == 240
    assert "landmarks" in model.certificate_.about
    assert model.certificate_.level == "proved"
    # The problem is that of the rows drawn, as if nobody had seen the others.
    alone = MaximumVarianceUnfolding(n_neighbors=10, random_state=0).fit(X[rows])
    assert alone.rows_ is None
    np.testing.assert_allclose(alone.certificate_.value, model.certificate_.value, rtol=1e-5)
    # The others lie where the rule of new rows puts them.
    others = np.setdiff1d(np.arange(240), rows)
    np.testing.assert_allclose(model.embedding_[others], model.transform(X[others]))


def test_auto_keeps_the_coordinates_before_the_widest_eigengap():
    """A sheet has two, a curve has one; faint eigenvalues of further columns do not count."""
    X = swiss_roll(120, turns=0.5, height=12.0, random_state=2).points
    model = MaximumVarianceUnfolding(n_components="auto").fit(X)
    spectrum = np.linalg.svd(model.factor_, compute_uv=False) ** 2
    spectrum = np.maximum(spectrum[:10], 1e-4 * spectrum.sum())
    count = int(np.argmax(spectrum[:-1] / spectrum[1:])) + 1
    assert model.embedding_.shape[1] == len(model.eigenvalues_) == count == 2
    assert "eigengap" in model.n_components_reason_
    two = MaximumVarianceUnfolding(n_components=2).fit(X)
    np.testing.assert_array_equal(model.embedding_, two.embedding_)
    t = np.linspace(0, 3, 30)
    curve = MaximumVarianceUnfolding(n_components="auto", n_neighbors=2)
    assert curve.fit(np.c_[np.cos(t), np.sin(t)]).embedding_.shape == (30, 1)
    assert curve.connections().kept_components == 1
