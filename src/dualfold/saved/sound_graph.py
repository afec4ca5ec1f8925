"""The graph of a map in a file: edges, lists, points and facts fit together, or it is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import DamagedFile
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.neighbor_lists import Search
from dualfold.saved import sound


def graph_of(facts: Any, arrays: Mapping[str, Array], lengths: Any, points: Any) -> Graph:
    """The graph of these parts; DamagedFile where they are none.

    facts : what the header states; arrays : the neighbour lists, by name
    lengths, points : edge lengths (sparse), and the rows (dense or sparse)
    """
    if not sp.issparse(lengths) or lengths.shape[0] != lengths.shape[1] or not lengths.shape[0]:
        raise DamagedFile("the edges of its graph are no square sparse matrix")
    n = int(lengths.shape[0])
    sound.numbers(lengths.data, "graph_lengths.data", [None], least=0)
    if not _symmetric(lengths):
        raise DamagedFile("the edges of its graph are not the same both ways")
    sound.table(points, "graph_points", [n, None], features=True)
    kind = sound.word(facts, "kind", ("fixed", "variable", "radius", "given"))
    return Graph(
        lengths=lengths,
        lists=_lists(arrays, n),
        search=_search(sound.mapping(facts, "search")),
        kind=kind,  # type: ignore[arg-type]
        points=points,
        metric=sound.metric(facts),
        n_neighbors=sound.whole(facts, "n_neighbors", 1, n - 1, optional=True),
        radius=sound.number(facts, "radius", least=0, optional=kind != "radius"),
        usual_spread=sound.number(facts, "usual_spread", least=0, optional=True),
        symmetry=sound.word(facts, "symmetry", ("or", "and")),  # type: ignore[arg-type]
        links=_links(facts.get("links"), n),
    )


def _lists(arrays: Mapping[str, Array], n: int) -> Lists:
    held: list[Any] = [
        arrays.get(f"graph_lists_{name}") for name in ("indptr", "indices", "distances")
    ]
    indptr, columns, distances = held
    sound.rows("graph_lists", indptr, columns, (n, n))
    found = sound.numbers(distances, "graph_lists_distances", [len(columns)], least=0)
    falls = np.flatnonzero(found[1:] < found[:-1]) + 1
    if not np.isin(falls, indptr).all():
        raise DamagedFile("the neighbours in 'graph_lists' are not in the order of their distances")
    return Lists(indptr, columns, found)


def _symmetric(lengths: Any) -> bool:
    """Whether each edge is there both ways with one length."""
    there = sp.csr_array(lengths)
    there.sort_indices()
    back = there.T.tocsr()
    back.sort_indices()
    return all(
        np.array_equal(getattr(there, part), getattr(back, part))
        for part in ("indptr", "indices", "data")
    )


def _search(facts: Mapping[str, Any]) -> Search:
    """How the neighbours were found, as the file says; no more than words depend on it."""
    known = {"method", "exact", "proved", "recall", "recall_interval", "sampled", "rounding"}
    interval = facts.get("recall_interval")
    shares = [*(interval if isinstance(interval, list) else []), facts.get("proved")]
    shares += [facts.get("recall")]
    plain = all(type(share) in (int, float) and 0 <= share <= 1 for share in shares)
    rounding = facts.get("rounding", 0.0)
    if (
        facts.keys() - known
        or not plain
        or len(shares) != 4
        or not isinstance(facts.get("method"), str)
        or not isinstance(facts.get("exact"), bool)
        or type(rounding) not in (int, float)
        or not (math.isnan(rounding) or 0 <= rounding < 1)
    ):
        raise DamagedFile("it states in an unknown form how its neighbours were found")
    sampled = sound.whole(facts, "sampled", 0, 2**62)
    return Search(
        facts["method"], facts["exact"], float(facts["proved"]), float(facts["recall"]),
        (float(shares[0]), float(shares[1])), sampled, float(rounding),
    )  # fmt: skip


def _links(stated: Any, n: int) -> tuple[tuple[int, int, float], ...]:
    """Edges that joined pieces, as rows (i, j, length)."""
    found = []
    for link in stated if isinstance(stated, list) else [None]:
        if not isinstance(link, list) or len(link) != 3:
            raise DamagedFile("the links of its graph are in an unknown form")
        i, j, length = link
        ends = all(type(end) is int and 0 <= end < n for end in (i, j))
        if not ends or type(length) not in (int, float) or not 0 <= length < math.inf:
            raise DamagedFile("the links of its graph are in an unknown form")
        found.append((i, j, float(length)))
    return tuple(found)
