"""Maps of landmarks of a table in tiles are judged again from their files."""

from __future__ import annotations

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest

from dualfold import DiffusionMaps, LaplacianEigenmaps, LocallyLinearEmbedding
from dualfold.errors import InvalidInput
from dualfold.maps.attraction_map import AttractionMap
from dualfold.saved import load_model, model_of, rechecked_model, save_model
from dualfold.scale import table
from tests.tools.tables import digit_points


@pytest.mark.parametrize("method", [LaplacianEigenmaps, DiffusionMaps])
def test_maps_by_means_of_few_landmarks_are_judged_again(method, tmp_path):
    """A saved model of this rule holds; with another point, count or method it does not."""
    X = digit_points()
    rows = table(da.from_array(X, chunks=(600, 64)), landmarks=700)
    fitted = method(n_neighbors=10).fit(rows)
    model = model_of(fitted)
    assert isinstance(model.map, AttractionMap)
    save_model(tmp_path / "few.model", model)
    model, old = load_model(tmp_path / "few.model"), X[fitted.landmark_rows_]
    assert rechecked_model(model, old).level == "proved"
    moved = model.map.points.copy()
    moved[3] += 1e-3 * np.ptp(moved, axis=0)
    forged = {"points": moved, "n_neighbors": 4, "perplexity": 3.0, "attraction": 2.0}
    for name, value in forged.items():
        wrong = replace(model, map=replace(model.map, **{name: value}))
        assert rechecked_model(wrong, old).level == "failed", name
    settings = model_of(LocallyLinearEmbedding(n_neighbors=10).fit(old)).settings
    with pytest.raises(InvalidInput, match="of kind 'neighbours' holds no answer"):
        rechecked_model(replace(model, settings=settings), old)
