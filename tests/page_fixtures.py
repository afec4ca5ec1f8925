"""A browser window for the tests of the page: opened from files, quiet, offline."""

import os
import shutil

import pytest
from page_window import is_driver_chatter

SOFTWARE_GL = ("--enable-unsafe-swiftshader",)


def the_browser(*flags):
    """Debian's chromium (or whatever is on the path), or a skip that says what is missing."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    on_path = next(filter(None, map(shutil.which, names)), None)
    found = os.environ.get("DUALFOLD_CHROMIUM") or on_path
    if found is None:
        pytest.skip("there is no chromium on the path (apt-get install chromium)")
    return sync_api.sync_playwright(), {
        "executable_path": found,
        "args": [*flags, "--no-sandbox", "--disable-dev-shm-usage"],
    }


@pytest.fixture(scope="module")
def tab():
    """One window for all tests: its second page starts five times as fast as its first."""
    player, how = the_browser(*SOFTWARE_GL)
    with player as play:
        browser = play.chromium.launch(**how)
        yield browser.new_page(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
        browser.close()


@pytest.fixture(scope="module")
def file_of(tmp_path_factory):
    """The address of a file with this page; opening the same file again is far cheaper."""
    folder, made = tmp_path_factory.mktemp("pages"), {}

    def address(html):
        if html not in made:
            path = made[html] = folder / f"{len(made)}.html"
            path.write_text(html, encoding="utf-8")
        return made[html].as_uri()

    return address


@pytest.fixture
def opened(tab, file_of):
    """Opens a page from a file; at the end of the test nothing may have been asked or said."""
    heard, asked = [], []

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

    def go(html):
        tab.goto(file_of(html))
        tab.evaluate("dualfold.ready")
        return tab

    yield go
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    tab.set_viewport_size({"width": 1280, "height": 860})
    tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    assert asked == []
    assert [line for line in heard if not is_driver_chatter(line)] == []
