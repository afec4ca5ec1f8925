"""Groups are named by the columns that differ in them, with figures."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tests.judging.door import groups_with_names, map_groups

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


def test_groups_are_named_by_what_differs_in_them(three):
    Y, code, columns = three
    groups = groups_with_names(columns, map_groups(Y))
    assert [one.size for one in groups] == np.bincount(code).tolist()
    named = [{difference.column: difference for difference in one.differences} for one in groups]
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
    told = {column for one in named for column in one}
    assert not told & {"noise", "name"}
    assert len({one.name for one in groups}) == 3
    assert groups[1].to_dict()["text"] == str(groups[1])
    assert groups_with_names(columns, map_groups(Y)) == groups


def test_a_group_that_the_data_lack_has_no_name(three):
    Y, _, columns = three
    groups = groups_with_names(columns, map_groups(Y), ("group", "torn", "undecided"))
    assert [one.verdict for one in groups] == [
        "found in the data",
        "not found in the data",
        "undecided",
    ]
    assert [bool(one.name) for one in groups] == [True, False, True]
    assert str(groups[1]) == f"B: {N - 30} rows; not found in the data"


def test_groups_that_no_column_tells_apart_are_not_named_by_chance(three):
    Y, code, _ = three
    rng = np.random.default_rng(3)
    noise = {f"c{place}": rng.normal(size=len(code)) for place in range(40)}
    noise |= {f"k{place}": rng.choice(list("abc"), len(code)) for place in range(20)}
    groups = groups_with_names(noise, map_groups(Y))
    assert [one.name for one in groups] == ["", "", ""]
    assert str(groups[0]) == f"A: {N} rows; no column sets it apart"


def test_a_map_of_one_cloud_has_no_groups():
    Y = np.random.default_rng(0).normal(size=(300, 2))
    assert groups_with_names({"x": Y[:, 0]}, map_groups(Y)) == ()


def test_ordered_answers_are_high_or_low_in_words(three):
    Y, code, _ = three
    answers = {"Q1": np.where(code == 1, 3.0, np.arange(len(code)) % 2)}
    order = {"Q1": ("never", "rarely", "often", "always")}
    (_, second, _) = groups_with_names(answers, map_groups(Y), orders=order)
    assert str(second).endswith("Q1 high (always against never … rarely)")
