"""The picture of docs/audit.md: maps of digits by UMAP and openTSNE, coloured by their audits.

pip install umap-learn openTSNE; DUALFOLD_MNIST=/path/to/mnist.npz python docs/pictures/audited.py

Maps are kept in the folder that DUALFOLD_MAPS names, if it does: they take minutes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import dualfold
from dualfold.data import digits
from dualfold.view.audit import audit_figure
from dualfold.view.figures import figure_bytes

# openTSNE takes half an hour of one core for all images. Of MNIST the audit is printed, not drawn.
MAPS = (("digits", "umap"), ("digits", "tsne"), ("mnist70k", "umap"))


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """All digits and all of MNIST, with their classes."""
    small, large = digits(), np.load(os.environ["DUALFOLD_MNIST"])
    images = large["X"].astype(np.float32) / 255
    return {"digits": (small.points, small.labels), "mnist70k": (images, large["y"])}


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
        print(f"== {name} by {method}\n{found}\n", flush=True)
        if name != "digits":
            continue
        figure = audit_figure(found, title=f"{name}, {method}")
        drawn.append(Image.open(BytesIO(figure_bytes(figure, "audit.png", dpi=80))))
    tiled(drawn).save(Path(__file__).parents[1] / "audit.png", optimize=True)


def tiled(pictures: list[Image.Image]) -> Image.Image:
    """Pictures side by side, each with its own legend."""
    width, height = (max(one.size[axis] for one in pictures) for axis in (0, 1))
    whole = Image.new("RGB", (len(pictures) * width, height), "white")
    for place, one in enumerate(pictures):
        whole.paste(one.convert("RGB"), (place * width, 0))
    return whole.quantize(256, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
