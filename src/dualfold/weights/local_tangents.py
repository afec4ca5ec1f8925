"""Two penalties for functions that are not linear on the local tangent planes.

Each neighbourhood gives a few rows; stacked they are a sparse F, and vᵀFᵀFv is the sum
of the penalties of all neighbourhoods. FᵀF itself is never formed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Rows
from dualfold.graph.graph import Lists
from dualfold.weights.batches import in_batches, offsets, stacked_rows


def tangent_alignment(X: Rows, lists: Lists, *, n_components: int) -> sp.csr_array:
    """Compute F whose rows penalise functions that are not affine on local tangent planes.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Rows of numbers.
    lists : Lists
        Directed neighbour lists of the rows, as in `Graph.lists`.
    n_components : int
        Dimension d of the tangent planes.

    Returns
    -------
    csr_array of shape (n_penalties, n_samples)
        The factor F: ‖Fv‖² sums, over all lists, the squared distance of v from the affine
        functions of the local tangent coordinates.

    See Also
    --------
    tangent_hessian : Penalties of second derivatives.

    Notes
    -----
    Let Θ be the k×d leading left singular vectors of the centred neighbours of one row. The rows of
    F for its list are an orthonormal basis of the complement of [1 Θ], k − d − 1 rows. FᵀF is never
    formed.

    References
    ----------
    .. [1] Z. Zhang and H. Zha, "Principal manifolds and nonlinear dimensionality reduction via
       tangent space alignment", SIAM Journal on Scientific Computing, 26(1), 313–338, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import tangent_alignment
    >>> line = np.arange(8.0)[:, None]
    >>> F = tangent_alignment(line, knn(line, 4).lists, n_components=1)
    >>> F.shape, bool(np.allclose(F @ line, 0))
    ((16, 8), True)
    """

    def rows(around: Array) -> Array:
        functions = _affine_functions(around, n_components)
        complete = np.linalg.qr(functions, mode="complete")[0]
        return np.asarray(complete[:, :, functions.shape[2] :].transpose(0, 2, 1))

    return _stacked_for_lists(X, lists, rows)


def tangent_hessian(X: Rows, lists: Lists, *, n_components: int) -> sp.csr_array:
    """Compute F whose rows estimate second derivatives on local tangent planes.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Rows of numbers.
    lists : Lists
        Directed neighbour lists of the rows, as in `Graph.lists`.
    n_components : int
        Dimension d of the tangent planes.

    Returns
    -------
    csr_array of shape (n_penalties, n_samples)
        The factor F, with d(d + 1)/2 rows for each list, which vanish on affine functions.

    See Also
    --------
    tangent_alignment : Penalties of everything that is not affine.

    Notes
    -----
    The rows of a list are the products of any two tangent coordinates, made orthogonal to the
    affine functions and to one another.

    References
    ----------
    .. [1] D. L. Donoho and C. Grimes, "Hessian eigenmaps: Locally linear embedding techniques for
       high-dimensional data", Proceedings of the National Academy of Sciences, 100(10), 5591–5596,
       2003.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import tangent_hessian
    >>> line = np.arange(8.0)[:, None]
    >>> F = tangent_hessian(line, knn(line, 4).lists, n_components=1)
    >>> F.shape, bool(np.allclose(F @ line, 0)), bool(np.allclose(F @ line**2, 0))
    ((8, 8), True, False)
    """
    a, b = np.triu_indices(n_components)

    def rows(around: Array) -> Array:
        affine = _affine_functions(around, n_components)
        tangent = affine[:, :, 1:]
        functions = np.concatenate([affine, tangent[:, :, a] * tangent[:, :, b]], axis=2)
        return np.linalg.qr(functions)[0][:, :, n_components + 1 :].transpose(0, 2, 1)

    return _stacked_for_lists(X, lists, rows)


def _affine_functions(around: Array, n_components: int) -> Array:
    """[1/√k Θ]: an orthonormal basis of the affine functions on each tangent plane."""
    count, width = around.shape[1:]
    constant = np.full((len(around), count, 1), 1 / np.sqrt(count))
    if width < count:
        tangent = np.linalg.svd(around, full_matrices=False)[0][:, :, :n_components]
    else:
        # Squares lose half the digits of the small singular values, not the large ones.
        gram = around @ around.transpose(0, 2, 1)
        tangent = np.linalg.eigh(gram)[1][:, :, : -n_components - 1 : -1]
    return np.concatenate([constant, tangent], axis=2)


def _stacked_for_lists(X: Rows, lists: Lists, rows_of: Callable[[Array], Array]) -> sp.csr_array:
    def part(_: Array, places: Array) -> tuple[Array, Array]:
        neighbors = np.sort(lists.indices[places], axis=1)  # rows of F need no sorting then
        entries = rows_of(offsets(X, neighbors))
        return entries, np.broadcast_to(neighbors[:, None], entries.shape)

    return stacked_rows(in_batches(lists, X.shape[1], part), len(lists))
