"""The page in a real browser: offline, quiet, and doing what the mouse asks."""

import csv
import io
import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image
from matplotlib.path import Path as Polygon
from scipy.spatial.distance import cdist

from dualfold.view import Map, measured_map
from tests.tools.page_contents import page_html
from tests.tools.page_window import drag, pixels_of, state, wait_for_selection
from tests.view.door import FEW_COLORS

pytest_plugins = ["tests.tools.page_fixtures"]  # tab, file_of, opened
N, K = 240, 6
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    "<img src=x onerror='window.hacked = 3'>",
    "\"quotes\" 'and' `ticks` ${window.hacked = 4}",
    "<b>bold</b><br><a href='javascript:window.hacked=5'>link</a> &amp; &lt;",
    "emoji 🧬👩‍🔬 and \u2028 separators",
    "שלום עולם \u202e right to left",
    "x" * 10_000,
    "{{script}} {{title}} %{x} $\\frac{1}{2}$",
    "<!-- <script",
    "lone \ud800 surrogate",
    "=1+1",
]


def blobs():
    """Three blobs in 5-D and two maps of them: a good one, and one that mixes neighbours."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], N // 3)
    X = rng.normal(size=(N, 5)) + 6 * np.eye(3, 5)[np.repeat(np.arange(3), N // 3)]
    return X, labels, X[:, :2] + 0.3 * X[:, 2:3], X[:, [3, 0]]


@pytest.fixture(scope="module")
def two_maps():
    X, labels, good, bad = blobs()
    maps = [
        measured_map(Map("first", good, values=[3.0, 2.0], pieces=3), X, n_neighbors=K),
        measured_map(Map("second", bad), X, n_neighbors=K, sample=100),
    ]
    columns = {"kind": labels, "height": X[:, 0]}
    names = [f"sample {i:03d}" for i in range(N)]
    pictures = np.arange(N * 6).reshape(N, 6) % 256
    return page_html(
        maps, title="Blobs", columns=columns, names=names, images=(2, 3, pictures.astype(np.uint8))
    )


def test_a_network_is_forbidden_by_the_page_itself(two_maps, tab, file_of):
    tab.goto(file_of(two_maps))
    asked = "fetch('https://example.org/').then(() => 'reached', () => 'blocked')"
    assert tab.evaluate(asked) == "blocked"
    assert tab.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        " document.body.append(s); return window.ran === undefined; }"
    )


def test_opens_from_a_file_without_a_network_and_tells_its_verdict(opened, two_maps):
    page = opened(two_maps, anew=True)
    shown = state(page)
    assert (shown["rows"], shown["shown"], shown["webgl"]) == (N, N, True)
    assert page.inner_text("#summary").startswith("240 points in 2 dimensions by first")
    cards = page.inner_text("#verdict")
    assert "Pieces" in cards
    X, _, good, _ = blobs()
    import sklearn.manifold

    assert f"{sklearn.manifold.trustworthiness(X, good, n_neighbors=K):.3f}" in cards
    assert not page.is_visible("#static")
    page.wait_for_selector("#panels figure:nth-child(4) .chart svg")
    titles = page.locator("#panels h2").all_inner_texts()
    assert titles == [
        "Spectrum: the eigenvalues",
        "Neighbours kept beyond chance (R_NX)",
        "Trustworthiness and continuity",
        "Distances before and after",
    ]
    assert "from all 240 points" in page.inner_text("#panels figure:nth-child(3)")
    page.evaluate("dualfold.show(1)")
    assert "from 100 of 240 points" in page.inner_text("#panels")


def test_lasso_selects_the_rows_inside(opened, two_maps):
    page = opened(two_maps)
    where = pixels_of(page)
    middle, reach = where[:80].mean(axis=0), 55
    angles = np.linspace(0, 2 * np.pi, 13)[:-1]
    corners = middle + reach * np.column_stack([np.cos(angles), 0.8 * np.sin(angles)])
    inside = np.flatnonzero(Polygon(corners).contains_points(where))
    sure = Polygon(middle + 1.06 * (corners - middle)).contains_points(where)
    unsure = sure & ~Polygon(middle + 0.94 * (corners - middle)).contains_points(where)
    page.click("[data-tool=lasso]")
    drag(page, corners.tolist())
    selected = wait_for_selection(page)
    assert 5 < len(inside) < 100
    assert set(selected) ^ set(inside) <= set(np.flatnonzero(unsure))
    assert page.inner_text("#selection h2") == f"{len(selected)} rows selected"
    page.focus("#frame")
    page.keyboard.press("Escape")
    assert state(page)["selected"] == []


def test_a_box_on_one_map_selects_on_the_other(opened, two_maps):
    page = opened(two_maps)
    page.click("#beside")
    page.wait_for_function("dualfold.state().shown === 480")
    where = pixels_of(page, 1)
    low, high = np.quantile(where, 0.25, axis=0), np.quantile(where, 0.6, axis=0)
    inside = np.flatnonzero(((where > low) & (where < high)).all(axis=1))
    page.click("[data-tool=select]")
    drag(page, [low.tolist(), high.tolist()])
    selected = wait_for_selection(page)
    assert len(inside) > 5
    assert set(selected) ^ set(inside) <= {
        i for i in range(N) if np.min(np.abs([where[i] - low, where[i] - high])) < 2
    }
    page.wait_for_timeout(100)
    assert state(page)["clear"] == [len(selected)] * 2


def color_at(page, point):
    """The strongest colour within two pixels."""
    x, y = point
    taken = page.screenshot(clip={"x": x - 2, "y": y - 2, "width": 5, "height": 5})
    colors = image.imread(io.BytesIO(taken))[:, :, :3].reshape(-1, 3)
    return colors[np.argmin(colors.sum(axis=1))]


def test_colours_are_those_of_the_column_and_change(opened, two_maps):
    from matplotlib.colors import to_rgb

    page = opened(two_maps)
    where = pixels_of(page)
    alone = np.argmax(np.sort(cdist(where, where), axis=1)[:, 1])
    expected = FEW_COLORS["abc".index(blobs()[1][alone])]
    assert set(state(page)["colors"]) == set(FEW_COLORS[:3])
    over_white = 0.9 * np.array(to_rgb(expected)) + 0.1
    np.testing.assert_allclose(color_at(page, where[alone]), over_white, atol=0.12)
    page.select_option("#color", "column:height")
    assert len(state(page)["colors"]) > 10
    page.select_option("#color", "score:trustworthiness")
    assert page.inner_text("#legend h2") == "trustworthiness"
    page.select_option("#color", "")
    assert state(page)["colors"] == [FEW_COLORS[0]]


def test_the_legend_filters(opened, two_maps):
    page = opened(two_maps)
    page.click("#legend button.class >> text=b")
    assert state(page)["shown"] == N - 80
    page.click("#legend >> text=Show all")
    page.dblclick("#legend button >> text=c")
    assert state(page)["shown"] == 80
    page.select_option("#color", "column:height")
    assert state(page)["shown"] == N
    X = blobs()[0]
    page.evaluate(
        "() => { const s = document.querySelector('#legend input'); s.value = 500;"
        " s.dispatchEvent(new Event('change')); }"
    )
    half = (X[:, 0].min() + X[:, 0].max()) / 2
    assert state(page)["shown"] == int((X[:, 0] >= half).sum())


def test_a_click_shows_kept_false_and_missing_neighbours(opened, two_maps):
    page = opened(two_maps)
    page.evaluate("dualfold.show(1)")
    X, _, _, bad = blobs()
    where = pixels_of(page)
    row = int(np.argmax(np.sort(cdist(where, where), axis=1)[:, 1]))
    page.mouse.move(*where[row] + 30)
    page.mouse.move(*where[row], steps=3)
    page.wait_for_selector("#tip:not([hidden])")
    assert page.inner_text("#tip strong") == f"sample {row:03d}"
    thumbnail = page.evaluate(
        "() => { const c = document.querySelector('#tip canvas'); return [c.width, c.height,"
        " ...c.getContext('2d').getImageData(0, 0, 3, 2).data.filter((_, i) => i % 4 === 0)]; }"
    )
    assert thumbnail == [3, 2, *(255 - (np.arange(6 * row, 6 * row + 6) % 256)).tolist()]
    page.mouse.click(*where[row])
    page.wait_for_function(f"dualfold.state().focus === {row}")
    nearest = [np.argsort(cdist(Z[[row]], Z)[0], kind="stable")[1 : K + 1] for Z in (X, bad)]
    before, after = (set(rows.tolist()) for rows in nearest)
    found = state(page)["neighbors"]
    assert set(found["kept"]) == before & after
    assert set(found["false"]) == after - before
    assert set(found["missing"]) == before - after
    for words in ("kept", "false", "missing"):
        assert f"{len(found[words])} {words}" in page.inner_text("#point")
    assert page.locator("#overlay line").count() == len(before | after)
    page.mouse.move(5, 5)
    page.click("#point .chip >> nth=0")
    assert state(page)["focus"] == [*found["kept"], *found["false"]][0]


def test_search_and_keys_need_no_mouse(opened, two_maps):
    page = opened(two_maps)
    page.fill("#search", "SAMPLE 017")
    page.press("#search", "Enter")
    assert state(page)["focus"] == 17
    ranges = "dualfold.spans()[0].x"
    span = f"{ranges}[1] - {ranges}[0]"
    page.focus("#frame")
    whole = page.evaluate(span)
    page.keyboard.press("+")
    page.wait_for_timeout(50)
    assert page.evaluate(span) == pytest.approx(0.8 * whole)
    page.keyboard.press("0")
    page.wait_for_timeout(50)
    assert page.evaluate(span) == pytest.approx(whole)
    page.focus("[role=tab] >> nth=0")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("dualfold.state().map === 1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "beside"


def test_the_selection_goes_out_as_csv_and_the_map_as_png(opened, two_maps, tmp_path):
    page = opened(two_maps)
    assert page.is_disabled("#csv")
    page.evaluate("dualfold.select([5, 3, 200])")
    with page.expect_download() as waiting:
        page.click("#csv")
    waiting.value.save_as(tmp_path / "rows.csv")
    rows = list(csv.DictReader((tmp_path / "rows.csv").open(newline="")))
    X, labels, good, _ = blobs()
    assert [int(row["row"]) for row in rows] == [4, 6, 201], "counted from 1"
    for row in rows:
        at = int(row["row"]) - 1
        assert (row["name"], row["kind"]) == (f"sample {at:03d}", labels[at])
        assert float(row["height"]) == X[at, 0]
        assert [float(row[f"first {axis}"]) for axis in (1, 2)] == good[at].tolist()
    with page.expect_download() as waiting:
        page.click("#png")
    waiting.value.save_as(tmp_path / "map.png")
    picture = image.imread(tmp_path / "map.png")
    assert picture.shape[1] >= 1000
    middle = picture[100:-100, 50:-50, :3]
    assert 0.001 < (np.ptp(middle, axis=2) > 0.1).mean() < 0.5  # coloured points on white


def test_hostile_labels_stay_text(opened):
    n = len(HOSTILE)
    points = np.column_stack([np.arange(n), np.arange(n) % 3]).astype(float)
    html = page_html(
        [Map(HOSTILE[0], points), Map(HOSTILE[4], points[::-1])],
        title=HOSTILE[1],
        columns={HOSTILE[2]: HOSTILE, "again": HOSTILE[::-1]},
        names=HOSTILE,
    )
    assert html.count("</script") == 2
    page = opened(html)
    assert page.evaluate("document.scripts.length") == 2
    assert page.title() == HOSTILE[1]
    where = pixels_of(page)
    for row, label in enumerate(HOSTILE):
        whole = label.split("\ud800")[0]  # what a browser shows for half a character is its own
        page.mouse.move(*where[row] + 25)
        page.mouse.move(*where[row], steps=3)
        page.wait_for_function(
            "told => document.querySelector('#tip strong')?.textContent.startsWith(told)",
            arg=whole[:79],
        )
        page.evaluate(f"dualfold.focus({row})")
        assert page.evaluate("document.querySelector('#point dd').textContent").startswith(whole)
    page.evaluate("dualfold.besides(true)")
    assert page.locator("#titles .map-name").all_text_contents() == [
        HOSTILE[0],
        HOSTILE[4][:39] + "…",
    ]
    assert page.evaluate("window.hacked") is None
    assert page.locator("#tip img, #side img, #legend a, #titles a, #overlay a").count() == 0


@pytest.mark.full
def test_points_walk_or_fade_to_another_map(opened, two_maps):
    page = opened(two_maps)
    page.evaluate("dualfold.show(1)")
    assert state(page)["change"] == "none"  # the reader asked for less motion
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate("dualfold.show(0)")
    assert state(page)["change"] == "animated"
    many = np.random.default_rng(1).normal(size=(20_001, 2))
    page = opened(page_html([Map("one", many), Map("two", -many)]))
    page.evaluate("dualfold.show(1)")
    assert state(page)["change"] == "cross-fade"
    assert page.evaluate("document.getElementById('plot').style.opacity") == ""


@pytest.mark.full
def test_a_space_is_drawn_in_3d(opened):
    points = np.random.default_rng(2).normal(size=(50, 3))
    neighbors = np.argsort(cdist(points, points), axis=1)[:, 1:5]
    page = opened(page_html([Map("space", points, neighbors=neighbors)]))
    assert page.evaluate("dualfold.spans()") == [None]
    assert state(page)["shown"] == 50
    page.evaluate("dualfold.focus(3)")
    found = state(page)["neighbors"]
    assert (len(found["kept"]), found["false"], found["missing"]) == (4, [], [])


def test_phone_and_dark(opened, two_maps, tab):
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page = opened(two_maps, anew=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) < 120
    page.click("#theme")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) > 690


@pytest.mark.full
def test_a_finger_picks_points_and_moves_the_map(two_maps, file_of, tab):
    size = {"width": 390, "height": 844}
    phone = tab.context.browser.new_context(viewport=size, has_touch=True, is_mobile=True)
    try:
        page = phone.new_page()
        page.goto(file_of(two_maps))
        page.evaluate("dualfold.ready")
        page.evaluate("document.getElementById('frame').scrollIntoView({ block: 'center' })")
        x, y = page.evaluate("dualfold.pixelOf(7)")
        page.touchscreen.tap(x, y)
        page.wait_for_function("dualfold.state().focus === 7")
        fingers = phone.new_cdp_session(page)
        for kind, places in [
            ("Start", [0]),
            *(("Move", [10 * i]) for i in range(1, 6)),
            ("End", []),
        ]:
            points = [{"x": x - moved, "y": y} for moved in places]
            fingers.send(
                "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
            )
        page.wait_for_function(f"Math.abs(dualfold.pixelOf(7)[0] - {x - 50}) < 15")
        assert state(page)["focus"] == 7  # moving the map picks no other point
    finally:
        phone.close()


def browser_seconds():
    """Processor time of all processes that this one has started, directly or not."""
    parents, spent = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        number = int(entry.parent.name)
        parents[number] = int(fields[1])
        spent[number] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    mine, added = {os.getpid()}, True
    while added:
        added = {one for one, parent in parents.items() if parent in mine} - mine
        mine |= added
    return sum(spent[number] for number in mine - {os.getpid()})


@pytest.mark.full
def test_a_hundred_thousand_points_within_five_seconds(opened):
    rng = np.random.default_rng(3)
    n = 100_000
    labels = rng.integers(0, 8, n)
    turn = labels * np.pi / 4
    points = rng.normal(size=(n, 2)) + 4 * np.column_stack([np.cos(turn), np.sin(turn)])
    html = page_html([Map("many", points)], columns={"class": [f"c{i}" for i in labels]})
    # Five seconds on two cores are at most ten of one processor, however busy the machine is.
    before, begin = browser_seconds(), time.perf_counter()
    page = opened(html)
    where = page.evaluate("dualfold.pixelOf(17)")
    page.mouse.move(where[0] + 1, where[1] + 1)
    page.wait_for_selector("#tip:not([hidden])")
    spent, took = browser_seconds() - before, time.perf_counter() - begin
    print(f"100,000 points answer the mouse after {took:.1f} s, {spent:.1f} of the processors")
    assert min(spent / 2, took) < 5
    assert state(page)["shown"] == n
    before, begin = browser_seconds(), time.perf_counter()
    page.click("#legend button >> nth=0")
    page.wait_for_function(f"dualfold.state().shown === {n - int((labels == 0).sum())}")
    assert min((browser_seconds() - before) / 2, time.perf_counter() - begin) < 2


def test_without_webgl_there_is_a_picture(two_maps, file_of, tab):
    page = tab.context.browser.new_page()
    try:
        page.add_init_script(
            "HTMLCanvasElement.prototype.getContext = (get => function (kind, ...rest) {"
            " return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest); })"
            "(HTMLCanvasElement.prototype.getContext)"
        )
        page.goto(file_of(two_maps))
        page.evaluate("dualfold.ready")
        assert not state(page)["webgl"]
        assert page.locator("#static img:visible").count() == 1
        assert page.evaluate("document.querySelector('#static img').naturalWidth") > 400
        page.wait_for_selector("#panels .chart svg")
        page.click("[role=tab] >> nth=1")
        assert page.locator("#static figcaption:visible").inner_text() == "second"
    finally:
        page.close()


# What needs no browser.


def data_of(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])
