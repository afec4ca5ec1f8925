"""Answers in words are ordered by themselves; orders for patterns of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dualfold.data import Reading, prepare
from dualfold.errors import InvalidInput
from tests.data.door import ANSWER_SCALES, ordered_answers, plain_words


def answers(levels, rows=60, name="Q1"):
    rng = np.random.default_rng(0)
    words = [levels[place % len(levels)] for place in range(rows)]
    return pd.DataFrame({"a": rng.standard_normal(rows), name: words})


@pytest.mark.parametrize(
    "levels",
    [
        ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
        ["1 - never", "2 - rarely", "3 - sometimes", "4 - often", "5 - always"],
        ["nie", "selten", "MANCHMAL", "häufig", "immer"],
        ["trifft gar nicht zu", "trifft eher nicht zu", "trifft eher zu", "trifft voll zu"],
        ["pas du tout d'accord", "plutôt pas d’accord", "plutôt d'accord", "tout à fait d'accord"],
        ["muy insatisfecho", "insatisfecho", "neutro", "satisfecho", "muy satisfecho"],
        ["discordo totalmente", "discordo", "nem concordo nem discordo", "concordo"],
        ["Fair", "Good", "Very Good", "Premium", "Ideal"],
        ["not at all important", "somewhat important", "important", "very important"],
        ["very unlikely", "unlikely", "likely", "very likely"],
        ["small", "medium", "large"],
        ["S", "M", "L", "XL"],
        ["low", "medium", "high"],
        ["L", "M", "H"],
        ["1st", "2nd", "3rd"],
        ["C", "B-", "B+", "A"],
        ["mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"],
    ],
)
def test_known_scales_are_ordered_by_themselves(levels):
    shuffled = [levels[place] for place in np.random.default_rng(1).permutation(len(levels))]
    found = prepare(answers(shuffled))
    expected = [levels.index(word) for word in answers(shuffled)["Q1"]]
    assert found.names == ("a", "Q1")
    np.testing.assert_array_equal(found.table.X[:, 1], expected)
    (said,) = [notice for notice in found.notices if "'Q1'" in notice and "order" in notice]
    assert "category=['Q1'] takes it as categories" in said
    for reading in (Reading(category="Q1"), Reading(plain=True)):
        apart = prepare(answers(shuffled), reading)
        assert len(apart.names) == 1 + len(levels)
    assert prepare(answers(shuffled), Reading(mixed="numbers")).names == ("a",)


@pytest.mark.parametrize(
    "levels",
    [
        ["A", "B", "C"],
        ["red", "green", "blue"],
        ["agree", "disagree", "don't know"],  # an answer that has no place
        ["neutral", "undecided", "agree"],  # two of one place
        ["yes", "no"],
    ],
)
def test_other_words_have_no_order(levels):
    assert not ordered_answers({"Q1": levels})


def test_no_word_has_two_places_in_one_scale():
    for steps in ANSWER_SCALES.values():
        places = [
            (plain_words(word), place)
            for place, words in enumerate(steps)
            for word in words.split("|")
        ]
        assert len(dict(places)) == len(set(places))


def test_columns_of_one_scale_have_their_places_in_common():
    levels = {
        "Q1": ["never", "sometimes", "often"],
        "Q2": ["rarely", "sometimes", "always"],
        "Q3": ["often", "never"],
        "Q4": ["red", "never"],
    }
    whole = ("never", "rarely", "sometimes", "often", "always")
    assert ordered_answers(levels) == dict.fromkeys(("Q1", "Q2", "Q3"), whole)


def test_new_rows_in_another_case_have_the_same_places():
    preparation = prepare(answers(["never", "Sometimes", "often"])).preparation
    new = pd.DataFrame({"a": 0.0, "Q1": ["NEVER", " sometimes ", "3 - Often", None, "daily"]})
    found = preparation.apply(new, Reading(missing="keep"))
    np.testing.assert_array_equal(found.table.X[:, 1], [0, 1, 2, np.nan, np.nan])
    assert any("'Q1' has values that no old row had ('daily')" in one for one in found.notices)


@pytest.mark.parametrize("mark", ["<", ","])
def test_one_order_for_a_pattern_of_columns(mark):
    frame = answers(["cold", "warm", "hot"]).assign(
        Q2=["hot", "cold"] * 30, other=["cold", "hot"] * 30
    )
    found = prepare(frame, Reading(ordered=f"Q*={mark.join(('cold', 'warm', 'hot'))}"))
    assert found.names == ("a", "Q1", "Q2", "other=cold", "other=hot")
    np.testing.assert_array_equal(found.table.X[:2, 1:3], [[0, 2], [1, 0]])
    own = Reading(ordered=("Q2=hot<cold", "Q?=cold<warm<hot"))  # a name goes before a pattern
    np.testing.assert_array_equal(prepare(frame, own).table.X[:2, 1:3], [[0, 0], [1, 1]])
    with pytest.raises(InvalidInput, match="fits the name of no column"):
        prepare(frame, Reading(ordered="R*=cold<hot"))


def test_levels_may_hold_a_sign_of_less():
    frame = answers(["<18", "18-65", ">65"])
    found = prepare(frame, Reading(ordered="Q1=<18,18-65,>65"))
    np.testing.assert_array_equal(found.table.X[:3, 1], [0, 1, 2])


@pytest.mark.parametrize(
    "word", ["weiß nicht", "Don't know", "keine Angabe", "ne sait pas", "ns/nc"]
)
def test_who_does_not_answer_has_no_place_on_the_scale(word):
    frame = answers(["nie", "selten", "oft", "immer"])
    frame.loc[::7, "Q1"] = word
    data = prepare(frame)
    places = frame["Q1"].map({"nie": 0, "selten": 1, "oft": 2, "immer": 3})
    assert data.names == ("a", "Q1")
    known = places.notna().to_numpy()
    np.testing.assert_allclose(data.table.X[known, 1], places[known])
    assert any(f"'{word}' is no answer on the scale" in str(one) for one in data.notices)
    # As a level it has no place among the others: they are categories then.
    kept = prepare(frame, Reading(levels=(word,)))
    assert f"Q1={word}" in kept.names


def test_a_level_that_sounds_like_no_answer_stays_beside_other_words():
    frame = answers(["bus", "train", "bicycle", "not applicable"])
    assert "Q1=not applicable" in prepare(frame).names
