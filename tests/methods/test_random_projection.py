"""Random projections: how many coordinates keep distances, and what is said where they do not."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.methods import johnson_lindenstrauss_size
from dualfold.methods._random_projection import _looser, _size


def test_the_size_of_a_random_projection_by_its_formula():
    assert johnson_lindenstrauss_size(1, 0.5) == 1
    assert johnson_lindenstrauss_size(100, 0.5) == int(np.ceil(4 * np.log(100) / (1 / 8 - 1 / 24)))
    for n, eps in ((0, 0.5), (10, 0.0), (10, 1.0)):
        with pytest.raises(InvalidInput, match="eps"):
            johnson_lindenstrauss_size(n, eps)


def test_the_least_distortion_that_fits_is_named():
    for n, eps in ((50, 0.5), (50, 0.05), (50, 0.15), (1000, 0.95)):
        width = _size(n, eps)
        assert f"eps={eps}" in str(_looser(n, width)).replace(" ", "")
        assert "eps" in str(_looser(n, width))
    assert "would fit" not in str(_looser(50, 1))
