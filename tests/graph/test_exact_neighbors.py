"""Neighbour lists judged in exact fractions, on inputs made to break double precision."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import cKDTree

from dualfold.errors import InvalidInput
from dualfold.graph import knn, nearest, neighbors_within, radius
from tests.graph.door import attach

Array = np.ndarray[Any, Any]
SEED = int(os.environ.get("DUALFOLD_FUZZ_SEED", "0"))
SEARCHES = ("auto", "kd-tree", "blocked", "filtered")
full = pytest.mark.full
TURNS = [0, *(pytest.param(turn, marks=full) for turn in (1, 2, 3))]
# Smaller than any difference of doubles that is not 0.
NOTHING = Fraction(1, 2**1075)


# --- the judge: fractions only -------------------------------------------------------


def exact_table(X: Any) -> list[list[Fraction]]:
    rows = X.toarray() if sp.issparse(X) else np.asarray(X)
    return [[Fraction(*_ratio(entry)) for entry in row] for row in rows.tolist()]


def _ratio(entry: Any) -> tuple[int, int]:
    return (int(entry), 1) if isinstance(entry, bool) else entry.as_integer_ratio()


def squares(X: Any, Y: Any = None) -> list[list[Fraction]]:
    left = exact_table(X)
    right = left if Y is None else exact_table(Y)
    return [
        [sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0)) for y in right]
        for x in left
    ]


def at_most(a: Fraction, b: Fraction, rounding: float) -> bool:
    """√a ≤ √b(1 + 2·rounding), nearly (the square of it)."""
    return a <= b * (1 + Fraction(4.01 * rounding))


def is_distance(found: float, square: Fraction, rounding: float) -> bool:
    """Whether `found` is √square to its share of rounding, or to half the least double."""
    off = Fraction(found) * Fraction(1.001 * rounding) + NOTHING
    low = max(Fraction(found) - off, Fraction(0))
    return low**2 <= square <= (Fraction(found) + off) ** 2


def faults(found: Any, true: list[list[Fraction]], own: bool) -> list[str]:
    """What is wrong with lists that say "exact"."""
    wrong, r = [], found.search.rounding
    for i, (row, distances) in enumerate(zip(found.indices, found.distances, strict=True)):
        listed = [int(j) for j in row]
        if len(set(listed)) < len(listed) or (own and i in listed):
            wrong.append(f"row {i} lists a point twice or itself: {listed}")
        left = set(range(len(true[i]))) - set(listed) - ({i} if own else set())
        if any(not at_most(true[i][a], true[i][b], r) for a, b in pairwise(listed)):
            wrong.append(f"row {i} is in the wrong order: {listed}")
        if any(not at_most(true[i][listed[-1]], true[i][j], r) for j in left):
            wrong.append(f"row {i} leaves out a nearer point: {listed}")
        if not all(is_distance(d, true[i][j], r) for j, d in zip(listed, distances, strict=True)):
            wrong.append(f"row {i} has wrong distances: {distances}")
    return wrong


# --- inputs ---------------------------------------------------------------------------


def hostile(rng: np.random.Generator, n: int, width: int) -> dict[str, Any]:
    """One table of each kind."""
    shape, u64 = (n, width), np.uint64
    whole = rng.integers(0, 50, shape)
    normal = rng.standard_normal(shape)
    steps = rng.integers(0, 9, shape) * 2.0**-1074
    spread = 10.0 ** rng.uniform(-300, 140, shape) * rng.integers(-1, 2, shape)
    corner = 10.0 ** rng.integers(-300, -100) * normal
    corner[0] += 1
    return {
        "nanoseconds": whole + 2**60,
        "int64 least": whole + np.iinfo(np.int64).min,
        "int64 wide": rng.integers(-(2**52), 2**52, shape) + 2**61,
        "uint64 most": u64(2**64 - 60) + whole.astype(u64),
        "int64 at the edge": whole + 2**53 - 25,
        "bool": whole > 25,
        "uint8": whole.astype(np.uint8),
        "int16": (whole - 25).astype(np.int16) * np.int16(1300),
        "float16": normal.astype(np.float16),
        "float32 huge": (normal * 1e38).astype(np.float32),
        "float32 minute": (normal * 1e-43).astype(np.float32),
        "float32 offset": (normal + 1e6).astype(np.float32),
        "subnormal": np.r_[np.ones((1, width)), steps[1:]],
        "faint beside one": corner,
        "faint grid": np.where(whole > 40, 1.0, 1e-200 * whole),
        "all ranges": spread,
        "offset": normal + 10.0 ** rng.integers(0, 16),
        "large": normal * 1e149,
        "longdouble": normal.astype(np.longdouble),
        "python integers": whole.astype(object) + 2**54,
        "decimals": np.vectorize(lambda one: Decimal(int(one)) / 4, otypes=[object])(whole),
        "sparse": sp.csr_array(np.where(whole > 20, normal, 0)),
        "ties": whole // 17,
    }


def search_faults(rng: np.random.Generator) -> tuple[int, list[str]]:
    """How many searches were judged, and every fault."""
    n, width = int(rng.integers(8, 22)), int(rng.choice([1, 2, 3, 5, 40]))
    asked, wrong = 0, []
    for kind, X in hostile(rng, n, width).items():
        k, true = int(rng.integers(1, n)), None
        for search in SEARCHES:
            try:
                found = nearest(X, k, search=search, n_jobs=1)
                half = n // 2
                new = nearest(X[:half], min(k, half), queries=X[half:], search=search, n_jobs=1)
            except InvalidInput:
                continue
            true = squares(X) if true is None else true
            asked += 1
            wrong += [f"{kind}, {search}: {fault}" for fault in faults(found, true, own=True)]
            across = [row[:half] for row in true[half:]]
            wrong += [f"{kind}, {search}, new: {one}" for one in faults(new, across, own=False)]
    return asked, wrong


@pytest.mark.parametrize("turn", TURNS)
def test_lists_are_right_in_exact_arithmetic(turn: int) -> None:
    asked, wrong = search_faults(np.random.default_rng((SEED, turn)))
    assert asked > 60
    assert not wrong, wrong[:5]


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_lists_are_right_in_exact_arithmetic_for_long() -> None:
    total = 0
    for turn in range(150):
        asked, wrong = search_faults(np.random.default_rng((SEED, 1, turn)))
        assert not wrong, (turn, wrong[:5])
        total += asked
    print(f"{total} searches judged in fractions, 0 faults")


@pytest.mark.parametrize("turn", TURNS)
def test_radius_is_right_in_exact_arithmetic(turn: int) -> None:
    rng = np.random.default_rng((SEED, 2, turn))
    for kind, X in hostile(rng, 14, int(rng.choice([1, 3, 9]))).items():
        try:
            graph = radius(X, 0.0)
        except InvalidInput:
            continue
        true, share = squares(X), Fraction(graph.search.rounding)
        sizes = [float(d) ** 0.5 for row in true for d in row if 0 < d < 10**300]
        for reach in (0.0, *rng.choice(sizes or [1.0], 3), 1e-200):
            indptr, indices, distances = neighbors_within(X, reach)
            limit = Fraction(reach) ** 2
            for i, row in enumerate(true):
                part = slice(indptr[i], indptr[i + 1])
                near = dict(zip(indices[part].tolist(), distances[part], strict=True))
                for j in set(range(14)) - {i}:
                    if row[j] <= limit * (1 - 3 * share):
                        assert j in near, (kind, reach, i, j)
                    if row[j] > limit * (1 + 3 * share) + NOTHING:
                        assert j not in near, (kind, reach, i, j)
                assert all(is_distance(d, row[j], graph.search.rounding) for j, d in near.items())


@pytest.mark.parametrize("turn", TURNS)
def test_new_points_are_attached_right(turn: int) -> None:
    """The "or" rule: x ~ q where x is among q's nearest, or q within the reach of x."""
    rng = np.random.default_rng((SEED, 3, turn))
    n, k = 16, 3
    for kind, X in hostile(rng, n + 5, int(rng.choice([2, 7]))).items():
        old, new = X[:n], X[n:]
        try:
            graph = knn(old, k)
        except InvalidInput:
            continue
        links = attach(graph, new).lengths
        true, own, slack = squares(new, old), squares(old), 8 * Fraction(graph.search.rounding)
        for q, row in enumerate(true):
            if 0 in row:
                continue  # an old point again, which does not count itself
            linked = set(links.indices[links.indptr[q] : links.indptr[q + 1]].tolist())
            mine = sorted(row)[k - 1]
            for x in range(n):
                reach = sorted(own[x][:x] + own[x][x + 1 :])[k - 1]
                if row[x] < max(mine, reach) * (1 - slack):
                    assert x in linked, (kind, q, x)
                if row[x] > max(mine, reach) * (1 + slack) + NOTHING:
                    assert x not in linked, (kind, q, x)


