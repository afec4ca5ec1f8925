"""Draw docs/errata.png: the Swiss roll by density-scaled eigenmaps, as printed and as meant.

    python docs/pictures/errata.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import dualfold
from dualfold.data import swiss_roll
from dualfold.graph import knn
from dualfold.methods import eigenmaps
from dualfold.view.figures import Panel, gallery_figure
from dualfold.weights import density_laplacian

N, T = 1_500, 20  # T: the paper's number of neighbours for these weights


def printed_map(graph: Any) -> np.ndarray:
    """Bottom eigenvectors with weight exp(0) = 1 on every pair that is no edge."""
    L, degrees = density_laplacian(graph)
    W = np.diag(degrees) - L.toarray()
    W[graph.lengths.toarray() == 0] = 1
    np.fill_diagonal(W, 0)
    return np.linalg.eigh(np.diag(W.sum(axis=1)) - W)[1][:, 1:3]


def main() -> None:
    toy = swiss_roll(N, random_state=0)
    graph = knn(toy.points, T)
    right = dualfold.embed(eigenmaps(graph, weights="density", normalised=False)).points
    panels = [
        Panel(printed_map(graph), toy.color, "as printed", "weight 1 off the edges", False),
        Panel(right, toy.color, "as meant", "weight 0 off the edges", False),
    ]
    figure = gallery_figure(panels)
    figure.savefig(Path(__file__).parents[1] / "errata.png", dpi=110)


if __name__ == "__main__":
    main()
