"""Correspondence analysis: published tables, its peer, its identities, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency

import dualfold
from dualfold.errors import InvalidInput, RowsLeftOut

# Fisher (1940): eyes (blue, light, medium, dark) and hair (fair, red, medium, dark, black).
CAITHNESS = np.array(
    [
        [326, 38, 241, 110, 3],
        [688, 116, 584, 188, 4],
        [343, 84, 909, 412, 26],
        [98, 48, 403, 681, 85],
    ]
)
# Greenacre (1984): staff groups and smoking.
SMOKERS = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])


def counts(n: int, width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.poisson(6 * rng.random((n, 1)) * rng.random((n, width)) + 0.5) + np.eye(n, width)


@pytest.mark.parametrize(
    ("table", "inertias"),
    [(CAITHNESS, [0.199245, 0.030087, 0.000859]), (SMOKERS, [0.074759, 0.010017, 0.000414])],
)
def test_published_inertias_are_found(table: np.ndarray, inertias: list[float]) -> None:
    model = dualfold.CorrespondenceAnalysis(3).fit(table)
    assert model.certificate_.level == "proved"
    assert model.eigenvalues_ == pytest.approx(inertias, abs=5e-7)
    assert model.total_inertia_ == pytest.approx(
        chi2_contingency(table, correction=False).statistic / table.sum(), rel=1e-12
    )


def test_rows_and_columns_are_where_prince_has_them() -> None:
    prince = pytest.importorskip("prince")
    table = pd.DataFrame(counts(9, 6))
    ours = dualfold.CorrespondenceAnalysis(3).fit(table.to_numpy())
    theirs = prince.CA(n_components=3, engine="scipy").fit(table)
    for mine, yours in (
        (ours.embedding_, theirs.row_coordinates(table)),
        (ours.column_embedding_, theirs.column_coordinates(table)),
    ):
        signs = np.sign(np.einsum("ij,ij->j", mine, yours.to_numpy()))
        assert mine * signs == pytest.approx(yours.to_numpy(), abs=1e-10)


def test_all_coordinates_keep_the_chi_square_distances_of_profiles() -> None:
    table = counts(8, 5)
    model = dualfold.CorrespondenceAnalysis(4).fit(table)
    profiles = table / table.sum(axis=1, keepdims=True)
    scaled = profiles / np.sqrt(table.sum(axis=0) / table.sum())
    for i in range(8):
        true = np.linalg.norm(scaled - scaled[i], axis=1)
        found = np.linalg.norm(model.embedding_ - model.embedding_[i], axis=1)
        assert found == pytest.approx(true, abs=1e-12)


def test_columns_are_the_rows_of_the_transposed_table() -> None:
    table = counts(7, 9)
    model = dualfold.CorrespondenceAnalysis(2).fit(table)
    other = dualfold.CorrespondenceAnalysis(2).fit(table.T)
    assert np.abs(other.embedding_) == pytest.approx(np.abs(model.column_embedding_), abs=1e-12)


@pytest.mark.parametrize("columns", [6, 40])
def test_a_sparse_table_has_the_map_of_the_dense_one(columns: int) -> None:
    table = counts(30, columns)
    dense = dualfold.CorrespondenceAnalysis(2).fit(table)
    sparse = dualfold.CorrespondenceAnalysis(2).fit(sp.csr_array(table))
    assert sparse.certificate_.level in ("proved", "measured")
    assert sparse.total_inertia_ == pytest.approx(dense.total_inertia_, rel=1e-10)
    assert np.abs(sparse.embedding_) == pytest.approx(np.abs(dense.embedding_), abs=1e-8)


def test_indicators_of_categories_are_multiple_correspondence_analysis() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(list("uvw"), 60) for name in "abc"})
    indicators = pd.get_dummies(table).to_numpy(dtype=float)
    simple = dualfold.CorrespondenceAnalysis(2).fit(indicators)
    multiple = dualfold.FAMD(2).fit(table)
    assert simple.eigenvalues_ == pytest.approx(multiple.eigenvalues_ / 3, rel=1e-10)
    expected = np.abs(multiple.embedding_) / np.sqrt(3)
    assert np.abs(simple.embedding_) == pytest.approx(expected, abs=1e-10)


def test_new_rows_are_placed_by_their_profiles() -> None:
    table = counts(12, 5)
    model = dualfold.CorrespondenceAnalysis(2).fit(table)
    assert model.transform(table) == pytest.approx(model.embedding_, abs=1e-12)
    assert model.transform(7 * table[:3]) == pytest.approx(model.embedding_[:3], abs=1e-12)


def test_what_is_no_table_of_counts_is_refused() -> None:
    table = counts(5, 4)
    with pytest.raises(InvalidInput, match=r"Negative values in data.*counts are 0 or more"):
        dualfold.CorrespondenceAnalysis().fit(table - 3)
    with pytest.raises(InvalidInput, match=r"zeros only"):
        dualfold.CorrespondenceAnalysis().fit(0 * table)
    with pytest.raises(InvalidInput, match=r"3 beside the trivial one"):
        dualfold.CorrespondenceAnalysis(4).fit(counts(5, 4))
    empty_column = counts(5, 4)
    empty_column[:, 1] = 0
    model = dualfold.CorrespondenceAnalysis().fit(empty_column)
    assert (model.column_embedding_[1] == 0).all()


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_rows_without_counts_count_for_nothing_and_are_at_the_origin(made: Any) -> None:
    table = counts(9, 4)
    more = made(np.insert(table, 3, 0, axis=0))
    with pytest.warns(RowsLeftOut, match=r"1 row has no counts \(the first is row 3"):
        model = dualfold.CorrespondenceAnalysis(2).fit(more)
    without = dualfold.CorrespondenceAnalysis(2).fit(made(table))
    assert (model.embedding_[3] == 0).all()
    same = np.delete(model.embedding_, 3, axis=0)
    assert np.abs(same) == pytest.approx(np.abs(without.embedding_), abs=1e-10)
