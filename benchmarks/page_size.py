"""The page at 10⁴, 10⁵ and 10⁶ points: bytes, seconds until the first picture, time of a frame.

    python -m benchmarks.page_size                       # lines of JSON
    python -m benchmarks.page_size --rows 10000 --shots pictures/

Chromium without a graphics card (software WebGL), so that figures of two machines compare by their
processors alone. Script time is what the browser itself counts, divided by the frames drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.view import Map, PageContent, make_page
from tests.tools.page_fixtures import SOFTWARE_GL, the_browser

CLASSES = 12
WINDOW = {"width": 1280, "height": 860}
# Before the page's own script: the moment of the first picture, calls to the graphics card.
LISTENER = """
window.calls = 0;
for (const kind of [window.WebGLRenderingContext, window.WebGL2RenderingContext]) {
  const draw = kind && kind.prototype.drawArrays;
  if (!draw) continue;
  kind.prototype.drawArrays = function (...how) { window.calls++; draw.apply(this, how); };
}
window.finished = () => { // waits until the pixels are there
  for (const canvas of document.querySelectorAll('#plot canvas')) {
    const gl = canvas.getContext('webgl') || canvas.getContext('webgl2');
    if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
};
document.addEventListener('DOMContentLoaded', () => dualfold.ready.then(() => {
  window.drawnBy = performance.now();
  finished();
  window.firstPicture = performance.now();
}));
"""
FRAMES = """window.framesSeen = 0; window.watching = true;
(function count() { window.framesSeen++; if (window.watching) requestAnimationFrame(count); })();"""
SEARCH = """const field = document.getElementById('search'); field.value = 'row 77';
field.dispatchEvent(new Event('input')); document.getElementById('found').hidden = true;"""
# In a task of the page's own: only those are counted as script.
FOCUS = "new Promise(done => setTimeout(() => dualfold.focus(17).then(done)))"


def mixture(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Points of a mixture of bent groups of different sizes, and their groups."""
    rng = np.random.default_rng(seed)
    sizes = rng.dirichlet(np.full(CLASSES, 2.0))
    middles = rng.uniform(-8, 8, size=(CLASSES, 2))
    angles = rng.uniform(0, np.pi, CLASSES)
    groups = rng.choice(CLASSES, size=n, p=sizes)
    turns = angles[groups]
    along, across = rng.normal(size=n) * 1.8, rng.normal(size=n) * 0.35
    across += 0.25 * along**2
    bent = np.column_stack(
        [along * np.cos(turns) - across * np.sin(turns),
         along * np.sin(turns) + across * np.cos(turns)]
    )  # fmt: skip
    return middles[groups] + bent, groups


def page_of(n: int, *, with_columns: bool) -> Any:
    """The page of a mixture, with a category and a number or without columns."""
    points, groups = mixture(n)
    columns = None
    if with_columns:
        number = points[:, 0].astype(np.float32) + np.random.default_rng(1).normal(size=n)
        names = np.array([f"group {letter}" for letter in "ABCDEFGHIJKL"])
        columns = {"group": names[groups], "value": number.astype(np.float32)}
    maps = [Map("mixture", points)]
    return make_page(PageContent(maps, columns=columns, title=f"{n:,} points"))


def script_seconds(tab: Any) -> Any:
    """A function that returns the processor time of the page's scripts until now."""
    metrics = tab.context.new_cdp_session(tab)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds() -> float:
        found = metrics.send("Performance.getMetrics")["metrics"]
        return float({one["name"]: one["value"] for one in found}["ScriptDuration"])

    return seconds


def browser_seconds(browser: Any) -> float:
    """Processor time of all processes of the browser."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return float(sum(one["cpuTime"] for one in found))


def panning(tab: Any, steps: int = 40) -> dict[str, float]:
    """Script time a frame, frames a second and calls a frame while the map is dragged."""
    script = script_seconds(tab)
    box = tab.locator("#frame").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + 3, y)
    tab.evaluate(FRAMES)
    before, calls, begin = script(), tab.evaluate("window.calls"), time.perf_counter()
    tab.mouse.move(x + 160, y + 90, steps=steps)
    took = time.perf_counter() - begin
    frames = max(1, tab.evaluate("window.watching = false, window.framesSeen"))
    spent, drawn = script() - before, tab.evaluate("window.calls") - calls
    tab.mouse.up()
    tab.wait_for_timeout(400)
    tab.evaluate("finished()")
    return {
        "pan_script_ms_a_frame": round(1e3 * spent / frames, 2),
        "pan_frames_a_second": round(frames / took, 1),
        "pan_calls_a_frame": round(drawn / frames, 2),
    }


def lasso(tab: Any) -> None:
    """Draw a lasso around the middle of the map, up to its last corner."""
    tab.click("[data-tool=lasso]")
    box = tab.locator("#frame").bounding_box()
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    turns = np.linspace(0, 2 * np.pi, 25)
    corners = middle + 130 * np.column_stack([np.cos(turns), np.sin(turns)])
    tab.mouse.move(*corners[0])
    tab.mouse.down()
    for corner in corners[1:]:
        tab.mouse.move(*corner)


def measured(tab: Any, address: str, shots: str | None, name: str) -> dict[str, Any]:
    """What the browser does with one page."""
    before = browser_seconds(tab.context.browser)
    tab.goto(address)
    tab.wait_for_function("window.firstPicture", timeout=120_000)
    found: dict[str, Any] = {
        "first_picture_cpu_s": round(browser_seconds(tab.context.browser) - before, 2),
        "first_picture_s": round(tab.evaluate("window.firstPicture") / 1e3, 2),
        "first_script_s": round(tab.evaluate("window.drawnBy") / 1e3, 2),
    }
    tab.wait_for_timeout(300)
    tab.evaluate("document.getElementById('frame').scrollIntoView({ block: 'center' })")
    picture = (
        None if shots is None else lambda part: tab.screenshot(path=f"{shots}/{name}-{part}.png")
    )
    if picture:
        picture("whole")
    found |= panning(tab)
    script = script_seconds(tab)

    def script_ms(act: Any) -> float:
        begin = script()
        act()
        return round(1e3 * (script() - begin), 1)

    if tab.evaluate("dualfold.state().color") != "":
        found["number_color_ms"] = script_ms(lambda: tab.select_option("#color", "column:value"))
        if picture:
            picture("number")
        found["class_color_ms"] = script_ms(lambda: tab.select_option("#color", "column:group"))
    found["search_ms"] = script_ms(lambda: tab.evaluate(SEARCH))
    found["point_ms"] = script_ms(lambda: tab.evaluate(FOCUS))
    tab.evaluate("dualfold.focus(null)")
    tab.keyboard.press("Escape")
    tab.click("#reset")
    lasso(tab)
    found["lasso_ms"] = script_ms(tab.mouse.up)
    found["lasso_rows"] = tab.evaluate("dualfold.state().selected.length")
    if picture:
        tab.wait_for_timeout(500)
        picture("lasso")
    return found


def main() -> None:
    """Print one line of JSON for each page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--shots", default=None, help="folder for screenshots")
    parser.add_argument("--plain", action="store_true", help="only pages without columns")
    chosen = parser.parse_args()
    if chosen.shots:
        os.makedirs(chosen.shots, exist_ok=True)
    manager, how = the_browser(*SOFTWARE_GL)
    with manager as player, tempfile.TemporaryDirectory() as folder:
        for n in chosen.rows:
            for with_columns in (False,) if chosen.plain else (False, True):
                begin = time.process_time()
                page = page_of(n, with_columns=with_columns)
                took = time.process_time() - begin
                path = Path(folder) / "page.html"
                path.write_bytes(page.html.encode())
                # A browser of its own: nothing is warm.
                browser = player.chromium.launch(**how)
                tab = browser.new_page(viewport=WINDOW, reduced_motion="reduce")
                tab.add_init_script(LISTENER)
                name = f"{n}-{'columns' if with_columns else 'plain'}"
                found = measured(tab, path.as_uri(), chosen.shots, name)
                browser.close()
                line = {"rows": n, "columns": with_columns, "bytes": page.size}
                print(json.dumps(line | {"make_cpu_s": round(took, 2)} | found), flush=True)


if __name__ == "__main__":
    main()
