"""What a page holds, and what it leaves out where it would be too large."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dualfold.errors import InvalidInput, PageThinned
from dualfold.view.page import Map, make_page, page_html, write_page
from dualfold.view.page_columns import packed
from dualfold.view.page_features import shared_by_neighbors

BARE = 5.2  # megabytes of a page with next to no data, mostly plotly


def data_of(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


def values_of(column):
    return np.frombuffer(base64.b64decode(column["values"]), dtype="<" + column["type"])


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
    content = packed(np.array(values))
    assert content["type"] == kind
    np.testing.assert_array_equal(values_of(content).astype(float), np.array(values, float))


def test_rounded_numbers_have_seven_digits_and_never_become_infinite():
    values = np.array([0.1, 123.456789012, np.nan])
    assert packed(values, rounded=True)["type"] == "f4"
    np.testing.assert_allclose(values_of(packed(values, rounded=True)), values, rtol=1e-7)
    assert packed(np.array([0.1, 1e300]), rounded=True)["type"] == "f8"


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
    np.testing.assert_array_equal(values_of(found[left[-1]]), X[:, 2])


def test_a_page_is_no_larger_than_asked_and_says_what_it_left_out():
    rng = np.random.default_rng(0)
    n = 2000
    groups = rng.integers(0, 4, n)
    noise = rng.normal(size=(n, 60))
    noise[:, 41] += 5 * groups  # one column that neighbours share
    points = rng.normal(size=(n, 2)) + 6 * groups[:, None]
    order = np.argsort(groups, kind="stable")
    neighbors = np.empty((n, 4), dtype=int)
    neighbors[order] = np.column_stack([np.roll(order, -step) for step in (1, 2, 3, 4)])
    given = {"columns": {"group": groups.astype(str)}, "features": noise}
    one = [Map("m", points, neighbors=neighbors)]
    everything = make_page(one, most_mb=None, **given)
    assert everything.notices == ()
    assert everything.size > 1_280_000
    page = make_page(one, most_mb=BARE + 0.2, **given)
    assert page.size <= (BARE + 0.2) * 1e6
    held = [column["name"] for column in data_of(page.html)["columns"]]
    assert held[0] == "group"
    assert "column 42" in held
    assert 5 < len(held) < 60
    (notice,) = page.notices
    assert f"of the 60 columns of the table the page has the {len(held) - 1}" in notice
    assert data_of(page.html)["notices"][0] == notice.parts[0]
    asked = make_page(one, most_mb=BARE + 0.2, color="column 7", **given)
    assert "column 7" in [column["name"] for column in data_of(asked.html)["columns"]]
    with pytest.warns(PageThinned, match="MB"):
        page_html(one, most_mb=BARE + 0.2, **given)


def test_rows_go_last_and_at_random(tmp_path):
    rng = np.random.default_rng(1)
    n = 60_000
    points = rng.normal(size=(n, 2))
    neighbors = rng.integers(0, n, size=(n, 10))
    labels = rng.integers(0, 3, n).astype(str)
    two = [Map("a", points, neighbors=neighbors), Map("b", -points, neighbors=neighbors)]
    whole = make_page(two, most_mb=None, columns={"label": labels})
    content = data_of(whole.html)
    assert content["maps"][1]["neighbors"] == {"same": 0}
    page = make_page(two, most_mb=BARE + 1.5, columns={"label": labels}, features=points)
    assert page.size <= (BARE + 1.5) * 1e6
    content = data_of(page.html)
    assert 20_000 < content["n"] < n
    assert content["total"] == n
    assert content["maps"][0]["neighbors"] is None
    kept = values_of({"type": "f8", "values": content["maps"][0]["points"]}).reshape(-1, 2)
    known = {tuple(point): label for point, label in zip(points, labels, strict=True)}
    column = content["columns"][0]
    told = [column["labels"][code] for code in values_of(column)]
    assert [known[tuple(point)] for point in kept] == told
    assert page.notices[0].startswith("the neighbours in the data are left out")
    assert f"{content['n']:,} of 60,000 rows, drawn at random" in page.notices[1]
    with pytest.raises(InvalidInput, match="without any data takes"):
        write_page(tmp_path / "p.html", two, most_mb=1.0)
    assert not (tmp_path / "p.html").exists()


def test_shared_by_neighbors_is_one_minus_gearys_c():
    rng = np.random.default_rng(2)
    values = rng.normal(size=50)
    neighbors = np.array(
        [rng.choice(np.delete(np.arange(50), i), 5, replace=False) for i in range(50)]
    )
    weights = np.zeros((50, 50))
    weights[np.arange(50)[:, None], neighbors] = 1
    steps = (values[:, None] - values[None]) ** 2
    geary = (weights * steps).sum() / weights.sum() / (2 * values.var())
    assert shared_by_neighbors(values, np.arange(50), neighbors) == pytest.approx(1 - geary)
    words = np.where(np.arange(50) < 25, "a", "b").astype(object)
    within = np.array([(i + np.arange(1, 4)) % 25 + 25 * (i >= 25) for i in range(50)])
    assert shared_by_neighbors(words, np.arange(50), within) == 1.0
    assert shared_by_neighbors(np.full(50, "a", object), np.arange(50), within) == -np.inf
