"""Sets, functions, conjugates and divergences against brute force and identities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from dualfold.errors import InvalidInput
from dualfold.games import (
    AffineSet,
    Ball,
    Box,
    Conjugate,
    Ellipsoid,
    Entropy,
    Euclidean,
    Everywhere,
    Gauge,
    HalfSquare,
    Huber,
    Indicator,
    KullbackLeibler,
    L1Ball,
    LargestAffine,
    LeastSquares,
    Logistic,
    LogSumExp,
    Product,
    Quadratic,
    Simplex,
    Spectrahedron,
    Sum,
    VonNeumann,
    norm,
)
from tests.theory.games.door import PlayerMove

D = 6


def draws(seed, count=200, scale=2.0, d=D):
    return scale * np.random.default_rng(seed).normal(size=(count, d))


def matrix(seed, rank=D):
    A = np.random.default_rng(seed).normal(size=(D, rank))
    return A @ A.T


SETS = {
    "ball": Ball(1.5, np.full(D, 0.3)),
    "ellipsoid": Ellipsoid(np.array([0.2, 0.5, 1.0, 1.0, 2.0, 3.0])),
    "box": Box(np.linspace(-2, -1, D), np.linspace(0.1, 1, D)),
    "simplex": Simplex(2.0),
    "l1 ball": L1Ball(1.7),
    "product": Product((Ball(1.0), Simplex(), L1Ball(0.5)), (2, 3, 1)),
}


@pytest.mark.parametrize("name", SETS)
def test_projection_and_minimiser_satisfy_their_inequalities(name):
    K = SETS[name]
    members = np.array([K.project(z) for z in draws(1)])
    for z in draws(2, 40, scale=3.0):
        p = K.project(z)
        assert K.contains(p)
        # z − p makes no acute angle with any way into the set: this *is* the projection.
        assert np.all((members - p) @ (z - p) <= 1e-9)
        v = K.minimiser(z)
        assert K.contains(v)
        # The best of 200 members, pushed on by projected descent, is not better.
        best = members[np.argmin(members @ z)]
        for _ in range(300):
            best = K.project(best - 0.5 * z)
        assert v @ z <= best @ z + 1e-9
        assert v @ z >= best @ z - 1e-6 * (1 + abs(best @ z))
        assert K.minimum(z) == pytest.approx(v @ z, abs=1e-12)
        # `reach` bounds distances, `diameter` all of them.
        assert np.linalg.norm(members - z, axis=1).max() <= K.reach(z) + 1e-12
        assert np.linalg.norm(v - K.minimiser(-z)) <= K.diameter + 1e-12


def test_a_member_is_its_own_projection_and_strangers_are_told():
    for K in SETS.values():
        member = K.project(draws(3, 1)[0])
        assert K.project(member) == pytest.approx(member, abs=1e-12)
        assert not K.contains(member + 10)


def test_spectrahedron():
    random = np.random.default_rng(4)
    K = Spectrahedron(2.0)
    members = []
    for _ in range(60):
        B = random.normal(size=(4, 4))
        members.append(2 * B @ B.T / np.trace(B @ B.T))
    for _ in range(10):
        Z = random.normal(size=(4, 4))
        Z = Z + Z.T
        P = K.project(Z)
        assert np.trace(P) == pytest.approx(2.0)
        assert np.linalg.eigvalsh(P)[0] >= -1e-12
        assert all(np.vdot(M - P, Z - P) <= 1e-9 for M in members)
        assert K.minimum(Z) == pytest.approx(2 * np.linalg.eigvalsh(Z)[0])
        assert K.contains(K.minimiser(Z))


def test_affine_set():
    random = np.random.default_rng(5)
    A = random.normal(size=(2, D))
    A = np.vstack([A, A.sum(axis=0)])  # a redundant row
    b = A @ random.normal(size=D)
    K = AffineSet(A, b)
    z = random.normal(size=D)
    p = K.project(z)
    assert A @ p == pytest.approx(b)
    kernel = np.linalg.svd(A)[2][2:]
    assert kernel @ (z - p) == pytest.approx(np.zeros(4), abs=1e-12)
    assert K.minimum(A[0]) == pytest.approx(b[0])
    assert K.minimum(z) == -np.inf
    with pytest.raises(InvalidInput, match="bounded"):
        K.minimiser(z)


rows = np.random.default_rng(6).normal(size=(4, D))

labels = np.array([1.0, -1.0, -1.0, 1.0])

FUNCTIONS = {
    "quadratic": Quadratic(matrix(7), draws(8, 1)[0], 0.7),
    "singular quadratic": Quadratic(matrix(9, rank=3), draws(8, 1)[0], -0.4),
    "affine": Quadratic(np.zeros((D, D)), draws(10, 1)[0], 1.0),
    "least squares": LeastSquares(draws(11, 9), draws(12, 1, d=9)[0]),
    "underdetermined": LeastSquares(rows, labels),
    "logistic": Logistic(rows, labels),
    "half square": HalfSquare(2.5, draws(13, 1)[0]),
    "l1": norm(1, 0.8),
    "l2": norm(2, 0.8),
    "linf": norm("inf", 0.8),
    "half square + l1": Sum(HalfSquare(0.5, draws(14, 1)[0]), norm(1, 0.6)),
    "half square on a simplex": Sum(HalfSquare(0.5), Indicator(Simplex())),
    "huber": Huber(0.7),
    "log sum exp": LogSumExp(0.5),
    "entropy": Entropy(),
    "simplex": Indicator(Simplex()),
    "ball": Indicator(Ball(2.0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fenchel_and_young(name):
    """f(x) + f*(y) ≥ ⟨x, y⟩ for all, with equality where y is a subgradient at x."""
    f = FUNCTIONS[name]
    domain = [Simplex().project(z) for z in draws(15, 20)] if "simplex" in name else draws(15, 20)
    if name == "entropy":
        domain = [np.exp(z) / np.exp(z).sum() for z in draws(15, 20)]
    if name == "ball":
        domain = [Ball(2.0).project(z) for z in draws(15, 20)]
    if "on a simplex" not in name:
        slopes = [f.subgradient(x) for x in domain]
        for x, y in zip(domain, slopes, strict=True):
            assert f.value(x) + f.conjugate(y) == pytest.approx(x @ y, abs=1e-8)
    else:
        slopes = list(draws(16, 20))
    for x in domain:
        for y in slopes:
            assert f.value(x) + f.conjugate(y) >= x @ y - 1e-8


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_subgradient_is_a_plane_under_the_function(name):
    f = FUNCTIONS[name]
    if name in ("entropy", "half square on a simplex", "simplex"):
        points = [np.exp(z) / np.exp(z).sum() for z in draws(17, 30)]
    else:
        points = [Ball(2.0).project(z) for z in draws(17, 30)]
    for x in points:
        y = f.subgradient(x)
        for z in points:
            assert f.value(z) >= f.value(x) + y @ (z - x) - 1e-9
            # and the function stays under its parabola where it is smooth
            if np.isfinite(f.smoothness):
                rise = f.smoothness / 2 * np.sum((z - x) ** 2)
                assert f.value(z) <= f.value(x) + y @ (z - x) + rise + 1e-9
            if f.strong_convexity and name != "half square on a simplex":
                rise = f.strong_convexity / 2 * np.sum((z - x) ** 2)
                assert f.value(z) >= f.value(x) + y @ (z - x) + rise - 1e-9


@pytest.mark.parametrize("name", ["quadratic", "half square", "half square + l1", "entropy"])
def test_the_conjugate_is_the_largest_difference(name):
    """Against a numerical maximisation that knows nothing of closed forms."""
    f = FUNCTIONS[name]
    place = (lambda u: np.exp(u) / np.exp(u).sum()) if name == "entropy" else (lambda u: u)
    thorough = {"xtol": 1e-10, "ftol": 1e-14, "maxiter": 100_000}
    for y in draws(18, 4, scale=1.0):
        difference = lambda u, y=y: f.value(place(u)) - y @ place(u)  # noqa: E731
        found = minimize(difference, np.zeros(D), method="Powell", options=thorough)
        assert f.conjugate(y) == pytest.approx(-found.fun, rel=1e-5)


def test_conjugates_are_infinite_outside_their_domain():
    assert FUNCTIONS["singular quadratic"].conjugate(draws(19, 1)[0]) == np.inf
    affine = FUNCTIONS["affine"]
    assert affine.conjugate(affine.linear) == pytest.approx(-1.0)
    assert affine.conjugate(affine.linear + 1e-3) == np.inf
    assert norm(1, 0.8).conjugate(np.full(D, 0.9)) == np.inf
    assert norm(2, 0.8).conjugate(np.full(D, 0.9)) == np.inf
    assert Huber(0.7).conjugate(np.full(D, 0.71)) == np.inf
    logistic = FUNCTIONS["logistic"]
    assert logistic.conjugate(2 * logistic.rows[0]) == np.inf
    assert Entropy().value(np.full(D, 0.5)) == np.inf


PROXIMAL = ["quadratic", "singular quadratic", "affine", "least squares", "half square", "l1", "l2",
            "linf", "half square + l1", "huber", "ball"]  # fmt: skip


@pytest.mark.parametrize("name", PROXIMAL)
def test_proximal_maps_satisfy_their_optimality(name):
    """p = prox(z) ⇔ (z − p)/weight is a subgradient at p: f(q) ≥ f(p) + ⟨(z−p)/w, q − p⟩."""
    f = FUNCTIONS[name]
    others = [Ball(2.0).project(z) for z in draws(21, 100)]
    for z in draws(22, 10):
        for weight in (0.1, 3.0):
            p = f.proximal(z, weight)
            slope = (z - p) / weight
            for q in [
                *others,
                *(p + 1e-3 * e for e in np.eye(D)),
                *(p - 1e-3 * e for e in np.eye(D)),
            ]:
                assert f.value(q) >= f.value(p) + slope @ (q - p) - 1e-9
            # Moreau: prox of f and of its conjugate add up.
            if name != "ball":
                dual = Conjugate(f).proximal(z / weight, 1 / weight)
                assert p + weight * dual == pytest.approx(z)


def test_double_conjugate():
    f = FUNCTIONS["quadratic"]
    twice = Conjugate(Conjugate(f))
    for x in draws(23, 5):
        assert twice.value(x) == pytest.approx(f.value(x))
        assert twice.subgradient(x) == pytest.approx(f.subgradient(x))
    assert Conjugate(f).smoothness == pytest.approx(1 / f.strong_convexity)


def test_what_has_no_closed_form_says_so():
    dependent = Logistic(draws(25, 20), np.ones(20))
    with pytest.raises(InvalidInput, match="dependent"):
        dependent.closed_conjugate(np.ones(D))
    at = 0.1 * np.ones(D)  # by Fenchel and Young the search for it has a known answer
    slope = dependent.subgradient(at)
    assert dependent.conjugate(slope) == pytest.approx(slope @ at - dependent.value(at))
    with pytest.raises(InvalidInput, match="proximal map in closed form"):
        LargestAffine(np.eye(D)).proximal(np.ones(D), 1.0)
    with pytest.raises(InvalidInput, match="closed form"):
        Sum(dependent, norm(1)).closed_conjugate(np.ones(D))
    with pytest.raises(InvalidInput, match="semidefinite"):
        Quadratic(np.diag([1.0, -1.0]))
    with pytest.raises(InvalidInput, match="labels"):
        Logistic(rows, np.arange(4.0))
    with pytest.raises(InvalidInput, match="order"):
        norm(3)


@pytest.mark.parametrize("kind", ["euclid", "entropy", "gauge"])
def test_divergence_steps_are_minima(kind):
    """No point of the set has a smaller ⟨slope, x⟩ + D_center(x)."""
    center = np.full(D, 1 / D) * np.linspace(0.5, 1.5, D)
    center /= center.sum()
    if kind == "gauge":
        over, divergence, center = SETS["ellipsoid"], Gauge(SETS["ellipsoid"]), np.zeros(D)
    else:
        over = Simplex()
        divergence = Euclidean() if kind == "euclid" else KullbackLeibler()
    members = [over.project(z) for z in draws(27, 300)]
    members += [0.3 * m for m in members] if kind == "gauge" else []
    for slope in (*draws(28, 5), *draws(29, 5, scale=0.1)):
        x = divergence.step(Indicator(over), slope, 1.0, center)
        assert over.contains(x)
        least = slope @ x + divergence.distance(x, center)
        near = [x + s * (m - x) for m in members for s in (1e-3, 1e-1, 1.0)]
        assert least <= min(slope @ m + divergence.distance(m, center) for m in near) + 1e-12


def test_curvature_numbers_of_curved_sets():
    """gauge² against its definition; curvature radius: unit normals to points is Lipschitz."""
    for K in (Ball(1.3), SETS["ellipsoid"]):
        for z in draws(30, 10):
            assert K.contains(z / (K.gauge(z) * (1 + 1e-9)))
            assert not K.contains(z / (K.gauge(z) * (1 - 1e-6)))
        pairs = draws(31, 100), draws(32, 100)
        for a, b in zip(*pairs, strict=True):
            a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
            b = a + 0.01 * b
            b /= np.linalg.norm(b)
            apart = np.linalg.norm(K.minimiser(a) - K.minimiser(b))
            assert apart <= K.curvature_radius * np.linalg.norm(a - b) * (1 + 1e-9)
            # ½gauge² is strongly convex with the stated modulus
            x, z = 3 * a, -2 * b
            middle = K.gauge((x + z) / 2) ** 2 / 2
            ends = K.gauge(x) ** 2 / 4 + K.gauge(z) ** 2 / 4
            assert middle <= ends - K.gauge_convexity / 8 * np.sum((x - z) ** 2) + 1e-9


# ---- conjugates by their formulas


def test_flat_directions_of_a_quadratic_are_left_alone():
    for q in np.random.default_rng(7).normal(size=(20, 5)):
        f = Quadratic(np.outer(q, q))
        x = f.maximiser(f.subgradient(q))
        np.testing.assert_allclose(x, q, atol=1e-6 * np.linalg.norm(q))


def test_the_conjugate_of_a_logistic_loss_by_its_shares():
    rows, labels = np.eye(3), np.array([1.0, -1.0, 1.0])
    f = Logistic(rows, labels)
    for p, finite in (
        ([0.5, 0.25, 1.0], True),
        ([1.5, 0.5, 0.5], False),
        ([-0.1, 0.5, 0.5], False),
    ):
        found = f.conjugate(-np.array(p) * labels)
        terms = [q * np.log(q) for one in p for q in (one, 1 - one) if q > 0]
        assert found == (pytest.approx(sum(terms)) if finite else np.inf)


def test_flat_quadratics_have_their_maximum_along_their_range():
    q = np.array([3.0, 4.0, 0.0])
    f = Quadratic(np.outer(q, q), np.array([0.0, 0.0, 1.0]), 2.0)
    y = 50 * q + [0.0, 0.0, 1.0]
    np.testing.assert_allclose(f.maximiser(y), 2 * q, rtol=1e-12)
    assert f.conjugate(y) == pytest.approx(50**2 / 2 - 2.0)
    assert f.conjugate(y + 1e-3 * np.eye(3)[2]) == np.inf


def test_a_conjugate_costs_the_same_with_and_without_its_point():
    f = Quadratic(np.diag([1.0, 4.0]), np.array([1.0, 0.0]))
    y = np.array([0.5, 2.0])
    plain = Conjugate(f).cost(PlayerMove(y))
    assert plain == pytest.approx(Conjugate(f).cost(PlayerMove(y, taken_at=f.maximiser(y))))


# ---- divergences by their definitions


FREE = Indicator(Everywhere())


def test_dual_squares_by_the_set():
    slope = np.array([1.0, -3.0, 2.0])
    entropy = KullbackLeibler()
    assert entropy.dual_square(Indicator(Simplex(2.0)), slope) == 18.0
    assert entropy.dual_square(Indicator(L1Ball(0.5)), slope) == 4.5
    assert entropy.dual_square(Indicator(Box(0.0, 2.0)), slope) == 28.0
    assert entropy.dual_square(Indicator(Everywhere()), slope) == np.inf
    assert Euclidean().dual_square(FREE, slope) == 14.0
    assert Gauge(Ball(2.0)).dual_square(FREE, slope) == 56.0
    assert Gauge(Ball(2.0, np.ones(3))).dual_square(FREE, slope) == np.inf
    assert Gauge(Ball(2.0)).distance(np.array([3.0, 4.0]), np.zeros(2)) == pytest.approx(3.125)
    np.testing.assert_allclose(entropy.slope(np.array([2.0, 1.0]), np.array([1.0, 2.0])),
                               [np.log(2), -np.log(2)])  # fmt: skip


def test_matrix_entropy_bounds_a_slope_by_its_largest_eigenvalue():
    slope = np.array([[0.0, 3.0], [3.0, 0.0]])  # eigenvalues ±3
    for total in (0.5, 1.0, 4.0):
        found = VonNeumann().dual_square(Indicator(Spectrahedron(total)), slope)
        assert found == pytest.approx(9 * total)
