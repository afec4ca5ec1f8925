"""Types of the parameters that estimators share."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from numpy.typing import ArrayLike

from dualfold.graph import Graph, Neighbors
from dualfold.weights.row_weights import RowWeights

# What scikit-learn checks the parameters of an estimator by.
Constraints = dict[str, Any]
# Neighbours that are known already: a graph, its edge lengths, or lists.
GivenGraph = Graph | Neighbors | sp.sparray | sp.spmatrix | None
# How often rows count: numbers, or weights that were checked.
GivenWeights = RowWeights | ArrayLike | None
