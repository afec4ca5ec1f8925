"""The row space of a table: its rank, the variance that is kept, constant columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput, TooLarge
from dualfold.methods import pca
from tests.tools.tables import digit_points
from tests.weights.door import row_space

pytestmark = pytest.mark.usefixtures("one_blas_thread")

RNG = np.random.default_rng(0)
DIGITS = digit_points(300)
SHORT = DIGITS[:40]  # fewer points than features


@pytest.mark.parametrize("X", [DIGITS, SHORT, sp.csr_array(DIGITS)], ids=["tall", "wide", "sparse"])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_variance_kept(X, share):
    dense = X.toarray() if sp.issparse(X) else X
    s = np.linalg.svd(dense - dense.mean(0), compute_uv=False)
    parts = np.cumsum(s**2) / np.sum(s**2)
    space = row_space(X, variance_kept=share)
    size = len(space.deviations)
    assert parts[size - 1] >= share > parts[size - 2]
    assert space.share == pytest.approx(parts[size - 1])
    np.testing.assert_allclose(space.deviations, s[:size] / np.sqrt(len(dense)))
    for version, square in ((space, s[:size] ** 2), (space.as_white(), np.ones(size))):
        np.testing.assert_allclose(
            version.form(lambda Z: Z), np.diag(square), atol=1e-8 * s[0] ** 2
        )
        Q = version.directions(np.eye(size))
        Z = (dense - dense.mean(0)) @ Q
        np.testing.assert_allclose(version.coordinates(slice(0, size)), Z, atol=1e-9 * s[0])
        np.testing.assert_allclose(version.adjoint(dense), Z.T @ dense, atol=1e-8 * s[0] ** 2)


def test_the_row_space_has_the_rank_of_the_data():
    tall = RNG.standard_normal((200, 5)) @ RNG.standard_normal((5, 30))
    # Rounded to float32, or moved far from 0, the data has full rank by noise of 1e-7 of
    # its extent: squares of that drown in the rounding of the scatter, and rightly so.
    for X in (tall, tall[:20], tall.astype(np.float32), 1e-3 * tall + 5, sp.csr_array(tall)):
        assert len(row_space(X, variance_kept=1.0).deviations) == 5
    faint = np.hstack([tall, 1e-5 * RNG.standard_normal((200, 1))])
    assert len(row_space(faint, variance_kept=1.0).deviations) == 6
    with pytest.raises(InvalidInput, match="equal"):
        row_space(np.ones((5, 3)))
    with pytest.raises(InvalidInput, match="variance_kept"):
        row_space(tall, variance_kept=99)


def test_too_many_points_and_features_are_refused():
    rows, columns = np.random.default_rng(0).integers(21_000, size=(2, 44))
    X = sp.coo_array((np.ones(44), (rows, columns)), shape=(21_000, 21_000)).tocsr()
    with pytest.raises(TooLarge, match="random_projection"):
        row_space(X)
    with pytest.raises(TooLarge, match="random_projection"):
        pca(X, matrix="covariance")
    assert pca(X).A.shape == (21_000, 21_000)  # known by its products, never formed
