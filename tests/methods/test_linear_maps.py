"""Linear maps of fitted methods: there and back, rows of any kind."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.errors import InvalidInput
from dualfold.graph import knn
from dualfold.methods import lpp, pca
from dualfold.trace.solvers import Dense
from tests.tools.tables import digit_points

pytestmark = pytest.mark.usefixtures("one_blas_thread")


DIGITS = digit_points(300)


def fitted(problem):
    # LAPACK: iterations stop at 1e-6, and these tests want to see the last digits.
    embedding = dualfold.embed(problem, solver=Dense())
    assert embedding.certificate.level == "proved", str(embedding.certificate)
    linear = problem.lift.linear_map(embedding.solution.vectors, embedding.values)
    return embedding, linear


def test_decode_after_encode_is_the_projection():
    X = DIGITS
    for problem in (pca(X, n_components=4), lpp(knn(X, 8), n_components=4)):
        _, linear = fitted(problem)
        C = linear.components
        P = C.T @ np.linalg.solve(C @ C.T, C)
        shadow = linear.decode(linear.encode(X))
        np.testing.assert_allclose(shadow, (X - linear.mean) @ P + linear.mean, atol=1e-7)
        np.testing.assert_allclose(linear.encode(shadow), linear.encode(X), atol=1e-7)
    assert not linear.orthonormal


def test_maps_take_memory_maps_frames_and_sparse_rows(tmp_path):
    import pandas as pd

    np.save(tmp_path / "x.npy", DIGITS.astype(np.uint8))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    embedding, linear = fitted(pca(mapped, n_components=2))
    for X in (mapped, DIGITS, pd.DataFrame(DIGITS), sp.csr_array(DIGITS), sp.coo_array(DIGITS)):
        np.testing.assert_allclose(linear.encode(X), embedding.points, atol=1e-8)
    with pytest.raises(InvalidInput, match="64"):
        linear.encode(DIGITS[:, :5])
    with pytest.raises(InvalidInput, match="coordinates"):
        linear.decode(np.ones((2, 3)))
    with pytest.raises(InvalidInput, match="numbers"):
        linear.encode(np.array([["a"] * 64]))
