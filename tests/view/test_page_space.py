"""Maps in three dimensions: turned by hand and by keys, and asked like those of the plane."""

import io

import numpy as np
import pytest
from matplotlib import image
from matplotlib.path import Path as Polygon
from scipy.spatial.distance import cdist

from dualfold.view import Map
from tests.tools.page_contents import page_html
from tests.tools.page_window import drag, pixels_of, state, wait_for_selection

pytest_plugins = ["tests.tools.page_fixtures"]
N = 60
POINTS = np.random.default_rng(2).normal(size=(N, 3)) * [3, 2, 1]
COLUMNS = {"left": [-4.0, 0, 0], "right": [4.0, 0, 0]}


@pytest.fixture(scope="module")
def space():
    maps = [Map("space", POINTS), Map("plane", POINTS[:, :2])]
    return page_html(maps, columns={"kind": ["a", "b", "c"] * (N // 3)})


def turned(camera, points):
    """What a camera sees of centred points, in shares of the distance to the eye."""
    turn, tilt = camera
    s, c, t, u = np.sin(turn), np.cos(turn), np.sin(tilt), np.cos(tilt)
    seen = points @ np.array([[-s, c, 0], [-t * c, -t * s, u], [u * c, u * s, t]]).T
    return seen[:, :2] * (4 / (4 - seen[:, 2:])) * [1, -1]


def test_points_lie_where_a_camera_sees_them(opened, space):
    page = opened(space)
    where = pixels_of(page)
    low, high = POINTS.min(axis=0), POINTS.max(axis=0)
    expected = turned((0.8, 0.42), (POINTS - (low + high) / 2) / (np.ptp(POINTS, axis=0).max() / 2))
    scale = np.ptp(where, axis=0) / np.ptp(expected, axis=0)
    assert scale[0] == pytest.approx(scale[1])
    middle = where.mean(axis=0) - scale * expected.mean(axis=0)
    np.testing.assert_allclose(where, middle + scale * expected, atol=0.1)
    taken = image.imread(io.BytesIO(page.screenshot()))[:, :, :3]
    x, y = where[int(np.argmax(np.sort(cdist(where, where), axis=1)[:, 1]))].astype(int)
    assert np.ptp(taken[y - 2 : y + 3, x - 2 : x + 3], axis=2).max() > 0.3  # a colour


def test_a_drag_and_keys_turn_it_and_0_turns_it_back(opened, space):
    page = opened(space)
    before = pixels_of(page)
    box = page.locator("#frame").bounding_box()
    x, y = box["x"] + 60, box["y"] + 60
    drag(page, [[x, y], [x + 80, y + 20]], steps=4)
    after = pixels_of(page)
    assert np.abs(after - before).max() > 30
    assert state(page)["focus"] is None
    page.focus("#frame")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    assert np.abs(pixels_of(page) - after).max() > 10
    page.keyboard.press("0")
    np.testing.assert_allclose(pixels_of(page), before, atol=0.01)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(300)
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    grown = np.linalg.norm(pixels_of(page) - middle, axis=1).sum()
    assert grown > 1.1 * np.linalg.norm(before - middle, axis=1).sum()


def test_points_answer_the_mouse_and_a_lasso(opened, space):
    page = opened(space)
    where = pixels_of(page)
    row = int(np.argmax(np.sort(cdist(where, where), axis=1)[:, 1]))
    page.mouse.click(*where[row])
    page.wait_for_function(f"dualfold.state().focus === {row}")
    assert page.locator("#overlay .centre").count() == 1
    page.keyboard.press("Escape")
    page.click("[data-tool=lasso]")
    where = pixels_of(page)
    middle = np.median(where, axis=0)
    corners = np.add(middle, [[-90, -80], [90, -80], [90, 80], [-90, 80]])
    drag(page, corners.tolist())
    inside = Polygon(corners).contains_points(where)
    assert wait_for_selection(page) == np.flatnonzero(inside).tolist()
    assert 3 < inside.sum() < N
    assert state(page)["clear"] == [inside.sum()]
    page.evaluate("dualfold.besides(true)")
    assert state(page)["clear"] == [inside.sum()] * 2


def test_columns_have_their_names_and_exported_pictures_their_dots(opened):
    page = opened(page_html([Map("space", POINTS, columns=COLUMNS)]))
    assert {name["text"] for name in page.evaluate("dualfold.names()")} >= set(COLUMNS)
    x, y = page.evaluate("dualfold.pixelAt([4, 0, 0])")
    code = page.evaluate(
        "dualfold.picture().then(b => b.arrayBuffer()).then(a => [...new Uint8Array(a)])"
    )
    picture = image.imread(io.BytesIO(bytes(code)))[:, :, :3]
    red, green, blue = picture[round(2 * (40 + y)), round(2 * x)]
    assert red > green + 0.2
    assert red > blue + 0.2


def test_very_many_rows_have_coordinates_of_16_bits(opened, set_limits):
    set_limits("view.page", MOST_EXACT_ROWS=50)
    page = opened(page_html([Map("space", POINTS)]))
    lines = page.evaluate("dualfold.csv([4])").split("\r\n")
    told = [float(value) for value in lines[1].split(",")[1:]]
    np.testing.assert_allclose(told, POINTS[4], atol=np.ptp(POINTS) / 65535)
    assert state(page)["shown"] == N
