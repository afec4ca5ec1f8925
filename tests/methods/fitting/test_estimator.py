"""What all estimators share: maps drawn to scale where lengths mean something, problems stated."""

from __future__ import annotations

import copy

import matplotlib.pyplot as plt
import numpy as np
import pytest

import dualfold
from dualfold.data import swiss_roll
from dualfold.methods.descriptions import DESCRIPTIONS

ROLL = swiss_roll(120, random_state=0).points


@pytest.mark.parametrize("name", ["pca", "isomap", "eigenmaps", "lle", "diffusion_maps", "tsne"])
def test_a_map_is_drawn_to_scale_where_lengths_mean_something(name):
    row = DESCRIPTIONS[name]
    model = row.estimator_class()(n_components=2).fit(ROLL)
    figure = model.plot(ROLL) if name == "pca" else model.plot()
    to_scale = figure.axes[0].get_aspect() != "auto"
    plt.close(figure)
    assert to_scale == row.lengths


@pytest.mark.parametrize(
    "model",
    [
        dualfold.LaplacianEigenmaps(left_out=[3, 4]),
        dualfold.DiffusionMaps(landmarks=60),
        dualfold.LocallyLinearEmbedding(landmarks=50),
        dualfold.PCA(2),
        dualfold.FAMD(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_stating_the_problem_of_other_rows_leaves_a_fitted_model_as_it_is(model):
    model.fit(ROLL)
    before = {name: copy.deepcopy(value) for name, value in vars(model).items()}
    places = model.transform(ROLL[:5])
    model.statement(np.random.default_rng(0).normal(size=(80, 4)), 2)
    if hasattr(model, "graph_of"):
        model.graph_of(np.random.default_rng(1).normal(size=(70, 4)))
    assert vars(model).keys() == before.keys()
    assert model.n_features_in_ == 3
    for name in ("rows_", "landmarks_", "left_out_"):
        np.testing.assert_array_equal(getattr(model, name, None), before.get(name))
    np.testing.assert_array_equal(model.transform(ROLL[:5]), places)
