"""Biplots: an arrow for each of the longest columns, names that do not cover each other."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import PCA
from dualfold.errors import InvalidInput
from dualfold.view import biplot_figure


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.standard_normal((200, 3)) @ rng.standard_normal((3, 5)) + rng.uniform(size=(200, 5))


def test_names_of_a_biplot_do_not_cover_each_other(table):
    arrows = np.array([[1.0, 0.02], [0.98, 0.0], [0.97, 0.01], [0.96, -0.01], [0.95, -0.02]])
    names = ["weight", "length", "Miles_per_$Gallon", "Displacement", "year"]
    figure = biplot_figure(table[:, :2], arrows, names)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    assert len(boxes) == 5
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


def test_a_biplot_has_an_arrow_for_each_of_the_longest_columns(table):
    model = PCA(n_components=2).fit(table)
    figure = biplot_figure(model.transform(table), model.loadings_, [*"abcde"], most=3)
    words = [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    longest = np.argsort(-np.linalg.norm(model.loadings_, axis=1))[:3]
    assert sorted(words) == sorted("abcde"[j] for j in longest)
    with pytest.raises(InvalidInput, match="two axes"):
        biplot_figure(table[:, :1], model.loadings_, [*"abcde"])
