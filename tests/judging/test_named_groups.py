"""Groups of a map: one letter, one name and one verdict for each, that the data carry."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import dualfold
from dualfold.errors import InvalidInput
from dualfold.judging import audit, map_judgement
from dualfold.view import named_groups
from tests.data.text.texts import TOPICS, corpus
from tests.judging.door import (
    draw_group_names,
    group_differences,
    nested_groups,
    space_of,
    telling_terms,
    untested_note,
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


def test_finer_groups_lie_inside_coarser_ones_and_have_their_letters(nested):
    points, own, _ = nested
    groups = nested_groups(space_of(points), points)
    for group in groups:
        if group.parent >= 0:
            above = groups[group.parent]
            assert np.isin(group.rows, above.rows).all()
            assert above.level < group.level
            assert group.letter.startswith(above.letter)
    assert {tuple(np.unique(own[group.rows])) for group in groups} >= {(0,), (1,), (2,), (3,)}
    letters = [group.letter for group in groups]
    assert len(set(letters)) == len(letters)
    assert letters[: groups.visible] == list("ABCDEFGH")[: groups.visible]


def test_counts_are_those_of_the_list_and_a_group_has_one_verdict(nested):
    points, _, texts = nested
    for given in ({"text": texts}, {"columns": {"x": points[:, 0]}}):
        groups = named_groups(points, points, **given)
        judged = map_judgement(points, points).groups
        first = [group for group in groups if group.level == 1]
        assert judged.visible == groups.visible == len(first)
        assert judged.found == sum(group.verdict == "found" for group in first)
        assert [group.verdict for group in judged] == [group.verdict for group in first]
        for group, alone in zip(first, judged, strict=True):
            np.testing.assert_array_equal(group.rows, alone.rows)


def test_up_to_1000_rows_the_visible_groups_are_those_of_an_audit():
    rng = np.random.default_rng(4)
    own = np.repeat(np.arange(4), [300, 250, 200, 150])
    X = 9 * rng.normal(size=(4, 5))[own] + rng.normal(size=(900, 5))
    Y = X[:, :2] + rng.normal(size=(900, 2))
    found, groups = audit(X, Y, random_state=0), nested_groups(space_of(X), Y)
    first = [group for group in groups if group.level == 1]
    assert [group.letter for group in first] == [group.name for group in found.groups]
    for code, group in enumerate(first):
        np.testing.assert_array_equal(group.rows, np.flatnonzero(found.map_groups.codes == code))


@pytest.mark.parametrize(("far", "letters"), [(False, ["A", "B"]), (True, ["A", "B", "C"])])
def test_small_groups_are_visible_where_no_larger_one_holds_them(far, letters):
    """Of 3,000 rows 1 %: at the foot of a cloud it is a finer group, far from all its own."""
    rng = np.random.default_rng(0)
    own = np.repeat([0, 1, 2], [1_480, 1_480, 40])
    middles = np.array([[0, 0], [30, 0], [15, 40] if far else [0, 4.2]])
    Y = middles[own] + np.array([1, 1, 0.3])[own][:, None] * rng.normal(size=(3_000, 2))
    groups = nested_groups(None, Y)
    assert [group.letter for group in groups.first] == letters
    assert any((own[group.rows] == 2).mean() > 0.8 for group in groups)


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
        assert one.verdict == "cannot tell"
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


def test_groups_between_larger_ones_may_be_torn_but_are_never_called_found():
    """Small clumps far from two large clouds were compared with one another only."""
    rng = np.random.default_rng(0)
    own = np.repeat(np.arange(6), [4_920, 4_900, 45, 45, 45, 45])
    middles = np.array([[0, 0], [60, 0], [0, 60], [60, 60], [-60, 60], [120, 60]])
    Y = middles[own] + rng.normal(size=(len(own), 2)) * np.where(own < 2, 4, 0.5)[:, None]
    X = np.column_stack([Y, np.zeros(len(own))])
    halves = own == 2, own == 3  # of one cloud
    for side, rows in zip((-1, 1), halves, strict=True):
        X[rows] = np.add(rng.normal(size=(45, 3)), [0, 90, 0])
        X[rows, 0] = side * np.abs(X[rows, 0])
    groups = [group for group in nested_groups(space_of(X), Y) if group.parent < 0]
    small = {int(own[group.rows[0]]): group for group in groups if group.size < 100}
    assert {small[2].verdict, small[3].verdict} <= {"not found", "cannot tell"}
    for code in (4, 5):
        assert small[code].verdict == "cannot tell"
        assert "small groups" in small[code].reason


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
        assert drawn == {f"A: bread · soup{mark}", f"B: sails · waves{mark}"}
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
    names = found.judgement.groups
    words = [set(one.split()) for one in TOPICS.values()]
    for one in names:
        mine = words[np.bincount(topics[one.rows]).argmax()]
        assert {part.words for part in one.figures} <= mine
    assert named_groups(found) is names
    assert found.to_dict()["named_groups"] == names.to_dict()
    drawn = {text.get_text() for text in found.plot().axes[0].texts}
    assert drawn & {one.title for one in names}
    assert all(str(group) in repr(found) for group in names.first if group.verdict == "found")
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


N = 150


@pytest.fixture(scope="module")
def three():
    """Three clouds on a map; columns that tell them apart, and some that do not."""
    rng = np.random.default_rng(0)
    code = np.repeat([0, 1, 2], [N, N - 30, N - 60])
    Y = np.array([[0.0, 0], [20, 0], [0, 20]])[code] + rng.normal(size=(len(code), 2))
    columns = {
        "carat": np.round(np.array([0.5, 1.5, 0.5])[code] + 0.1 * rng.normal(size=len(code)), 2),
        "year": np.array([1977, 1977, 2005])[code] + rng.integers(0, 9, len(code)),
        "cut": np.where(code == 0, "Ideal", rng.choice(["Fair", "Good"], len(code))),
        "name": np.array([f"stone {place}" for place in range(len(code))], dtype=object),
        "noise": rng.normal(size=len(code)),
        "seen": np.datetime64("2020-01-01") + (300 * code).astype("timedelta64[D]"),
    }
    columns["carat"][::10] = np.nan
    return Y, code, columns


def test_columns_that_set_groups_apart_have_their_figures(three):
    _, code, columns = three
    differences = group_differences(columns, code, 3)
    named = [{part.column: part for part in group} for group in differences]
    assert named[0]["cut"].short == "cut = Ideal"
    assert (named[0]["cut"].inside, named[0]["cut"].outside) == ("100 %", "0 %")
    assert named[1]["carat"].where == "high"
    low, high = np.nanquantile(columns["carat"][code == 1], [0.25, 0.75], method="nearest")
    assert named[1]["carat"].inside == f"{low} … {high}"
    known = np.isfinite(columns["carat"])
    area = roc_auc_score(code[known] == 1, columns["carat"][known])
    assert named[1]["carat"].effect == pytest.approx(2 * area - 1)
    assert named[2]["year"].inside.startswith("20"), "years are whole"
    assert named[2]["seen"].inside == "2021-08-23"
    assert not {column for group in named for column in group} & {"noise", "name"}


def test_a_group_is_listed_with_its_name_its_figures_and_its_verdict(three):
    Y, code, columns = three
    groups = named_groups(Y, Y, columns=columns)
    assert [group.size for group in groups.first] == np.bincount(code).tolist()
    assert len({group.name for group in groups.first}) == 3
    first = groups[0]
    assert str(first).startswith(f"A: {first.name}; {N} rows; ")
    assert "cut = Ideal 100 % (0 % elsewhere)" in str(first)
    assert str(first).endswith("; found in the data")
    assert first.to_dict()["text"] == str(first)
    assert groups.lines == ["The map shows 3 groups:", *(f"  {group}" for group in groups.first)]


def test_groups_that_no_column_sets_apart_are_not_named_by_chance(three):
    Y, code, _ = three
    rng = np.random.default_rng(3)
    noise = {f"c{place}": rng.normal(size=len(code)) for place in range(40)}
    noise |= {f"k{place}": rng.choice(list("abc"), len(code)) for place in range(20)}
    groups = named_groups(Y, Y, columns=noise)
    assert [group.name for group in groups.first] == ["", "", ""]
    assert str(groups[0]) == f"A: {N} rows; nothing sets it apart; found in the data"


def test_a_map_of_one_cloud_has_no_visible_groups():
    Y = np.random.default_rng(0).normal(size=(300, 2))
    groups = named_groups(Y, Y)
    assert (groups.visible, groups.lines, groups.grade) == (0, [], "none visible")


def test_ordered_answers_are_high_or_low_in_words(three):
    _, code, _ = three
    answers = {"Q1": np.where(code == 1, 3.0, np.arange(len(code)) % 2)}
    order = {"Q1": ("never", "rarely", "often", "always")}
    (difference,) = group_differences(answers, code, 3, order)[1]
    assert str(difference) == "Q1 high (always against never … rarely)"
