"""The context of a fit: what is given beside the rows, and what is known of them already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.graph import Graph, Neighbors


@dataclass(frozen=True, eq=False)
class FitContext:
    """Facts given to a fit beside its rows; the estimator's parameters stay as they are.

    graph : neighbours of the rows that are known: a graph, or lists, which are used where they
        serve; a graph among the estimator's parameters comes first
    start : points of the rows, from which the answer is sought
    target : classes of the rows (`Labels`), or what else the method learns from
    weights : validated weights or masses of the rows
    """

    graph: Graph | Neighbors | sp.sparray | None = None
    start: Array | None = None
    target: Any = None
    weights: Array | None = None


NO_CONTEXT = FitContext()


def known_graph(estimator: Any, context: FitContext) -> Any:
    """The graph among an estimator's parameters, else that of the context."""
    return context.graph if estimator.graph is None else estimator.graph
