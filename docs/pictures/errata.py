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
from dualfold.view.figures import Panel, gallery, save_figure
from dualfold.weights import density_laplacian

N, T = 2_000, 20  # T: the paper's number of neighbours for these weights
HEIGHT = 70.0  # almost as high as the roll is long: else both coordinates measure the length


def printed_map(graph: Any) -> np.ndarray:
    """Bottom eigenvectors with weight exp(0) = 1 on every pair that is no edge."""
    L, degrees = density_laplacian(graph)
    W = np.diag(degrees) - L.toarray()
    W[graph.lengths.toarray() == 0] = 1
    np.fill_diagonal(W, 0)
    return np.linalg.eigh(np.diag(W.sum(axis=1)) - W)[1][:, 1:3]


def main() -> None:
    toy = swiss_roll(N, height=HEIGHT, random_state=0)
    graph = knn(toy.points, T)
    problem = eigenmaps(graph, weights="density", constraint="identity")
    right = dualfold.embed(problem).points
    panels = [
        Panel(printed_map(graph), toy.color, "W as printed", "weight 1 off the edges", equal=False),
        Panel(right, toy.color, "W as meant", "weight 0 off the edges", equal=False),
    ]
    figure = gallery([panels], color_names=["angle along the roll"])
    save_figure(figure, Path(__file__).parents[1] / "errata.png", overwrite=True)


if __name__ == "__main__":
    main()
