"""The audit of a map: `audit(X, Y)`."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InPython, InvalidInput, counted
from dualfold.graph.metrics import is_euclidean
from dualfold.graph.number_rows import rows_of_numbers
from dualfold.inputs import frame_of, numbers_of, prepared_frame
from dualfold.judging.audit_result import Audit
from dualfold.judging.groups import (
    groups_with_verdicts,
    joined_groups,
    linked_groups,
)
from dualfold.judging.nearness import nearness
from dualfold.judging.place_mixture import two_groups
from dualfold.judging.point_reliability import reliability
from dualfold.judging.reruns import MAX_METHOD_ROWS, impostors, method_runner, repeats
from dualfold.quality.estimate import (
    MeasuredWeights,
    drawn_rows,
    measured_weights,
    sample_size,
)
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
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Audit:
    """Audit of a map: which points and groups can be believed.

    An audit says which points seem to have random places (`dubious`); which of the visible groups
    are groups of the data, and which are torn apart or thrown together; which statements "A lies
    nearer to B than to C" are true in the data; how many dimensions the data have.
    With a `method` it also says whether the method draws such groups where there are none, and
    whether it draws the same ones again.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or AnnData
        Data of the map. A data frame of pandas, polars or Arrow is prepared as files are; with
        `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X; at least 100 of them.
    labels : array-like of shape (n_samples,) or None, default=None
        One for each point, to name groups by. No judgement uses them.
    method : str, callable, estimator or None, default=None
        What made the map, to run it again on up to 1,000 rows: the name of a method of dualfold, a
        function of points and a seed that returns a map, or an estimator with `fit_transform`.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    n_impostors : int, default=19
        Number of runs of `method` on shuffled data, and as many on normal data; 0: none. 19 is the
        least that can reach a p-value of 0.05.
    n_repeats : int, default=5
        Number of runs of `method` with other seeds, and as many on subsamples, 2 or more; 0: none.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each point counts in shares and means over points, 0 or more; None: all alike.
        Neighbours and links are counted without weights, so that whole numbers are not repeated
        rows.
    random_state : int, default=0
        Seed of samples and permutations.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    Audit
        `print` it.

    Raises
    ------
    InvalidInput
        If there are fewer than 100 rows, or `labels` are not one for each row.

    See Also
    --------
    dualfold.quality.report : Measures of a map, also of fewer rows.
    dualfold.judging.map_judgement : What a map shows of its data, in three answers.

    Notes
    -----
    docs/audit-tests.md says what is tested and at which level.

    Weights count in the share of neighbours kept, in the share of dubious points, in the share of
    links that stay in a group, in labels, and in the means that statements "A lies nearer to B
    than to C" are about; tests of these have (Σw)²/Σw² points, never more than there are. Borders
    between groups, p-values and posterior probabilities of single points, dimensions and reruns of
    the method count every point once.

    Examples
    --------
    >>> import numpy as np
    >>> import dualfold
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> dualfold.audit(X, X[:, :2])
    Audit(100 points, 0 dubious; no groups)
    """
    begin = perf_counter()
    notices: tuple[str, ...] = ()
    X = frame_of(numbers_of(X))
    if hasattr(X, "iloc"):
        prepared = prepared_frame(X)
        X, notices = prepared.X, prepared.notices
    x, y = both_spaces(X, Y, metric, n_jobs)
    _refuse_few_rows(x.n)
    names = _validated_labels(labels, x.n)
    weights = measured_weights(sample_weight, None, x.n)
    run = None if method is None else method_runner(method, y.width)
    found = _audit_of_spaces(x, y, names, weights, random_state, n_jobs)
    found = replace(found, seconds=perf_counter() - begin, notices=notices)
    if run is None or not (n_impostors or n_repeats):
        return found
    table = _rows_for_method(X, metric, x.n, random_state)
    false = impostors(run, table, n_impostors, random_state) if n_impostors else None
    again = repeats(run, table, n_repeats, random_state) if n_repeats else None
    return replace(found, impostors=false, repeats=again)


def _audit_of_spaces(
    x: Space,
    y: EuclideanSpace,
    labels: Array | None,
    weights: MeasuredWeights | None,
    seed: int,
    n_jobs: int | None,
) -> Audit:
    """The audit without reruns of the method: x is the data, y the map."""
    scores = reliability(x, y, seed)
    shown = np.asarray(y.points, dtype=float)
    groups = map_groups(shown, n_jobs=n_jobs)
    rows = drawn_rows(x.n, MAX_LINKED_ROWS, seed)
    rows = np.arange(x.n) if rows is None else rows
    some = subspace(x, rows)
    shares = None if weights is None else weights.shares
    linked, dimension = linked_groups(some, groups, rows, seed, labels, shares)
    found, pairs = groups_with_verdicts(linked)
    near = picture_of(
        x, y, N_NEIGHBORS, sample=sample_size(x.n), sample_weight=shares, random_state=seed
    )
    sampled = None if shares is None else shares[rows]
    return Audit(
        points=shown,
        picture=near,
        reliability=scores,
        model=two_groups(scores.p_values),
        map_groups=groups,
        groups=found,
        pairs=pairs,
        nearness=nearness(some, shown[rows], linked.members, linked.names, seed, sampled),
        dimension=dimension,
        impostors=None,
        repeats=None,
        linked=len(rows),
        seconds=0.0,
        labels=labels,
        unions=joined_groups(linked, pairs),
        weights=weights,
    )


def _refuse_few_rows(n: int) -> None:
    if n < MIN_ROWS:
        raise InvalidInput(
            Argument("X"),
            f" has {counted(n, 'row')}; an audit needs {MIN_ROWS} or more for its tests to mean "
            "something. "
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
