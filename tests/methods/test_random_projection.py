"""Random projections: how many coordinates keep distances, and what is said where they do not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.methods import johnson_lindenstrauss_size, random_projection
from dualfold.methods.maps import LinearMap
from tests.tools.tables import digit_points

pytestmark = pytest.mark.usefixtures("one_blas_thread")


def test_the_size_of_a_random_projection_by_its_formula():
    assert johnson_lindenstrauss_size(1, 0.5) == 1
    assert johnson_lindenstrauss_size(100, 0.5) == int(np.ceil(4 * np.log(100) / (1 / 8 - 1 / 24)))
    for n, eps in ((0, 0.5), (10, 0.0), (10, 1.0)):
        with pytest.raises(InvalidInput, match="eps"):
            johnson_lindenstrauss_size(n, eps)


def test_the_least_distortion_that_fits_is_named():
    for n, eps in ((50, 0.5), (50, 0.05), (50, 0.15), (1000, 0.95)):
        rows = np.zeros((n, johnson_lindenstrauss_size(n, eps)))
        with pytest.raises(InvalidInput, match=f"; eps={eps} would fit"):
            random_projection(rows, n_components="auto", eps=eps / 2)
    with pytest.raises(InvalidInput, match="a number up to 1 ") as refused:
        random_projection(np.zeros((50, 1)), n_components="auto")
    assert "would fit" not in str(refused.value)


DIGITS = digit_points(300)


def test_sparse_maps_on_dense_and_sparse_data():
    linear = random_projection(DIGITS, n_components=9, kind="sparse", random_state=1)
    expected = DIGITS @ linear.components.toarray().T
    np.testing.assert_allclose(linear.encode(DIGITS), expected, atol=1e-10)
    np.testing.assert_allclose(linear.encode(sp.csr_array(DIGITS)), expected, atol=1e-10)
    scaled = LinearMap(linear.mean, linear.components, np.full(64, 2.0))
    np.testing.assert_allclose(scaled.encode(DIGITS), expected / 2, atol=1e-10)
    with pytest.raises(InvalidInput, match="'gaussian'"):
        random_projection(DIGITS, n_components=9, kind="dense")
    with pytest.raises(InvalidInput, match="density"):
        random_projection(DIGITS, n_components=9, density=0.1)
    C = linear.components.toarray()
    np.testing.assert_allclose(
        linear.decode(linear.encode(DIGITS)), DIGITS @ np.linalg.pinv(C) @ C, atol=1e-9
    )


def test_johnson_lindenstrauss_size_is_scikit_learns_rounded_up():
    from sklearn.random_projection import johnson_lindenstrauss_min_dim

    for n in (2, 10, 1000, 10**6):
        for eps in (0.05, 0.1, 0.5, 0.99):
            # scikit-learn rounds down, which is one short of the lemma's "at least".
            theirs = johnson_lindenstrauss_min_dim(n, eps=eps)
            assert theirs <= johnson_lindenstrauss_size(n, eps) <= theirs + 1
    with pytest.raises(InvalidInput, match="eps"):
        johnson_lindenstrauss_size(10, 1.0)
    with pytest.raises(InvalidInput, match="n_components"):
        random_projection(DIGITS)
