"""The toys' flat coordinates against quadrature, neighbours in space and exact shares."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial import cKDTree
from scipy.stats import chisquare

from dualfold.data import (
    helix,
    holed_swiss_roll,
    linked_rings,
    oversampled_swiss_roll,
    s_curve,
    sphere_cap,
    swiss_roll,
    toroidal_helix,
)
from dualfold.errors import InvalidInput

TOYS = [
    swiss_roll,
    oversampled_swiss_roll,
    holed_swiss_roll,
    s_curve,
    helix,
    toroidal_helix,
    linked_rings,
    sphere_cap,
]
FLAT_TOYS = [toy for toy in TOYS if toy is not sphere_cap]


def worst_stretch(points, flat, n_neighbors=5):
    """Largest relative difference between short distances in space and in the plane."""
    distances, neighbors = cKDTree(points).query(points, n_neighbors + 1)
    flat_distances = np.linalg.norm(flat[:, None] - flat[neighbors], axis=2)
    return np.abs(flat_distances[:, 1:] / distances[:, 1:] - 1).max(), distances[:, -1].max()


@pytest.mark.parametrize("toy", FLAT_TOYS)
def test_short_distances_are_the_same_on_the_surface_and_in_the_plane(toy):
    sample = toy(20_000, random_state=3)
    assert sample.isometric
    stretch, reach = worst_stretch(sample.points, sample.flat)
    # A chord of a curve with curvature κ is short by (κ·reach)²/24; 1 bounds κ in all toys.
    assert stretch < max(reach**2 / 12, 1e-9)


def test_the_angle_of_a_roll_would_fail_the_same_check():
    sample = swiss_roll(20_000, random_state=3)
    wrong = np.column_stack([sample.color, sample.flat[:, 1]])
    stretch, reach = worst_stretch(sample.points, wrong)
    assert stretch > 10 * reach**2 / 12


def test_the_chord_error_has_the_right_order():
    stretch = [
        worst_stretch(s_curve(n, random_state=0).points, s_curve(n, random_state=0).flat)
        for n in (2_000, 32_000)
    ]
    # Four times closer neighbours, about sixteen times smaller error.
    assert stretch[0][0] / stretch[1][0] > 6


def test_arc_length_of_the_roll_by_quadrature():
    sample = swiss_roll(200, random_state=0, turns=2)
    radius = np.hypot(sample.points[:, 0], sample.points[:, 2])
    for r, along in zip(radius[:20], sample.flat[:20, 0], strict=True):
        length, _ = quad(lambda t: np.sqrt(1 + t * t), 1.5 * np.pi, r)
        assert along == pytest.approx(length, rel=1e-10)
    assert radius.max() <= 5.5 * np.pi
    assert radius.max() > 5.4 * np.pi


def test_arc_length_of_the_helices_by_quadrature():
    sample = helix(100, random_state=0, turns=2, radius=3, pitch=5)
    angle = sample.points[:, 2] * 2 * np.pi / 5
    np.testing.assert_allclose(sample.points[:, 0], 3 * np.cos(angle), atol=1e-12)
    length, _ = quad(lambda t: np.sqrt(9 + (5 / (2 * np.pi)) ** 2), 0, angle[7])
    assert sample.flat[7, 0] == pytest.approx(length, rel=1e-12)

    ring = toroidal_helix(50, random_state=0, windings=5, radius=3)

    def curve(t):
        reach = 3 + np.cos(5 * t)
        return np.array([reach * np.cos(t), reach * np.sin(t), np.sin(5 * t)])

    # An inscribed polygon's error falls with the square of its side: 4e-11 here.
    whole = np.linspace(0, 2 * np.pi, 1_000_001)
    polygon = np.linalg.norm(np.diff(curve(whole)), axis=0)
    circumference = polygon.sum()
    radius = np.linalg.norm(ring.flat, axis=1)
    np.testing.assert_allclose(radius, circumference / (2 * np.pi), rtol=1e-9)
    angle = np.arctan2(ring.points[:, 1], ring.points[:, 0]) % (2 * np.pi)
    lengths = np.concatenate([[0], np.cumsum(polygon)])
    np.testing.assert_allclose(ring.color, np.interp(angle, whole, lengths), atol=1e-6)
    np.testing.assert_allclose(curve(angle), ring.points.T, atol=1e-12)


# One fixed draw each: p below 0.001 would mean a wrong density, not bad luck.
def test_density_is_uniform_by_area():
    roll = swiss_roll(20_000, random_state=1)
    counts, _, _ = np.histogram2d(*roll.flat.T, bins=12)
    assert chisquare(counts.ravel()).pvalue > 1e-3
    # Uniform in the angle, as some rolls are, is far from uniform in area.
    assert chisquare(np.histogram(roll.color, 12)[0]).pvalue < 1e-100

    curve = s_curve(20_000, random_state=1)
    counts, _, _ = np.histogram2d(*curve.flat.T, bins=12)
    assert chisquare(counts.ravel()).pvalue > 1e-3

    assert chisquare(np.histogram(helix(20_000, random_state=1).flat, 40)[0]).pvalue > 1e-3
    closed = toroidal_helix(20_000, random_state=1)
    assert chisquare(np.histogram(closed.color, 40)[0]).pvalue > 1e-3

    cap = sphere_cap(20_000, random_state=1, angle=2.0)
    np.testing.assert_allclose(np.linalg.norm(cap.points, axis=1), 1)
    # Caps around any axis inside hold points by area: compare with the exact 2π(1 − cos).
    for axis in ([0, 0, 1], [1, 0, 0], [0, np.sqrt(0.5), np.sqrt(0.5)]):
        inside = (cap.points @ axis > np.cos(0.4)).mean()
        share = (1 - np.cos(0.4)) / (1 - np.cos(2.0))
        assert abs(inside - share) < 4 * np.sqrt(share / 20_000)


def test_the_cap_keeps_distances_from_its_pole():
    cap = sphere_cap(500, random_state=0)
    assert not cap.isometric
    geodesic = np.arccos(cap.points[:, 2])
    np.testing.assert_allclose(np.linalg.norm(cap.flat, axis=1), geodesic, atol=1e-12)


@pytest.mark.parametrize(
    ("share", "place"), [(0.5, (0.4, 0.6)), (0.8, (0.0, 0.3)), (0.25, (0.9, 1))]
)
def test_the_oversampled_band_holds_its_share(share, place):
    sample = oversampled_swiss_roll(10_000, share=share, place=place, random_state=2)
    length, _ = quad(lambda t: np.sqrt(1 + t * t), 1.5 * np.pi, 4.5 * np.pi)
    fraction = sample.flat[:, 0] / length
    inside = (fraction >= place[0]) & (fraction <= place[1])
    np.testing.assert_array_equal(inside, sample.dense)
    assert inside.sum() == round(share * 10_000)
    assert chisquare(np.histogram(fraction[inside], 10, range=place)[0]).pvalue > 1e-3
    # With the band cut out, the rest is uniform too.
    rest = fraction[~inside]
    width = place[1] - place[0]
    rest = np.where(rest > place[1], rest - width, rest)
    assert chisquare(np.histogram(rest, 10, range=(0, 1 - width))[0]).pvalue > 1e-3
    # The dense points are not simply the first ones.
    assert 0 < inside[:100].sum() < 100


def test_the_hole_is_empty_and_the_rest_uniform():
    sample = holed_swiss_roll(20_000, hole=((0.25, 0.5), (0.5, 0.75)), random_state=0)
    length, _ = quad(lambda t: np.sqrt(1 + t * t), 1.5 * np.pi, 4.5 * np.pi)
    counts, _, _ = np.histogram2d(
        sample.flat[:, 0], sample.flat[:, 1], bins=8, range=[[0, length], [0, 21]]
    )
    hole = np.zeros((8, 8), dtype=bool)
    hole[2:4, 4:6] = True
    assert counts[hole].sum() == 0
    assert chisquare(counts[~hole]).pvalue > 1e-3


def test_the_rings_are_linked():
    sample = linked_rings(2_000, random_state=0)
    first, second = sample.points[sample.color == 0], sample.points[sample.color == 1]
    assert len(second) == 1_000
    # Linked: the second ring crosses the first one's disc once inside and once outside.
    crossings = second[np.abs(second[:, 2]) < 0.02]
    inside = np.hypot(crossings[:, 0], crossings[:, 1]) < 0.5
    assert 0 < inside.sum() < len(inside)
    assert cKDTree(first).query(second)[0].min() > 0.9


@pytest.mark.parametrize("toy", TOYS)
def test_the_seed_decides(toy):
    first, again = toy(300, random_state=5, noise=0.1), toy(300, random_state=5, noise=0.1)
    np.testing.assert_array_equal(first.points, again.points)
    np.testing.assert_array_equal(first.flat, again.flat)
    assert not np.array_equal(first.points, toy(300, random_state=6, noise=0.1).points)
    legacy = [toy(50, random_state=np.random.RandomState(0)).points for _ in range(2)]
    np.testing.assert_array_equal(*legacy)
    assert first.points.shape == (300, 3)
    assert first.points.dtype == np.float64
    assert first.flat.shape == (300, len(first.names))


@pytest.mark.parametrize("toy", TOYS)
def test_noise_moves_the_points_and_nothing_else(toy):
    clean, noisy = toy(4_000, random_state=5), toy(4_000, random_state=5, noise=0.2)
    np.testing.assert_array_equal(clean.flat, noisy.flat)
    assert np.std(noisy.points - clean.points) == pytest.approx(0.2, rel=0.03)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: swiss_roll(0), "n must be"),
        (lambda: swiss_roll(5, noise=-1), "noise"),
        (lambda: swiss_roll(5, turns=0), "turns"),
        (lambda: oversampled_swiss_roll(5, place=(0.6, 0.4)), "place"),
        (lambda: oversampled_swiss_roll(5, share=1.5), "share"),
        (lambda: oversampled_swiss_roll(5, place=(0, 1)), "whole roll"),
        (lambda: holed_swiss_roll(5, hole=((0, 1), (0, 1))), "hole"),
        (lambda: sphere_cap(5, angle=4), "angle"),
    ],
)
def test_wrong_parameters_are_named(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