@pytest.mark.parametrize("width", [2, 9])  # a kd-tree and a scan; one scan for both searches
@pytest.mark.parametrize("symmetry", ["or", "and"])
def test_attached_pairs_of_ties_and_copies(width: int, symmetry: str) -> None:
    """Whole numbers, so that ties and copies abound and every distance is the same everywhere.

    Each pair is there once, with its length, and a copy of an old point is not its own neighbour:
    its row is the one that the old point has in the graph.
    """
    rng = np.random.default_rng((SEED, 9, width))
    old = rng.integers(0, 3 if width > 2 else 9, (160, width)).astype(float)
    new = np.vstack([rng.integers(0, 4, (60, width)).astype(float), old[:20]])
    graph = knn(old, 6, symmetry=symmetry)
    found = attach(graph, new)
    true = np.sqrt(np.square(new[:, None] - old).sum(axis=2))
    reach = graph.lists.distances[graph.lists.indptr[1:] - 1]
    for row, lengths in enumerate(true):
        order = np.lexsort((np.arange(len(old)), lengths))
        order = order[1:] if lengths[order[0]] == 0 else order
        listed, near = set(order[:6].tolist()), set(np.flatnonzero(lengths <= reach).tolist())
        near -= {found.same[row]}
        wanted = sorted(listed | near if symmetry == "or" else listed & near)
        part = slice(found.lengths.indptr[row], found.lengths.indptr[row + 1])
        assert found.lengths.indices[part].tolist() == wanted
        np.testing.assert_array_equal(found.lengths.data[part], lengths[wanted])


