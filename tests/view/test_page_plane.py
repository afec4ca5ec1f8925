"""Maps of the plane as the page draws them: sharp, dense where data are dense, moved by hand."""

import io

import numpy as np
import pytest
from matplotlib import image
from matplotlib.path import Path as Polygon

from dualfold.view import Map, measured_map
from tests.tools.page_contents import page_html
from tests.tools.page_window import drag, pixels_of, state, wait_for_selection

pytest_plugins = ["tests.tools.page_fixtures"]
RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(6000, 2))


@pytest.fixture(scope="module")
def cloud():
    return page_html([Map("cloud", CLOUD), Map("turned", CLOUD[:, ::-1])])


def taken_of(page):
    return image.imread(io.BytesIO(page.screenshot()))[:, :, :3]


def test_a_page_of_five_hundred_rows_takes_less_than_half_a_megabyte():
    X = RNG.normal(size=(500, 6))
    html = page_html([measured_map(Map("m", X[:, :2]), X)], features=X)
    assert len(html) < 500_000


def test_places_are_sharp_where_the_map_is_magnified_a_million_times(opened):
    turns = np.arange(11) * 2 * np.pi / 11
    ring = [0.3, 0.7] + 1e-6 * np.column_stack([np.cos(turns), np.sin(turns)])
    page = opened(page_html([Map("m", np.vstack([ring, [[0, 0], [1, 1]]]))]))
    page.evaluate("dualfold.focus(0)")
    page.click("#point .links >> text=Zoom to them")
    page.evaluate("dualfold.focus(null)")
    where = pixels_of(page)[:11]
    assert np.ptp(where, axis=0).min() > 150
    taken = taken_of(page)
    for at in where:
        x, y = np.floor(at).astype(int) - 8
        inked = np.argwhere(np.ptp(taken[y : y + 16, x : x + 16], axis=2) > 0.3)
        middle = np.add(inked.mean(axis=0)[::-1], [x + 0.5, y + 0.5])  # of pixels
        np.testing.assert_allclose(middle, at, atol=1)


def test_four_times_as_many_points_are_darker_and_one_alone_is_seen(opened):
    counts, corners = (60_000, 15_000), ([0, 0], [6, 0])
    squares = [RNG.uniform(size=(n, 2)) + at for n, at in zip(counts, corners, strict=True)]
    alone = [[3.5, 2.5]]
    page = opened(page_html([Map("m", np.vstack([*squares, alone]))]))
    page.click("#contours")
    taken = 1 - taken_of(page).mean(axis=2)

    def ink(units):
        box = page.evaluate(
            "units => units.map(at => dualfold.pixelAt(at)).map(at => { const b ="
            " document.getElementById('plot').getBoundingClientRect();"
            " return [at[0] + b.left, at[1] + b.top]; })",
            units,
        )
        (left, bottom), (right, top) = np.round(box).astype(int)
        return taken[top:bottom, left:right]

    dense, thin = (ink([[x + 0.2, 0.2], [x + 0.8, 0.8]]).mean() for x in (0, 6))
    assert dense > 1.2 * thin > 0.1
    assert ink([[3.45, 2.45], [3.55, 2.55]]).max() > 0.25


def test_a_lasso_with_a_dent_selects_what_is_inside_of_it(opened, cloud):
    page = opened(cloud)
    where = pixels_of(page)
    dented = [[-80, -90], [90, -70], [10, 0], [95, 80], [-85, 70], [-20, 5]]
    corners = np.add(where.mean(axis=0), dented)
    page.click("[data-tool=lasso]")
    drag(page, corners.tolist())
    selected = np.zeros(len(where), dtype=bool)
    selected[wait_for_selection(page)] = True
    outline = Polygon(corners)
    sure = outline.contains_points(where, radius=-1.5) & outline.contains_points(where, radius=1.5)
    out = ~outline.contains_points(where, radius=-1.5) & ~outline.contains_points(where, radius=1.5)
    assert selected[sure].all()
    assert not selected[out].any()
    assert sure.sum() > 500
    page.mouse.dblclick(*corners[0])
    page.wait_for_function("dualfold.state().selected.length === 0")


