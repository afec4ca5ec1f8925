"""`fit` and `fit_transform` with weights or masses of rows, for the estimators that take them.

An estimator whose `_fit(X, context)` and `_fit_tiles(rows, y, context)` read the validated weights
of the context (n numbers, some of them 0) says so in its body:

    fit = fit_with_weights
    fit_transform = fit_transform_with_weights

so that scikit-learn sees the argument and routes it (`set_fit_request(sample_weight=True)`).
`dualfold.weights.row_weights` says how its problem counts them. A method of a neighbour graph whose
problem has a diagonal metric takes masses in the same way (`fit_with_masses`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context

from dualfold.arrays import Array, Rows
from dualfold.methods.fitting.estimator import fit_any_table


@_fit_context(prefer_skip_nested_validation=True)
def fit_with_weights(
    self: Any, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None
) -> Any:
    """Embed the rows of X.

    X may be what `transform` takes, and a table that is read in tiles (`dualfold.scale`).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows to embed.
    y : array-like of shape (n_samples,) or None, default=None
        Class of each row, for methods that learn from classes; the others ignore it.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts: counts, survey weights; None counts every row once.

        A row of weight 0 is not fitted, and placed as a new row is. Integer weights are repeated
        rows, and a common factor changes nothing that does not depend on the number of rows, in
        whose place Σw is. Weights that add up to at most 1 are first multiplied so that their sum
        is the number of rows with a positive weight; the certificate says so.

    Returns
    -------
    Self
        The fitted estimator.

    Raises
    ------
    InvalidInput
        If X, a weight or a parameter cannot be used; the message says what to do. After an error
        nothing is fitted.

    Warns
    -----
    DualfoldWarning
        If the fit is not what one may expect. The subclasses are in `dualfold.errors`.
    """
    fit_any_table(self, X, y, sample_weight=sample_weight)
    return self


@_fit_context(prefer_skip_nested_validation=True)
def fit_transform_with_weights(
    self: Any, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None
) -> Array:
    """Embed the rows of X and return their points.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows to embed, as in `fit`.
    y : array-like of shape (n_samples,) or None, default=None
        Class of each row, as in `fit`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts, as in `fit`.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        The points, also of rows with the weight 0. For a table in tiles they come in the form of
        the table, for example as a Dask array.
    """
    rows = fit_any_table(self, X, y, sample_weight=sample_weight)
    return np.asarray(self.embedding_) if rows is None else rows.transform_with(self)


@_fit_context(prefer_skip_nested_validation=True)
def fit_with_masses(self: Any, X: Rows, y: Any = None, masses: ArrayLike | None = None) -> Any:
    """Embed the rows of X.

    X may be what `transform` takes, and a table that is read in tiles (`dualfold.scale`).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows to embed.
    y : array-like of shape (n_samples,) or None, default=None
        Class of each row, for methods that learn from classes; the others ignore it.
    masses : array-like of shape (n_samples,) or None, default=None
        Positive numbers, by which rows count in the centring and in the constraint: VᵀMBV = I and
        VᵀMB1 = 0 in place of VᵀBV = I and VᵀB1 = 0; None gives every row the mass 1.

        The graph does not change: a row with the mass 2 is not a row that is there twice, which
        would be a neighbour of itself. A common factor changes nothing. New rows are placed as
        rows of the mean mass.

    Returns
    -------
    Self
        The fitted estimator.

    Raises
    ------
    InvalidInput
        If X, a mass or a parameter cannot be used; the message says what to do. After an error
        nothing is fitted.

    Warns
    -----
    DualfoldWarning
        If the fit is not what one may expect. The subclasses are in `dualfold.errors`.
    """
    fit_any_table(self, X, y, masses=masses)
    return self


@_fit_context(prefer_skip_nested_validation=True)
def fit_transform_with_masses(
    self: Any, X: Rows, y: Any = None, masses: ArrayLike | None = None
) -> Array:
    """Embed the rows of X and return their points.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows to embed, as in `fit`.
    y : array-like of shape (n_samples,) or None, default=None
        Class of each row, as in `fit`.
    masses : array-like of shape (n_samples,) or None, default=None
        Masses of the rows, as in `fit`.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        The points.
    """
    rows = fit_any_table(self, X, y, masses=masses)
    return np.asarray(self.embedding_) if rows is None else rows.transform_with(self)


fit_with_masses.__name__ = "fit"
fit_transform_with_masses.__name__ = "fit_transform"
fit_with_weights.__name__ = "fit"
fit_transform_with_weights.__name__ = "fit_transform"
