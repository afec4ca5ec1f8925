"""Classical scaling: distances of any precision, and its linear map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold import ClassicalMDS
from dualfold.data import digits
from dualfold.methods import mds
from dualfold.trace.solvers import Dense

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))


def test_distances_of_single_precision_are_those_of_double():
    single = X.astype(np.float32)
    found = ClassicalMDS(2, metric="manhattan").fit(single)
    wanted = ClassicalMDS(2, metric="manhattan").fit(single.astype(float))
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(
        found.dissimilarity_matrix_, cdist(single.astype(float), single, "cityblock"), rtol=1e-6
    )


DIGITS = digits().points[:300]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Matrices this small make LAPACK's threads wait for each other on a busy machine."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def fitted(problem):
    # LAPACK: iterations stop at 1e-6, and these tests want to see the last digits.
    embedding = dualfold.embed(problem, solver=Dense())
    assert embedding.certificate.level == "proved", str(embedding.certificate)
    linear = problem.lift.linear_map(embedding.solution.vectors, embedding.values)
    return embedding, linear


def test_mds_has_a_map_too():
    embedding, linear = fitted(mds(DIGITS, n_components=2))
    np.testing.assert_array_equal(linear.encode(DIGITS), embedding.points)
