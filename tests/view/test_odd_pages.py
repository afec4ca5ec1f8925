"""Pages and figures of few points, one axis, odd columns: what they hold, and what they refuse."""

from __future__ import annotations

import base64

import numpy as np
import pandas as pd
import pytest

from dualfold import PCA
from dualfold.errors import InvalidInput
from dualfold.quality import report
from dualfold.unfolding.solution import Record
from dualfold.view import Panel, biplot_figure, gallery, scree_figure
from dualfold.view.drawing import draw_behind, frames, name_axes
from dualfold.view.inline import page
from dualfold.view.page import Map, make_page
from dualfold.view.page_columns import labelled, thumbnails, values_of
from dualfold.view.page_data import content_of
from dualfold.view.page_features import Features, in_order
from dualfold.view.page_maps import measured_map
from dualfold.view.page_size import Parts, within

X = np.random.default_rng(0).normal(size=(30, 4))


def shown(*maps, columns=()):
    """What the page's script gets."""
    return content_of([*maps], 30, "t", [*columns], None, None, None, 0, 30)


def numbers(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


def test_a_map_of_one_axis_is_a_strip():
    """Its second coordinate keeps points apart and means nothing, so that it is not to scale."""
    content = shown(Map("line", X[:, 0]))["maps"][0]
    assert content["strip"]
    assert not content["equal"]
    np.testing.assert_array_equal(numbers(content["points"]).reshape(30, 2)[:, 0], X[:, 0])


def test_a_spectrum_that_is_no_number_is_not_drawn():
    maps = [Map("a", X[:, :2], values=[2.0, 1.0]), Map("b", X[:, :2], values=[np.nan, 1.0])]
    spectra = [content["spectrum"] for content in shown(*maps)["maps"]]
    assert spectra[0]["values"] == [2.0, 1.0]
    assert spectra[1] is None


def test_neighbours_of_another_map_are_its_own():
    near, far = np.tile([[1, 2]], (30, 1)), np.tile([[3, 4]], (30, 1))
    one, two, three = (Map("m", X[:, :2], neighbors=rows) for rows in (near, far, near.copy()))
    found = [content["neighbors"] for content in shown(one, two, three)["maps"]]
    assert found[1]["k"] == 2
    assert found[2] == {"same": 0}
    for wrong, said in ((near[:3], "must be n×k row numbers"), (near + 40, "from 0 to 29")):
        with pytest.raises(InvalidInput, match=said):
            shown(Map("m", X[:, :2], neighbors=wrong))


def test_a_history_is_records_or_rows():
    records = [Record(k, 1.0, 2.0 - k / 4, 0.5 - k / 8, 0.1) for k in range(3)]
    rows = [(5.0, 0.5), (4.0, 0.25)]
    maps = [Map("m", X[:, :2], history=given) for given in (records, rows)]
    found = [content["history"] for content in shown(*maps)["maps"]]
    assert found[0]["gap"] == [0.5, 0.375, 0.25]
    assert found[1]["gap"] == [0.5, 0.25]
    assert found[1]["lower"] == [5.0, 4.0]
    with pytest.raises(InvalidInput, match="rows of \\(value, relative gap\\)"):
        shown(Map("m", X[:, :2], history=[1.0, 2.0]))


def test_two_points_have_nothing_to_measure():
    found = measured_map("m", X[:2], X[:2, :2], pieces=1)
    assert found.quality is None
    assert found.pieces == 1
    np.testing.assert_array_equal(found.points, X[:2, :2])


def test_pictures_too_large_become_the_means_of_blocks():
    pixels = np.arange(3 * 20 * 20, dtype=np.uint8).reshape(3, 400) % 200
    small = thumbnails((20, 20, pixels), 3, most=3 * 150).pixels
    assert small.shape == (3, 10, 10)
    blocks = pixels.reshape(3, 10, 2, 10, 2).mean(axis=(2, 4), dtype=np.float32)
    np.testing.assert_array_equal(small, blocks.astype(np.uint8))
    assert not thumbnails((20, 20, np.full((3, 400), 0.5)), 3).pixels.any()  # all the same
    with pytest.raises(InvalidInput, match="rows of h·w = 400 pixels"):
        thumbnails((20, 20, pixels[:, :9]), 3)


def test_columns_of_pandas_own_kinds():
    np.testing.assert_array_equal(
        values_of(pd.Series([1, None, 3], dtype="Int64")), [1.0, np.nan, 3.0]
    )
    np.testing.assert_array_equal(values_of(pd.Series([1, 2], dtype="Int64")), [1.0, 2.0])
    assert values_of(np.array([True, False])).tolist() == ["True", "False"]
    assert values_of(pd.Series(["a", None])).tolist() == ["a", None]
    days = pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03"] * 10))
    (day,) = labelled({"day": days}, 30, None)
    column = day.content
    assert np.isnan(np.frombuffer(base64.b64decode(column["values"]), "<" + column["type"])).any()


def test_tables_beside_a_map_have_its_rows_and_names():
    with pytest.raises(InvalidInput, match="a table of the same 30 rows"):
        make_page([Map("m", X[:, :2])], features=X[:5])
    with pytest.raises(InvalidInput, match="4 columns and 2 names"):
        make_page([Map("m", X[:, :2])], features=(["a", "b"], X))
    assert in_order(Features(("a", "b"), lambda place: X[:, place]), None, 30) == [0, 1]


def parts_of(**more):
    points, quality = X[:, :2], report(X, X[:, :2], n_neighbors=5)
    given = Map("m", points, quality=quality, scores={"s": X[:, 3]})
    return Parts("t", [given], [], None, more.get("images"), None, 0, 30, 30)


def test_a_part_of_the_rows_has_their_quality():
    rows = np.array([2, 5, 11])
    (cut,), (whole,) = parts_of().of_rows(rows).maps, parts_of().maps
    for name, values in whole.quality.per_point.items():
        np.testing.assert_array_equal(cut.quality.per_point[name], values[rows])
    np.testing.assert_array_equal(cut.scores["s"], X[rows, 3])


def test_pictures_go_before_rows_do():
    pixels = thumbnails((20, 20, np.arange(30 * 400).reshape(30, 400) % 251), 30)
    whole, none = parts_of(images=pixels), Features((), lambda place: X[:, place])
    room = (parts_of().size + 500) / 1e6
    fitted = within(whole, none, 0, room)
    assert fitted.parts.images is None
    assert fitted.parts.n == 30
    assert "the pictures of the rows are left out" in fitted.notices[0]
    with pytest.raises(InvalidInput, match="room for none"):
        within(parts_of(), none, 0, 500 / 1e6)


def test_numbers_in_seven_digits_are_told():
    n = 2_000
    rows = np.random.default_rng(1).normal(size=(n, 2))
    parts = Parts("t", [Map("m", rows)], [], None, None, None, 0, n, n)
    features = Features(("a", "b"), lambda place: rows[:, place])
    fitted = within(parts, features, 0, (parts.size + 2 * 4 / 3 * 5 * n + 900) / 1e6)
    assert [notice.parts[0] for notice in fitted.notices] == [
        "the numbers of the table are kept to seven digits"
    ] or "seven digits" in str(fitted.notices[0])
    assert len(fitted.parts.columns) == 2


def test_a_page_of_models_needs_their_data_alone_where_they_keep_no_points():
    model = PCA(n_components=2).fit(X)
    with pytest.raises(InvalidInput, match="PCA keeps no points of its own"):
        page(model)
    by_model, by_map = page(model, X), page(Map("mine", X[:, :2]))
    assert "PCA" in by_model.html
    assert "mine" in by_map.html


# ---- figures


def test_biplots_without_arrows_or_with_other_names():
    flat = biplot_figure(X[:, :2], np.zeros((2, 2)), ["a", "b"])
    assert not flat.axes[0].texts
    with pytest.raises(InvalidInput, match=r"one for each arrow \(2\); they are 1"):
        biplot_figure(X[:, :2], np.ones((2, 2)), ["a"])


def test_one_eigenvalue_has_no_gap():
    assert not scree_figure([2.0]).axes[0].texts
    assert "widest gap, after 1" in scree_figure([2.0, 0.1, 0.05]).axes[0].texts[0].get_text()


def test_points_behind_a_strip_keep_their_place_on_it():
    _, (axes,) = frames(1, (4.0, 3.0), title="", verdict="")
    draw_behind(axes, X[:, :1])
    drawn = np.asarray(axes.collections[0].get_offsets())
    np.testing.assert_allclose(drawn[:, 0], X[:, 0])
    name_axes(axes, 3, ("one", "two", "three"))  # a plane has no third axis to name
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("one", "two")


def test_a_gallery_may_end_in_a_panel_without_points():
    figure = gallery([[Panel(X[:, :2], title="a"), Panel(title="none", image=np.eye(3))]])
    assert [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes]
    assert len(figure.axes) == 2  # and no key, which would be of the last one
