"""The graph of a map as parts: edges, lists, points and facts fit together, or it is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.errors import DamagedFile
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.neighbor_lists import Search
from dualfold.methods.maps import file_checks
from dualfold.methods.maps.parts import Parts, refuse_functions

LIST_ARRAYS = ("indptr", "indices", "distances")


def put_graph(parts: Parts, graph: Graph) -> None:
    """Add a graph to the parts of a map."""
    refuse_functions(graph.metric, graph.points)
    search = asdict(graph.search)
    search["recall_interval"] = list(search["recall_interval"])
    parts.facts["graph"] = {
        "kind": graph.kind,
        "metric": graph.metric,
        "n_neighbors": graph.n_neighbors,
        "radius": graph.radius,
        "usual_spread": graph.usual_spread,
        "symmetry": graph.symmetry,
        "links": [[int(i), int(j), float(length)] for i, j, length in graph.links],
        "search": search,
    }
    parts.put("graph_points", graph.points)
    parts.put("graph_lengths", graph.lengths)
    for name in LIST_ARRAYS:
        parts.put(f"graph_lists_{name}", getattr(graph.lists, name))


def graph_from_parts(parts: Parts) -> Graph:
    """The graph as it was put; DamagedFile where the parts are none of a graph."""
    facts: Any = file_checks.json_object(parts.facts, "graph")
    lengths = parts.get("graph_lengths")
    if not sp.issparse(lengths) or lengths.shape[0] != lengths.shape[1] or not lengths.shape[0]:
        raise DamagedFile("the edges of its graph are no square sparse matrix")
    n = int(lengths.shape[0])
    file_checks.real_array(lengths.data, "graph_lengths.data", [None], least=0)
    if not _is_symmetric(lengths):
        raise DamagedFile("the edges of its graph are not the same both ways")
    points = parts.table("graph_points", [n, None], features=True)
    kind = file_checks.word(facts, "kind", ("fixed", "variable", "radius", "given"))
    return Graph(
        lengths=lengths,
        points=points,
        lists=_lists(parts, n),
        search=_search(file_checks.json_object(facts, "search")),
        kind=kind,  # type: ignore[arg-type]
        metric=file_checks.metric_name(facts),
        n_neighbors=file_checks.integer(facts, "n_neighbors", 1, n - 1, optional=True),
        radius=file_checks.number(facts, "radius", least=0, optional=kind != "radius"),
        usual_spread=file_checks.number(facts, "usual_spread", least=0, optional=True),
        symmetry=file_checks.word(facts, "symmetry", ("or", "and")),  # type: ignore[arg-type]
        links=_links(facts.get("links"), n),
    )


def _lists(parts: Parts, n: int) -> Lists:
    arrays: list[Any] = [parts.arrays.get(f"graph_lists_{name}") for name in LIST_ARRAYS]
    indptr, columns, distances = arrays
    file_checks.refuse_unsound_rows("graph_lists", indptr, columns, (n, n))
    name = "graph_lists_distances"
    lengths = file_checks.real_array(distances, name, [len(columns)], least=0)
    descents = np.flatnonzero(lengths[1:] < lengths[:-1]) + 1
    if not np.isin(descents, indptr).all():
        raise DamagedFile("the neighbours in 'graph_lists' are not in the order of their distances")
    return Lists(indptr, columns, lengths)


def _is_symmetric(lengths: Any) -> bool:
    """Whether each edge is there both ways with one length."""
    rows = sp.csr_array(lengths)
    rows.sort_indices()
    columns = rows.T.tocsr()
    columns.sort_indices()
    return all(
        np.array_equal(getattr(rows, part), getattr(columns, part))
        for part in ("indptr", "indices", "data")
    )


def _search(facts: Mapping[str, Any]) -> Search:
    """Search by which neighbours were found, as the file says; only sentences depend on it."""
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
    low, high, proved, recall = map(float, shares)
    sampled = file_checks.integer(facts, "sampled", 0, 2**62)
    exact, method = facts["exact"], facts["method"]
    return Search(method, exact, proved, recall, (low, high), sampled, float(rounding))


def _links(stated: Any, n: int) -> tuple[tuple[int, int, float], ...]:
    """Edges that joined pieces, as rows (i, j, length)."""
    links = []
    for link in stated if isinstance(stated, list) else [None]:
        if not isinstance(link, list) or len(link) != 3:
            raise DamagedFile("the links of its graph are in an unknown form")
        i, j, length = link
        ends = all(type(end) is int and 0 <= end < n for end in (i, j))
        if not ends or type(length) not in (int, float) or not 0 <= length < math.inf:
            raise DamagedFile("the links of its graph are in an unknown form")
        links.append((i, j, float(length)))
    return tuple(links)
