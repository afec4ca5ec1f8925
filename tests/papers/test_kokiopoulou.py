"""The mathematics inside the experiments of Kokiopoulou's notes against exact values."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

from dualfold.graph import join_pieces, knn
from dualfold.weights import reconstruction_weights, weighted_laplacian
from papers import Setting
from papers.figures.trace import trace_figure
from papers.kokiopoulou.constraints import _centre, _closed_groups, _sine
from papers.kokiopoulou.projections import eigenmap_family, lle_family
from papers.kokiopoulou.trace import (
    min_max,
    random_pencil,
    solved,
    termwise_claim,
    trace_theorem,
)

RNG = np.random.default_rng(5)
POINTS = RNG.standard_normal((60, 4)) * [3.0, 2.0, 1.0, 0.5]
GRAPH = join_pieces(knn(POINTS, 10))


@pytest.mark.parametrize("plain", [True, False])
def test_a_whole_basis_has_the_whole_trace(plain: bool) -> None:
    """For d = n every V with VᵀBV = I has tr(VᵀAV) = tr(B⁻¹A) = Σλ."""
    pencil = random_pencil(np.random.default_rng(1), 5, plain=plain)
    whole = np.trace(pencil.A if plain else np.linalg.solve(pencil.B, pencil.A))
    assert pencil.traces(pencil.bases(5, 20, RNG)) == pytest.approx(np.full(20, whole))
    assert pencil.values.sum() == pytest.approx(whole)
    assert solved(pencil.problem(5))[0].sum() == pytest.approx(whole)


@pytest.mark.parametrize("bend", ["2 %", "noise", "permuted"])
def test_a_bent_answer_of_the_solver_is_seen(bend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were our solver 2 % off, random or in the wrong order, rows of the theorems would fail."""
    import papers.kokiopoulou.trace as module

    honest = module.solved

    def wrong(problem):  # type: ignore[no-untyped-def]
        values, vectors, certificate = honest(problem)
        if bend == "2 %":
            return 1.02 * values, vectors, certificate
        if bend == "noise":
            return values + RNG.random(len(values)), vectors, certificate
        return values, vectors[::-1], certificate

    monkeypatch.setattr(module, "solved", wrong)
    brief = Setting("brief")
    failed = (trace_theorem(brief).failed, min_max(brief).failed)
    assert any(failed) if bend == "permuted" else all(failed)


@pytest.mark.parametrize("bend", ["2 %", "noise", "permuted"])
def test_a_bent_map_is_seen(bend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PCA = MDS: a map scaled by 2 %, with noise or with rows exchanged does not agree."""
    import papers.kokiopoulou.scaling as module

    honest = module.embed

    def wrong(problem, **settings):  # type: ignore[no-untyped-def]
        found = honest(problem, **settings)
        if problem.A.shape[0] != 60:  # PCA's own, by the covariance
            return found
        points = found.points
        points = {
            "2 %": 1.02 * points,
            "noise": points + 0.02 * RNG.standard_normal(points.shape),
            "permuted": points[::-1],
        }[bend]
        return replace(found, points=points)

    monkeypatch.setattr(module, "embed", wrong)
    monkeypatch.setattr(module, "pixels", lambda *_: (POINTS, np.zeros(60)))
    assert module.pca_is_mds(Setting("brief")).failed
    monkeypatch.setattr(module, "embed", honest)
    assert not module.pca_is_mds(Setting("brief")).failed


def test_the_counterexample_is_one_half() -> None:
    assert termwise_claim(Setting("brief")).rows[0].ours == pytest.approx(0.5)


def test_costs_of_eigenmaps_and_lpp_are_sums_of_eigenvalues() -> None:
    family = eigenmap_family(GRAPH, 1.0)
    L, degrees = weighted_laplacian(GRAPH)
    parent = scipy.linalg.eigh(L.toarray(), np.diag(degrees), eigvals_only=True)
    Z = POINTS - degrees @ POINTS / degrees.sum()
    plain, V = scipy.linalg.eigh(Z.T @ (L @ Z), Z.T @ (degrees[:, None] * Z))
    assert family.costs[0] == pytest.approx(parent[1:3].sum())
    assert family.costs[1] == pytest.approx(plain[:2].sum())
    assert family.cost(Z @ V[:, :2]) == pytest.approx(plain[:2].sum())
    _, V = np.linalg.eigh(Z.T @ (L @ Z))
    assert family.costs[2] == pytest.approx(family.cost(Z @ V[:, :2]))


def test_costs_of_lle_and_npp_are_sums_of_eigenvalues() -> None:
    family = lle_family(GRAPH, 1.0)
    M = np.eye(60) - reconstruction_weights(POINTS, GRAPH.lists).toarray()
    Z = POINTS - POINTS.mean(axis=0)
    plain = scipy.linalg.eigh(Z.T @ M.T @ M @ Z, Z.T @ Z, eigvals_only=True)
    assert family.groups == 1
    assert family.costs[0] == pytest.approx(np.linalg.eigvalsh(M.T @ M)[1:3].sum(), rel=1e-6)
    assert family.costs[1] == pytest.approx(plain[:2].sum())


def test_a_cost_does_not_change_with_the_basis() -> None:
    family = eigenmap_family(GRAPH, 0.99)
    turned = family.maps[2] @ np.array([[2.0, 1.0], [0.0, -3.0]]) + [5.0, -1.0]
    assert family.cost(turned) == pytest.approx(family.costs[2])
    rough = RNG.standard_normal((60, 2))
    assert family.cost(rough) > family.costs[0]


def test_closed_groups_of_two_far_clusters() -> None:
    far = np.vstack([POINTS[:20], POINTS[20:40] + 1e3])
    assert _closed_groups(knn(far, 10)) == 2
    assert _closed_groups(GRAPH) == 1


def test_centres_and_sines() -> None:
    Y = np.array([[1.0], [-1.0], [2.0]])
    assert _centre(Y, np.array([1.0, 3.0, 1.0])) == pytest.approx([0.0])
    assert _centre(Y, np.ones(3)) == pytest.approx([0.5])
    assert _sine(np.eye(3)[:, :2], np.array([[1.0, 0], [0, 0.6], [0, 0.8]])) == pytest.approx(0.8)


def test_every_basis_is_in_the_histogram() -> None:
    traces = RNG.uniform(-1, 2, 500)
    axes = trace_figure({"one": (traces, -1.0, 2.0)}).axes[0]
    assert sum(axes.patches[0].get_data().values) == 500
