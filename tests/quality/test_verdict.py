"""The sentence about a picture: what measures mean, and where its words change."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dualfold import quality
from tests.quality.door import MEASURE_MEANINGS, Picture, verdict_of

X = np.random.default_rng(0).normal(size=(120, 4))


def test_what_measures_mean():
    """Best and worst of each measure are what the identity and a reversed map have."""
    table = X[:40]
    same = quality.report(table, table.copy(), n_neighbors=5).measures
    for name, value in same.items():
        best, worst, _ = MEASURE_MEANINGS[name]
        assert {best, worst} <= {-1, 0, 1}
        assert best != worst
        if name != "lcmc":  # its best is 1 less chance
            assert value == pytest.approx(best, abs=1e-6), name


@pytest.mark.parametrize(
    ("beyond", "grade", "poor"),
    [
        (0.51, "good", False),
        (0.49, "fair", False),
        (0.21, "fair", False),
        (0.19, "poor", True),
        (0.06, "poor", True),
        (0.04, "hardly any", True),
        (-0.1, "hardly any", True),
    ],
)
def test_words_for_what_a_map_keeps(beyond, grade, poor):
    chance = 10 / 1000
    found = Picture(chance + beyond * (1 - chance), 1001, 10)
    assert (found.grade, found.poor) == (grade, poor)


def test_a_map_is_uneven_only_where_it_is_worse_than_the_rest():
    """Not where everything is equally poor, and not where the worst is good."""
    for low, rest, said in ((0.5, 0.99, True), (0.7, 0.7, False), (0.955, 0.99, False)):
        trust = np.r_[np.full(20, low), np.full(80, rest)]
        names = ("continuity", "distance_correlation", "stress")
        measures = {"trustworthiness": trust.mean()} | dict.fromkeys(names, 0.5)
        words = verdict_of(measures, {"trustworthiness": trust}, Picture(0.5, 101, 10))
        assert ("uneven" in words) == said


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("trustworthiness", (0.95, 0.85, 0.7)),
        ("continuity", (0.95, 0.85, 0.7)),
        ("distance_correlation", (0.9, 0.7, 0.4)),
    ],
)
def test_words_change_where_the_docs_say(name, steps):
    names = ("trustworthiness", "continuity", "distance_correlation", "stress")

    def words(value):
        measures = dict.fromkeys(names, 0.5) | {name: value}
        text = verdict_of(measures, {"trustworthiness": np.empty(0)}, Picture(0.5, 101, 10))
        return re.sub(r"-?[\d.]+", "", text)

    above = [words(step + 0.01) for step in steps]
    below = [words(step - 0.01) for step in steps]
    assert above[1:] == below[:-1]
    assert len({*above, below[-1]}) == len(steps) + 1
    assert words(-1.0) == below[-1]
