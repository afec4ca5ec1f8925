"""A stored t-SNE map places rows and is judged as the fitted one."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import TSNE
from dualfold.saved import load_model, model_of, rechecked_model, save_model
from tests.tools.tables import digit_points
from tests.tsne.problems import DIGITS


@pytest.fixture(scope="module")
def fitted():
    return TSNE(perplexity=10).fit(DIGITS)


def test_a_saved_model_places_rows_and_is_judged(fitted, tmp_path):
    path = tmp_path / "m.dualfold"
    save_model(path, model_of(fitted))
    model = load_model(path)
    new = digit_points()[300:320].astype(float)
    np.testing.assert_array_equal(model.transform(new), fitted.transform(new))
    again = rechecked_model(model, DIGITS)
    assert (again.level, again.kl) == ("stationary", fitted.kl_divergence_)
    forged = model.map.points.copy()
    forged[:50] += 5
    object.__setattr__(model.map, "points", forged)
    assert rechecked_model(model, DIGITS).level == "not stationary"
    object.__setattr__(model.map, "points", fitted.embedding_)
    object.__setattr__(model.map, "n_neighbors", 5)
    assert rechecked_model(model, DIGITS).level == "failed"
