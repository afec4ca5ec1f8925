"""Passes over rows of every kind and layout against plain NumPy in float64."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import PCA
from dualfold.errors import InvalidInput
from dualfold.methods import pca
from dualfold.weights import column_means, scatter
from tests.weights.door import projected_rows

KINDS = ("f8", "f4", ">f4", "f2", "u1", "u2", "i8", "?")
SHAPES = ((1, 1), (1, 5), (5, 1), (9, 40), (2100, 7))


def layouts(A, folder):
    """The same numbers in memory in six ways."""
    wide = np.zeros((2 * A.shape[0], 3 * A.shape[1]), A.dtype)
    wide[::2, ::3] = A
    locked = A.copy()
    locked.flags.writeable = False
    np.save(folder / "A.npy", A)
    return {
        "C": A,
        "Fortran": np.asfortranarray(A),
        "with steps": wide[::2, ::3],
        "backwards": np.ascontiguousarray(A[::-1, ::-1])[::-1, ::-1],
        "read-only": locked,
        "memory map": np.load(folder / "A.npy", mmap_mode="r"),
    }


def rows_of(kind, shape, mean):
    drawn = np.random.default_rng(0).normal(20 * mean + 40 * (kind == "u1"), 10, shape)
    return drawn > 10 * mean if kind == "?" else np.abs(drawn).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_scatter_in_every_layout(kind, tmp_path):
    for shape in SHAPES:
        for mean in (0, 5):
            A = rows_of(kind, shape, mean)
            centred = A.astype(float) - A.astype(float).mean(axis=0)
            expected = centred.T @ centred
            # Rows of few bytes are multiplied in float32, where a digit is 6e-8.
            loss = (1e-5 if A.itemsize <= 2 or A.dtype == np.float32 else 1e-10) * len(A)
            for name, X in layouts(A, tmp_path).items():
                found, middle = scatter(X)
                largest = np.square(A.astype(float)).max() + 1
                assert np.abs(found - expected).max() <= loss * largest, (name, shape)
                assert np.allclose(middle, A.mean(axis=0, dtype=float), rtol=1e-12), (name, shape)


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("width", [47, 48, 49, 200])
def test_scatter_where_columns_and_stretches_of_rows_are_empty(kind, width):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, width))
    X[:, rng.random(width) < 0.5] = 0
    X[100:1500] = 0
    X[1600:1700, : width // 2] = 0
    X = X.astype(kind)
    found, mean = scatter(X)
    centred = X.astype(float) - X.astype(float).mean(axis=0)
    assert np.allclose(found, centred.T @ centred, atol=1e-3 if kind == "f4" else 1e-9)
    assert np.array_equal(found, found.T)
    assert np.allclose(mean, X.mean(axis=0, dtype=float), atol=1e-14)


LEVELS = """
import numpy as np
from dualfold.weights import scatter
X = np.random.default_rng(0).normal(2, 1, size=(1000, 101))
exact = np.cov(X.T, bias=True) * 1000
for kind, loss in ((np.float32, 2e-3), (np.float64, 1e-10)):
    assert np.abs(scatter(X.astype(kind))[0] - exact).max() < loss