def test_what_lies_over_the_map_moves_with_it(opened, cloud):
    page = opened(cloud)
    page.evaluate("document.getElementById('frame').scrollIntoView({block: 'center'})")
    contour = "document.querySelector('#overlay .contour')"
    box = f"(b => [b.left, b.top])({contour}.getBoundingClientRect())"
    before, (x, y) = np.array(page.evaluate(box)), page.evaluate("dualfold.pixelOf(7)")
    page.mouse.move(500, 400)
    page.mouse.down()
    page.mouse.move(540, 370, steps=4)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    np.testing.assert_allclose(page.evaluate(box), np.add(before, [40, -30]), atol=1)
    page.mouse.up()
    page.wait_for_timeout(500)  # all of it is drawn anew
    np.testing.assert_allclose(page.evaluate(box), np.add(before, [40, -30]), atol=1)
    np.testing.assert_allclose(page.evaluate("dualfold.pixelOf(7)"), [x + 40, y - 30], atol=1)


def test_the_wheel_magnifies_around_the_pointer(opened, cloud):
    page = opened(cloud)
    before = pixels_of(page)
    page.mouse.move(*before[11])
    page.mouse.wheel(0, -120)
    page.wait_for_timeout(300)
    after = pixels_of(page)
    np.testing.assert_allclose(after[11], before[11], atol=0.5)
    factor = np.linalg.norm(after[5] - after[11]) / np.linalg.norm(before[5] - before[11])
    assert factor > 1.1


def test_charts_tell_the_value_under_the_pointer(opened):
    X = RNG.normal(size=(120, 4))
    page = opened(page_html([measured_map(Map("m", X[:, :2], values=[2.0, 1.0]), X)]))
    page.wait_for_selector("#panels .chart svg >> nth=3")
    page.locator("#panels .chart circle >> nth=0").hover()
    assert page.locator("#panels .chart >> nth=0").locator("g text").text_content() == "2"
    assert page.locator("#panels .chart >> nth=2").locator("svg > text").count() > 5


@pytest.mark.full
def test_two_fingers_magnify(cloud, file_of, tab):
    size = {"width": 390, "height": 844}
    phone = tab.context.browser.new_context(viewport=size, has_touch=True, is_mobile=True)
    try:
        page = phone.new_page()
        page.goto(file_of(cloud))
        page.evaluate("dualfold.ready")
        page.evaluate("document.getElementById('frame').scrollIntoView({ block: 'center' })")
        box = page.locator("#frame").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before = page.evaluate("dualfold.spans()[0].x")
        touch = phone.new_cdp_session(page)
        for kind, apart in [("Start", 30), ("Move", 40), ("Move", 50), ("Move", 60), ("End", None)]:
            places = [] if apart is None else [{"x": x - apart, "y": y}, {"x": x + apart, "y": y}]
            send = {"type": f"touch{kind}", "touchPoints": places}
            touch.send("Input.dispatchTouchEvent", send)
        page.wait_for_timeout(500)
        after = page.evaluate("dualfold.spans()[0].x")
        assert after[1] - after[0] == pytest.approx((before[1] - before[0]) / 2, rel=0.4)
        assert state(page)["focus"] is None
    finally:
        phone.close()


def test_points_come_back_after_the_graphics_card_was_taken_away(opened, cloud):
    page = opened(cloud)
    ink = (
        "(c => { const d = document.createElement('canvas');"
        " [d.width, d.height] = [c.width, c.height];"
        " const x = d.getContext('2d'); x.drawImage(c, 0, 0); return x.getImageData(0, 0, d.width,"
        " d.height).data.filter((v, i) => i % 4 === 3 && v > 20).length; })"
        "(document.querySelector('#plot canvas'))"
    )
    before = page.evaluate(ink)
    page.evaluate(
        "window.card = document.querySelector('#plot canvas').getContext('webgl')"
        ".getExtension('WEBGL_lose_context'); card.loseContext()"
    )
    page.evaluate("dualfold.focus(3)")  # asks for a drawing meanwhile
    page.evaluate("dualfold.focus(null)")
    page.evaluate("card.restoreContext()")
    page.wait_for_timeout(300)
    assert page.evaluate(ink) == before > 1000
