"""Rows that are copies of others up to rounding are counted and said."""

import numpy as np
import pytest

import dualfold
from tests.exploration.door import copied_rows


def said(X: np.ndarray, method: str = "eigenmaps") -> list[str]:
    """The remarks on copies of a map of neighbours."""
    options = {"n_neighbors": 8} if method == "eigenmaps" else {}
    found = dualfold.explore(X, method, **options)
    return [str(note) for note in found.notes if "up to rounding" in str(note)]


@pytest.mark.parametrize("noise", [0.0, 1e-7])
def test_copies_are_counted_exact_and_with_the_noise_of_single_precision(noise: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12)).astype(np.float32)
    again = X[:30] + (noise * rng.standard_normal((30, 12))).astype(np.float32)
    (words,) = said(np.concatenate([X, again]))
    assert words.startswith("60 of 230 rows are copies of others up to rounding")
    assert "islands" in words
    assert said(np.concatenate([X, again]), "tsne") == [words]
    assert said(np.concatenate([X, again]), "pca") == []


def test_different_rows_and_few_copies_are_not_worth_a_remark() -> None:
    X = np.random.default_rng(1).standard_normal((200, 12)).astype(np.float32)
    assert said(X) == []
    assert said(np.concatenate([X, X[:2]])) == []
    assert said(np.concatenate([X, X[:50] + np.float32(1e-3)])) == []


@pytest.mark.parametrize("width", [3, 40])
def test_copies_are_those_of_comparing_every_pair(width: int) -> None:
    rng = np.random.default_rng(width)
    X = rng.standard_normal((300, width))
    X[50:90] = X[rng.integers(0, 20, 40)] * (1 + 1e-8)
    X[200:210] = X[0] + 1e-5  # no copies
    lengths = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(lengths, np.inf)
    spread = np.sqrt(X.var(axis=0).sum())
    assert np.array_equal(copied_rows(X), lengths.min(axis=1) <= 1e-6 * spread)


def test_equal_rows_are_all_copies() -> None:
    assert copied_rows(np.ones((5, 3))).all()
