"""What tests ask a page in a browser, and do to it."""

import os
from pathlib import Path

import numpy as np
import pytest


def is_driver_chatter(line):
    """Chromium's advice about the speed of pictures that tests take; no error of a page."""
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


def drag(page, corners, steps=1):
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=steps)
    page.mouse.up()


def wait_for_selection(page):
    page.wait_for_function("dualfold.state().selected.length > 0", timeout=10_000)
    return state(page)["selected"]


def page_with_axe(browser, address):
    """A page in a window of its own, with axe-core beside it; skips where there is none."""
    script = os.environ.get("DUALFOLD_AXE")
    if not script or not Path(script).exists():
        pytest.skip("DUALFOLD_AXE does not name axe.min.js (npm install axe-core)")
    page = browser.new_context(bypass_csp=True, reduced_motion="reduce").new_page()
    page.goto(address)
    page.evaluate("dualfold.ready")
    page.wait_for_selector("#panels .chart svg >> nth=2")
    page.add_script_tag(path=script)
    return page


def serious_faults(page):
    """What axe-core calls serious or critical."""
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")]
