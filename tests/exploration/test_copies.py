"""Rows that are copies of others up to rounding are counted and said."""

import numpy as np
import pytest

import dualfold


def said(X: np.ndarray) -> list[str]:
    """The remarks on copies of a map of neighbours."""
    found = dualfold.explore(X, "eigenmaps", n_neighbors=8)
    return [str(note) for note in found.notes if "up to rounding" in str(note)]


@pytest.mark.parametrize("noise", [0.0, 1e-7])
def test_copies_are_counted_exact_and_with_the_noise_of_single_precision(noise: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12)).astype(np.float32)
    again = X[:30] + (noise * rng.standard_normal((30, 12))).astype(np.float32)
    (words,) = said(np.concatenate([X, again]))
    assert words.startswith("60 of 230 rows are copies of others up to rounding")
    assert "islands" in words


def test_different_rows_and_few_copies_are_not_worth_a_remark() -> None:
    X = np.random.default_rng(1).standard_normal((200, 12)).astype(np.float32)
    assert said(X) == []
    assert said(np.concatenate([X, X[:2]])) == []
    assert said(np.concatenate([X, X[:50] + np.float32(1e-3)])) == []
