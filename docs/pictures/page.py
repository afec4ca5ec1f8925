"""The picture of the page: what `dualfold demo` writes, as a reader sees it.

python docs/pictures/page.py    (needs playwright and chromium)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parents[1] / "page.png"
DEMO = "from dualfold.cli import main; main()"


def main() -> None:
    with TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-c", DEMO, "demo", "-q", "-o", folder],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        photograph(Path(folder) / "digits.html", PICTURE)


def photograph(page: Path, picture: Path, *, whole: bool = True) -> None:
    """A page as a reader sees it; whole : all of it, or its first screen."""
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--enable-unsafe-swiftshader", "--no-sandbox"],
        )
        window = browser.new_page(
            viewport={"width": 1280, "height": 900}, color_scheme="light", device_scale_factor=1.1
        )
        window.goto(page.as_uri())
        window.evaluate("dualfold.ready")
        window.wait_for_selector("#panels figure:nth-child(3) .chart svg")
        window.wait_for_timeout(500)  # the map settles
        window.screenshot(path=picture, full_page=whole)
        browser.close()
    # A third of the bytes, and nobody sees it: the page has few colours.
    Image.open(picture).convert("RGB").quantize(256, kmeans=2).save(picture, optimize=True)


if __name__ == "__main__":
    main()
