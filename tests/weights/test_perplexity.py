"""Affinities of a perplexity: those of scikit-learn, and rows that cannot have it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.manifold import _t_sne

from dualfold import TSNE
from dualfold.errors import InvalidInput
from tests.graph.door import Lists
from tests.methods.points.tsne.problems import DIGITS, lists_of
from tests.weights.door import conditional_affinities, joint_affinities


def test_affinities_are_scikit_learns():
    lists = lists_of(DIGITS, 90)
    conditional, widths = conditional_affinities(lists, 30.0)
    rows = conditional.reshape(len(DIGITS), -1)
    entropy = -(rows * np.log(np.maximum(rows, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), 30.0, rtol=1e-8)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    kernel = np.exp(-(lists.distances.reshape(rows.shape) ** 2) / (2 * widths[:, None] ** 2))
    np.testing.assert_allclose(rows, kernel / kernel.sum(axis=1)[:, None], rtol=1e-9)
    squares = sp.csr_matrix(
        (lists.distances**2, lists.indices.copy(), lists.indptr.copy()), shape=(len(DIGITS),) * 2
    )
    theirs = _t_sne._joint_probabilities_nn(squares, 30.0, 0)
    ours = joint_affinities(lists, conditional)
    assert abs(ours - sp.csr_array(theirs)).max() < 2e-5 * ours.max()  # their search ends at 1e-5


def test_rows_that_cannot_have_the_perplexity_draw_alike():
    lists = Lists(np.array([0, 3, 3, 5]), np.array([1, 2, 0, 0, 1]), np.array([1.0, 2, 3, 4, 4]))
    found = conditional_affinities(lists, 50.0)[0]
    np.testing.assert_allclose(found[:3], 1 / 3, rtol=1e-6)
    np.testing.assert_allclose(found[3:], 1 / 2, rtol=1e-12)


def test_a_perplexity_below_one_is_refused():
    """scikit-learn takes it, and ends at a divergence of 1.8e308."""
    with pytest.raises(InvalidInput, match=r"perplexity=0.5 is below 1"):
        TSNE(perplexity=0.5).fit(DIGITS[:40])
    lists = lists_of(DIGITS[:40], 5)
    nearest_alone = conditional_affinities(lists, 1.0)[0].reshape(40, 5)
    np.testing.assert_allclose(nearest_alone[:, 0], 1.0, atol=1e-6)


def test_lists_that_give_no_affinities_are_refused():
    with pytest.raises(InvalidInput, match="no row has a neighbour"):
        joint_affinities(Lists(np.zeros(4, int), np.zeros(0, int), np.zeros(0)), np.empty(0))
    endless = Lists(np.array([0, 1, 2]), np.array([1, 0]), np.array([np.inf, 1.0]))
    with pytest.raises(InvalidInput, match="not finite"):
        conditional_affinities(endless, 1.5)
