"""The page in Firefox: mouse, keyboard alone, print. What it says is tested in Chromium."""

import base64
import io
import re
import time

import numpy as np
import pytest
from matplotlib import image
from scipy.spatial.distance import cdist

from dualfold.view import Map, measured_map
from tests.tools.page_contents import page_html

pytest_plugins = ["tests.tools.firefox_window"]  # firefox
pytestmark = pytest.mark.full  # a second browser; `.ci/run` opens it
N, K = 150, 5


@pytest.fixture(scope="module")
def window(firefox, tmp_path_factory):
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(3), N // 3)
    X = rng.normal(size=(N, 4)) + 7 * np.eye(3, 4)[kind]
    maps = [
        measured_map(Map("first", X[:, :2] + 0.3 * X[:, 2:3]), X, n_neighbors=K),
        measured_map(Map("second", X[:, [3, 0]]), X, n_neighbors=K),
    ]
    columns = {"kind": [f"group {'abc'[i]}" for i in kind]}
    path = tmp_path_factory.mktemp("pages") / "page.html"
    path.write_text(page_html(maps, title="Blobs", columns=columns, features=X), encoding="utf-8")
    firefox.send("WebDriver:Navigate", url=path.as_uri())
    firefox.run("dualfold.ready")
    firefox.run("document.getElementById('frame').scrollIntoView({block: 'center'})")
    return firefox


def needs_webgl(window):
    if not window.run("dualfold.state().webgl"):
        pytest.skip("this Firefox has no WebGL (apt-get install xvfb libgl1-mesa-dri)")


def soon(window, script, wanted, seconds=10):
    """The value once it is as wanted; the last one if it never is."""
    end = time.monotonic() + seconds
    found = window.run(script)
    while not wanted(found) and time.monotonic() < end:
        time.sleep(0.1)
        found = window.run(script)
    return found


def pixels(window):
    return np.array(window.run(f"[...Array({N}).keys()].map(i => dualfold.pixelOf(i))"))


def test_it_opens_and_judges(window):
    shown = window.run("dualfold.state()")
    assert (shown["rows"], shown["maps"]) == (N, ["first", "second"])
    words = window.run("document.getElementById('verdict').innerText")
    assert "Is it a good picture?" in words
    assert window.run("document.querySelectorAll('#panels .chart svg').length") >= 3


def test_points_are_where_they_should_be_and_answer_the_mouse(window):
    needs_webgl(window)
    assert window.run("dualfold.state().shown") == N
    where = pixels(window)
    row = int(np.argmax(np.sort(cdist(where, where), axis=1)[:, 1]))
    taken = image.imread(io.BytesIO(window.screenshot()))[:, :, :3]
    x, y = np.round(where[row]).astype(int)
    assert np.ptp(taken[y - 2 : y + 3, x - 2 : x + 3], axis=2).max() > 0.3  # a colour, not paper
    window.mouse(("move", *(where[row] + 25)), ("move", *where[row]))
    assert soon(window, "!document.getElementById('tip').hidden", bool)
    window.mouse(("down",), ("up",))
    assert soon(window, "dualfold.state().focus", lambda found: found == row) == row
    assert window.run("document.querySelectorAll('#overlay .centre').length") == 1
    window.press("Escape")
    assert soon(window, "dualfold.state().focus", lambda found: found is None) is None


def test_a_lasso_selects_what_is_inside(window):
    needs_webgl(window)
    window.run("document.querySelector('[data-tool=lasso]').click()")
    where = pixels(window)
    low, high = where.min(axis=0) - 5, np.median(where, axis=0)
    corners = [low, [high[0], low[1]], high, [low[0], high[1]], [low[0], low[1] + 6]]
    window.mouse(("move", *low), ("down",), *(("move", *corner) for corner in corners), ("up",))
    selected = soon(window, "dualfold.state().selected", len)
    inside = ((where > low) & (where < high)).all(axis=1)
    unsure = np.abs(where - high).min(axis=1) < 4
    assert len(selected) > 5
    assert set(selected) ^ set(np.flatnonzero(inside)) <= set(np.flatnonzero(unsure))
    window.press("Escape", "Escape")
    assert soon(window, "dualfold.state().selected.length", lambda found: found == 0) == 0


def test_the_keyboard_alone_reaches_and_works_everything(window):
    needs_webgl(window)
    window.run("document.getElementById('frame').focus()")
    before = window.run("dualfold.spans()[0].x")
    window.press("ArrowRight", "+")
    after = soon(window, "dualfold.spans()[0].x", lambda x: x[1] - x[0] < before[1] - before[0])
    assert after[1] - after[0] == pytest.approx(0.8 * (before[1] - before[0]))
    assert sum(after) > sum(before)
    window.press("0")
    window.run("document.getElementById('search').focus()")
    window.press(*"group b", "Enter")
    assert soon(window, "dualfold.state().focus", lambda found: found == N // 3) == N // 3
    window.run("[...document.querySelectorAll('#point .links button')].at(1).focus()")
    window.press("Enter")
    assert len(soon(window, "dualfold.state().selected", len)) > K
    window.run("document.querySelector('[role=tab]').focus()")
    window.press("ArrowRight")
    assert soon(window, "dualfold.state().map", lambda found: found == 1) == 1
    window.press("Escape")
    nothing = [None, 0]
    both = "[dualfold.state().focus, dualfold.state().selected.length]"
    assert soon(window, both, lambda found: found == nothing) == nothing
    # At the end: behind the last element Tab goes on to the buttons of the browser.
    window.run("document.querySelector('.skip').focus()")
    reached = []
    for _ in range(60):
        window.press("Tab")
        at = window.run("(e => e.id || e.className || e.tagName)(document.activeElement)")
        if at == "BODY" or (reached and at == "skip"):
            break
        reached.append(at)
    assert {"theme", "beside", "color", "search", "frame", "names", "png"} <= set(reached)
    assert {"term", "class"} <= set(reached)


def test_print_is_a_few_full_pages(window):
    paper = base64.b64decode(window.send("WebDriver:Print", background=True))
    assert paper.startswith(b"%PDF")
    counts = [int(found) for found in re.findall(rb"/Count (\d+)", paper)]
    assert not counts or 1 <= max(counts) <= 4
