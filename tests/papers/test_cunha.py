"""The parts of Cunha's experiments with mathematics of their own, against brute force."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dualfold.data import sphere_cap
from dualfold.graph import knn
from dualfold.unfolding import UnfoldingProblem, contraction_of, interior_point, lowest_bend
from papers import Setting
from papers.cunha.angles import allowed_angles, coordinates_kept, edge_angles
from papers.cunha.exact import chain, complete
from papers.cunha.lagrangian import _lmi, _products
from papers.cunha.roll import (
    bounds,
    even_roll,
    even_rolls,
    optimality,
    roll,
    small_roll,
    swiss_roll_unfolded,
)
from papers.cunha.slater import clique, equal_lengths_path, stress
from papers.figures.sphere import tangent_planes_figure

BRIEF = Setting("brief")


def roll_problem(
    n: int = 30, k: int = 5, constraints: str = "equal"
) -> tuple[np.ndarray, UnfoldingProblem]:
    points = small_roll(n, 3).points
    return points, contraction_of(knn(points, k), constraints=constraints).problem


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_a_clique_is_found_exactly_where_there_is_one(size: int) -> None:
    _, p = roll_problem()
    edges = {tuple(edge) for edge in p.edges.tolist()}
    some = any(
        all(pair in edges for pair in combinations(group, 2))
        for group in combinations(range(p.n), size)
    )
    found = clique(p, size)
    assert (found is not None) == some
    if found is not None:
        assert len(set(found)) == size
        assert all(pair in edges for pair in combinations(sorted(found), 2))


def test_a_stress_is_a_ray_of_the_dual() -> None:
    points, p = roll_problem()
    members = clique(p, 5)
    assert members is not None
    omega = stress(p, points, members)
    L = p.laplacian(omega).toarray()
    values = np.linalg.eigvalsh(L)
    # A projector onto 5 − 1 − 3 = 1 direction, which sees no point of the data.
    assert values[-1] == pytest.approx(1)
    assert np.abs(values[:-1]).max() < 1e-12
    assert np.abs(L @ points).max() < 1e-10
    assert abs(omega @ p.squared) < 1e-10
    # Any other lengths of these edges are seen: the ray is about these points.
    stretched = points * [1.0, 1.0, 2.0]
    bent = stretched + 0.1 * np.sin(stretched[:, [1, 2, 0]])
    assert abs(omega @ p.squared_lengths(bent)) > 1e-4


def test_the_textbook_path_solves_a_chain_with_equal_lengths() -> None:
    p = UnfoldingProblem(6, chain(6).edges, chain(6).squared, "equal")
    history = equal_lengths_path(p)
    assert history[-1][0] <= 1e-8
    i = np.arange(1, 6)
    assert history[-1][1] == pytest.approx(np.sum(i * (6 - i) / 2), rel=1e-6)


def test_the_textbook_path_breaks_down_on_cliques() -> None:
    _, p = roll_problem(40)
    history = equal_lengths_path(p)
    assert min(error for error, _ in history) > 1e-6
    assert history[-1][1] > 5 * history[0][1]


def test_the_complete_graph_has_every_pair() -> None:
    X = np.random.default_rng(0).standard_normal((7, 3))
    p = complete(X)
    assert p.m == 21
    for (i, j), squared in zip(p.edges, p.squared, strict=True):
        assert squared == pytest.approx(np.sum((X[i] - X[j]) ** 2))


def test_angles_of_a_right_triangle() -> None:
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    graph = knn(X, 2)
    expected = [90.0, np.degrees(np.arctan2(4, 3)), np.degrees(np.arctan2(3, 4))]
    np.testing.assert_allclose(edge_angles(graph, X), expected)
    low, high = allowed_angles(graph, X, 0.0)
    np.testing.assert_allclose(low, expected)
    np.testing.assert_allclose(high, expected)


def test_allowed_angles_hold_every_triangle_of_nearly_these_lengths() -> None:
    rng = np.random.default_rng(1)
    X, epsilon = rng.standard_normal((3, 2)), 0.05
    graph = knn(X, 2)
    low, high = allowed_angles(graph, X, epsilon)
    pairs = ((0, 1), (0, 2), (1, 2))
    squares = np.array([np.sum((X[i] - X[j]) ** 2) for i, j in pairs])
    reached_low, reached_high = np.full(3, 180.0), np.zeros(3)
    for trial in range(3_000):
        factors = 1 + epsilon * rng.choice([-1, 1], 3) if trial % 2 else rng.uniform(0.95, 1.05, 3)
        ab, ac, bc = squares * factors
        for corner, (one, two, across) in enumerate(((ab, ac, bc), (ab, bc, ac), (ac, bc, ab))):
            cosine = (one + two - across) / (2 * np.sqrt(one * two))
            angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
            assert low[corner] - 1e-9 <= angle <= high[corner] + 1e-9
            reached_low[corner] = min(reached_low[corner], angle)
            reached_high[corner] = max(reached_high[corner], angle)
    # Half of the tries were corners: the ends are reached, not only kept.
    np.testing.assert_allclose(reached_low, low, atol=1e-9)
    np.testing.assert_allclose(reached_high, high, atol=0.3)


def test_the_linear_matrix_inequality_is_tried_on_both_sides() -> None:
    _, p = roll_problem(constraints="at_most")
    agree, feasible = _lmi(p, np.random.default_rng(2), 200)
    assert agree == 200
    assert 20 < feasible < 180


def test_the_eigenvalue_off_ones_may_be_negative() -> None:
    p = chain(4)
    w = np.array([1.0, -1.0, 1.0])
    L = p.laplacian(w).toarray()
    Q = np.linalg.qr(np.column_stack([np.ones(4), np.eye(4)[:, :3]]))[0][:, 1:]
    assert lowest_bend(p, w)[0] == pytest.approx(np.linalg.eigvalsh(Q.T @ L @ Q)[0])
    assert lowest_bend(p, w)[0] < 0


def test_products_of_semidefinite_matrices() -> None:
    trace, symmetric = _products(
        roll_problem(constraints="at_most")[1], np.random.default_rng(0), 100
    )
    assert trace > 0
    assert symmetric < -1e-3


def test_bounds_name_a_bound_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not bounds(BRIEF).failed
    import papers.cunha.roll as module

    true = module._upper_bounds
    monkeypatch.setattr(
        module,
        "_upper_bounds",
        lambda p, u: {name: 0.3 * one for name, one in true(p, u).items()},
    )
    failed = bounds(BRIEF).failed
    assert {row.what for row in failed} >= {
        "above: dual weights, of tr K", "above: Isomap trace, of tr K"
    }  # fmt: skip


@pytest.mark.parametrize("bend", ["2 %", "noise", "permuted"])
def test_a_bent_unfolding_is_seen(bend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the answer scaled by 2 %, noise or its rows in another order, conditions would fail."""
    import papers.cunha.roll as module

    sample, graph, honest = roll(BRIEF)
    factor = honest.solution.factor
    rng = np.random.default_rng(0)
    wrong = {
        "2 %": np.sqrt(1.02) * factor,
        "noise": factor + 0.02 * np.abs(factor).max() * rng.standard_normal(factor.shape),
        "permuted": factor[rng.permutation(len(factor))],
    }[bend]
    bent = replace(honest, solution=replace(honest.solution, factor=wrong))
    monkeypatch.setattr(module, "roll", lambda setting: (sample, graph, bent))
    failed = {row.what[:4] for row in module.optimality(BRIEF).failed}
    assert "(50)" in failed
    assert ("(52)" in failed) == (bend != "2 %")  # L*K* = K* knows no scale


