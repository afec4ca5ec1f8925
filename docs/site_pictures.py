"""The pictures of the gallery: one style for all, and words for readers who do not see them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

GALLERY = Path(__file__).parent / "gallery"
# The yellow end of viridis is hard to see on white, and so it is inverted on the dark theme.
DARKEST_SHARE = 0.87
EXAMPLES = re.compile(r"^<!-- examples: ([\w ]+) -->$", re.M)
PICTURE = re.compile(r"sphx_glr_(plot_\w+?)_(?:\d{3}|thumb)\.\w+$")


def apply_style(settings: dict[str, Any], example: str) -> None:
    """Each example starts with the gallery's style (sphinx-gallery resets matplotlib before)."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LinearSegmentedColormap

    plt.style.use(GALLERY / "figures.mplstyle")
    dark = plt.colormaps["viridis"](np.linspace(0, DARKEST_SHARE, 256))
    plt.colormaps.unregister("gallery")  # of the example before
    plt.colormaps.register(LinearSegmentedColormap.from_list("gallery", dark))
    plt.rcParams["image.cmap"] = "gallery"


def show_examples(app: Any, name: str, source: list[str]) -> None:
    """A line <!-- examples: which_k --> of a page becomes small pictures that link there."""
    source[0] = EXAMPLES.sub(_thumbnails, source[0])


def _thumbnails(found: re.Match[str]) -> str:
    files = " ".join(f"gallery/plot_{name}.py" for name in found[1].split())
    return f"```{{eval-rst}}\n.. minigallery:: {files}\n```"


def describe_pictures(app: Any, doctree: Any) -> None:
    """Figures and thumbnails get the alternative text of their example.

    sphinx-gallery makes one of the titles in the figure, and leaves thumbnails without. That every
    example has a text is tested (tests/workflows/test_gallery.py).
    """
    texts = tomllib.loads((GALLERY / "alternative_texts.toml").read_text(encoding="utf-8"))
    for node in doctree.findall(lambda node: node.tagname in ("image", "imgsgnode")):
        found = PICTURE.search(node["uri"])
        if found is not None:
            node["alt"] = texts.get(found[1], f"Picture of the example {found[1]}")
