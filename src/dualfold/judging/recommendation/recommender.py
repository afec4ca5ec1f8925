"""Methods tried on subsamples of a table, and the one that is recommended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Matrix
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.number_rows import rows_in_units
from dualfold.inputs import PreparedTable, prepared_frame, random_generator
from dualfold.judging.recommendation.questions import (
    QUESTIONS,
    best_for_groups,
    best_for_order,
    refuse_unknown_question,
)
from dualfold.judging.recommendation.recommendation import Recommendation
from dualfold.judging.recommendation.short_cuts import neighbor_scan, worst_of
from dualfold.judging.recommendation.trial import (
    Candidate,
    candidate_on_subsamples,
    subsamples,
    winner,
)
from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.quality.dimension_estimates import intrinsic_dimension
from dualfold.weights.row_weights import present_rows, validated_weights

__all__ = ["recommend"]

# Simpler methods first: of equally good ones the first is taken.
DEFAULT_METHODS = ("pca", "isomap", "eigenmaps", "lle", "tsne")
MAX_SUBSAMPLE_ROWS = 800
N_SUBSAMPLES = 5
MAX_DIMENSION_ROWS = 2_000
MIN_ROWS = 40


def recommend(
    X: Any,
    *,
    n_components: int = 2,
    methods: Sequence[str] = DEFAULT_METHODS,
    question: str = QUESTIONS[0],
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Recommendation:
    """Recommend a method for a table, by trying several on subsamples.

    It estimates the intrinsic dimension, rejects numbers of neighbours with short cuts in any
    subsample, and runs each method on five subsamples of up to 800 rows. Maps are judged by the
    neighbours that they keep beyond chance, by distances, and by whether two subsamples give the
    same map. Of methods that are equal within 0.03 the simpler one is taken.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Prepared
        Data, 40 rows or more. A data frame is prepared as files are. Where cells were filled in,
        each subsample is judged on a plausible filling.
    n_components : int ≥ 1, default=2
        Number of coordinates of the map.
    methods : sequence of str, default=("pca", "isomap", "eigenmaps", "lle", "tsne")
        Names as on the command line, simpler ones first.
    question : {"neighbours", "order", "groups"}, default="neighbours"
        What the map is for: who is near whom, overall order, or groups.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each row counts, 0 or more; None: all alike, or the weights of a `Prepared`. Fits
        that take weights or masses get them, neighbours kept and stability are weighted means over
        rows, and rows of weight 0 are left out. Order and groups count every row once.
    random_state : int, default=0
        Seed of the subsamples.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    Recommendation
        `print` it; `method` and `n_neighbors` are the answer, `decided` says whether the data
        decide, `estimator()` makes the estimator.

    Raises
    ------
    InvalidInput
        If there are too few rows, a method or a question is unknown, or no method gives a map.

    See Also
    --------
    dualfold.explore : Makes the map, too, with `method="auto"`.

    Notes
    -----
    The data decide if all five subsamples choose the same method, no other method keeps more
    neighbours, and the method keeps more than the simpler ones do and more than on shuffled
    columns. Tables of noise decide for no method, except about 1 in 20 (docs/calibration.md). It
    takes seconds.

    Examples
    --------
    >>> import dualfold
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(60, random_state=0).points
    >>> found = dualfold.recommend(X, methods=("pca", "isomap"))
    >>> found.method
    'isomap'
    """
    begin = perf_counter()
    given = X.weights if sample_weight is None and isinstance(X, PreparedTable) else sample_weight
    X, tables, notices = _with_judges(X)
    X, tables, weights = _counting_rows(X, tables, given)
    _refuse_unsuitable(X, n_components, "" if given is None else " with a weight above 0")
    _refuse_unknown(methods)
    refuse_unknown_question(question)
    n = X.shape[0]
    parts, core = subsamples(n, MAX_SUBSAMPLE_ROWS, N_SUBSAMPLES, random_state)
    dimension = intrinsic_dimension(
        _dimension_rows(tables[0], random_state), random_state=random_state
    )
    scans = [
        neighbor_scan(tables[0][rows], random_state=random_state, n_jobs=n_jobs) for rows in parts
    ]
    scan = worst_of(scans)
    found = [
        candidate_on_subsamples(
            name,
            X,
            parts,
            core,
            n_components,
            scan.best_n_neighbors,
            judges=tables,
            weights=weights,
        )
        for name in methods
    ]
    if not any(one.kept for one in found):
        raise InvalidInput("no method gave a map of the subsamples: " + found[0].trouble)
    votes = tuple(winner(found, run).method for run in range(N_SUBSAMPLES))
    first = _best_for(question, found, votes)
    others = sorted((one for one in found if one is not first), key=lambda one: -one.mean_kept)
    result = Recommendation(
        dimension, scan, (first, *others), votes, n_components, n, len(parts[0]), 0.0, notices
    )
    result = replace(result, order=tuple(methods), question=question)
    result = result.with_shuffled_columns(X, parts, random_state, weights)
    return replace(result, seconds=perf_counter() - begin)


def _with_judges(X: Any) -> tuple[Matrix, list[Matrix], tuple[str, ...]]:
    """The table, the tables that its maps are judged on, and notices of a data frame."""
    notices: tuple[str, ...] = ()
    if hasattr(X, "iloc"):
        X = prepared_frame(X)
        notices = X.notices
    if not isinstance(X, PreparedTable):
        rows, _ = rows_in_units(X)
        return rows, [rows], notices
    tables = [rows_in_units(table)[0] for table in X.plausible_tables()]
    return rows_in_units(X.X)[0], tables, notices


def _counting_rows(
    X: Matrix, tables: list[Matrix], sample_weight: ArrayLike | None
) -> tuple[Matrix, list[Matrix], Array | None]:
    """The rows that count, and their weights; None where all count alike."""
    if sample_weight is None:
        return X, tables, None
    given = validated_weights(sample_weight, X.shape[0])
    tables = [present_rows(table, given) for table in tables]
    X, positive = present_rows(X, given), given[given > 0]
    return X, tables, None if (positive == positive[0]).all() else positive


def _refuse_unsuitable(X: Matrix, n_components: int, which: str) -> None:
    """Refuse too few rows (`which` says of what kind), too many coordinates, and equal rows."""
    n, width = X.shape
    if n < MIN_ROWS:
        raise InvalidInput(
            Argument("X"),
            f" needs {MIN_ROWS} rows or more{which} for subsamples to mean something; it has {n}. "
            "With so few look at PCA",
        )
    if not 1 <= n_components <= width:
        raise InvalidInput(
            Argument("n_components", n_components), f" must be from 1 to {width}, the columns"
        )
    if (X.max(axis=0) - X.min(axis=0)).sum() == 0:
        raise InvalidInput("all rows of ", Argument("X"), " are the same: there is nothing to map")


def _refuse_unknown(methods: Sequence[str]) -> None:
    """Refuse names that are no methods, and an empty list."""
    known = tuple(DESCRIPTIONS)
    unknown = [name for name in methods if name not in known]
    if not len(methods) or isinstance(methods, str) or unknown:
        what = f"{unknown[0]!r} is none of them" if unknown else f"it is {methods!r}"
        raise InvalidInput(
            Argument("methods"), f" must be a list of names among {', '.join(known)}; {what}"
        )


def _dimension_rows(X: Matrix, seed: int) -> Matrix:
    """The rows whose dimension is estimated: all, or a sample."""
    n, rng = X.shape[0], random_generator(seed)
    if n <= MAX_DIMENSION_ROWS:
        return X
    return X[np.sort(rng.choice(n, MAX_DIMENSION_ROWS, replace=False))]


def _best_for(question: str, found: list[Candidate], votes: tuple[str, ...]) -> Candidate:
    """The one that answers a question best; of neighbours the one with most votes; else the first.

    Of several the simplest.
    """
    if question == "order":
        return best_for_order(found) or found[0]
    if question == "groups":
        return best_for_groups(found) or found[0]
    counts = Counter(votes)
    most = max(counts.values())
    return next(one for one in found if counts[one.method] == most)
