"""Payoff, equilibria of any pair, subdifferentials, counterexamples: by definition."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.games import (
    Ball,
    Box,
    Entropy,
    HalfSquare,
    Huber,
    Indicator,
    LargestAffine,
    LeastSquares,
    Logistic,
    LogSumExp,
    Oracle,
    Quadratic,
    Simplex,
    equilibrium,
    frank_wolfe,
    membership,
    nesterov,
    norm,
    payoff,
    refute,
)


def draws(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def test_payoff_is_the_supremum_of_its_definition():
    """⟨x, y⟩ − sup over a fine grid, in closed form and, on a box, by search."""
    grid = np.linspace(-6, 6, 120_001)
    for f, values in ((HalfSquare(2.0, 1.0), (grid - 1) ** 2), (Huber(), _huber(grid))):
        for y in (0.7, -0.9):
            ours = payoff(f, np.array([1.3]), np.array([y]))
            assert ours == pytest.approx(1.3 * y - np.max(grid * y - values), abs=1e-7)
    inside = np.abs(grid) <= 0.5
    for f, values in (
        (LargestAffine(np.array([[1.0], [-2.0]]), np.array([0.0, 0.5])),
         np.maximum(grid, 0.5 - 2 * grid)),
        (Oracle(lambda x: (float(x[0] ** 4), 4 * x**3)), grid**4),
    ):  # fmt: skip
        ours = payoff(f, np.array([0.2]), np.array([0.4]), over=Box(-0.5, 0.5))
        sup = np.max((grid * 0.4 - values)[inside])
        assert ours == pytest.approx(0.2 * 0.4 - sup, abs=3e-4)  # 3 times the grid's spacing


def _huber(x):
    return np.where(np.abs(x) <= 1, x**2 / 2, np.abs(x) - 0.5)


def test_an_equilibrium_is_one_by_definition_6_6():
    """ε of random pairs: both inequalities, with V*, inf and sup by brute force."""
    f, K = Quadratic(np.diag([1.0, 4.0]), np.array([-3.0, 1.0])), Ball(1.0)
    angles, radii = np.meshgrid(np.linspace(0, 2 * np.pi, 181), np.linspace(0, 1, 21))
    members = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=-1).reshape(-1, 2)
    value = min(f.value(z) for z in members)
    for x, y in zip(draws(0, 5, 2), draws(1, 5, 2), strict=True):
        x = K.project(x)
        found = equilibrium(f, x, y, over=K)
        assert found.high == f.value(x)
        assert found.low == pytest.approx(np.min(members @ y) - f.conjugate(y), abs=1e-3)
        assert found.low <= value + 1e-9
        assert value - 1e-3 <= found.high
        assert f.value(x) - value <= found.epsilon + 1e-9  # Corollary 6.9
    best = nesterov(f, np.zeros(2), over=K).play(300).answer
    assert equilibrium(f, best, f.subgradient(best), over=K).epsilon < 1e-4
    run = frank_wolfe(f, np.zeros(2), over=K).play(50)
    pair = equilibrium(f, run.answer, _mean(run), over=K)
    # The run's own ε is about the same pair, with f* bounded by its planes.
    assert pair.epsilon <= run.equilibrium[-1] + 1e-9
    assert "no ε" in str(equilibrium(f, x, y))
    with pytest.raises(InvalidInput, match="project"):
        equilibrium(f, np.array([3.0, 0.0]), y, over=K)
    # Without a conjugate in closed form the bracket of a search does it.
    kinked = LargestAffine(np.array([[1.0, 0.0], [-1.0, 0.5]]))
    found = equilibrium(kinked, np.zeros(2), np.array([0.1, 0.2]), over=K)
    assert found.low <= min(kinked.value(z) for z in members) + 1e-9
    assert found.low > -2


def _mean(run):
    weights = run.y.weights / run.y.weights.sum()
    return weights @ run.y.points


FUNCTIONS = {
    "half square": HalfSquare(2.0),
    "quadratic": Quadratic(np.array([[2.0, 0.3], [0.3, 1.0]])),
    "1-norm": norm(1),
    "2-norm": norm(2, 3.0),
    "log-sum-exp": LogSumExp(),
    "entropy": Entropy(),
    "own": Oracle(lambda x: (float(x @ x), 2 * x)),
    "largest": LargestAffine(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_membership_agrees_with_the_definition_of_a_subgradient(name):
    f, x = FUNCTIONS[name], np.array([0.3, 0.7])
    over = Ball(4.0) if name in ("own", "largest") else None
    keywords = {} if over is None else {"over": over}
    points = Simplex().project if name == "entropy" else (lambda z: z)
    y = f.subgradient(x)
    right = membership(f, x, y, **keywords)
    assert right.holds or (over is not None and right.high < 1e-6)
    assert not right.is_refuted
    off = np.array([0.2, -0.3])  # not along 1: on the simplex that is no change
    wrong = membership(f, x, y + off, **keywords)
    assert wrong.is_refuted
    assert not wrong.holds
    if wrong.witness is not None:
        z = wrong.witness
        below = f.value(x) + (y + off) @ (z - x) - f.value(z)
        assert below == pytest.approx(wrong.low, abs=1e-9)
    if name not in ("own", "largest"):
        for z in (points(z) for z in draws(2, 200, 2)):
            assert f.value(z) >= f.value(x) + y @ (z - x) - 1e-9


@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1.0, 1e120])
def test_membership_in_any_units(unit):
    """Brute force at the corners of the box: a linear plane over a largest affine one."""
    slopes = unit * draws(4, 4, 3)
    f, x = LargestAffine(slopes), np.array([0.2, -0.4, 0.1])
    y = f.subgradient(x)
    assert not membership(f, x, y, over=Box(-1.0, 1.0)).is_refuted
    wrong = y + unit * np.array([0.3, -0.2, 0.1])
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    above = max(f.value(x) + wrong @ (z - x) - f.value(z) for z in corners)
    assert above > 0.01 * unit
    judged = membership(f, x, wrong, over=Box(-1.0, 1.0))
    assert judged.is_refuted
    assert not judged.holds
    assert judged.high >= above * (1 - 1e-9)


def test_no_subgradient_outside_of_the_domain_or_nearly():
    assert not membership(Indicator(Ball(1.0)), np.array([5.0]), np.array([1.0])).holds
    nearly = membership(HalfSquare(), np.array([0.0]), np.array([1e-5]))  # its ε is 5e-11
    assert nearly.is_refuted
    assert not nearly.holds


def test_subdifferentials_at_corners():
    f = LargestAffine(np.array([[1.0, 0.0], [0.0, 1.0]]))
    corner = np.zeros(2)
    for share in (0.0, 0.3, 1.0):
        inside = membership(f, corner, np.array([share, 1 - share]), over=Ball(1.0))
        assert inside.high < 1e-6
    outside = membership(f, corner, np.array([1.2, -0.2]), over=Ball(1.0))
    # The plane of (1.2, −0.2) is above f by the largest ⟨y, z⟩ − max(z) over the ball.
    circle = np.linspace(0, 2 * np.pi, 100_001)
    z = np.stack([np.cos(circle), np.sin(circle)])
    assert outside.low == pytest.approx(np.max(1.2 * z[0] - 0.2 * z[1] - z.max(axis=0)), abs=1e-6)


@pytest.mark.parametrize(
    ("f", "claim", "modulus", "true"),
    [
        (lambda x: float(x @ x), "convex", 0.0, True),
        (lambda x: float(np.sin(x[0])), "convex", 0.0, False),
        (lambda x: float(-x @ x), "convex", 0.0, False),
        (lambda x: float(min(abs(x[0]), 1.0)), "convex", 0.0, False),
        (lambda x: float(x @ x), "strongly convex", 2.0, True),
        (lambda x: float(x @ x), "strongly convex", 2.1, False),
        (lambda x: float(np.exp(x[0]) + x[1] ** 2), "strongly convex", 0.5, False),
        (lambda x: float(x @ x), "smooth", 2.0, True),
        (lambda x: float(x @ x), "smooth", 1.9, False),
        (lambda x: float(np.abs(x).sum()), "smooth", 100.0, False),
        (lambda x: float(-x @ x), "smooth", 1.0, False),
        (LeastSquares(np.diag([1.0, 3.0]), np.ones(2)), "smooth", 9.0, True),
        (LeastSquares(np.diag([1.0, 3.0]), np.ones(2)), "smooth", 8.0, False),
        (Logistic(np.eye(2), np.ones(2)), "convex", 0.0, True),
    ],
)
def test_claims_are_refuted_where_they_are_false_and_never_where_they_are_true(
    f, claim, modulus, true
):
    found = refute(f, np.zeros(2), claim=claim, modulus=modulus, scale=2.0, tries=800)
    assert found.is_refuted is not true
    assert ("proves nothing" in str(found)) is true
    value = f if not hasattr(f, "value") else f.value
    between = value(found.share * found.x + (1 - found.share) * found.z)
    chord = found.share * value(found.x) + (1 - found.share) * value(found.z)
    curve = found.share * (1 - found.share) * np.sum((found.x - found.z) ** 2) / 2
    if claim == "smooth":
        assert found.excess == pytest.approx(abs(chord - between) - modulus * curve, abs=1e-12)
    else:
        assert found.excess == pytest.approx(between - chord + modulus * curve, abs=1e-12)


def test_counterexamples_are_looked_for_on_the_set():
    """x³ is convex on [0, ∞) and not on ℝ; the entropy is infinite outside, which is no matter."""
    cube = lambda x: float(x[0] ** 3)  # noqa: E731
    assert not refute(cube, np.array([1.0]), over=Box(0.0, np.inf)).is_refuted
    assert refute(cube, np.array([1.0]), scale=3.0).is_refuted
    third, simplex = np.full(3, 1 / 3), Simplex()
    assert not refute(Entropy(), third, over=simplex, tries=200).is_refuted
    strong = {"claim": "strongly convex", "over": simplex, "tries": 200}
    assert not refute(Entropy(), third, modulus=0.99, **strong).is_refuted
    assert refute(Entropy(), third, modulus=2.5, **strong).is_refuted
    with pytest.raises(InvalidInput, match="claim"):
        refute(cube, np.zeros(1), claim="nice")
    with pytest.raises(InvalidInput, match="modulus"):
        refute(cube, np.zeros(1), modulus=1.0)


def test_nothing_speaks_against_a_convex_function_with_negative_values():
    """Rounding of values around −10⁹ hides all curvature, and is no counterexample."""
    found = refute(lambda x: float(x @ x) / 7 - 1e9, np.ones(3), tries=200)
    assert "no counterexample" in str(found)
