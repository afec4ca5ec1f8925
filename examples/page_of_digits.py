"""The digits page: 1,797 handwritten digits by four methods, in one HTML file.

python examples/page_of_digits.py digits.html
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from dualfold import PCA, Isomap, LaplacianEigenmaps, MaximumVarianceUnfolding
from dualfold.data import digits
from dualfold.graph import knn
from dualfold.view.page import Map, measured_map, write_page


def digit_maps() -> list[Map]:
    """Four maps, each with its certificate, its quality and its neighbours in the data."""
    data = digits()
    X, k = data.points, 10
    pieces = knn(X, k).n_pieces
    models = {
        "Isomap": Isomap(n_neighbors=k),
        "Eigenmaps": LaplacianEigenmaps(n_neighbors=k),
        "MVU": MaximumVarianceUnfolding(n_neighbors=k),
        "PCA": PCA(n_components=2),
    }
    maps = []
    for name, model in models.items():
        points = model.fit_transform(X)
        values = getattr(model, "eigenvalues_", getattr(model, "explained_variance_", None))
        maps.append(
            measured_map(
                name,
                X,
                points,
                values=values,
                certificate=model.certificate_,
                history=getattr(model, "history_", None),
                labels=data.labels,
                pieces=None if name == "PCA" else pieces,
                equal=name != "Eigenmaps",
                n_neighbors=k,
            )
        )
    return maps


def main(path: str) -> None:
    data = digits()
    write_page(
        path,
        digit_maps(),
        title="Handwritten digits",
        columns={"digit": data.labels},
        images=(8, 8, data.points),
        overwrite=True,
    )


def take_picture(page: str, picture: str) -> None:
    """The page as a reader sees it."""
    from playwright.sync_api import sync_playwright

    software = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*software, "--no-sandbox"]
        )
        window = browser.new_page(
            viewport={"width": 1280, "height": 900}, color_scheme="light", device_scale_factor=1.1
        )
        window.goto(Path(page).resolve().as_uri())
        window.evaluate("dualfold.ready")
        window.wait_for_selector("#panels figure:nth-child(4) .main-svg")
        window.screenshot(path=picture, full_page=True)
        browser.close()


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "digits.html"
    main(where)
    if len(sys.argv) > 2:
        take_picture(where, sys.argv[2])