def test_weights_above_the_true_second_eigenvalue_are_no_bound() -> None:
    # Σ w d² itself, without dividing by λ₂, is a bound only when λ₂ ≥ 1.
    p = chain(5)
    i = np.arange(1, 5)
    w = i * (5 - i) / 2
    assert w @ p.squared == pytest.approx(5 * 24 / 12)
    found = interior_point(p, tol=1e-10)
    assert p.value(found.factor) > 0.5 * w @ p.squared  # half the weights: below the value


def test_dropped_coordinates_are_counted() -> None:
    unfolding = roll(BRIEF)[2]
    spectrum = np.sort(np.linalg.eigvalsh(unfolding.factor @ unfolding.factor.T))[::-1]
    rows = {row.what: row.note for row in coordinates_kept(BRIEF).rows}
    expected = spectrum[1:].sum() / spectrum.sum()
    note = rows["a roll that opens, 1 kept: most that an edge gains, of d²"]
    assert note.startswith(f"variance outside {expected:.2%};")


def test_the_optimality_conditions_are_shown_for_the_papers_own_problem() -> None:
    """With =: lengths, weights and the trace form of (52), by hand."""
    rows = {row.what: row for row in optimality(BRIEF).rows if row.what.startswith("=: ")}
    assert all(row.holds for row in rows.values() if row.kind is not None)
    unfolding = even_rolls(BRIEF)[2]
    assert unfolding.problem.constraints == "equal"
    w, Y = unfolding.solution.weights, unfolding.solution.factor
    i, j = unfolding.problem.edges.T
    pulled = w @ ((Y[i] - Y[j]) ** 2).sum(axis=1)
    inside = float(np.sum((Y - Y.mean(axis=0)) ** 2))
    shown = rows["=: (52) in the trace, tr K*(L* − I)/tr K*"].ours
    assert pulled / inside - 1 == pytest.approx(shown, abs=1e-6)
    assert w.min() < 0  # as = allows


@pytest.mark.parametrize("seed", [5, pytest.param(6, marks=pytest.mark.full)])
def test_figure_1_shows_a_sheet_on_every_seed(seed: int) -> None:
    """Laid flat as the true sheet, with = and with ≤: what a reader recognises."""
    found = swiss_roll_unfolded(Setting("brief", seed))
    shown = [row for row in found.rows if row.what.startswith("even roll")]
    assert len(shown) == 10
    assert all(row.holds for row in shown), [row for row in shown if not row.holds]


def test_an_even_roll_has_no_close_points_and_no_gaps() -> None:
    flat = even_roll(60, 0.75, 3).flat
    apart = np.linalg.norm(flat[:, None] - flat, axis=2) + 1e9 * np.eye(60)
    nearest = apart.min(axis=1)
    assert nearest.max() < 2.5 * nearest.min()


def test_figure_2_is_a_sphere_with_planes_that_touch_it() -> None:
    points = sphere_cap(200, random_state=1).points
    whole, near = tangent_planes_figure(points).axes
    from papers.figures import sphere

    for place in sphere.PLACES:
        centre = sphere._on_sphere(*place)
        corners = sphere._patch(centre, sphere._tangent_basis(centre), 0.3)
        assert np.abs((corners - centre) @ centre).max() < 1e-12  # orthogonal to the radius
        assert np.linalg.norm(corners, axis=1).min() > 1
    assert "tangent" in whole.get_title()
    assert "neighbours" in near.get_title()
