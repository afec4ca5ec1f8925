"""LaplacianEigenmaps: named coordinates, equal rows, landmarks of a table in tiles."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dualfold import LaplacianEigenmaps, scale
from dualfold.errors import PointsCollapse

RNG = np.random.default_rng(0)
ROLL = np.sort(RNG.random(60))[:, None] * [6.0, 0.0] + RNG.random((60, 1)) * [0.0, 1.0]
ROLL = np.column_stack([np.cos(ROLL[:, 0]), np.sin(ROLL[:, 0]), ROLL[:, 1]])


def same_up_to_signs(one, two, tolerance=1e-6):
    np.testing.assert_allclose(np.abs(one), np.abs(two), atol=tolerance)


def test_coordinates_that_were_named_decide_how_many_there_are():
    three = LaplacianEigenmaps(3, n_neighbors=8, coordinates="first").fit(ROLL)
    named = LaplacianEigenmaps("auto", n_neighbors=8, coordinates=[0, 2]).fit(ROLL)
    ours, wanted = named.embedding_, three.embedding_[:, [0, 2]]
    # Each by its own scale: the lengths of a map depend on the eigenvalues that it has.
    same_up_to_signs(ours / ours.std(axis=0), wanted / wanted.std(axis=0))
    assert named.certificate_.level == "proved"


def test_equal_sparse_rows_collapse_to_a_point():
    same = sp.csr_array(np.ones((12, 3)))
    with pytest.warns(PointsCollapse, match="all 12 points are the same"):
        LaplacianEigenmaps(n_neighbors=3).fit(same)


def test_landmarks_of_a_frame_in_tiles_know_its_columns():
    dask_frame = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(ROLL, columns=["x", "y", "z"])
    rows = scale.table(dask_frame.from_pandas(frame, npartitions=3), landmarks=40)
    model = LaplacianEigenmaps(n_neighbors=8).fit(rows)
    assert list(model.feature_names_in_) == ["x", "y", "z"]
    assert len(model.landmark_rows_) == 40
    assert model.transform(frame).shape == (60, 2)
