"""Aligned maps: known cases, a bound that no other maps break, drift that is reported."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold import AlignedMaps, LaplacianEigenmaps
from dualfold.errors import InvalidInput
from dualfold.trace import TraceProblem
from tests.methods.door import (
    AlignedProblem,
    certify_aligned,
    constrained_inverse,
    link_matrix,
    relaxed_vectors,
)
from tests.tools.tables import roll_points

ROLL = roll_points(150, random_state=0)


def jittered(count: int, size: float = 0.1) -> list[np.ndarray]:
    draw = np.random.default_rng(1)
    return [ROLL + size * draw.normal(size=ROLL.shape) for _ in range(count)]


def angle(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.max(scipy.linalg.subspace_angles(first, second)))


@pytest.mark.parametrize("method", ["eigenmaps", "diffusion_maps", "lpp", "pca"])
def test_without_weight_each_slice_has_its_own_best_map(method):
    slices = jittered(2)
    maps = AlignedMaps(method=method, mu=0.0, resamples=0).fit(slices)
    assert maps.certificate_.level == "proved"
    for X, points in zip(slices, maps.embeddings_, strict=True):
        alone = AlignedMaps(method=method, mu=0.0, resamples=0).fit([X, X]).embeddings_[0]
        assert angle(points, alone) < 1e-4


def test_without_weight_the_span_is_that_of_eigenmaps():
    X = jittered(1)[0]
    maps = AlignedMaps(mu=0.0, resamples=0).fit([X, X])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = LaplacianEigenmaps(left_out=()).fit(X).embedding_
    assert angle(maps.embeddings_[0], own) < 1e-4


def test_with_a_large_weight_all_slices_share_the_map_of_the_summed_laplacians():
    maps = AlignedMaps(mu=0.0, resamples=0)
    problems = [maps._slice(X).problem for X in jittered(3)]
    masses = np.full(150, 1 / 150)  # with one metric for all, the limit is one trace problem
    slices = tuple(TraceProblem(p.A, masses, 2, "min", np.ones(150)) for p in problems)
    rows = np.arange(150)
    links = [np.column_stack([rows, rows])] * 2
    problem = AlignedProblem(slices, link_matrix([sp.eye_array(150)] * 3, links), 1e6)
    relaxed = relaxed_vectors(problem.joint, constrained_inverse(problem.joint))
    whole = sum(p.A.toarray() for p in problems)
    best = scipy.linalg.eigh(whole, np.diag(masses))[1][:, 1:3]
    for part in problem.parts(relaxed[:, :2]):
        assert angle(part, best) < 1e-3


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))]
)
def test_no_other_maps_are_below_the_bound(seed):
    """Descents from many random starts, on small random problems, never pass the bound."""
    from scipy.optimize import minimize

    draw = np.random.default_rng(seed)
    n, slices = 9, []
    for _ in range(3):
        W = np.triu(draw.random((n, n)) * (draw.random((n, n)) < 0.6), 1)
        W = W + W.T + 0.01
        np.fill_diagonal(W, 0)
        masses = draw.random(n) + 0.2
        L = sp.csr_array(np.diag(W.sum(axis=1)) - W)
        slices.append(TraceProblem(L, masses / masses.sum(), 2, "min", np.ones(n)))
    rows = np.arange(n)
    K = link_matrix([sp.eye_array(n)] * 3, [np.column_stack([rows, draw.permutation(n)])] * 2)
    problem = AlignedProblem(tuple(slices), K, float(10 ** draw.uniform(-2, 3)))
    answers = [relaxed_vectors(p, constrained_inverse(p)) for p in problem.slices]
    relaxed = relaxed_vectors(problem.joint, constrained_inverse(problem.joint))
    V = problem.feasible(np.vstack([answer[:, :2] for answer in answers]))
    found = certify_aligned(problem, V, answers, relaxed)

    def objective(x):
        return problem.value(problem.feasible(x.reshape(-1, 2)))

    best = min(
        minimize(objective, draw.standard_normal(V.size), options={"maxiter": 60}).fun
        for _ in range(4)
    )
    assert found.bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("method", ["eigenmaps", "lpp", "pca"])
def test_the_gradient_vanishes_and_the_gap_is_small(method):
    maps = AlignedMaps(method=method, mu=0.05, resamples=0).fit(jittered(3))
    assert maps.certificate_.level in ("proved", "within")
    assert maps.certificate_.gradient < 1e-5
    assert maps.certificate_.gap < 0.1


def test_linked_rows_come_nearer_with_more_weight():
    slices = jittered(2, 0.5)
    moved = [
        np.median(AlignedMaps(mu=mu, resamples=0).fit(slices).movement_[0])
        for mu in (1e-3, 0.1, 10.0)
    ]
    assert moved[0] > moved[1] > moved[2]


def test_rows_that_moved_in_the_data_are_reported_and_the_others_are_not():
    first, second = jittered(2, 0.02)
    gone = np.arange(10)
    second[gone] = second[100:110]  # ten rows have gone elsewhere
    maps = AlignedMaps().fit([first, second])
    far = np.linalg.norm(first[gone] - first[100:110], axis=1) > 5
    assert maps.drift_[0][gone][far].mean() > 0.7
    assert maps.drift_[0][10:].mean() < 0.1


def test_ids_link_rows_of_slices_that_differ():
    first, second = jittered(2)
    ids = [list(range(150)), list(range(50, 150))]
    maps = AlignedMaps(mu=0.1, resamples=0).fit([first, second[50:]], ids=ids)
    assert maps.links_[0].tolist() == [[row + 50, row] for row in range(100)]
    assert [len(points) for points in maps.embeddings_] == [150, 100]


def test_tsne_with_springs_ends_where_forces_balance():
    maps = AlignedMaps(method="tsne", mu=0.1, resamples=0, perplexity=10.0).fit(jittered(2))
    assert maps.certificate_.level == "stationary"
    assert maps.certificate_.bound != maps.certificate_.bound  # none is known
    assert np.median(maps.movement_[0]) < 0.2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"slices": [ROLL]}, "at least two"),
        ({"slices": [ROLL, ROLL[:90]]}, "different numbers of rows"),
        ({"slices": [ROLL, ROLL], "ids": [["a"] * 150, range(150)]}, "in rows 1 and 2"),
        ({"slices": [ROLL, ROLL], "ids": [range(150), range(150, 300)]}, "no identifier in common"),
        ({"slices": [ROLL, ROLL], "links": [[[0, 150]]]}, "no pairs of row numbers"),
        ({"slices": [ROLL, ROLL], "links": []}, "need 1"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_words(given, words):
    with pytest.raises(InvalidInput, match=words):
        AlignedMaps(mu=0.1, resamples=0).fit(**given)
    with pytest.raises(InvalidInput, match="one of eigenmaps"):
        AlignedMaps(method="umap").fit([ROLL, ROLL])
