"""What axes and groups mean stands on the page, beside the dots and never on them."""

import numpy as np
import pandas as pd
import pytest

from dualfold import view
from dualfold.judging import Judgement
from dualfold.view import Map, named_groups
from tests.judging.door import map_meaning
from tests.tools.page_contents import data_of, page_html
from tests.tools.page_window import pixels_of, state

pytest_plugins = ["tests.tools.page_fixtures"]  # tab, file_of, opened
N = 300
MARKUP = "<b>mass</b>"


def table():
    """Three clouds; a column along each axis, a class, noise."""
    rng = np.random.default_rng(0)
    code = np.repeat([0, 1, 2], [120, 100, 80])
    Y = np.array([[0.0, 0], [12, 1], [5, 9]])[code] + rng.normal(size=(N, 2))
    columns = {
        "kind": np.array(["oak", "elm", "ash"])[code],
        MARKUP: np.exp(Y[:, 0] / 4),
        "depth": np.round(-Y[:, 1], 1),
        "noise": rng.normal(size=N),
    }
    return Y, code, columns


@pytest.fixture(scope="module")
def forest():
    Y, _, columns = table()
    X = np.where((np.arange(N) >= 220)[:, None], Y[120:200].mean(axis=0), Y)  # ash lies in elm
    X = X + np.random.default_rng(1).normal(size=(N, 2))
    groups = named_groups(Y, X, columns=columns)
    judged = Judgement(meaning=map_meaning(columns, Y), groups=groups)
    shown = Map("map", Y, explained=[0.6, 0.3], judgement=judged)
    height = np.where(np.arange(N) % 7 == 0, np.nan, np.arange(N))
    return page_html(
        [shown],
        columns=columns,
        features={"height": height},
        filled={"height": np.arange(0, N, 7) + 0.5},
        color="kind",
        color_reason="the map separates it best",
    )


def test_a_gap_shows_what_was_filled_in_for_the_map(opened, forest):
    page = opened(forest)
    for row, shown in ((35, "– (filled in: 35.5)"), (36, "36")):
        page.evaluate("row => dualfold.focus(row)", row)
        cells = page.locator("#point tbody tr", has_text="height").locator("td").first
        assert cells.inner_text() == shown


def boxes(page, selector):
    """Text and edges of the parts of the drawing, in pixels of the window."""
    return page.evaluate(
        "s => [...document.querySelectorAll(s)].map(t => { const b = t.getBoundingClientRect();"
        " return [t.textContent, b.left, b.top, b.right, b.bottom]; })",
        selector,
    )


def covered(box, dots):
    _, left, top, right, bottom = box
    return ((dots > [left, top]) & (dots < [right, bottom])).all(axis=1).sum()


def test_axes_name_the_columns_that_they_follow(opened, forest):
    page = opened(forest)
    dots = pixels_of(page)
    first, second = boxes(page, "#overlay .axis")
    assert first[0].startswith(f"axis 1: {MARKUP}")
    assert first[0].endswith("→ (60 % of the variance)")
    assert "depth ←" in second[0]
    assert "noise" not in first[0] + second[0]
    assert not covered(first, dots)
    assert not covered(second, dots)
    assert f"Axis 1: {MARKUP}" in page.inner_text("#words")


def test_names_of_groups_cover_no_dots_and_no_name(opened, forest):
    page = opened(forest)
    for zoomed in (False, True):
        if zoomed:
            page.focus("#frame")
            page.keyboard.press("+")
        dots = pixels_of(page)
        names = boxes(page, "#overlay .name")
        assert names or zoomed
        for at, one in enumerate(names):
            assert not covered(one, dots)
            for other in names[:at]:
                beside = one[1] > other[3] or other[1] > one[3]
                assert beside or one[2] > other[4] or other[2] > one[4]
        if not zoomed:
            listed = page.locator("#groups li strong").all_text_contents()
            assert {name[0][0] for name in names} == {title[0] for title in listed}
            assert any(name[0].endswith(": not found") for name in names)


def test_groups_are_listed_with_what_differs_and_a_click_selects_them(opened, forest):
    page = opened(forest)
    _, code, _ = table()
    lines = page.locator("#groups li").all_text_contents()
    assert len(lines) == 3
    assert page.inner_text("#groups summary") == "2 groups are not found in the data"
    assert "kind = oak 100 % (0 % elsewhere)" in lines[0]
    assert "found in the data" in lines[0]
    for line in lines[1:]:
        assert "not found in the data" in line
        assert "kind" not in line
    page.click("#groups li >> nth=0 >> button")
    assert state(page)["selected"] == np.flatnonzero(code == 0).tolist()
    page.evaluate("dualfold.focus(3)")
    assert "Group A: oak" in page.inner_text("#point")


def test_arrows_come_on_demand_and_point_to_high_values_beside_the_dots(opened, forest):
    page = opened(forest)
    assert page.locator("#overlay .arrow").count() == 0
    page.click("#arrows")
    page.wait_for_selector("#overlay .arrow")
    dots = pixels_of(page)
    arrows = page.evaluate(
        "[...document.querySelectorAll('#overlay .arrow')].map(l => ['x1', 'y1', 'x2', 'y2']"
        ".map(end => +l.getAttribute(end)))"
    )
    names = [box[0] for box in boxes(page, "#overlay .arrow-name")]
    along = dict(zip(names, arrows, strict=True))
    assert along[MARKUP][2] > along[MARKUP][0] + 40  # to the right
    assert along["depth"][3] > along["depth"][1] + 20  # down
    assert "noise" not in along
    for box in (*boxes(page, "#overlay .arrow"), *boxes(page, "#overlay .arrow-name")):
        assert not covered(box, dots)
    page.click("#arrows")
    assert page.locator("#overlay .arrow").count() == 0


def test_the_legend_says_why_it_begins_with_a_column(opened, forest):
    page = opened(forest)
    assert "The map separates it best" in page.inner_text("#legend")
    page.evaluate("dualfold.colorBy('column:noise')")
    assert "separates" not in page.inner_text("#legend")


def test_the_best_column_is_what_neighbours_share_and_never_all_different():
    Y, _, columns = table()
    given = columns | {"name": np.array([f"tree {i}" for i in range(N)], dtype=object)}
    assert map_meaning(given, Y).best_column == "kind"
    only = {"along": Y[:, 0], "number": np.arange(N), "noise": np.round(columns["noise"], 1)}
    assert map_meaning(only, Y).best_column is None, "what follows the map is different everywhere"
    assert map_meaning({"along": np.round(Y[:, 0])}, Y).best_column == "along"


def test_a_page_of_a_data_frame_in_python_says_the_same():
    Y, _, columns = table()
    frame = pd.DataFrame({**columns, "far": Y[:, 0] + 2 * Y[:, 1]})
    data = data_of(view.page(Y, frame).html)
    (shown,) = data["maps"]
    assert "depth" in shown["meaning"]["axes"][1]
    assert shown["verdict"]["headline"].startswith("Shows")
    assert (data["color"], "separates" in data["color_reason"]) == ("kind", True)
