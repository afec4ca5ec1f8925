"""Missing values make no verdict better than that of the complete table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.errors import InvalidInput


def frame_of(X, share, rng):
    names = [f"c{place}" for place in range(X.shape[1])]
    return pd.DataFrame(X, columns=names).mask(rng.random(X.shape) < share)


@pytest.mark.parametrize("share", [0.7, 0.95])
def test_noise_with_missing_values_shows_nothing(share):
    rng = np.random.default_rng(0)
    try:
        found = dualfold.explore(frame_of(rng.standard_normal((150, 14)), share, rng))
    except InvalidInput as error:
        assert share >= 0.8
        assert "missing='mean'" in str(error)  # noqa: PT017 (either is right)
    else:
        assert found.judgement.shows_nothing
        assert "of the cells" in found.verdict
        assert "variance of the filled table" in repr(found)


def test_a_surface_with_missing_values_keeps_its_word():
    rng = np.random.default_rng(1)
    u, v = rng.uniform(-1, 1, (2, 150))
    sheet = np.column_stack([u, v, np.sin(2 * u), u * v]) @ rng.standard_normal((4, 14))
    sheet = sheet / sheet.std(axis=0) + 0.05 * rng.standard_normal(sheet.shape)
    whole, lacking = (dualfold.explore(frame_of(sheet, share, rng)) for share in (0.0, 0.2))
    assert lacking.judgement.neighborhoods.grade == whole.judgement.neighborhoods.grade == "good"
    assert lacking.judgement.layout.grade == whole.judgement.layout.grade
    assert lacking.data.filled_share == pytest.approx(0.2, abs=0.02)
