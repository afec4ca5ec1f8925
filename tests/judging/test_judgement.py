"""The three parts of a verdict, and the sentence that they make."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import dualfold
from benchmarks.calibration.map_verdicts import equidistant_groups, gradient_block
from dualfold import PCA
from dualfold.judging import map_judgement
from tests.judging.door import (
    ColumnDirection,
    Estimate,
    Judgement,
    Layout,
    Picture,
    groups_with,
    layout_of,
    mean_judgement,
    nested_groups,
    picture_of,
    space_of,
)


def column(name, correlation, axis=0, permuted=(0.1,) * 19):
    axes = (correlation, 0.0) if axis == 0 else (0.0, correlation)
    return ColumnDirection(
        name, (1.0, 0.0), correlation, max(permuted), axes, 500, permuted=permuted
    )


SIZES = (column("carat", 0.98), column("price", 0.95), column("table", 0.9, axis=1))
NOISE = tuple(column(f"noise {i}", 0.05) for i in range(3))
ORDER = {"good": Layout(0.6, 0.1, SIZES + NOISE, 2), "no": Layout(0.1, 0.1, NOISE, 2)}
NEAR = {"good": Picture(0.7, 1_000, 10), "no": Picture(0.03, 1_000, 10)}
GROUPS = {"one": groups_with(), "all": groups_with(*4 * ["group"])}


@pytest.mark.parametrize(
    ("order", "near", "groups", "sentence"),
    [
        (
            "good",
            "no",
            "one",
            "Shows overall order (carat, price along axis 1; table along axis 2), not who is near "
            "whom.",
        ),
        ("no", "good", "one", "Shows who is near whom, not overall order."),
        ("no", "no", "one", "Shows neither overall order nor who is near whom."),
        ("no", "no", "all", "Shows 4 groups of the data, not overall order nor who is near whom."),
        (
            "no",
            "good",
            "all",
            "Shows who is near whom and 4 groups of the data, not overall order.",
        ),
        (
            "good",
            "good",
            "all",
            "Shows overall order (carat, price along axis 1; table along axis 2), who is near whom "
            "and 4 groups of the data.",
        ),
    ],
)
def test_the_headline_says_what_can_be_read_off(order, near, groups, sentence):
    found = Judgement(ORDER[order], NEAR[near], GROUPS[groups])
    assert found.headline == sentence
    assert found.shows_nothing == ((order, near, groups) == ("no", "no", "one"))
    assert json.loads(json.dumps(found.to_dict()))["headline"] == sentence
    assert str(found).startswith(sentence)


def test_groups_that_the_data_do_not_have_are_named():
    def headline(*findings):
        return Judgement(ORDER["no"], NEAR["good"], groups_with(*findings)).headline

    torn = headline("group", *4 * ["torn"])
    assert torn.endswith("; 4 of its 5 visible groups are no groups of the data.")
    open_ = headline("undecided", "undecided")
    assert open_.endswith("nobody can tell whether its 2 visible groups are in the data.")
    half = headline("torn", "scattered", "undecided", "undecided")
    assert half.endswith(
        "; 2 of its 4 visible groups are not found in the data, of the others nobody can tell."
    )
    assert groups_with(untested="50 rows are too few").grade == "not tested"


def test_as_many_columns_as_axes_are_no_overall_order():
    # Three times 0.75² is less than 2, three times 0.9² is more.
    for count, r, grade in ((2, 0.9, "hardly any"), (3, 0.75, "hardly any"), (3, 0.9, "good")):
        columns = tuple(column(str(i), r if i < count else 0.1) for i in range(8))
        assert Layout(0.2, 0.1, columns, 2).grade == grade
    few_of_many = tuple(column(str(i), 0.9 if i < 3 else 0.1) for i in range(40))
    assert Layout(0.2, 0.1, few_of_many, 2).grade == "fair"
    by_chance = tuple(column(str(i), 0.9, permuted=(0.8,) * 19) for i in range(8))
    assert Layout(0.2, 0.1, by_chance, 2).grade == "hardly any"


def test_groups_in_pieces_are_told_beside_the_denial():
    """Two groups of the data, each drawn as three islands, of which none is a group alone."""
    rng = np.random.default_rng(11)
    code, part = rng.integers(0, 2, 600), rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 5)) + 12 * code[:, None]
    places = rng.permutation(6)[3 * code + part]
    Y = np.column_stack([6.0 * (places % 3), 6.0 * (places // 3)]) + rng.normal(size=(600, 2))
    found = nested_groups(space_of(X), Y)
    assert (found.visible, found.found, found.joined) == (6, 0, 2)
    said = Judgement(ORDER["no"], NEAR["no"], found).headline
    assert said.endswith("visible groups are no groups of the data, but joined they make up 2.")
    one_cloud = nested_groups(space_of(rng.normal(size=(600, 5))), Y)
    assert (one_cloud.found, one_cloud.joined) == (0, 0)


def test_that_no_group_is_visible_says_how_small_ones_are_missed():
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(600, 2))
    Y[:30] += 20  # a twentieth of the rows, far away: too few for a density of their own
    said = nested_groups(space_of(Y), Y).summary
    assert said == "none visible: no groups of 5.2 % of the points or more stand apart on the map"
    Y[30:40] += 20
    assert nested_groups(space_of(Y), Y).visible == 2


def test_rows_that_were_copied_are_no_order():
    rng = np.random.default_rng(8)
    X = np.repeat(rng.normal(size=(40, 4)), 4, axis=0)
    assert layout_of(space_of(X), PCA(2).fit_transform(X)).grade == "trivial"


@pytest.mark.parametrize("width", [3, 4, 6])
def test_order_that_unrelated_columns_have_is_not_called_shown(width):
    """Two axes of few columns of noise hold much of it; of related columns they hold more."""
    rng = np.random.default_rng(width)
    noise = rng.exponential(size=(120, width))
    alone = layout_of(space_of(noise), PCA(2).fit_transform(noise))
    assert alone.beyond_chance > 0.5
    assert alone.grade == "trivial"
    headline = Judgement(alone, NEAR["no"], GROUPS["one"]).headline
    assert headline.startswith("Shows neither more overall order than unrelated columns have nor")
    related = noise + 2 * rng.exponential(size=(120, 1))
    assert layout_of(space_of(related), PCA(2).fit_transform(related)).grade == "good"
    plane = noise * ([1, 1] + [0.01] * (width - 2))
    plane = np.column_stack([plane, np.full(120, 0.1)])  # a column that does not vary
    found = layout_of(space_of(plane), PCA(2).fit_transform(plane))
    assert found.grade == "good"
    assert found.unrelated.squares < width


def test_levels_of_a_category_are_shuffled_together():
    """The levels of a category exclude one another, which is no relation of columns."""
    rng = np.random.default_rng(5)
    words = pd.DataFrame({name: rng.choice(list("abcd"), 200) for name in ("one", "two", "three")})
    words["size"] = rng.normal(size=200)
    assert dualfold.explore(words).judgement.layout.grade not in ("good", "fair")


def test_rank_correlation_of_distances_is_that_of_scipy():
    from scipy.spatial.distance import pdist
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    found = layout_of(space_of(X), X[:, :2])
    assert found.distances == pytest.approx(spearmanr(pdist(X), pdist(X[:, :2]))[0], abs=1e-9)
    many = rng.normal(size=(3_000, 4))
    sampled = layout_of(space_of(many), many[:, :2], {})
    assert isinstance(sampled.distances, Estimate)
    # The same population: four deviations of 150 rows are below 0.2.
    assert abs(sampled.distances - found.distances) < 0.2


def test_a_map_of_few_places_is_not_good():
    """184 rows on six places keep their neighbours, and do not say which are near."""
    values = np.repeat(np.arange(6.0), 31)[:184, None]
    found = picture_of(values, np.hstack([values, 0 * values]), 10)
    assert found.beyond_chance > 0.9
    assert found.grade == "fair"
    assert "184 rows, 6 of them different, lie on 6 places only" in str(found)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(184, 2))
    assert picture_of(X, X, 10).grade == "good"


def test_numbers_of_several_fillings_are_means_with_their_spread():
    each = [Judgement(ORDER["no"], Picture(kept, 1_000, 10), GROUPS["one"]) for kept in (0.2, 0.4)]
    found = mean_judgement(each, filled_share=0.3)
    assert float(found.neighborhoods.kept) == pytest.approx(0.3)
    assert (found.neighborhoods.kept.low, found.neighborhoods.kept.high) == (0.2, 0.4)
    assert "30 % of the cells were filled in" in str(found)
    doubtful = mean_judgement(each, filled_share=0.9, doubt="most cells are missing")
    assert str(doubtful) == "It cannot be judged: most cells are missing."
    assert doubtful.shows_nothing


def test_filled_cells_never_show_that_a_group_is_none_of_the_data() -> None:
    torn = groups_with("group", "torn", "torn")
    one = Judgement(Layout(0.9, 0.1, (), 2), None, torn)
    both = mean_judgement([one, one], filled_share=0.15).groups
    assert [group.verdict for group in both] == ["found", "cannot tell", "cannot tell"]
    assert (both.found, both.n_torn, both.grade) == (1, 0, "some")
    assert mean_judgement([one]).groups is torn  # a complete table shows it


def test_a_gradient_in_noise_shows_order_and_no_neighbours():
    found = map_judgement(*gradient_block(np.random.default_rng(0)))
    assert found.headline.startswith("Shows overall order (column ")
    assert found.headline.endswith("along axis 1), not who is near whom.")


def test_islands_at_random_places_show_neighbours_and_no_order():
    """A line that is cut into pieces: its columns would follow smooth curves on the map."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 12, 700))
    X = np.column_stack([t, 3 * np.sin(t / 4), 3 * np.cos(t / 5)])
    place = rng.permutation(12)[np.floor(t).astype(int)]
    Y = np.column_stack([1.5 * (place % 4) + t % 1, 1.5 * (place // 4)])
    found = map_judgement(X, Y + 0.01 * rng.normal(size=Y.shape))
    assert found.layout.grade == "hardly any"
    assert found.neighborhoods.grade == "good"
    assert found.groups.found == 0
    assert found.headline.startswith("Shows who is near whom, not overall order")


def test_equidistant_groups_show_groups_alone():
    found = map_judgement(*equidistant_groups(np.random.default_rng(0)))
    assert found.headline == "Shows 8 groups of the data, not overall order nor who is near whom."
