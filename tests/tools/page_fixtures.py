"""A browser window for the tests of the page: opened from files, quiet, offline."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest

from tests.tools.page_window import is_driver_chatter

SOFTWARE_GL = ("--enable-unsafe-swiftshader",)
AT_FIRST = "[dualfold.state().color, document.getElementById('names').ariaPressed]"
# What a test has done to a page undone: far cheaper than opening it again. Each line draws anew.
AS_OPENED = """async ([color, names]) => {
  const page = dualfold.state();
  document.querySelector('[data-tool=pan][aria-pressed=false]')?.click();
  document.querySelector(`#names:not([aria-pressed=${names}])`)?.click();
  document.getElementById('search').value = '';
  document.activeElement.blur();
  if (page.map !== 0 || page.beside) await dualfold.show(0);
  if (page.focus !== null) await dualfold.focus(null);
  if (page.selected.length) await dualfold.select(null);
  await dualfold.colorBy(color);
  document.getElementById('reset').click();
}"""


def the_browser(*flags):
    """Debian's chromium (or whatever is on the path), or a skip that says what is missing."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    # The shell is the same engine without a window around it, which takes a sixth of the time.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    on_path = next(filter(None, map(shutil.which, names)), None)
    found = os.environ.get("DUALFOLD_CHROMIUM") or on_path
    if found is None:
        pytest.skip("there is no chromium on the path (apt-get install chromium)")
    return sync_api.sync_playwright(), {
        "executable_path": found,
        "args": [*flags, "--no-sandbox", "--disable-dev-shm-usage"],
    }


class Window:
    """One window for the tests of all pages: its second page starts five times as fast.

    shown : the page that was opened last, and how it looked then
    """

    open: ClassVar[Window | None] = None

    def __init__(self) -> None:
        manager, how = the_browser(*SOFTWARE_GL)
        self.folder = tempfile.TemporaryDirectory()
        self.player = manager.start()
        self.browser = self.player.chromium.launch(**how)
        size = {"width": 1280, "height": 860}
        self.tab = self.browser.new_page(viewport=size, reduced_motion="reduce")
        self.shown = {"html": None, "at first": None}

    def close(self) -> None:
        self.browser.close()
        self.player.stop()
        self.folder.cleanup()


@pytest.hookimpl(trylast=True)  # fixtures of the test still use the window
def pytest_runtest_teardown(nextitem):
    """Close it after the tests of pages: while it is open, nothing else may run an event loop."""
    of_pages = nextitem is not None and nextitem.path.name.startswith("test_page")
    if Window.open is not None and not of_pages:
        Window.open.close()
        Window.open = None


@pytest.fixture
def window():
    if Window.open is None:
        Window.open = Window()
    return Window.open


@pytest.fixture
def tab(window):
    """The page in the window."""
    return window.tab


@pytest.fixture
def file_of(window):
    """The address of a file with this page: one for all, since a browser keeps what it compiled."""
    path = Path(window.folder.name) / "page.html"

    def address(html):
        path.write_text(html, encoding="utf-8")
        window.shown["html"] = None
        return path.as_uri()

    return address


@pytest.fixture
def opened(window, tab, file_of):
    """Opens a page from a file, or makes one that is open as it was (unless `anew`).

    At the end of the test nothing may have been asked or said.
    """
    shown, heard, asked = window.shown, [], []

    def on_request(request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            asked.append(request.url)

    def on_console(message):
        heard.append(f"{message.type}: {message.text}")

    def on_error(error):
        heard.append(f"error: {error}")

    listeners = {"request": on_request, "console": on_console, "pageerror": on_error}
    for event, listener in listeners.items():
        tab.on(event, listener)

    def go(html, anew=False):
        if shown["html"] == html and not anew:
            tab.mouse.move(2, 2)
            tab.evaluate(AS_OPENED, shown["at first"])
            return tab
        tab.goto(file_of(html))
        tab.evaluate("dualfold.ready")
        shown.update({"html": html, "at first": tab.evaluate(AT_FIRST)})
        return tab

    yield go
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    tab.set_viewport_size({"width": 1280, "height": 860})
    tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    assert asked == []
    assert [line for line in heard if not is_driver_chatter(line)] == []
