"""What a page leaves out where it would be too large: columns, neighbours, pictures, rows."""

import numpy as np
import pytest

from dualfold.errors import InvalidInput, PageThinned
from dualfold.quality import report
from dualfold.view import Map, PageContent, make_page
from tests.tools.page_contents import data_of, numbers_of
from tests.view.door import (
    Features,
    PageParts,
    fit_to_size,
    shared_by_neighbors,
    thumbnails,
    write_page,
)

X = np.random.default_rng(0).normal(size=(30, 4))
BARE = 0.5  # megabytes of a page with next to no data


def test_a_page_is_no_larger_than_asked_and_says_what_it_left_out(tmp_path):
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
    everything = make_page(PageContent(one, most_mb=None, **given))
    assert everything.notices == ()
    assert everything.size > 1_280_000
    page = make_page(PageContent(one, most_mb=BARE + 0.2, **given))
    assert page.size <= (BARE + 0.2) * 1e6
    held = [column["name"] for column in data_of(page.html)["columns"]]
    assert held[0] == "group"
    assert "column 42" in held
    assert 5 < len(held) < 60
    (notice,) = page.notices
    assert f"of the 60 columns of the table the page has the {len(held) - 1}" in notice
    assert data_of(page.html)["notices"][0] == notice.parts[0]
    asked = make_page(PageContent(one, most_mb=BARE + 0.2, color="column 7", **given))
    assert "column 7" in [column["name"] for column in data_of(asked.html)["columns"]]
    with pytest.warns(PageThinned, match="MB"):
        write_page(tmp_path / "p.html", PageContent(one, most_mb=BARE + 0.2, **given))
    assert (tmp_path / "p.html").read_text() == page.html


def test_rows_go_last_and_at_random(tmp_path):
    rng = np.random.default_rng(1)
    n = 60_000
    points = rng.normal(size=(n, 2))
    neighbors = rng.integers(0, n, size=(n, 10))
    labels = rng.integers(0, 3, n).astype(str)
    two = [Map("a", points, neighbors=neighbors), Map("b", -points, neighbors=neighbors)]
    whole = make_page(PageContent(two, most_mb=None, columns={"label": labels}))
    content = data_of(whole.html)
    assert content["maps"][1]["neighbors"] == {"same": 0}
    given = {"columns": {"label": labels}, "features": points}
    page = make_page(PageContent(two, most_mb=BARE + 1.5, **given))
    assert page.size <= (BARE + 1.5) * 1e6
    content = data_of(page.html)
    assert 20_000 < content["n"] < n
    assert content["total"] == n
    assert content["maps"][0]["neighbors"] is None
    kept = numbers_of({"type": "f8", "values": content["maps"][0]["points"]}).reshape(-1, 2)
    known = {tuple(point): label for point, label in zip(points, labels, strict=True)}
    column = content["columns"][0]
    told = [column["labels"][code] for code in numbers_of(column)]
    assert [known[tuple(point)] for point in kept] == told
    assert (kept == points[numbers_of(content["rows"]) - 1]).all(), "rows are counted from 1"
    assert page.notices[0].startswith("the neighbours in the data are left out")
    assert f"{content['n']:,} of 60,000 rows, drawn at random" in page.notices[1]
    with pytest.raises(InvalidInput, match="without any data takes"):
        write_page(tmp_path / "p.html", PageContent(two, most_mb=0.1))
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


def parts_of(**more):
    points, quality = X[:, :2], report(X, X[:, :2], n_neighbors=5)
    given = Map("m", points, quality=quality, scores={"s": X[:, 3]})
    return PageParts("t", [given], [], None, more.get("images"), None, 0, 30)


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
    parts, notices = fit_to_size(whole, none, 0, room)
    assert parts.images is None
    assert parts.n == 30
    assert "the pictures of the rows are left out" in notices[0]
    with pytest.raises(InvalidInput, match="room for none"):
        fit_to_size(parts_of(), none, 0, 500 / 1e6)


def test_numbers_in_seven_digits_are_told():
    n = 2_000
    rows = np.random.default_rng(1).normal(size=(n, 2))
    parts = PageParts("t", [Map("m", rows)], [], None, None, None, 0, n)
    features = Features(("a", "b"), lambda place: rows[:, place])
    room = (parts.size + 2 * 4 / 3 * 5 * n + 900) / 1e6
    parts, (notice,) = fit_to_size(parts, features, 0, room)
    assert notice.startswith("the numbers of the table are kept to seven digits")
    assert len(parts.columns) == 2


def test_without_neighbours_the_first_columns_stay():
    rows = np.random.default_rng(1).normal(size=(2_000, 3))
    parts = PageParts("t", [Map("m", rows[:, :2])], [], None, None, None, 0, 2_000)
    features = Features(("a", "b", "c"), lambda place: rows[:, place])
    parts, (notice,) = fit_to_size(parts, features, 0, (parts.size + 30_000) / 1e6)
    assert [column.name for column in parts.columns] == ["a", "b"]
    assert notice.startswith("of the 3 columns of the table the page has the 2 that come first")
