"""What tests ask a page in a browser, and do to it."""

from importlib.metadata import version

import numpy as np

# plotly.js before 3.7 does not know its own selections in a list of what readers may change.
OF_SELECTIONS = "unrecognized GUI edit: selections"
OLD_PLOTLY = tuple(map(int, version("plotly").split(".")[:2])) < (6, 9)


def is_driver_chatter(line):
    """Chromium's advice about speed to whoever wrote plotly; no error of a page is like it."""
    if OLD_PLOTLY and OF_SELECTIONS in line:
        return True
    return "GPU stall due to ReadPixels" in line or "willReadFrequently" in line


def state(page):
    return page.evaluate("dualfold.state()")


def pixels_of(page, place=0):
    """Where all rows are in the window, once the map is in view."""
    page.evaluate("document.getElementById('frame').scrollIntoView({block: 'center'})")
    return np.array(
        page.evaluate("([n, p]) => [...Array(n).keys()].map(i => dualfold.pixelOf(i, p))",
                      [state(page)["rows"], place])
    )  # fmt: skip


def drag(page, corners, steps=4):
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=steps)
    page.mouse.up()


def wait_for_selection(page):
    page.wait_for_function("dualfold.state().selected.length > 0", timeout=10_000)
    return state(page)["selected"]