"""


@pytest.mark.parametrize("level", ["v2", "v3", "v4"])
def test_scatter_at_every_instruction_level(level):
    environment = {**os.environ, "DUALFOLD_LEVEL": level}
    subprocess.run([sys.executable, "-c", LEVELS], env=environment, check=True, timeout=120)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_gap_in_the_last_row_is_found_in_the_squares(bad):
    X = np.random.default_rng(4).normal(size=(3000, 20))
    X[-1, -1] = bad
    with pytest.raises(InvalidInput, match="NaN or infinite"):
        scatter(X)
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        PCA(2).fit(X)


def test_one_outlier_costs_the_other_projections_no_digits():
    X = np.random.default_rng(6).normal(1000, 1, size=(5000, 100)).astype(np.float32)
    X[0] = 1e6
    V, mean = np.full((100, 1), 0.1, np.float32), np.full(100, 1000.0)
    exact = (X.astype(float) - mean) @ V.astype(float)
    assert np.abs(projected_rows(X, V, mean) - exact)[1:].max() < 1e-5


@pytest.mark.parametrize("far", [0.0, 1.5, 1e6])
def test_projections_keep_their_digits_wherever_the_mean_is(far):
    rng = np.random.default_rng(5)
    X = rng.normal(far, 1, size=(2000, 30))
    V = np.linalg.qr(rng.normal(size=(30, 3)))[0]
    mean = X.mean(axis=0)
    assert np.abs(projected_rows(X, V, mean) - (X - mean) @ V).max() < 1e-13


@pytest.mark.parametrize("kind", KINDS)
def test_projection_in_every_layout(kind, tmp_path):
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        A = rows_of(kind, shape, 5)
        V = rng.normal(size=(shape[1], 2))
        directions = {
            "C": V,
            "Fortran": np.asfortranarray(V),
            "sparse": sp.csc_array(V),
            "single": V.astype(np.float32),
            "whole": (10 * V).astype(int),
        }
        middle = A.mean(axis=0, dtype=float)
        means = (None, middle, middle.astype(np.float32), middle.astype(int), middle.astype(kind))
        for layout, X in layouts(A, tmp_path).items():
            for form, W in directions.items():
                for mean in means:
                    found = projected_rows(X, W, mean)
                    single = A.dtype == W.dtype == np.float32
                    assert found.dtype == (np.float32 if single else np.float64)
                    plain = (W.toarray() if sp.issparse(W) else W).astype(float)
                    shift = 0.0 if mean is None else mean.astype(float)
                    expected = (A.astype(float) - shift) @ plain
                    loss = 1e-5 if single else 1e-12
                    scale = (np.abs(A.astype(float)).max() + 1) * np.abs(plain).max() * shape[1]
                    assert np.abs(found - expected).max() <= loss * scale, (layout, form, shape)


def test_no_rows_have_no_images():
    assert projected_rows(np.empty((0, 3)), np.eye(3), np.ones(3)).shape == (0, 3)


def test_tables_that_are_no_plain_arrays():
    numbers = np.array([[1.0, 2.0], [3.0, 5.0], [9.0, 9.0]])
    plain = pca(numbers, n_components=1).A
    assert np.array_equal(pca(np.matrix(numbers), n_components=1).A, plain)
    assert np.array_equal(pca(np.ma.masked_greater(numbers, 10), n_components=1).A, plain)
    with pytest.raises(InvalidInput, match="masked"):
        pca(np.ma.masked_greater(numbers, 8))
    with pytest.raises(InvalidInput, match="at least one row and one column"):
        pca(np.empty((3, 0)))


@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_integers_that_doubles_cannot_hold_are_refused(kind):
    """scikit-learn rounds them in silence; then a proof would not be about the data."""
    import pandas as pd

    X = np.arange(40, dtype=np.int64).reshape(20, 2) + 2**60
    made = {"array": X, "sparse": sp.csr_array(X), "frame": pd.DataFrame(X).assign(c=0.5)}
    made["frame"].columns = ["a", "b", "c"]
    with pytest.raises(InvalidInput, match="beyond 2"):
        PCA(n_components=1).fit(made[kind])
    PCA(n_components=1).fit(X - 2**60)


def test_squares_that_vanish_are_named():
    with pytest.raises(InvalidInput, match="the squares of these data vanish"):
        scatter(1e-200 * np.random.default_rng(0).normal(size=(40, 3)))
    with pytest.raises(InvalidInput, match="no rows; at least one"):
        scatter(np.empty((0, 3)))


CUTS = {
    "as usual": {},
    "small tiles": {"CONTIGUOUS_TILE_NUMBERS": 100, "COPIED_TILE_NUMBERS": 100, "SLAB_ROWS": 7},
    "a total for several threads": {"MAX_TOTAL_NUMBERS": 5 * 48**2},
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("threads", [1, 3, 64])
@pytest.mark.parametrize("width", [1, 6, 7, 48, 300])
def test_scatter_is_numpys_however_rows_are_cut(monkeypatch, set_limits, cut, threads, width):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(threads), raising=False)
    if CUTS[cut]:
        set_limits("weights.covariance", MIN_TILE_NUMBERS=100, **CUTS[cut])
        set_limits("kernels.threads", MIN_TILE_ROWS=7, THIN_TILE_NUMBERS=100)
    drawn = np.random.default_rng(7).normal(20, 2, size=(1234, width))
    for kind in (np.float64, np.float32, np.uint8, np.int64):
        X = drawn.astype(kind)
        total, mean = scatter(X)
        exact = np.cov(X.astype(float).T, bias=True) * len(X)
        np.testing.assert_allclose(total, exact.reshape(width, width), atol=2e-5 * exact.max())
        np.testing.assert_allclose(mean, X.mean(axis=0, dtype=float), rtol=1e-12)
        np.testing.assert_allclose(column_means(X), mean, rtol=1e-12)
        assert np.array_equal(total, total.T)
