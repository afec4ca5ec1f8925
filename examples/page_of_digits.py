"""The digits page: 1,797 handwritten digits by four methods, in one HTML file.

    python examples/page_of_digits.py digits.html
"""

from __future__ import annotations

import sys

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


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "digits.html")
