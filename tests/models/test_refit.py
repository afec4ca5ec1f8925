"""A map that is fitted again: fewer products, the same answer, laid over the old places."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg

from dualfold import DiffusionMaps, Isomap, KernelPCA, LaplacianEigenmaps, LocallyLinearEmbedding
from tests.kernels.door import count_work
from tests.tools.tables import roll_points

ROLL = roll_points(1500, random_state=0)
MADE = {
    "eigenmaps": LaplacianEigenmaps(n_neighbors=10),
    "diffusion": DiffusionMaps(n_neighbors=10),
    "lle": LocallyLinearEmbedding(n_neighbors=10),
    "ltsa": LocallyLinearEmbedding(n_neighbors=10, method="ltsa"),
    "isomap": Isomap(n_neighbors=10, landmarks=None),
}


def angle(first, second) -> float:
    first, second = (points - points.mean(axis=0) for points in (first, second))
    return float(np.max(scipy.linalg.subspace_angles(first, second)))


@pytest.mark.parametrize("name", MADE)
def test_a_refit_takes_fewer_products_than_a_fit_from_nothing(name):
    made = MADE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grown = made.fit(ROLL[:1350]).extend(ROLL[1350:])
        with count_work() as known:
            again = grown.refit()
        with count_work() as nothing:
            fresh = type(made)(**made.get_params()).fit(ROLL)
    assert 0 < known["products"] < nothing["products"]
    assert again.certificate_.level == fresh.certificate_.level == "proved"
    assert angle(again.embedding_, fresh.embedding_) < 1e-3


def test_directions_that_the_old_map_has_nothing_of_are_found():
    """Three groups come that hang on the old rows by a few: the first eigenvectors are new ones."""
    random = np.random.default_rng(0)
    old = random.normal(size=(500, 3))
    groups = [random.normal(size=(150, 3)) * 0.5 + [6.0 * place, 6, 0] for place in range(3)]
    bridges = [np.linspace([0, 0, 0], group.mean(axis=0), 12) for group in groups]
    made = LaplacianEigenmaps(n_neighbors=8, n_components=3, left_out=())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = made.fit(old).extend(np.vstack(groups + bridges)).refit()
        fresh = LaplacianEigenmaps(n_neighbors=8, n_components=3, left_out=()).fit(again.rows)
    assert again.certificate_.level == fresh.certificate_.level == "proved"
    assert again.certificate_.value == pytest.approx(fresh.certificate_.value, rel=1e-6)


def test_a_kernel_map_starts_from_the_old_one():
    random = np.random.default_rng(0)
    X = random.normal(size=(2400, 6)) @ random.normal(size=(6, 12))
    made = KernelPCA(n_components=2, kernel="rbf", gamma=0.002, landmarks=None)
    grown = made.fit(X[:2200]).extend(X[2200:])
    with count_work() as known:
        again = grown.refit()
    with count_work() as nothing:
        fresh = KernelPCA(n_components=2, kernel="rbf", gamma=0.002, landmarks=None).fit(X)
    assert known["products"] <= nothing["products"]
    assert again.certificate_.value == pytest.approx(fresh.certificate_.value, rel=1e-9)
