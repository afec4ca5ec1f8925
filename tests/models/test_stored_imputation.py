"""How missing values are filled in comes back from a model file, or the file is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dualfold
from dualfold.errors import DamagedFile
from dualfold.saved import load_model, model_of, save_model
from tests.data.door import Imputation

ROWS = np.random.default_rng(0).standard_normal((20, 3))
GOOD = {
    "mean": np.zeros(3),
    "scale": np.ones(3),
    "components": np.ones((3, 2)),
    "noise": np.ones(1),
}
BAD = {
    "no number": {"components": np.full((3, 2), np.nan)},
    "too large": {"components": np.full((3, 2), 1e200)},
    "too many": {"components": np.ones((3, 500))},
    "another width": {"components": np.ones((4, 2))},
    "negative scale": {"scale": -np.ones(3)},
    "no noise": {"noise": np.zeros(1)},
    "two numbers": {"noise": np.ones(2)},
    "another mean": {"mean": np.zeros(2)},
    "text": {"mean": np.array(["a", "b", "c"])},
}


def saved(path, parts):
    model = model_of(dualfold.PCA(2).fit(ROWS))
    save_model(
        path,
        replace(model, preparation=replace(model.preparation, imputation=Imputation(**parts))),
        overwrite=True,
    )
    return load_model(path)


def test_an_imputation_comes_back(tmp_path):
    model = saved(tmp_path / "m.dualfold", GOOD)
    lacking = np.where(np.eye(20, 3, dtype=bool), np.nan, ROWS)
    # z = (WᵀW + σ²I)⁻¹Wᵀx over two known cells: W of ones gives their sum over 2·2 + 1, twice.
    filled = model.prepared_rows(lacking).X
    assert filled[0, 0] == pytest.approx(2 * ROWS[0, 1:].sum() / 5)
    np.testing.assert_array_equal(filled[3:], ROWS[3:])


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_imputation_is_refused(tmp_path, name):
    with pytest.raises(DamagedFile):
        saved(tmp_path / "m.dualfold", GOOD | BAD[name])