@pytest.mark.parametrize("n_neighbors", [399, 400, 401, 900, 1198, 1199])
def test_lists_of_many_neighbours_are_those_of_the_scan(n_neighbors: int) -> None:
    X = np.random.default_rng((SEED, 11)).integers(0, 40, (1200, 3)).astype(float)
    found, scanned = (nearest(X, n_neighbors, search=search) for search in ("kd-tree", "blocked"))
    np.testing.assert_array_equal(found.indices, scanned.indices)
    np.testing.assert_array_equal(found.distances, scanned.distances)


@full
def test_lists_of_nearly_all_rows_take_no_square_of_their_length() -> None:
    """Beside SciPy's tree, which keeps a heap: 2 to 3 times its seconds, not 5 to 7."""
    X = np.random.default_rng((SEED, 12)).normal(size=(3000, 3))

    def seconds(work: Callable[[], object]) -> float:
        begin = time.process_time()
        work()
        return time.process_time() - begin

    ours = min(seconds(lambda: nearest(X, 2990, search="kd-tree", n_jobs=1)) for _ in range(2))
    theirs = min(seconds(lambda: cKDTree(X).query(X, 2991)) for _ in range(2))
    assert ours < 4 * theirs


# --- what is refused, with a remedy ----------------------------------------------------


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.array([[0], [2**60], [2**61]]), r"range of 2\^53"),
        (np.array([[1 + 1j], [2.0], [3.0]]), "real numbers"),
        (np.array([["1"], ["2"], ["3"]]), "astype"),
        (np.array([["2026-01-01"], ["2026-01-02"]], dtype="datetime64[ns]"), "astype"),
        (np.array([[Decimal("0.1")], [Decimal(1)], [Decimal(2)]]), "round"),
        (np.array([[2**80 + 1], [2**80], [0]], dtype=object), "round"),
        (np.array([[1], [10**400], [0]], dtype=object), "numbers"),
        (np.ma.masked_less([[0.0], [1.0], [2.0]], 0.5), "masked"),
        (np.array([[1e300], [1e-300], [0.0]]), "no unit has room"),
    ],
)
def test_what_double_precision_cannot_hold_is_refused(X: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        nearest(X, 1)


def test_differences_whose_squares_vanish_are_told_apart() -> None:
    found = nearest(np.array([[1e-300], [2.5e-300], [0.0]]), 1)
    np.testing.assert_array_equal(found.indices, [[2], [0], [0]])
    np.testing.assert_allclose(found.distances, [[1e-300], [1.5e-300], [1e-300]], rtol=1e-15)


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="no long doubles")
def test_long_doubles_are_refused_where_they_would_be_rounded() -> None:
    X = np.array([[1], [1 + np.finfo(np.longdouble).eps], [2]], dtype=np.longdouble)
    with pytest.raises(InvalidInput, match="round"):
        nearest(X, 1)


def test_integers_and_queries_share_one_shift() -> None:
    X = np.array([[2**60, 0], [2**60 + 100, 1], [2**60 + 1, 2]])
    found = nearest(X, 1, queries=np.array([[2**60 + 2, 0]]))
    assert found.indices.tolist() == [[0]]
    mixed = nearest(X.astype(np.uint64), 1, queries=X[1:2] - np.array([[0, 3]]))
    assert mixed.indices.tolist() == [[1]]
    assert mixed.distances.tolist() == [[3.0]]
    with pytest.raises(InvalidInput, match="fractions"):
        nearest(X, 1, queries=np.array([[0.5, 1.0]]))


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_other_metrics_refuse_what_they_would_round(metric: str) -> None:
    X = np.array([[2**60, 1], [2**60 + 100, 1], [2**60 + 1, 1]])
    with pytest.raises(InvalidInput, match=r"2\^53"):
        nearest(X, 1, metric=metric)
    said = nearest(X - np.array([2**60 - 1, 0]), 1, metric=metric).search.sentence()
    if metric == "manhattan":  # a kernel of ours, whose rounding is bounded
        assert said.startswith("exact neighbours (present), every row proved; ties within")
    else:
        assert "as computed" in said
        assert "proved" not in said
    with pytest.raises(InvalidInput, match=r"2\^53"):
        nearest(np.array([[0, 2**60 + 1], [2**60 + 1, 0]]), 1, metric="precomputed")
