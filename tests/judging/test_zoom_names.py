"""Groups at three levels of zoom, with names that the data carry."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.errors import InvalidInput
from dualfold.view import named_groups
from tests.data.text.texts import TOPICS, corpus
from tests.judging.door import (
    _codes_of_unions,
    _Region,
    _verdicts_in,
    draw_group_names,
    space_of,
    telling_terms,
    untested_note,
    zoom_groups,
)


@pytest.fixture(scope="module")
def nested():
    """Two far clouds, the first of three near ones; texts with a word for each."""
    rng = np.random.default_rng(0)
    middles = np.array([[0, 0], [14, 0], [0, 14], [150, 0]], dtype=float)
    own = np.repeat(np.arange(4), [120, 120, 120, 240])
    points = middles[own] + rng.normal(size=(600, 2))
    first = np.array(["sea", "sea", "sea", "land"])[own]
    second = np.array(["tide", "wave", "storm", "hill"])[own]
    noise = rng.choice(["and", "with", "over", "under"], 600)
    third = np.array(["blue", "deep", "loud", "green"])[own]
    texts = [" ".join(words) for words in zip(first, second, third, noise, strict=True)]
    return points, own, texts


def test_finer_groups_lie_inside_coarser_ones(nested):
    points, own, _ = nested
    groups = zoom_groups(space_of(points), points)
    for one in groups:
        if one.parent >= 0:
            assert np.isin(one.rows, groups[one.parent].rows).all()
            assert groups[one.parent].level < one.level
    assert {tuple(np.unique(own[one.rows])) for one in groups} >= {(0,), (1,), (2,), (3,)}


def test_names_tell_a_group_from_its_surroundings_with_counts(nested):
    points, own, texts = nested
    names = named_groups(points, points, texts)
    assert names.named_share > 0.99
    for one in names:
        kinds = np.unique(own[one.rows])
        assert 1 <= len(one.figures) <= 4
        assert not {"and", "with", "over", "under"} & {part.words for part in one.figures}
        for part in one.figures:  # counted again, word by word
            has = np.array([part.words in text.split() for text in texts])
            assert part.inside == has[one.rows].sum()
        if len(kinds) == 1:
            assert one.inside == one.size
            assert one.verdict == "found"


def test_the_same_input_gives_the_same_names(nested):
    points, _, texts = nested
    first, again = (named_groups(points, points, texts).to_dict() for _ in range(2))
    assert first == again


def test_groups_that_the_data_lack_lose_their_name():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))  # one cloud, torn in two by its map
    Y = X + np.where(X[:, :1] > 0, 30.0, 0.0)
    texts = np.where(X[:, 0] > 0, "warm sunny day", "cold rainy night").tolist()
    names = named_groups(Y, X, texts)
    coarse = [one for one in names if one.level == 1]
    assert [one.verdict for one in coarse] == ["not found"] * 2
    assert [one.name for one in coarse] == ["", ""]
    # Without data nothing is tested: names stay, and say so.
    for one in named_groups(Y, None, texts):
        assert one.name
        assert one.verdict == "not testable"
        assert "no data" in one.reason


def test_tables_without_text_are_named_by_columns_and_categories():
    rng = np.random.default_rng(0)
    kind = np.repeat(["Adelie", "Gentoo"], 100)
    length = np.where(kind == "Adelie", 38.0, 47.0) + rng.normal(size=200)
    frame = pd.DataFrame({"bill_length": length, "species": kind})
    Y = np.column_stack([length * 3, rng.normal(size=200)])
    names = {one.name: one for one in named_groups(Y, None, columns=frame)}
    assert set(names) == {"Adelie · bill length low", "Gentoo · bill length high"}
    assert names["Adelie · bill length low"].figures[0].inside == 100
    assert names["Adelie · bill length low"].figures[0].outside == 0


def test_a_name_of_columns_is_a_category_and_what_tells_most_with_it():
    kind = np.repeat(["Gentoo", "Gentoo", "Adelie", "Adelie"], 100)
    sex = np.tile(np.repeat(["male", "female"], 100), 2)
    noise = np.random.default_rng(0).normal(size=(400, 2))
    mass = np.where(kind == "Gentoo", 5.0, 3.7) + 0.1 * noise[:, 0]
    places = np.repeat([[0, 0], [0, 30], [90, 0], [90, 30]], 100, axis=0)
    columns = {"mass": mass, "sex": sex, "species": kind}
    names = {one.name: one for one in named_groups(places + noise, None, columns=columns)}
    assert len(names) >= 4
    for one in names.values():
        assert one.made_of == "columns"
        parts = [part.words for part in one.figures]
        has = np.ones(400, bool)
        for words in parts:
            has &= (kind == words) | (sex == words)
        assert not any(words.startswith("mass") for words in parts)
        assert (one.inside, one.size) == (has[one.rows].sum(), len(one.rows))
        assert "all of this" in str(one) or len(parts) == 1


def test_groups_that_would_share_a_name_are_told_apart():
    rng = np.random.default_rng(0)
    places = np.repeat([[0, 0], [40, 0], [0, 40]], 100, axis=0)
    columns = {
        "plan": np.repeat(["basic", "basic", "free"], 100),
        "paid": np.repeat(["no", "no", "yes"], 100),
        "age": np.repeat([20.0, 60.0, 40.0], 100) + rng.normal(size=300),
    }
    points = places + rng.normal(size=(300, 2))
    names = sorted(one.name for one in named_groups(points, None, columns=columns))
    assert len(set(names)) == 3
    assert any("age high" in name for name in names)
    assert all("paid" in name for name in names if name.split(" · ")[0] in ("no", "yes"))


def test_coarse_groups_whose_parts_went_elsewhere_are_left_out():
    fine = np.array([0, 0, 2, 2, -1])  # no point has the code 1
    assert _codes_of_unions(np.array([1, 1, 0, 0, 0]), fine).tolist() == [1, 1, 0, 0, 0]


def test_groups_between_larger_ones_may_be_torn_but_are_never_called_found():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 150)
    X = rng.normal(size=(450, 3)) + np.array([[0.0], [0.0], [40.0]])[codes]
    X[codes == 0, 0] = -np.abs(X[codes == 0, 0])  # 0 and 1 are halves of one cloud
    X[codes == 1, 0] = np.abs(X[codes == 1, 0])
    for is_whole, last in ((True, "found"), (False, "not testable")):
        region = _Region(np.arange(450), is_whole)
        verdicts, after = _verdicts_in(space_of(X), codes, [region], 0)
        assert [verdicts[code][0] for code in range(3)] == ["not found", "not found", last]
        assert [len(one.rows) for one in after] == [300, 150]
        assert "small groups" in verdicts[2][1] or is_whole


def test_a_picture_marks_names_that_no_test_decided():
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    Y = np.concatenate([rng.normal(0, 1, (80, 2)), rng.normal(9, 1, (80, 2))])
    texts = ["soup and bread"] * 80 + ["sails and waves"] * 80
    for X, mark in ((None, " ?"), (Y, "")):
        names = named_groups(Y, X, texts)
        figure, axes = plt.subplots()
        axes.scatter(*Y.T)
        draw_group_names(figure, names)
        drawn = {text.get_text() for text in axes.texts}
        assert drawn == {f"bread · soup{mark}", f"sails · waves{mark}"}
        assert bool(untested_note(names)) == bool(mark)
        plt.close(figure)


def test_forms_of_one_word_are_one_term():
    rows = np.zeros((40, 4))
    rows[:20, :3] = 1
    rows[20:, 3] = 1
    terms = ["game", "games", "player", "car"]
    found = telling_terms(sp.csr_array(rows), terms, np.arange(20), np.arange(40), rows.sum(0))
    assert {terms[place] for place in found} in ({"game", "player"}, {"games", "player"})


def test_random_terms_name_nothing():
    rng = np.random.default_rng(0)
    present = sp.csr_array((rng.random((400, 300)) < 0.1).astype(float))
    overall = np.asarray(present.sum(axis=0)).ravel()
    terms = [f"t{place}" for place in range(300)]
    found = telling_terms(present, terms, np.arange(100), np.arange(400), overall, 10)
    assert found == []


def test_explorations_have_the_names_in_python_json_and_the_picture():
    texts, topics = corpus(300)
    found = dualfold.explore(pd.DataFrame({"t": texts}), "tsne", text="t")
    names = found.judgement.names
    words = [set(one.split()) for one in TOPICS.values()]
    for one in names:
        mine = words[np.bincount(topics[one.rows]).argmax()]
        assert {part.words for part in one.figures} <= mine
    assert named_groups(found) is names
    assert found.to_dict()["named_groups"] == names.to_dict()
    drawn = {text.get_text() for text in found.plot().axes[0].texts}
    assert drawn & {one.name for one in names}
    assert names.of_rows(np.arange(0, 300, 2)).n_rows == 150


@pytest.mark.parametrize("n", [1, 2, 12])
def test_few_rows_have_no_groups(n):
    Y = np.arange(2.0 * n).reshape(n, 2)
    assert len(named_groups(Y, Y, ["some words"] * n)) == 0


def test_other_numbers_of_rows_are_refused():
    Y = np.zeros((30, 2))
    with pytest.raises(dualfold.errors.InvalidInput, match="2 texts"):
        named_groups(Y, None, ["a", "b"])
    with pytest.raises(dualfold.errors.InvalidInput, match="20 rows"):
        named_groups(Y, np.zeros((20, 2)))


@pytest.mark.parametrize("size", [10, 30, 100])
def test_words_drawn_at_random_name_no_group(size):
    rng = np.random.default_rng(size)
    common = 1 / np.arange(1, 401)
    present = sp.csr_array(rng.random((1000, 400)) < 1 - (1 - common / common.sum()) ** 8)
    present = present.astype(float)
    overall, rows = np.asarray(present.sum(axis=0)), np.arange(1000)
    terms = [f"word{place:03d}" for place in range(400)]
    named = sum(
        bool(telling_terms(present, terms, np.sort(draw), rows, overall))
        for draw in (rng.choice(1000, size, replace=False) for _ in range(300))
    )
    assert (
        named <= 10
    )  # 3 are expected at most; 28 and 87 by a normal distribution, of 10 and 30 rows


def test_texts_without_a_word_and_columns_of_another_length_are_refused(nested):
    points, _, _ = nested
    with pytest.raises(InvalidInput, match="text must have words"):
        named_groups(points, points, [""] * 600)
    with pytest.raises(InvalidInput, match="each of the 600 points of the map; 'a' has 3"):
        named_groups(points, points, columns={"a": [1, 2, 3]})


def test_a_category_comes_first_though_many_numbers_differ_more():
    rng = np.random.default_rng(0)
    own = np.repeat([0, 1], 150)
    points = np.where(own[:, None] > 0, 30.0, 0.0) + rng.normal(size=(300, 2))
    columns = {f"number {place}": own * 9 + rng.normal(size=300) for place in range(8)}
    columns["kind"] = np.array(["bird", "fish"])[np.where(rng.random(300) < 0.1, 1 - own, own)]
    names = named_groups(points, points, columns=columns)
    assert sorted(one.figures[0].words for one in names) == ["bird", "fish"]
