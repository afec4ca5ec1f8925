"""Diffusion maps against dense matrices, walks counted step by step, eigenmaps and a circle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.distance import cdist, pdist, squareform

import dualfold
from dualfold import DiffusionMaps, LaplacianEigenmaps
from dualfold.errors import DisconnectedGraph, PiecesJoined
from dualfold.weights import weighted_laplacian
from tests.tools.tables import curve_points, roll_points

CURVE = curve_points(200, random_state=0)
APART = np.vstack([CURVE[:90], CURVE[90:150] + 40.0, CURVE[150:] - 60.0])
ALPHAS = [0.0, 0.5, 1.0]
# A kernel that sees the density: everybody within three widths.
KERNEL = {"n_neighbors": None, "radius": 1.5, "width": 0.5}


def walk(X, alpha, radius=1.5, width=0.5):
    """One step P of the walk, and its stationary distribution, from all distances."""
    D = squareform(pdist(X))
    W = np.where((radius >= D) & ~np.eye(len(X), dtype=bool), np.exp(-((D / width) ** 2)), 0.0)
    q = W.sum(axis=1)
    W /= np.outer(q, q) ** alpha
    degrees = W.sum(axis=1)
    return W / degrees[:, None], degrees / degrees.sum()


def up_to_sign(ours, theirs):
    return np.abs(ours * np.sign((ours * theirs).sum(axis=0)) - theirs).max() / np.abs(theirs).max()


def off_their_place(model, X):
    """How far old points are placed from where they are, of the size of the map."""
    return np.abs(model.transform(X) - model.embedding_).max() / np.abs(model.embedding_).max()


def uneven_ring(n, seed=0):
    """Angles with the density (1 + 0.9 cos t)/2π: 19 times as dense on one side as on the other."""
    rng = np.random.default_rng(seed)
    found = rng.uniform(0, 2 * np.pi, 4 * n)
    angles = found[rng.uniform(0, 1.9, 4 * n) < 1 + 0.9 * np.cos(found)][:n]
    assert len(angles) == n
    return np.column_stack([np.cos(angles), np.sin(angles)])


def off_the_circle(model, ring):
    """The share of the map that no combination of 1, cos and sin explains."""
    waves = np.column_stack([np.ones(len(ring)), ring])
    Y = model.embedding_ - model.embedding_.mean(axis=0)
    rest = Y - waves @ np.linalg.lstsq(waves, Y, rcond=None)[0]
    return np.linalg.norm(rest) / np.linalg.norm(Y)


# --- the problem --------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS)
def test_diffusion_maps_by_brute_force(alpha):
    P, weight = walk(CURVE, alpha)
    root = np.sqrt(weight)
    values, vectors = scipy.linalg.eigh(root[:, None] * P / root)
    theirs = (vectors / root[:, None])[:, ::-1][:, 1:4] * values[::-1][1:4] ** 1.5
    model = DiffusionMaps(3, alpha=alpha, diffusion_time=1.5, **KERNEL).fit(CURVE)
    np.testing.assert_allclose(model.transition_eigenvalues_, values[::-1][1:4], rtol=1e-10)
    np.testing.assert_allclose(model.eigenvalues_, 1 - model.transition_eigenvalues_)
    assert up_to_sign(model.embedding_, theirs) < 1e-8
    assert model.certificate_.level == "proved"


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_distances_compare_walks(alpha, steps):
    """With all coordinates ‖y_i − y_j‖² = Σ_z (P^t_iz − P^t_jz)²/π_z, walked step by step."""
    X = CURVE[:60]
    P, weight = walk(X, alpha, radius=4.0, width=1.2)
    reached = np.linalg.matrix_power(P, steps)
    walks = reached / np.sqrt(weight)
    model = DiffusionMaps(
        59, alpha=alpha, diffusion_time=steps, n_neighbors=None, radius=4.0, width=1.2
    ).fit(X)
    np.testing.assert_allclose(pdist(model.embedding_), pdist(walks), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weights", ["heat", "binary", "density"])
@pytest.mark.parametrize("time", [0.0, 1.0, 2.7])
def test_without_alpha_they_are_normalised_eigenmaps_stretched(weights, time):
    X = roll_points(400, random_state=1)
    maps = DiffusionMaps(4, alpha=0.0, diffusion_time=time, weights=weights).fit(X)
    eigenmaps = LaplacianEigenmaps(4, weights=weights).fit(X)
    np.testing.assert_allclose(maps.eigenvalues_, eigenmaps.eigenvalues_, rtol=1e-8)
    # VᵀDegV = I there; here Deg is a distribution, which sums to 1.
    total = weighted_laplacian(eigenmaps.graph_, weights=weights)[1].sum()
    stretch = np.sqrt(total) * (1 - eigenmaps.eigenvalues_) ** time
    assert up_to_sign(maps.embedding_, stretch * eigenmaps.embedding_) < 1e-5
    other = LaplacianEigenmaps(4, weights=weights, diffusion_time=time).fit(X)
    assert up_to_sign(maps.embedding_, np.sqrt(total) * other.embedding_) < 1e-5


def test_with_alpha_an_uneven_ring_is_a_circle():
    """The heat flow on a circle has cos and sin, however many points lie on either side."""
    ring = uneven_ring(1500)
    off = {
        alpha: off_the_circle(
            DiffusionMaps(alpha=alpha, n_neighbors=None, radius=0.3, width=0.1).fit(ring), ring
        )
        for alpha in ALPHAS
    }
    assert off[1.0] < 0.05
    assert off[0.0] > 5 * off[1.0]
    assert off[0.0] > off[0.5] > off[1.0]
    model = DiffusionMaps(n_neighbors=None, radius=0.3, width=0.1, diffusion_time=0).fit(ring)
    lengths = np.linalg.norm(model.embedding_, axis=1)
    assert lengths.max() / lengths.min() < 1.25
    # Of a fixed number of neighbours the kernel does not see the density, as the docs say.
    assert off_the_circle(DiffusionMaps(n_neighbors=30).fit(ring), ring) > 5 * off[1.0]


@pytest.mark.parametrize("time", [0.0, 0.5, 3.0, 40.0])
def test_time_scales_each_coordinate_by_a_power(time):
    still = DiffusionMaps(3, diffusion_time=0.0).fit(CURVE)
    model = DiffusionMaps(3, diffusion_time=time).fit(CURVE)
    np.testing.assert_allclose(
        model.embedding_,
        still.embedding_ * still.transition_eigenvalues_**time,
        atol=1e-9 * np.abs(model.embedding_).max(),
    )


def test_units_of_the_weights_do_not_matter():
    problem = dualfold.methods.diffusion_maps(dualfold.graph.knn(CURVE, 8), alpha=1.0)
    assert problem.metric.times(np.ones((200, 1))).sum() == pytest.approx(1.0)
    far = DiffusionMaps().fit(1e6 * CURVE)
    near = DiffusionMaps().fit(CURVE)
    np.testing.assert_allclose(far.embedding_, near.embedding_, rtol=1e-5, atol=1e-7)


def test_certificate_finds_a_worse_answer():
    problem = dualfold.methods.diffusion_maps(dualfold.graph.knn(CURVE, 8))
    best = dualfold.embed(problem)
    assert best.certificate.level == "proved"
    third = dualfold.embed(replace(problem, count=3))
    skipped = third.solution.vectors[:, [0, 2]]
    assert dualfold.certify(problem, skipped).level == "failed"


# --- new points ---------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    "settings",
    [KERNEL, {}, {"neighborhood": "variable", "weights": "density"}, {"weights": "binary"}],
    ids=str,
)
def test_old_points_come_back(alpha, settings):
    model = DiffusionMaps(alpha=alpha, diffusion_time=2.0, **settings).fit(CURVE)
    assert off_their_place(model, CURVE) < 1e-5


@pytest.mark.filterwarnings("ignore::dualfold.errors.PiecesJoined")
@pytest.mark.parametrize("alpha", ALPHAS)
def test_old_points_come_back_where_pieces_were_joined(alpha):
    model = DiffusionMaps(alpha=alpha).fit(APART)
    assert model.graph_.links
    assert off_their_place(model, APART) < 1e-5


@pytest.mark.parametrize("alpha", ALPHAS)
def test_new_points_by_nystroms_equation_written_out(alpha):
    new = curve_points(20, random_state=7)
    model = DiffusionMaps(2, alpha=alpha, diffusion_time=0.0, **KERNEL).fit(CURVE)
    D = cdist(new, CURVE)
    W = np.where(D <= 1.5, np.exp(-((D / 0.5) ** 2)), 0.0)
    full = squareform(pdist(CURVE))
    old = np.where((full <= 1.5) & (full > 0), np.exp(-((full / 0.5) ** 2)), 0.0).sum(axis=1)
    W /= np.outer(W.sum(axis=1), old) ** alpha
    steps = W / W.sum(axis=1, keepdims=True)
    theirs = steps @ model.embedding_ / model.transition_eigenvalues_
    np.testing.assert_allclose(model.transform(new), theirs, rtol=1e-9, atol=1e-12)


def test_landmarks_stand_for_all_points():
    ring = uneven_ring(900, seed=1)
    settings = {"n_neighbors": None, "radius": 0.6, "width": 0.2, "diffusion_time": 0.0}
    model = DiffusionMaps(landmarks=450, random_state=3, **settings).fit(ring)
    assert model.embedding_.shape == (900, 2)
    assert model.graph_.n == len(np.unique(model.landmarks_)) == 450
    assert "450 landmarks" in str(model.certificate_)
    assert model.certificate_.level == "proved"
    # The landmarks are an answer of their own, and all others are placed as new points are.
    few = DiffusionMaps(**settings, random_state=3).fit(ring[model.landmarks_])
    np.testing.assert_array_equal(model.embedding_[model.landmarks_], few.embedding_)
    others = np.setdiff1d(np.arange(900), model.landmarks_)
    np.testing.assert_array_equal(model.embedding_[others], few.transform(ring[others]))
    assert off_the_circle(model, ring) < 0.1
    whole = DiffusionMaps(**settings).fit(ring)
    assert scipy.linalg.subspace_angles(model.embedding_, whole.embedding_).max() < 0.1


def test_landmarks_are_drawn():
    first = DiffusionMaps(landmarks=100, random_state=3).fit(CURVE)
    again = DiffusionMaps(landmarks=100, random_state=3).fit(CURVE)
    other = DiffusionMaps(landmarks=100, random_state=4).fit(CURVE)
    np.testing.assert_array_equal(first.embedding_, again.embedding_)
    assert (first.landmarks_ != other.landmarks_).any()
    every = DiffusionMaps(landmarks=3000).fit(CURVE)
    assert every.landmarks_ is None
    np.testing.assert_array_equal(every.embedding_, DiffusionMaps().fit(CURVE).embedding_)


# --- pieces, sizes, kinds of data ---------------------------------------------------


def test_pieces():
    with pytest.warns(PiecesJoined):
        model = DiffusionMaps().fit(APART)
    assert model.n_connected_components_ == 3
    with pytest.raises(DisconnectedGraph):
        DiffusionMaps(pieces="raise").fit(APART)
    with pytest.raises(DisconnectedGraph):
        dualfold.methods.diffusion_maps(dualfold.graph.knn(APART, 8))
    model = DiffusionMaps(pieces="separate", diffusion_time=30.0).fit(APART)
    assert len(model.certificate_.pieces) == 3
    # Each piece has diffused at its own speed.
    for rows in (slice(0, 90), slice(90, 150), slice(150, 200)):
        alone = DiffusionMaps(diffusion_time=30.0).fit(APART[rows])
        here = model.embedding_[rows] - model.embedding_[rows].mean(axis=0)
        there = alone.embedding_ - alone.embedding_.mean(axis=0)
        assert up_to_sign(here, there) < 1e-5
    assert (
        np.abs(model.transform(APART) - model.embedding_).max()
        < 1e-5 * np.abs(model.embedding_).max()
    )


def test_pieces_of_landmarks():
    model = DiffusionMaps(pieces="separate", landmarks=120, n_neighbors=5).fit(APART)
    assert model.embedding_.shape == (200, 2)
    owner = np.repeat([0, 1, 2], [90, 60, 50])
    middles = [model.embedding_[owner == k, 0] for k in range(3)]
    assert all(
        a.max() < b.min() or b.max() < a.min() for i, a in enumerate(middles) for b in middles[:i]
    )


def test_number_of_coordinates():
    assert DiffusionMaps(199).fit(CURVE).embedding_.shape == (200, 199)
    model = DiffusionMaps("auto").fit(CURVE)
    assert "widest eigengap" in model.n_components_reason_


def test_single_precision_and_given_distances():
    plain = DiffusionMaps(n_neighbors=8).fit(CURVE)
    single = DiffusionMaps(n_neighbors=8).fit(CURVE.astype(np.float32))
    assert single.embedding_.dtype == np.float32
    assert single.transform(CURVE.astype(np.float32)).dtype == np.float32
    assert up_to_sign(single.embedding_, plain.embedding_) < 1e-3
    D = squareform(pdist(CURVE))
    given = DiffusionMaps(n_neighbors=8, metric="precomputed").fit(D)
    assert up_to_sign(given.embedding_, plain.embedding_) < 1e-6
    np.testing.assert_allclose(given.transform(D[:5]), given.embedding_[:5], atol=1e-6)
    graph = DiffusionMaps(graph=plain.graph_.lengths).fit(CURVE)
    assert up_to_sign(graph.embedding_, plain.embedding_) < 1e-6
