"""Answers about odd data: audits of distances, advice without a map, descents cut short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from dualfold import audit
from dualfold.auditing.audit import _part
from dualfold.auditing.groups import names_of
from dualfold.auditing.nearness import Nearness, Statement
from dualfold.auditing.valleys import _ratio
from dualfold.errors import InvalidInput
from dualfold.games import (
    Conjugate,
    Convex,
    Ellipsoid,
    Indicator,
    LargestAffine,
    Move,
    Quadratic,
    Simplex,
    least,
)
from dualfold.games.bregman import VonNeumann
from dualfold.games.least import descend, least_point
from dualfold.graph import from_lengths, knn
from dualfold.neighbor_map import certify_neighbors, neighbor_problem
from dualfold.neighbor_map.homotopy import stiefel_descent
from dualfold.point_pca.certificate import _all_equal
from dualfold.point_pca.point_descent import descend_points
from dualfold.quality.estimate import Estimate
from dualfold.quality.space import space_of
from dualfold.recommendation import recommend
from dualfold.recommendation.dimension import _levina_bickel, _read, _two_nn
from dualfold.recommendation.recommendation import Recommendation
from dualfold.recommendation.scan import NeighborScan, Scanned
from dualfold.recommendation.trial import Candidate
from dualfold.tsne.repulsion import MAX_ROWS_BY_PAIRS, repulsion_for
from dualfold.unfolding import UnfoldingProblem
from dualfold.unfolding.bounds import Fit
from dualfold.unfolding.contraction import Unrealisable, contracted
from dualfold.unfolding.solution import Progress
from dualfold.unfolding.solvers.taut_edges import polished
from dualfold.unfolding.solvers.unfolder import elastic, refuse_minutes
from dualfold.view import audit_figure
from dualfold.view.audit import judgements

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))


# ---- audits


@pytest.fixture(scope="module")
def clouds():
    """Three groups in a row, 40 points each, and their map as it is."""
    middles = np.repeat([[0.0, 0.0], [8.0, 0.0], [30.0, 0.0]], 40, axis=0)
    points = middles + RNG.normal(size=(120, 2))
    return points, audit(points, points)


def test_an_audit_of_distances_is_that_of_their_points(clouds):
    points, plain = clouds
    given = audit(cdist(points, points), points, metric="precomputed")
    assert given.picture.kept == plain.picture.kept
    assert [one.verdict for one in given.groups] == [one.verdict for one in plain.groups]
    with pytest.raises(InvalidInput, match="leave it out for distances"):
        audit(cdist(points, points), points, metric="precomputed", method="pca")


def test_some_points_of_a_space_by_distances_are_a_space():
    rows = np.array([3, 7, 11, 20])
    part = _part(space_of(cdist(X, X), "precomputed"), rows)
    np.testing.assert_allclose(
        part.true_rows(np.array([1])), cdist(X, X)[rows[1:2]][:, rows] + [[0, np.inf, 0, 0]]
    )


def test_groups_after_z_have_two_letters():
    names = names_of(55)
    assert names[:2] + names[25:28] + names[-1:] == ["A", "B", "Z", "AA", "AB", "BC"]
    assert len(set(names)) == 55


def test_statements_of_an_audit_by_name(clouds):
    _, found = clouds
    assert len(found.groups) == 3
    one = found.nearness.statements[0]
    assert found.nearer(one.group, one.near, one.far) is one
    with pytest.raises(InvalidInput, match="the map does not say that A lies nearer to A"):
        found.nearer("A", "A", "A")


def statement(low, high):
    return Statement("A", "B", "C", Estimate((low + high) / 2, low, high, 9), 2.0)


def test_one_statement_is_spoken_of_alone(clouds):
    """True where the interval of the ratio lies above 1, false below, else undecided."""
    _, found = clouds
    words = {}
    for low, high in ((1.5, 2.0), (0.5, 0.8), (0.8, 1.5)):
        told = replace(found, nearness=Nearness((statement(low, high),)))
        words[low, high] = str(told)
    assert "that the map makes is true in the data" in words[1.5, 2.0]
    assert "that the map makes is undecided" in words[0.8, 1.5]
    assert "A lies nearer to B than to C: false in the data" in words[0.5, 0.8]


def test_a_map_of_one_group_shows_none_apart(clouds):
    _, found = clouds
    alone = replace(found, groups=found.groups[:1], nearness=Nearness())
    assert "The map shows no separate groups." in alone.verdict
    assert set(judgements(alone)) <= {"not dubious", "dubious point"}
    assert not audit_figure(alone, verdict="mine").axes[0].texts
    assert "Groups on the map" not in str(alone)


def test_many_groups_are_counted_in_the_end(clouds):
    _, found = clouds
    many = replace(found, groups=found.groups * 20)
    assert "smaller ones" in str(many)


def test_a_ratio_to_no_links_is_endless_or_nothing():
    none = np.zeros(5)
    assert float(_ratio(np.ones(5), none, 1)[0]) == np.inf
    assert float(_ratio(none, none, 1)[0]) == 0


# ---- advice


def test_dimensions_of_too_few_rows_are_none():
    assert _two_nn(np.ones((1, 2))) == 0
    assert _levina_bickel(np.ones((1, 5))) == _levina_bickel(np.ones((9, 2))) == 0
    assert _read(np.array([1.0, 2.0, 2.9]), np.inf) == 3


def test_advice_says_why_a_method_is_not_the_first():
    with pytest.raises(InvalidInput, match="n_components=9 must be from 1 to 4"):
        recommend(RNG.normal(size=(300, 4)), n_components=9)
    rows = tuple(Scanned(k, 1, 1.0, 0.0) for k in (5, 10))
    good = Candidate("pca", (0.1, 0.1), 0.9, 0.9, 0.1)
    shaky, broken = replace(good, method="lle", stability=-1.0), Candidate("mvu", trouble="too few")
    told = Recommendation(
        None, NeighborScan(rows), (good, shaky, broken), ("pca", "pca"), 1, 300, 200, 0.1
    )
    assert told.reason(broken) == "no map: too few"
    assert told.reason(shaky) == "two samples give different maps"
    assert told.verdict.startswith("No method makes a good picture in 1 dimensions. pca")
    assert str(NeighborScan(rows)) == "10 neighbours"


# ---- descents


def test_descents_that_are_cut_short_say_so():
    assert not descend_points(X, 2, most_steps=1, tol=0.0).converged
    ring = sp.csr_array(np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1))
    problem = neighbor_problem(ring, n_components=2, spread=0.05)
    cut = stiefel_descent(problem, RNG.normal(size=(12, 2)), most=2, tol=0.0)
    assert not cut.arrived
    assert cut.rounds == 2
    far = certify_neighbors(problem, np.full((12, 2), 1e101))
    assert far.level == "failed"
    assert "too large to be squared" in far.reasons[0]


def test_equal_sparse_rows_are_equal():
    assert _all_equal(sp.csr_array(np.ones((4, 3))))
    assert not _all_equal(sp.csr_array(np.eye(3)))


def test_repulsion_of_many_points_in_space_is_by_a_tree():
    many = repulsion_for(MAX_ROWS_BY_PAIRS[3] + 1, 3, exact=False)
    few = repulsion_for(10, 3, exact=False)
    assert type(many).__name__ == "ByTree"
    assert type(few).__name__ == type(repulsion_for(10**6, 3, exact=True)).__name__ == "ByPairs"


# ---- unfoldings


def test_lengths_that_contradict_each_other_have_no_points():
    ends = np.array([[0, 1], [1, 2], [0, 2]])
    lengths = sp.coo_array(([0.0, 0.0, 1.0], ends.T), shape=(3, 3)).tocsr()
    with pytest.raises(Unrealisable, match="points 0 and 2 are 1 apart"):
        contracted(from_lengths(lengths), form="equal")
    with pytest.raises(InvalidInput, match="1 point was given"):
        elastic(UnfoldingProblem(1, np.empty((0, 2), int), [], "equal"))
    assert Fit(0.0, np.inf, 1.0).value == 0
    assert Fit(1.0, 2.0, 6.0).value == pytest.approx(3.0)


@pytest.mark.parametrize(("metric", "name"), [("precomputed", "euclidean"), ("l1", "cityblock")])
def test_angles_are_kept_by_any_metric(metric, name):
    """Neighbours of a common point are as far apart as the metric says."""
    apart = cdist(X, X, name)
    graph = knn(apart if metric == "precomputed" else X, 4, metric=metric)
    problem = contracted(graph, angles=True).problem
    i, j = problem.edges.T
    np.testing.assert_allclose(np.sqrt(problem.squared), apart[i, j], rtol=1e-12)
    assert problem.m > graph.n_edges


# ---- games


def test_a_conjugate_costs_the_same_with_and_without_its_point():
    f = Quadratic(np.diag([1.0, 4.0]), np.array([1.0, 0.0]))
    y = np.array([0.5, 2.0])
    plain = Conjugate(f).cost(Move(y))
    assert plain == pytest.approx(Conjugate(f).cost(Move(y, taken_at=f.maximiser(y))))


def test_matrix_entropy_steps_on_matrices_alone():
    with pytest.raises(InvalidInput, match="closed form on Spectrahedron and Everywhere"):
        VonNeumann().step(Indicator(Simplex()), np.eye(2), 1.0, np.eye(2))


def test_a_point_on_the_surface_is_its_own_projection():
    axes = np.array([3.0, 0.1, 1e-3])
    ball = Ellipsoid(axes)
    for turn in RNG.normal(size=(200, 3)):
        on = axes * turn / np.linalg.norm(turn)
        np.testing.assert_allclose(ball.project(on), on, rtol=1e-7, atol=1e-12)


def test_a_descent_that_leaves_the_domain_goes_back():
    """x − log x has its least value at 1; momentum from far out jumps to where it is infinite."""

    def value(x):
        with np.errstate(all="ignore"):
            return float(np.sum(x - np.log(x))) if (x > 0).all() else np.inf

    def slope(x):
        return 1 - 1 / x if (x > 0).all() else np.full_like(x, np.nan)

    for start in (0.01, 5.0, 300.0):
        found, arrived = descend(value, slope, lambda x, weight: x, np.array([start, 2.0]))
        assert arrived
        np.testing.assert_allclose(found, 1.0, atol=1e-6)
    found, arrived = descend(value, slope, lambda x, weight: x, np.array([-1.0, 2.0]))
    assert not arrived


def test_few_planes_find_the_same_corner(monkeypatch):
    """The largest of planes on a simplex, once with room for four of them only."""
    f = LargestAffine(np.diag([1.0, 2.0, 4.0, 8.0]))
    wanted = np.array([8.0, 4.0, 2.0, 1.0]) / 15
    monkeypatch.setattr(least, "MOST_PLANES", 5)
    found = least_point(f, Indicator(Simplex()), np.eye(4)[0])
    np.testing.assert_allclose(found.point, wanted, atol=1e-4)
    assert found.lower[-1] <= 8 / 15 <= found.upper[-1] + 1e-12


class _Broken(Convex):
    """Infinite at every point but the first."""

    def value(self, x):
        return 0.0 if not x.any() else np.inf

    def subgradient(self, x):
        return np.ones_like(x)


def test_a_loss_that_is_infinite_where_its_player_may_go_is_refused():
    with pytest.raises(InvalidInput, match="a set inside the loss's domain"):
        least_point(_Broken(), Indicator(Simplex()), np.array([0.5, 0.5]))


def test_advice_about_equal_rows_is_refused():
    with pytest.raises(InvalidInput, match="are the same: there is nothing to map"):
        recommend(np.ones((300, 3)))


def test_small_unfoldings_are_never_refused_and_bounds_need_a_floor():
    chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    assert refuse_minutes(chain) is None
    progress = Progress(chain, 1e-6, None)
    progress.bound(np.ones(2), 0.0)
    assert progress.upper == np.inf
    progress.bound(np.ones(2), 1.0)
    assert progress.upper == 2.0
    factor, weights = np.eye(3)[:, :1], np.ones(2)
    same = polished(chain, factor, weights, np.zeros(2, bool))
    assert same[0] is factor
    assert same[1] is weights
