"""The page of very many rows: our own canvas, with the promises of the other page."""

import base64
import io

import numpy as np
import pytest
from matplotlib import image
from matplotlib.path import Path as Polygon

from dualfold.view import Map, measured_map
from tests.tools.page_contents import data_of, page_html
from tests.tools.page_window import drag, pixels_of, state, wait_for_selection

pytest_plugins = ["tests.tools.page_fixtures"]
N = 300
POINTS = np.random.default_rng(0).normal(size=(N, 2))
HOSTILE = "</script><script>window.hacked = 1</script>"


@pytest.fixture
def html(set_limits):
    set_limits("view.page", MOST_EXACT_ROWS=200)
    labels = np.array(["a", "b", HOSTILE])[np.arange(N) % 3]
    return page_html([Map("m", POINTS)], columns={"kind": labels}, title=HOSTILE)


def test_coordinates_are_within_half_a_step_and_plotly_is_not_there(html):
    (shown,) = data_of(html)["maps"]
    steps = np.frombuffer(base64.b64decode(shown["points"]), dtype="<u2").reshape(-1, 2)
    low, high = map(np.array, shown["box"])
    given = low + steps / 65535 * (high - low)
    assert (np.abs(given - POINTS) <= 0.501 * (high - low) / 65535).all()
    assert len(html) < 1e6
    assert "unsafe-eval" not in html


def test_lasso_click_legend_and_search(opened, html):
    page = opened(html)
    assert state(page)["webgl"]
    where = pixels_of(page)
    middle = where.mean(axis=0)
    corners = middle + np.array([[-60, -50], [60, -50], [60, 50], [-60, 50]])
    sure = Polygon(middle + 0.97 * (corners - middle)).contains_points(where)
    most = Polygon(middle + 1.03 * (corners - middle)).contains_points(where)
    page.click("[data-tool=lasso]")
    drag(page, corners.tolist())
    selected = set(wait_for_selection(page))
    assert set(np.flatnonzero(sure)) <= selected <= set(np.flatnonzero(most))
    page.evaluate("dualfold.select(null)")
    page.click("[data-tool=pan]")
    page.click("#legend button.class >> text=b")
    assert state(page)["shown"] == N - N // 3
    page.fill("#search", "row 18")
    page.press("#search", "Enter")
    assert state(page)["focus"] == 17
    assert page.evaluate("window.hacked") is None


def test_units_and_pixels_are_each_others_inverse_and_moves_are_told(opened, html):
    page = opened(html)
    page.evaluate("document.getElementById('frame').addEventListener('viewchange', "
                  "() => { window.told = (window.told || 0) + 1; })")  # fmt: skip
    page.focus("#frame")
    page.keyboard.press("+")
    assert page.evaluate("window.told") >= 1
    back = page.evaluate("dualfold.unitsAt(dualfold.pixelAt([0.25, -0.5]))")
    assert back == pytest.approx([0.25, -0.5])


def test_charts_side_by_side_csv_and_png_are_there_too(opened, set_limits):
    set_limits("view.page", MOST_EXACT_ROWS=200)
    X = np.column_stack([POINTS, POINTS[:, 0]])
    maps = [
        measured_map(Map(name, points), X)
        for name, points in zip("ab", (POINTS, -POINTS), strict=True)
    ]
    page = opened(page_html(maps, columns={"number": X[:, 0]}))
    page.wait_for_selector("#panels .chart svg >> nth=2")
    page.evaluate("dualfold.besides(true)")
    assert state(page)["shown"] == 2 * N
    assert page.locator("#titles .title").count() == 2
    lines = page.evaluate("dualfold.csv([4])").split("\r\n")
    told = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    step = np.ptp(POINTS, axis=0) / 65535
    assert np.abs([float(told["a 1"]), float(told["a 2"])] - POINTS[4]).max() < step.max()
    assert float(told["number"]) == X[4, 0]
    code = page.evaluate(
        "dualfold.picture().then(b => b.arrayBuffer()).then(a => [...new Uint8Array(a)])"
    )
    picture = image.imread(io.BytesIO(bytes(code)))[:, :, :3]
    assert (np.ptp(picture, axis=2) > 0.2).mean() > 0.002
    page.evaluate("dualfold.besides(false)")
