"""Of many rows some are fitted and the others are placed, where all would take minutes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dualfold
from dualfold import LocallyLinearEmbedding
from dualfold.errors import InvalidInput, RowsLeftOut
from dualfold.saved import load_model, model_of, rechecked_model, save_model

pytestmark = pytest.mark.usefixtures("one_blas_thread")


def noise(n):
    return np.random.default_rng(0).normal(size=(n, 6))


def test_rows_whose_proof_would_take_minutes_are_drawn_too(set_limits):
    # 1,200 rows of noise take 1.3e8 multiply-adds, 600 of them 2e7; the real limit is 1e10.
    set_limits("methods._lle", MAX_FACTOR_FLOPS=3e7, MAX_FACTOR_FLOPS_A_ROW=0)
    with pytest.warns(RowsLeftOut, match="600 rows drawn at random"):
        model = LocallyLinearEmbedding(n_neighbors=10).fit(noise(1200))
    assert model.certificate_.level == "proved"
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowsLeftOut)  # what was asked for is done
        asked = LocallyLinearEmbedding(n_neighbors=10, landmarks=1100).fit(noise(1200))
    assert len(asked.landmarks_) == 1100


@pytest.mark.parametrize("method", ["standard", "ltsa"])
def test_rows_without_a_shape_are_drawn_where_all_would_take_minutes(method, set_limits, tmp_path):
    # A limit that 1,200 rows of noise exceed and 600 do not: the real one begins near 20,000.
    set_limits("trace.sparse.shifted_matrices", MAX_FLOPS=5e7, MAX_FLOPS_A_ROW=0)
    X = noise(1200)
    with pytest.warns(RowsLeftOut, match="drawn at random"):
        model = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    count = len(model.landmarks_)
    assert count in (600, 300)
    assert f"the {count} landmarks" in model.certificate_.about
    assert model.embedding_.shape == (1200, 2)
    alone = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X[model.landmarks_])
    np.testing.assert_allclose(model.embedding_[model.landmarks_], alone.embedding_, atol=1e-8)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    save_model(tmp_path / "m.dualfold", model_of(model))
    assert rechecked_model(load_model(tmp_path / "m.dualfold"), X).level == "proved"
    with pytest.raises(InvalidInput, match="made from features"):
        LocallyLinearEmbedding(method=method, graph=dualfold.graph.knn(X, 10)).fit(X)
