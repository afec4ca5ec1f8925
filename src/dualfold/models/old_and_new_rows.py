"""New rows of a model, judged: are they like the rows that it was made of?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Metric, Rows
from dualfold.quality.conformal import compared_rows
from dualfold.quality.foreign_rows import ForeignRows

if TYPE_CHECKING:
    from dualfold.models.model import Model

# Of more old rows this many are compared with.
MAX_COMPARED_ROWS = 20_000


def old_rows(model: Model) -> tuple[Rows, Metric] | None:
    """Rows that the model was made of, as its map takes them, and their metric; None: none."""
    rows, metric = model.map.fitted_rows() or (model.reference, "euclidean")
    if rows is None or metric == "precomputed" or rows.shape[0] < 3:
        return None
    if rows.shape[0] > MAX_COMPARED_ROWS:
        chosen = np.random.default_rng(0).choice(rows.shape[0], MAX_COMPARED_ROWS, replace=False)
        rows = rows[np.sort(chosen)]
    return rows, metric


@dataclass(frozen=True, eq=False)
class RowsInMapUnits:
    """Old and new rows in the units that a map measures in.

    stored : the old rows as the rule of the map takes them; metric : of distances between rows
    """

    stored: Rows
    old: Rows
    new: Rows
    metric: Metric


def rows_in_map_units(model: Model, X: Rows) -> RowsInMapUnits | None:
    """New rows X, as the map takes them, beside the old ones; None if the model holds none."""
    fitted = old_rows(model)
    if fitted is None:
        return None
    stored, metric = fitted
    old, new = map(model.map.compared_rows, (stored, X))
    return RowsInMapUnits(stored, old, new, metric)


def judged_rows(model: Model, X: Any) -> ForeignRows | None:
    """Compare new rows with the rows that a model was made of.

    Parameters
    ----------
    model : Model
        The model.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        New rows, with the columns of the model.

    Returns
    -------
    ForeignRows or None
        Conformal p-values of the rows, how many are as far out as at most 1 in 20 of the old ones,
        and their distances; None if the model holds no rows. Print it.

    See Also
    --------
    Model.transform : Places the rows.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman and G. Shafer, "Algorithmic Learning in a Random World", Springer,
       2005.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import Isomap
    >>> from dualfold.saved import judged_rows, model_of
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> judged_rows(model_of(Isomap(n_neighbors=8).fit(X)), [[0.0, 0.0], [9.0, 9.0]]).count
    1
    """
    X = X if sp.issparse(X) else np.asarray(X)
    return judged_prepared_rows(model, model.preparation.scaled(X))


def judged_prepared_rows(model: Model, X: Rows) -> ForeignRows | None:
    """As `judged_rows`, of rows as the map takes them."""
    both = rows_in_map_units(model, X)
    if both is None or both.new.shape[0] == 0:
        return None
    n = both.old.shape[0]
    compared = compared_rows(both.old, both.new, n_neighbors=min(5, n - 1), metric=both.metric)
    return ForeignRows(compared.p_values, n, compared.distances, compared.old_distance)
