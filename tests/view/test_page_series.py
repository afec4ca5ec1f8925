"""The page of a series in a real browser: a slider, walks, trails; nothing in data runs."""

import json
import re

import numpy as np
import pytest

from tests.view.door import MAX_POINTS, Exchange, RowMove, SeriesContent, make_series_page

pytest_plugins = ["tests.tools.page_fixtures"]  # window

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>{{data}}"
)


def series_content(n=30, evil="north", **more):
    """Three slices: id 0 walks to the right, the last id is not in the third slice."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=(n, 2))
    places = [first, first + [[3.0, 0.0]] * np.eye(n)[:, :1], first[:-1] + 0.1]
    ids = np.array([evil, *(f"C{k:02d}" for k in range(1, n))], dtype=object)
    values = {
        "title": evil,
        "names": (evil, "feb", "mar"),
        "slice_of_row": np.repeat([0, 1, 2], [n, n, n - 1]),
        "ids": np.concatenate([ids, ids, ids[:-1]]),
        "points": np.concatenate(places),
        "columns": {
            evil: np.array([evil, "b"], object)[np.arange(3 * n - 1) % 2],
            "income": np.arange(3 * n - 1.0),
        },
        "color": evil,
        "moves": (RowMove(evil, evil, "feb", 3.0, True, ("income up 2.1 spreads", evil)),),
        "exchanges": (
            Exchange(evil, "feb", (), ()),
            Exchange("feb", "mar", (), (str(ids[-1]),)),
        ),
        "verdict": f"proved {evil}",
        "weight": "mu = 1: a reason",
        "notes": (evil,),
    }
    return SeriesContent(**(values | more))


def embedded(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


@pytest.fixture
def opened(window, tmp_path):
    """Opens a page; at the end nothing may have been asked of a network or said as an error."""
    heard, tabs = [], []

    def go(html, **look):
        (tmp_path / "page.html").write_text(html, encoding="utf-8")
        tab = window.browser.new_page(**({"reduced_motion": "reduce"} | look))
        tab.on("pageerror", lambda error: heard.append(str(error)))
        tab.on("console", lambda message: heard.append(message.text))
        outside = ("file:", "data:")
        tab.on("request", lambda r: None if r.url.startswith(outside) else heard.append(r.url))
        tab.goto((tmp_path / "page.html").as_uri())
        tabs.append(tab)
        return tab

    yield go
    for tab in tabs:
        tab.close()
    assert heard == []


def state(page):
    return page.evaluate("dualfold.state()")


def test_nothing_in_the_data_runs_or_is_markup(opened):
    html = make_series_page(series_content(evil=HOSTILE)).html
    page = opened(html)
    page.fill("#search", "script")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, script").count() == 2  # the data and the page's own script
    assert page.inner_text("h1") == HOSTILE
    assert HOSTILE in page.inner_text("#moved tbody")
    policy = re.search(r'Policy" content="([^"]*)"', html)[1]
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "://" not in re.sub(r"<script type.*?</script>", "", html, flags=re.DOTALL)


def test_points_walk_between_slices_and_fade_where_they_go(opened):
    page = opened(make_series_page(series_content()).html)
    at = {t: page.evaluate(f"dualfold.goTo({t}), dualfold.pixelOf('north')") for t in (0, 0.5, 1)}
    np.testing.assert_allclose(at[0.5][0], (at[0][0] + at[1][0]) / 2, atol=1e-6)
    assert at[1][0] > at[0][0] + 20
    strengths = [
        page.evaluate(f"dualfold.goTo({t}), dualfold.pixelOf('C29')?.[2] ?? null")
        for t in (1, 1.75, 2)
    ]
    assert strengths == [1, 0.25, None]
    assert page.inner_text("#now") == "mar"
    page.evaluate("dualfold.goTo(1)")
    assert "1 go after it" in page.inner_text("#exchange")


def test_keys_move_the_slider_which_says_the_name_of_the_table(opened):
    page = opened(make_series_page(series_content()).html)
    page.focus("#time")
    page.keyboard.press("ArrowRight")
    assert state(page)["time"] == 1
    assert page.get_attribute("#time", "aria-valuetext") == "feb"
    page.focus("#frame")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")  # there is no fourth
    assert (state(page)["time"], page.inner_text("#now")) == (2, "mar")


def test_play_walks_to_the_end_and_pauses(opened):
    page = opened(make_series_page(series_content()).html, reduced_motion="no-preference")
    page.click("#play")
    page.wait_for_timeout(700)  # the page forbids the strings that waiting for more would run
    page.click("#play")
    assert 0 < state(page)["time"] <= 1
    stopped = state(page)["time"]
    page.wait_for_timeout(80)
    assert state(page) | {"time": stopped, "playing": False} == state(page)


def test_a_click_the_search_the_lasso_and_the_table_select(opened):
    page = opened(make_series_page(series_content()).html)
    page.evaluate("dualfold.goTo(1)")
    page.mouse.click(*page.evaluate("dualfold.pixelOf('north').slice(0, 2)"))
    assert state(page)["selected"] == ["north"]
    page.fill("#search", "c07")
    page.keyboard.press("Enter")
    assert state(page)["selected"] == ["C07"]
    page.click("#moved tbody button")
    assert state(page)["selected"] == ["north"]
    assert "north in north, feb, mar" in page.inner_text("#selection")
    page.click("[data-tool=lasso]")
    page.locator("#map").scroll_into_view_if_needed()
    frame = page.locator("#map").bounding_box()
    # The corners are round: a few pixels further in.
    left, top = frame["x"] + 9, frame["y"] + 9
    right, low = frame["width"] - 18, frame["height"] - 18
    corners = [(0, 0), (right, 0), (right, low), (0, low)]
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(left + x, top + y)
    page.mouse.up()
    assert len(state(page)["selected"]) == 30


def test_a_phone_has_no_sideways_scrolling(opened):
    page = opened(make_series_page(series_content()).html, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.full
def test_of_too_many_rows_those_that_moved_stay():
    n = MAX_POINTS + 500
    page = make_series_page(series_content(n, moves=(RowMove("C05", "a", "b", 1.0, True, ()),)))
    ids = embedded(page.html)["ids"]
    assert "C05" in ids
    assert len(ids) <= MAX_POINTS
    assert "rows" in page.notices[0]


def test_colours_are_those_of_the_column_in_each_slice():
    data = embedded(make_series_page(series_content()).html)
    column = data["columns"][0]
    words = dict(map(reversed, column["classes"]))
    for t, codes in enumerate(column["codes"]):
        rows = np.arange(30 * t, 30 * t + len(codes))
        shown = [words[column["palette"][code].upper()] for code in codes]
        assert shown == [("north", "b")[row % 2] for row in rows]
