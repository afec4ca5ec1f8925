"""Groups of a map with checked names, at three levels of zoom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.data.text.text_vectors import TextVectors, texts_of
from dualfold.errors import Argument, InvalidInput
from dualfold.inputs import frame_of, measurable_rows
from dualfold.judging.group_names import with_names
from dualfold.judging.named_groups import NamedGroups
from dualfold.judging.nested_groups import nested_groups
from dualfold.quality.space import space_of
from dualfold.view.page_columns import values_of

__all__ = ["named_groups"]

# Columns of an array that has no names, which tell groups apart.
MAX_COMPARED_COLUMNS = 300


def named_groups(
    model: Any,
    X: Any = None,
    text: Any = None,
    *,
    columns: Mapping[str, Any] | None = None,
    metric: Any = "euclidean",
    random_state: int = 0,
) -> NamedGroups:
    """Groups that a map shows at three levels of zoom, each with a name that was checked.

    Groups are hills of density on the map. Each has a letter, is named by up to four terms of
    `text` that tell it from its surroundings, or by the columns in which it differs, and is tested
    as `audit` tests groups: a group that the data do not have loses its name. The same input gives
    the same names.

    Parameters
    ----------
    model : estimator, Exploration or array-like of shape (n_samples, n_components)
        Fitted estimator with `embedding_`, what `dualfold.explore` returns, or points.
    X : array-like, sparse matrix, data frame or None, default=None
        The rows that the map was made of, for the tests; None: those of an `Exploration`, and
        without any no group is tested.
    text : sequence of str or None, default=None
        One text for each row; None: that of an `Exploration` with text, else columns give names.
    columns : data frame, mapping or None, default=None
        Names, and one value for each row, to name groups by; None: the columns of X.
    metric : str or callable, default="euclidean"
        Metric of X, as `dualfold.audit` takes it.
    random_state : int, default=0
        Seed of samples.

    Returns
    -------
    NamedGroups
        The groups; `print` it. Each has `letter`, `name`, `level`, `size`, `verdict`, `rows`.

    Raises
    ------
    InvalidInput
        If X, text or columns have other numbers of rows than the map.

    See Also
    --------
    dualfold.audit : All tests of a map.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.view import named_groups
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(0, 1, (80, 2)), rng.normal(9, 1, (80, 2))])
    >>> text = ["soup and bread"] * 80 + ["sails and waves"] * 80
    >>> for group in named_groups(Y, Y, text):
    ...     print(group.letter, group.name, group.size, group.verdict)
    A bread · soup 80 found
    B sails · waves 80 found
    """
    judgement = getattr(model, "judgement", None)
    if judgement is not None and X is None and text is None and columns is None:
        groups: NamedGroups | None = judgement.groups
        return NamedGroups((), len(model.points)) if groups is None else groups
    points = getattr(model, "embedding_", model)
    points = np.asarray(points, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    n = len(points)
    space = None if X is None else space_of(measurable_rows(X), metric)
    if space is not None and space.n != n:
        raise InvalidInput(Argument("X"), f" has {space.n} rows, and the map has {n}")
    if n < 2:
        return NamedGroups((), n)
    terms: tuple[str, ...] = ()
    weights = None
    if text is not None:
        texts = texts_of(text)
        if len(texts) != n:
            raise InvalidInput(Argument("text"), f" has {len(texts)} texts, and the map has {n}")
        weights, terms = _terms_of(texts)
    known = columns
    if known is None:
        known = _columns_of(X, n) if text is None else {}
    values = {str(name): values_of(column) for name, column in known.items()}
    for name, column in values.items():
        if len(column) != n:
            raise InvalidInput(
                Argument("columns"),
                f" must have a value for each of the {n} points of the map; '{name}' has "
                f"{len(column)}",
            )
    groups = nested_groups(space, points, random_state=random_state)
    return with_names(groups, values, terms=terms, weights=weights, random_state=random_state)


def _terms_of(texts: list[str]) -> tuple[sp.csr_array, tuple[str, ...]]:
    try:
        return TextVectors(max_df=1.0)._weighted_terms(texts)[:2]
    except InvalidInput as error:
        raise InvalidInput(
            Argument("text"),
            " must have words that name groups; no word of 2 letters or more is in two of the "
            f"{len(texts)} texts; without it columns name them",
        ) from error


def _columns_of(X: Any, n: int) -> dict[str, Any]:
    """The columns of X by their names; none of distances, graphs and sparse tables."""
    if X is None:
        return {}
    table = frame_of(X)
    if hasattr(table, "iloc"):
        return {str(name): table[name] for name in table.columns[:MAX_COMPARED_COLUMNS]}
    if not isinstance(table, np.ndarray) or table.ndim != 2 or len(table) != n:
        return {}
    width = min(table.shape[1], MAX_COMPARED_COLUMNS)
    return {f"column {place + 1}": table[:, place] for place in range(width)}
