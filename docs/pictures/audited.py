"""The pictures of docs/audit.md and docs/measured-audits.md: maps of digits by others, audited.

pip install umap-learn openTSNE; DUALFOLD_MNIST=/path/to/mnist.npz python docs/pictures/audited.py

Maps are kept in the folder that DUALFOLD_MAPS names, if it does: they take minutes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from page import photograph
from PIL import Image

import dualfold
from dualfold.data import digits
from dualfold.view.audit_page import audit_content, audit_figure
from dualfold.view.figures import figure_bytes
from dualfold.view.page import write_page

# Of MNIST the audit is printed, not drawn; UMAP takes 75 s of one core for 70,000, openTSNE 266 s.
MAPS = tuple((name, by) for name in ("digits", "mnist10k", "mnist70k") for by in ("umap", "tsne"))
PICTURES = Path(__file__).parents[1]


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """All digits, the first 10,000 images of MNIST and all of them, with their classes."""
    small, large = digits(), np.load(os.environ["DUALFOLD_MNIST"])
    images, classes = large["X"].astype(np.float32) / 255, large["y"]
    return {
        "digits": (small.points, small.labels),
        "mnist10k": (images[:10_000], classes[:10_000]),
        "mnist70k": (images, classes),
    }


def by_umap(X: np.ndarray) -> Any:
    import umap

    return umap.UMAP(random_state=0, n_jobs=1).fit_transform(X)


def by_tsne(X: np.ndarray) -> Any:
    import openTSNE

    return openTSNE.TSNE(random_state=0, n_jobs=1).fit(np.asarray(X, dtype=float))


def kept(name: str, make: Callable[[np.ndarray], Any], X: np.ndarray) -> np.ndarray:
    """The map, from the folder of maps if it is there."""
    folder = os.environ.get("DUALFOLD_MAPS")
    path = None if folder is None else Path(folder) / f"{name}.npy"
    if path is not None and path.exists():
        return np.asarray(np.load(path))
    found = np.asarray(make(X))
    if path is not None:
        np.save(path, found)
    return found


def main() -> None:
    """Audit the maps, print what is found and draw them."""
    drawn, given = [], tables()
    makers = {"umap": by_umap, "tsne": by_tsne}
    for name, method in MAPS:
        X, classes = given[name]
        found = dualfold.audit(X, kept(f"{name}_{method}", makers[method], X), labels=classes)
        print(f"== {name} by {method}\n{found}", flush=True)
        for one in found.unions:
            print(f"   joined: {one.title}, {one.size:,} points: {one.verdict}")
        if name != "digits":
            continue
        if method == "umap":
            photographed(found, X)
        figure = audit_figure(found, title=f"{name}, {method}")
        drawn.append(Image.open(BytesIO(figure_bytes(figure, "audit.png", dpi=80))))
    tiled(drawn).save(PICTURES / "audit.png", optimize=True)


def photographed(found: dualfold.Audit, X: np.ndarray) -> None:
    """The first screen of the audit's page."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "audit.html"
        content = audit_content(found, X, name="umap.csv")
        write_page(place, replace(content, title="digits by UMAP", features=X))
        photograph(place, PICTURES / "audit-page.png", whole=False)


def tiled(pictures: list[Image.Image]) -> Image.Image:
    """Pictures side by side, each with its own legend."""
    width, height = (max(one.size[axis] for one in pictures) for axis in (0, 1))
    whole = Image.new("RGB", (len(pictures) * width, height), "white")
    for place, one in enumerate(pictures):
        whole.paste(one.convert("RGB"), (place * width, 0))
    # kmeans keeps the colours of few points, too.
    return whole.quantize(256, kmeans=2, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
