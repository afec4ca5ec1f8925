"""The audit of a map: `audit(X, Y)`."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.auditing.audit_result import Audit
from dualfold.auditing.groups import (
    groups_with_verdicts,
    joined_groups,
    linked_groups,
)
from dualfold.auditing.nearness import nearness
from dualfold.auditing.place_mixture import two_groups
from dualfold.auditing.point_reliability import reliability
from dualfold.auditing.reruns import MAX_METHOD_ROWS, impostors, method_runner, repeats
from dualfold.data.prepared import prepare
from dualfold.data.reading import PLAIN_READING
from dualfold.errors import Argument, InPython, InvalidInput
from dualfold.graph.metrics import is_euclidean
from dualfold.graph.number_rows import rows_of_numbers
from dualfold.inputs import frame_of, numbers_of
from dualfold.quality.estimate import drawn_rows, sample_size
from dualfold.quality.ranks import picture_of
from dualfold.quality.space import EuclideanSpace, Space, both_spaces, subspace
from dualfold.quality.visible_groups import map_groups

__all__ = ["audit"]

MIN_ROWS = 100
N_NEIGHBORS = 10
MAX_LINKED_ROWS = 10_000


def audit(
    X: Any,
    Y: Any,
    *,
    labels: Any = None,
    method: Any = None,
    metric: Any = "euclidean",
    n_impostors: int = 19,
    n_repeats: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Audit:
    """Judge a map Y of the data X, whoever made it; `print` the answer.

    Which points stand at places that say nothing about them (`dubious`); which of the visible
    groups the data have, too, which are torn apart or thrown together; which statements "A lies
    nearer to B than to C" are true in the data; how many dimensions there are beside those shown.
    With a method also whether it draws such groups where there are none, and whether it draws the
    same ones again. What is tested and at which level is in docs/audit.md.

    X : the data that the map is of: a table of numbers, dense or sparse, AnnData, a data frame of
        pandas, polars or Arrow (prepared as files are), or distances with metric="precomputed"
    Y : the map, one row for each point; at least 100 of them
    labels : one for each point, to name groups by; no judgement reads them
    method : what made the map, to run it again on up to 1,000 rows: a function
        (points, seed) → map, an estimator with fit_transform, or the name of one of our methods
    metric : of the data; on the map distances are Euclidean
    n_impostors : runs on shuffled and as many on normal data; 19 is the least that can reach
        a p-value of 0.05. 0: none
    n_repeats : runs with other seeds, and as many on subsamples, 2 or more. 0: none
    random_state, n_jobs : seed of samples and permutations; threads (None: all cores)

    >>> from dualfold import PCA, audit
    >>> from dualfold.data import digits
    >>> X = digits().points
    >>> found = audit(X, PCA(2).fit_transform(X))
    >>> found.picture.grade, found.dimension.value > 2
    ('poor', True)
    """
    begin = perf_counter()
    notices: tuple[str, ...] = ()
    X = frame_of(numbers_of(X))
    if hasattr(X, "iloc"):
        prepared = prepare(X, PLAIN_READING)
        X, notices = prepared.X, prepared.notices
    x, y = both_spaces(X, Y, metric, n_jobs)
    _refuse_few_rows(x.n)
    names = _validated_labels(labels, x.n)
    run = None if method is None else method_runner(method, y.width)
    found = _audit_of_spaces(x, y, names, random_state, n_jobs)
    found = replace(found, seconds=perf_counter() - begin, notices=notices)
    if run is None or not (n_impostors or n_repeats):
        return found
    table = _rows_for_method(X, metric, x.n, random_state)
    false = impostors(run, table, n_impostors, random_state) if n_impostors else None
    again = repeats(run, table, n_repeats, random_state) if n_repeats else None
    return replace(found, impostors=false, repeats=again)


def _audit_of_spaces(
    x: Space, y: EuclideanSpace, labels: Array | None, seed: int, n_jobs: int | None
) -> Audit:
    """The audit without reruns of the method: x is the data, y the map."""
    scores = reliability(x, y, seed)
    shown = np.asarray(y.points, dtype=float)
    groups = map_groups(shown, n_jobs=n_jobs)
    rows = drawn_rows(x.n, MAX_LINKED_ROWS, seed)
    rows = np.arange(x.n) if rows is None else rows
    some = subspace(x, rows)
    linked, dimension = linked_groups(some, groups, rows, seed, labels)
    found, pairs = groups_with_verdicts(linked)
    return Audit(
        points=shown,
        picture=picture_of(x, y, N_NEIGHBORS, sample=sample_size(x.n), random_state=seed),
        reliability=scores,
        model=two_groups(scores.p_values),
        map_groups=groups,
        groups=found,
        pairs=pairs,
        nearness=nearness(some, shown[rows], linked.members, linked.names, seed),
        dimension=dimension,
        impostors=None,
        repeats=None,
        linked=len(rows),
        seconds=0.0,
        labels=labels,
        unions=joined_groups(linked, pairs),
    )


def _refuse_few_rows(n: int) -> None:
    if n < MIN_ROWS:
        raise InvalidInput(
            Argument("X"),
            f" has {n} rows; an audit needs {MIN_ROWS} or more for its tests to mean something. "
            "`dualfold report`",
            InPython(" (dualfold.quality.report)"),
            " measures maps of fewer",
        )


def _validated_labels(labels: Any, n: int) -> Array | None:
    if labels is None:
        return None
    given = np.asarray(labels, dtype=object)
    if given.shape != (n,):
        raise InvalidInput(
            Argument("labels"), f" must be one for each of {n} rows; their shape is {given.shape}"
        )
    return given


def _rows_for_method(X: Any, metric: Any, n: int, seed: int) -> Array:
    """Up to 1,000 rows, dense."""
    if not hasattr(X, "shape") or not is_euclidean(metric):
        raise InvalidInput(
            Argument("method"),
            " needs the table itself and ",
            Argument("metric", "euclidean"),
            "; leave it out for distances and graphs",
        )
    rows = drawn_rows(n, MAX_METHOD_ROWS, seed)
    some = X if rows is None else X[rows]
    dense = some.toarray() if sp.issparse(some) else some
    return np.asarray(rows_of_numbers(dense, "X"), dtype=float)
