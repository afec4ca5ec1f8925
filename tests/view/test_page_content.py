"""What a page holds of its maps and columns, as its script gets it, and what it refuses."""

from __future__ import annotations

import base64

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dualfold.errors import InvalidInput
from dualfold.view import Map, PageContent, measured_map
from tests.tools.page_contents import data_of, numbers_of, page_html
from tests.view.door import (
    PageParts,
    Record,
    columns_of,
    first_color,
    packed_numbers,
    thumbnails,
    values_of,
    write_page,
)

X = np.random.default_rng(0).normal(size=(30, 4))


def shown(*maps, columns=()):
    """What the page's script gets."""
    return PageParts("t", [*maps], [*columns], None, None, None, 0, 30).content


def numbers(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


def test_a_map_of_one_axis_is_a_strip():
    """Its second coordinate keeps points apart and means nothing, so that it is not to scale."""
    content = shown(Map("line", X[:, 0]))["maps"][0]
    assert content["strip"]
    assert not content["equal"]
    np.testing.assert_array_equal(numbers(content["points"]).reshape(30, 2)[:, 0], X[:, 0])
    places, heights = content["density"]
    assert min(places) < X[:, 0].min()
    assert max(heights) == 1
    assert shown(Map("one place", np.ones(30)))["maps"][0]["density"] is None
    assert shown(Map("plane", X[:, :2]))["maps"][0]["density"] is None


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
    found = measured_map(Map("m", X[:2, :2], pieces=1), X[:2])
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
    (day,) = columns_of({"day": days}, 30, None)
    column = day.content
    assert np.isnan(np.frombuffer(base64.b64decode(column["values"]), "<" + column["type"])).any()


def test_tables_beside_a_map_have_its_rows_and_names():
    with pytest.raises(InvalidInput, match="a table of the same 30 rows"):
        page_html([Map("m", X[:, :2])], features=X[:5])
    with pytest.raises(InvalidInput, match="4 columns and 2 names"):
        page_html([Map("m", X[:, :2])], features=(["a", "b"], X))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 255], "u1"),
        ([-1, 300], "i2"),
        ([0, 70_000], "i4"),
        ([0.5, 1024.25, np.nan], "f4"),
        ([0.1, 2.0], "f8"),
        ([2.0**40, 1.0], "f4"),
        ([float(2**24 + 1), 0.5], "f8"),
        ([1e300, 1.0], "f8"),
        ([np.inf, 1.0], "f4"),
    ],
)
def test_numbers_take_the_smallest_type_that_holds_them(values, kind):
    content = packed_numbers(np.array(values))
    assert content["type"] == kind
    np.testing.assert_array_equal(numbers_of(content).astype(float), np.array(values, float))


def test_rounded_numbers_have_seven_digits_and_never_become_infinite():
    values = np.array([0.1, 123.456789012, np.nan])
    assert packed_numbers(values, rounded=True)["type"] == "f4"
    np.testing.assert_allclose(numbers_of(packed_numbers(values, rounded=True)), values, rtol=1e-7)
    assert packed_numbers(np.array([0.1, 1e300]), rounded=True)["type"] == "f8"


@pytest.mark.parametrize("kind", ["frame", "mapping", "matrix", "names and matrix", "sparse"])
def test_a_table_in_any_form_gives_its_columns(kind):
    X = np.arange(12.0).reshape(4, 3) / 7
    names = ["a", "b", "c"]
    given = {
        "frame": pd.DataFrame(X, columns=names),
        "mapping": dict(zip(names, X.T, strict=True)),
        "matrix": X,
        "names and matrix": (names, X),
        "sparse": (names, sparse.csr_array(X)),
    }[kind]
    columns = {"label": list("wxyz"), "b": X[:, 1]}
    html = page_html([Map("m", X[:, :2])], columns=columns, features=given)
    found = {column["name"]: column for column in data_of(html)["columns"]}
    left = ["column 1", "column 2", "column 3"] if kind == "matrix" else ["a", "c"]
    assert [name for name, column in found.items() if column["group"] == "feature"] == left
    np.testing.assert_array_equal(numbers_of(found[left[-1]]), X[:, 2])


def test_a_column_that_names_each_row_is_not_the_first_colour():
    names, groups, size = [f"C{row}" for row in range(30)], ["a", "b"] * 15, np.arange(30.0)
    for given, expected in (
        ({"customer": names, "size": size, "group": groups}, "group"),
        ({"customer": names, "size": size}, "size"),
        ({"size": size, "group": groups}, "size"),
        ({"customer": names}, None),
        ({"customer": names, "all": ["x"] * 30}, None),
        ({"all": ["x"] * 30, "size": size}, "size"),
        ({}, None),
    ):
        assert first_color(columns_of(given, 30), 30) == expected


def test_the_data_are_in_the_page_as_they_were():
    points = np.random.default_rng(4).normal(size=(30, 2))
    labels = [None if i % 7 == 0 else f"k{i % 25}" for i in range(30)]
    data = data_of(page_html([Map("m", points)], columns={"label": labels}))
    raw = np.frombuffer(base64.b64decode(data["maps"][0]["points"]))
    np.testing.assert_array_equal(raw.reshape(30, 2), points)
    column = data["columns"][0]
    codes = np.frombuffer(base64.b64decode(column["values"]), dtype=column["type"])
    assert [column["labels"][code] or None for code in codes] == labels
    for label, slot in zip(column["labels"], column["slots"], strict=True):
        shown = column["legend"][slot][0]
        assert shown == label or shown.endswith("others") or (shown == "missing" and not label)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"maps": []}, "at least one map"),
        ({"maps": [Map("m", np.zeros((0, 2)))]}, "rows of coordinates"),
        ({"maps": [Map("m", np.zeros((3, 2))), Map("k", np.zeros((4, 2)))]}, "same rows"),
        ({"maps": [Map("m", [[np.nan, 0.0]])]}, "NaN"),
        ({"columns": {"a": [1, 2]}}, "one value for each row"),
        ({"columns": [1, 2, 3]}, "DataFrame or a mapping"),
        ({"names": ["a"]}, "names must be one for each row"),
        ({"images": (2, 2, np.zeros((3, 5)))}, "pixels"),
        ({"color": "absent"}, "no column 'absent'"),
        ({"maps": [Map("m", np.zeros((3, 2)), neighbors=[[0], [1], [3]])]}, "from 0 to 2"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_words(change, words):
    given = {"maps": [Map("m", np.zeros((3, 2)))]} | change
    with pytest.raises(InvalidInput, match=words):
        page_html(**given)


def test_a_page_is_not_overwritten_unasked(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    with pytest.raises(InvalidInput, match="exists already"):
        write_page(path, PageContent([Map("m", np.zeros((3, 2)))]))
    assert path.read_text() == "mine"
