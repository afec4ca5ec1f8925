"""The nearest neighbours of every point, exact unless `search="approximate"`.

Three exact algorithms find the same lists, bit for bit: a kd-tree in few dimensions, a
scan of all pairs in float32 with proofs ("blocked"), and the same scan in a few
principal coordinates ("filtered"). The approximate one compares rows of near cells, and its
recall is measured. All distances come from one kernel; ties are broken by index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Metric, Seed
from dualfold.errors import Argument, InvalidInput, RowNumbers
from dualfold.graph.cells import cell_lists, cells_of_points, listed_share, needed_probes
from dualfold.graph.cosines import (
    RowDirections,
    approximate_cosines,
    cosine_search,
    cosines_within,
    directions,
    is_cosine,
)
from dualfold.graph.distances import (
    UNDERFLOW_DISTANCE,
    correct_underflow_lists,
    correct_underflow_pairs,
    distance_rounding,
)
from dualfold.graph.kd_tree import tree_pairs_within, tree_search
from dualfold.graph.lower_bounds import (
    Coordinates,
    fewer_directions,
    frame_of,
    principal_directions,
)
from dualfold.graph.metric_names import MANHATTAN_NAMES
from dualfold.graph.metrics import (
    double_table,
    from_precomputed,
    is_euclidean,
    is_precomputed,
    metric_search,
    metric_within,
    present_nearest,
    sorted_lists,
)
from dualfold.graph.neighbor_lists import (
    Neighbors,
    Pairs,
    Search,
    exact_search,
    joined_pairs,
    recall_interval,
    without_self,
)
from dualfold.graph.number_rows import (
    OutOfRange,
    in_units,
    refuse_other_columns,
    rows_alike,
    rows_of_numbers,
)
from dualfold.graph.scan import (
    fill_short_lists,
    pairs_within,
    rerank_lists,
    scan_queries,
    scan_self,
)
from dualfold.graph.search_plan import direction_counts, is_tree_faster
from dualfold.graph.set_distances import are_sets, nearest_sets
from dualfold.inputs import random_generator
from dualfold.kernels.threads import thread_count

SEARCH_NAMES = ("auto", "kd-tree", "blocked", "filtered", "approximate")
# Sparse data is made dense up to here.
_MAX_DENSE_NUMBERS = 1 << 27
# The approximate search: docs/dev/notes/neighbours.md
CELL_DIRECTIONS = 64
# Share of the neighbours that it aims at, and the rows on which it is decided how.
AIMED_RECALL = 0.97
TRIAL_ROWS = 500
ORDERED_ROWS = 32  # of these, on which the order by few directions is judged
# Beyond this share of all rows that a row is compared with, the exact search takes less time.
MAX_PROBED_SHARE = 0.4


def nearest(
    X: Any,
    n_neighbors: int,
    *,
    queries: Any = None,
    metric: Metric = "euclidean",
    search: str = "auto",
    n_jobs: int | None = None,
    random_state: Seed = None,
    recall_sample: int = 1000,
) -> Neighbors:
    """Find the nearest rows of each row of X, or of each query.

    A row is not its own neighbour, but its duplicates are, at distance 0. Ties are broken by row
    number.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; float32 and memory maps are read as they are. With `metric="precomputed"`
        it is a square matrix of distances.
    n_neighbors : int
        Number of neighbours.
    queries : array-like, sparse matrix or None, default=None
        Rows whose neighbours in X are wanted; None takes the rows of X.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn by its name, a function of two rows, or "precomputed". Of sets
        (rows of 0 and 1, also sparse) "jaccard", "tanimoto", "dice" and "hamming" are exact.
    search : {"auto", "kd-tree", "blocked", "filtered", "approximate"}, default="auto"
        Algorithm of the search. "auto" chooses an exact one by size, dimension and spectrum;
        "approximate" compares rows of near cells and measures its recall, for large tables. It is
        exact where cells exclude too few rows to be faster, or single precision does not tell near
        rows apart.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.
    random_state : int, Generator or None, default=None
        Seed of the approximate search; the exact searches ignore it.
    recall_sample : int, default=1000
        Number of rows on which the recall of the approximate search is measured.

    Returns
    -------
    Neighbors
        Row numbers, distances, and how they were found.

    Raises
    ------
    InvalidInput
        If X holds no finite numbers, or has too few rows.

    See Also
    --------
    knn : The graph of these lists.
    neighbors_within : All neighbours within a distance.
    dualfold.scale.neighbors : Tables that do not fit into memory.

    Notes
    -----
    The exact searches find the same lists, bit for bit: a kd-tree for few columns, a scan of all
    pairs in single precision with a bound of its rounding ("blocked"), and the same scan in a few
    principal coordinates first ("filtered"). Candidates that the bound does not exclude are
    compared in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import nearest
    >>> found = nearest(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> found.indices.ravel(), found.distances.ravel()
    (array([1, 0, 1], dtype=int32), array([1., 1., 2.]))
    """
    if search not in SEARCH_NAMES:
        raise InvalidInput(
            Argument("search"), f" must be one of {', '.join(SEARCH_NAMES)}; it is {search!r}"
        )
    threads = thread_count(n_jobs)
    if is_precomputed(metric):
        return _of_precomputed(X, n_neighbors, queries)
    if is_cosine(metric) and search in ("auto", "approximate"):
        lines = directions(X)
        asked = None if queries is None else directions(queries, "queries")
        if lines is not None and (queries is None) == (asked is None):
            recall = random_state, recall_sample
            return _by_cosine(lines, asked, n_neighbors, search, (threads, *recall))
        if search == "approximate" and lines is None and not sp.issparse(X):
            _refuse_rows_of_zeros(X)
    if not _uses_own_kernel(X, metric):
        return _of_metric(X, n_neighbors, queries, metric, search, threads)
    try:
        if queries is None:
            X = rows_of_numbers(X)
        else:
            X, queries = rows_alike(X, queries)
    except OutOfRange as out:
        scaled = nearest(
            in_units(X, out.power),
            n_neighbors,
            queries=None if queries is None else in_units(queries, out.power),
            search=search,
            n_jobs=n_jobs,
            random_state=random_state,
            recall_sample=recall_sample,
        )
        return replace(scaled, distances=np.ldexp(scaled.distances, out.power))
    _check_count(n_neighbors, len(X), queries is not None)
    if search == "approximate":
        _refuse_queries(queries)
        settings = threads, random_state, recall_sample
        return approximate_search(
            X,
            n_neighbors,
            lambda: _exact_neighbors(X, None, n_neighbors, "auto", threads),
            *settings,
        )
    return _exact_neighbors(X, queries, n_neighbors, search, threads)


def _refuse_rows_of_zeros(X: Any) -> None:
    """Raise where rows have no direction, so that no search by directions is one of them."""
    rows = double_table(X, "X")
    zeros = np.flatnonzero(~rows.any(axis=1))
    if len(zeros):
        raise InvalidInput(
            RowNumbers(zeros[0]),
            " of ",
            Argument("X"),
            " holds zeros alone and has no direction, which ",
            Argument("search", "approximate"),
            " by cosine compares; leave such rows out, or use ",
            Argument("search", "auto"),
        )


def _refuse_queries(queries: Any) -> None:
    """Raise where the approximate search is asked for other rows than X's."""
    if queries is not None:
        raise InvalidInput(
            Argument("search", "approximate"),
            " lists the neighbours of X's own rows; for queries use ",
            Argument("search", "auto"),
            ", which is exact",
        )


def _by_cosine(
    X: RowDirections,
    queries: RowDirections | None,
    k: int,
    search: str,
    settings: tuple[int, Seed, int],
) -> Neighbors:
    """Lists by cosine, by our own searches; `settings`: threads, the seed, the recall's sample."""
    threads = settings[0]
    if queries is not None:
        refuse_other_columns(X.rows.shape[1], queries.rows.shape[1])
    _check_count(k, len(X.rows), queries is not None)

    def euclidean(U: np.ndarray, asked: np.ndarray | None, count: int) -> Neighbors:
        return _exact_neighbors(U, asked, count, "auto", threads)

    def exact() -> Neighbors:
        return cosine_search(X, queries, k, euclidean, threads)

    if search != "approximate":
        return exact()
    _refuse_queries(queries)
    return approximate_cosines(X, lambda U: approximate_search(U, k, exact, *settings), threads)


def _exact_neighbors(
    X: np.ndarray, queries: np.ndarray | None, k: int, search: str, threads: int
) -> Neighbors:
    """Lists by one of the three exact algorithms, corrected where squares underflowed."""
    if search == "kd-tree" or (search == "auto" and is_tree_faster(*X.shape)):
        algorithm = "kd-tree"
        indices, distances = tree_search(X, queries, k, threads)
    else:
        algorithm, indices, distances = _nearest_by_scan(X, queries, k, search, threads)
    if indices.size and int(indices.max()) >= len(X):  # lists that are not full
        raise InvalidInput(
            Argument("X"),
            " changed while its neighbours were searched: some of its numbers are not finite any "
            "more; let no other thread write into it, or pass a copy",
        )
    correct_underflow_lists(X, queries, indices, distances)
    return Neighbors(indices, distances, exact_search(algorithm, distance_rounding(X.shape[1])))


def _nearest_by_scan(
    X: np.ndarray, queries: np.ndarray | None, k: int, search: str, threads: int
) -> tuple[str, np.ndarray, np.ndarray]:
    """All pairs, in all coordinates or in some directions: (algorithm, indices, distances)."""
    width, basis, more = X.shape[1], None, 0
    if search != "blocked":
        n_queries = len(X) if queries is None else len(queries)
        count, more, directions = direction_counts(
            X, n_queries, k, must_filter=search == "filtered", second_stage=queries is None
        )
        if count < width:
            basis = directions if directions is not None else principal_directions(X, count)
            basis = basis[:, : more or count]
    frame = frame_of(X, queries, basis)
    points, closer = frame.coordinates(X), None
    if more:
        points, closer = fewer_directions(points, count), points
    if queries is None:
        lists = scan_self(points, k, threads, closer)
    else:
        lists = scan_queries(points, frame.coordinates(queries), k, threads)
    return "blocked" if basis is None else "filtered", *lists


def neighbors_within(
    X: Any, radius: float, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find all pairs of rows within a distance, as lists.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; float32 and memory maps are read as they are. With `metric="precomputed"`
        it is a square matrix of distances.
    radius : float
        Largest distance of a pair, 0 or more.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn by its name, a function of two rows, or "precomputed". Of sets
        (rows of 0 and 1, also sparse) "jaccard", "tanimoto", "dice" and "hamming" are exact.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    indptr : ndarray of shape (n_samples + 1,)
        The list of row i is at indptr[i] … indptr[i + 1] − 1 of the two other arrays.
    indices : ndarray
        Row numbers of the neighbours, nearest first; no row is in its own list.
    distances : ndarray
        Their distances.

    See Also
    --------
    radius : The graph of these lists.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import neighbors_within
    >>> indptr, indices, distances = neighbors_within(np.array([[0.0], [1.0], [3.0]]), 2.5)
    >>> indptr.tolist(), indices.tolist(), distances.tolist()
    ([0, 1, 3, 4], [1, 0, 2, 1], [1.0, 1.0, 2.0, 2.0])
    """
    if not isinstance(radius, int | float | np.number) or not 0 <= float(radius) < np.inf:
        raise InvalidInput(Argument("radius"), f" must be a finite number >= 0; it is {radius!r}")
    threads = thread_count(n_jobs)
    if is_precomputed(metric):
        indptr, indices, distances = from_precomputed(X)
        near = distances <= radius
        counts = np.add.reduceat(np.append(near, False), indptr[:-1]) * (np.diff(indptr) > 0)
        return np.concatenate([[0], np.cumsum(counts)]), indices[near], distances[near]
    lines = directions(X) if is_cosine(metric) else None
    if lines is not None:
        n = len(lines.rows)
        pairs = cosines_within(lines, lines, np.full(n, float(radius)), threads)
        return sorted_lists(pairs.where(pairs.rows != pairs.columns), n)
    if not _uses_own_kernel(X, metric):
        return metric_within(double_table(X, "X"), radius, metric, threads)
    try:
        X = rows_of_numbers(X)
    except OutOfRange as out:
        scaled = min(float(np.ldexp(float(radius), -out.power)), float(np.finfo(float).max))
        indptr, indices, distances = neighbors_within(in_units(X, out.power), scaled, n_jobs=n_jobs)
        return indptr, indices, np.ldexp(distances, out.power)
    if not len(X):
        return np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
    safe = max(float(radius), UNDERFLOW_DISTANCE)
    if is_tree_faster(len(X), X.shape[1]):
        pairs = Pairs(*tree_pairs_within(X, safe, threads))
    else:
        points = frame_of(X, None, None).coordinates(X)
        pairs = pairs_within(points, safe, threads)
    correct_underflow_pairs(X, X, *pairs)
    pairs = pairs.where(pairs.distances <= radius)
    both_ways = joined_pairs([pairs, Pairs(pairs.columns, pairs.rows, pairs.distances)])
    return sorted_lists(both_ways, len(X))


def radius_search(X: Any, metric: Metric) -> Search:
    """Record of a search within a radius (`neighbors_within`)."""
    if is_precomputed(metric):
        return exact_search("precomputed", 0.0)
    if are_sets(X, metric):
        return exact_search("sets", 0.0)
    if not _uses_own_kernel(X, metric):
        return exact_search("metric", float("nan"))
    return exact_search("radius", distance_rounding(np.shape(X)[1]))


def _uses_own_kernel(X: Any, metric: Metric) -> bool:
    """Whether our own kernel computes the distances: Euclidean, of rows that fit when dense."""
    sparse = sp.issparse(X) and int(X.shape[0]) * int(X.shape[1]) > _MAX_DENSE_NUMBERS
    return not sparse and is_euclidean(metric)


def _of_precomputed(distances: Any, k: int, queries: Any) -> Neighbors:
    if queries is not None:
        raise InvalidInput(
            Argument("metric", "precomputed"),
            " holds the distances between the points only; for new points pass coordinates and "
            "another metric",
        )
    n = distances.shape[0]
    _check_count(k, n, False)
    indptr, indices, values = from_precomputed(distances, k)
    short = np.flatnonzero(np.diff(indptr) < k)
    if len(short):
        fewest = int(np.diff(indptr).min())
        raise InvalidInput(
            RowNumbers(short[0]),
            " of the precomputed distances stores fewer than ",
            Argument("n_neighbors", k),
            f" neighbours (the poorest row has {fewest}). Use ",
            Argument("n_neighbors", fewest),
            ", or from_precomputed, which takes rows of any length",
        )
    return Neighbors(indices.reshape(n, k), values.reshape(n, k), exact_search("precomputed", 0.0))


def _of_metric(
    X: Any, k: int, queries: Any, metric: Metric, search: str, threads: int
) -> Neighbors:
    if search != "auto":
        raise InvalidInput(
            Argument("search", search),
            " needs ",
            Argument("metric", "euclidean"),
            " and data that fits in memory when dense; leave ",
            Argument("search", "auto"),
        )
    X = double_table(X, "X")
    _check_count(k, X.shape[0], queries is not None)
    if queries is not None:
        queries = double_table(queries, "queries")
        refuse_other_columns(X.shape[1], queries.shape[1])
    if isinstance(metric, str) and metric in MANHATTAN_NAMES and isinstance(X, np.ndarray):
        return present_nearest(X, k, queries=queries, n_jobs=threads)
    if are_sets(X, metric) and (queries is None or are_sets(queries, metric)):
        return Neighbors(*nearest_sets(X, queries, k, metric, threads), exact_search("sets", 0.0))
    lists = metric_search(X, queries, k, metric, threads)
    return Neighbors(*lists, exact_search("metric", float("nan")))


def _check_count(k: object, n: int, queried: bool) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InvalidInput(Argument("n_neighbors"), f" must be a whole number >= 1; it is {k!r}")
    largest = n if queried else n - 1
    if k > largest:
        raise InvalidInput(
            Argument("n_neighbors", k),
            f" needs more than the {n} points given; the largest usable number here is "
            f"{max(largest, 0)}",
        )


def approximate_search(
    X: np.ndarray,
    k: int,
    exact: Callable[[], Neighbors],
    threads: int,
    random_state: Seed,
    recall_sample: int,
) -> Neighbors:
    """Lists within cells of the top principal coordinates, ranked by true distance.

    exact : the exact search, which is taken where cells exclude too few rows
    """
    rng = random_generator(random_state)
    n = len(X)
    trial = np.sort(rng.choice(n, min(n, TRIAL_ROWS), replace=False))
    ordering = _ordering_coordinates(X, k, trial, threads)
    if ordering is None:
        return exact()
    points, lists, length = ordering
    cells = cells_of_points(points, rng)
    probes = needed_probes(cells, points, trial, lists, AIMED_RECALL)
    if probes > MAX_PROBED_SHARE * cells.count:
        return exact()
    listed = cell_lists(points, cells, length, probes, threads)
    indices, distances = rerank_lists(points, listed, k, threads)
    fill_short_lists(points, indices, distances, threads)
    rows = np.sort(rng.choice(n, min(n, recall_sample), replace=False))
    recalls = _row_recalls(points, distances, rows, threads)
    recall = float(recalls.mean()) if len(recalls) else float("nan")
    known = Search("cells", False, 0.0, recall, recall_interval(recalls), len(recalls))
    return Neighbors(indices, distances, known)


def _ordering_coordinates(
    X: np.ndarray, k: int, trial: np.ndarray, threads: int
) -> tuple[Coordinates, np.ndarray, int] | None:
    """Coordinates by which cells are searched, the true lists of some rows, and entries to keep.

    A few principal directions order neighbours only roughly, so that more than k entries are kept
    for the ranking; all columns are taken where these would still miss too many. None where all
    columns would, too: beside a row that is far away, near ones are alike in float32.
    """
    n, width = X.shape
    count, length = min(width, CELL_DIRECTIONS), min(n - 1, 2 * k + 12)
    points = frame_of(
        X, None, principal_directions(X, count) if count < width else None
    ).coordinates(X)
    lists = scan_queries(points, points.rows(trial), k + 1, threads)
    true, reach = without_self(*lists, trial)
    ordered = slice(None, None, max(1, len(trial) // ORDERED_ROWS))
    judged = trial[ordered], reach[ordered, -1], k
    if count < width:
        if listed_share(points, *judged, length) >= AIMED_RECALL:
            return points, true, length
        points = frame_of(X, None, None).coordinates(X)
    return (points, true, k) if listed_share(points, *judged, k) >= AIMED_RECALL else None


def _row_recalls(
    points: Coordinates, distances: np.ndarray, rows: np.ndarray, threads: int
) -> np.ndarray:
    """For each sampled row, the share of entries no farther than its true k-th neighbour."""
    if not len(rows):
        return np.empty(0)
    asked = points.rows(rows)
    radius = distances[rows, -1].copy()  # the row itself and k others lie within it
    lists = scan_queries(points, asked, distances.shape[1] + 1, threads, radius)
    _, true = without_self(*lists, rows)
    return np.asarray((distances[rows] <= true[:, -1:]).mean(axis=1))
