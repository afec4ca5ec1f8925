"""PyMDE with torch on the CPU: the recipe, and its spectral solver on its own graph."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

# PyMDE imports torchvision for its downloads of example data alone. Wheels of it that do
# not fit a CPU build of torch fail at import, so an empty module stands in.
sys.modules.setdefault("torchvision", ModuleType("torchvision"))

import pymde  # noqa: E402
import torch  # noqa: E402

from benchmarks.case import Answer  # noqa: E402

K = 10


def recipe(X: Any) -> Answer:
    """Neighbours (approximate from 10,000 points on), quadratic start, then its iteration."""
    pymde.seed(0)
    problem = pymde.laplacian_embedding(X, embedding_dim=2, n_neighbors=K)
    return Answer(problem.embed().numpy())


def spectral(X: Any) -> Answer:
    """The same graph, and eigenvectors only."""
    pymde.seed(0)
    graph = pymde.preprocess.k_nearest_neighbors(torch.from_numpy(X), K)
    points = pymde.quadratic.spectral(
        graph.n_items, 2, graph.edges, graph.distances.to(torch.float)
    )
    return Answer(points.numpy())
