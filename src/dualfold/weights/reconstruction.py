"""LLE's weights: each point as an affine combination of its neighbours, or as several.

`reconstruction_null_vectors` are the null vectors of I − W that the lists alone force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from dualfold.arrays import Array, Rows
from dualfold.errors import Argument, InvalidInput, PointsCollapse, warn
from dualfold.graph.directed_lists import terminal_components
from dualfold.graph.graph import Lists
from dualfold.weights.batches import in_batches, offsets, stacked_rows


def reconstruction_weights(X: Rows, lists: Lists, *, ridge: float = 1e-3) -> sp.csr_array:
    """Compute LLE's weights W: each row as an affine combination of its neighbours.

    W minimises Σ_i ‖x_i − Σ_j w_ij x_j‖² subject to Σ_j w_ij = 1.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Rows of numbers.
    lists : Lists
        Directed neighbour lists of the rows, as in `Graph.lists`.
    ridge : float, default=1e-3
        Share of the trace of each local Gram matrix that is added to its diagonal, so that weights
        stay small (the number itself where the trace is 0).

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        The weights; a row without neighbours is empty.

    See Also
    --------
    reconstruction_error : The operator (I − W)ᵀ(I − W).

    References
    ----------
    .. [1] S. T. Roweis and L. K. Saul, "Nonlinear dimensionality reduction by locally linear
       embedding", Science, 290(5500), 2323–2326, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import reconstruction_weights
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> W = reconstruction_weights(line, knn(line, 2).lists, ridge=1e-9)
    >>> W.toarray()[1].round(3)
    array([0.5, 0. , 0.5])
    """
    n = len(lists)
    weights = np.empty(len(lists.indices))

    def weigh(rows: Array, places: Array) -> None:
        weights[places] = affine_weights(offsets(X, lists.indices[places], rows), ridge)

    in_batches(lists, X.shape[1], weigh)
    return sp.csr_array((weights, lists.indices, lists.indptr), shape=(n, n))


def reconstruction_error(W: sp.csr_array) -> Callable[[Array], Array]:
    """Make the operator Z ↦ (I − W)ᵀ(I − W)Z; the square is never formed.

    Parameters
    ----------
    W : csr_array of shape (n_samples, n_samples)
        The reconstruction weights.

    Returns
    -------
    callable
        Function of an array with n_samples rows.

    See Also
    --------
    reconstruction_weights : The weights W.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from dualfold.weights import reconstruction_error
    >>> W = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> reconstruction_error(W)(np.array([1.0, 0.0]))
    array([ 2., -2.])
    """
    M = sp.csr_array(sp.eye_array(W.shape[0], format="csr") - W)
    transposed = M.T.tocsr()
    return lambda Z: np.asarray(transposed @ (M @ Z))


def affine_weights(around: Array, ridge: float) -> Array:
    """For each batch entry the weights, adding up to 1, that bring Σ w_j·offset_j nearest 0.

    `around` holds offsets of neighbours from a point: batch × neighbours × features.
    """
    return gram_weights(around @ around.transpose(0, 2, 1), ridge)


def refuse_ridge(ridge: float) -> None:
    """Raise for a ridge that is negative or not finite."""
    if not 0 <= ridge < np.inf:
        raise InvalidInput(Argument("reg", ridge), " must be a finite share, 0 or more")


def gram_weights(gram: Array, ridge: float) -> Array:
    """Weights from the Gram matrices of the offsets: batch × neighbours × neighbours."""
    refuse_ridge(ridge)
    count = gram.shape[1]
    trace = np.einsum("bii->b", gram)
    diagonal = np.arange(count)
    gram[:, diagonal, diagonal] += np.where(trace > 0, ridge * trace, ridge)[:, None]
    try:
        solved = np.linalg.solve(gram, np.ones((len(gram), count, 1)))[..., 0]
    except np.linalg.LinAlgError as error:
        raise _many_weights(ridge) from error
    return np.asarray(solved / solved.sum(axis=1, keepdims=True))


def _many_weights(ridge: float) -> InvalidInput:
    return InvalidInput(
        Argument("reg"),
        f" is {ridge:g}, and some neighbourhoods have more neighbours than dimensions, so that "
        "many weights are equally good; give a share above 0, as ",
        Argument("reg", 0.001),
    )


def reconstruction_null_vectors(weights: sp.csr_array, lists: Lists) -> Array:
    """Compute one column h for each terminal component of the lists: W h = h.

    h is 1 on its component, 0 on the other terminal ones, and elsewhere the solution of
    (I − W_QQ) h_Q = W_QT·1 (were the weights probabilities, the chance to end in T). The
    columns add up to 1, the constant.

    Parameters
    ----------
    weights : csr_array of shape (n_samples, n_samples)
        Reconstruction weights W, whose rows add up to 1.
    lists : Lists
        The neighbour lists of the rows.

    Returns
    -------
    ndarray of shape (n_samples, n_terminal_components)
        The columns.

    Raises
    ------
    InvalidInput
        If the weights between closed groups do not determine the solution.

    Warns
    -----
    DualfoldWarning
        If there is more than one terminal component.

    See Also
    --------
    reconstruction_weights : The weights.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.weights import reconstruction_null_vectors, reconstruction_weights
    >>> X = np.arange(6.0)[:, None]
    >>> graph = knn(X, 2)
    >>> weights = reconstruction_weights(X, graph.lists)
    >>> reconstruction_null_vectors(weights, graph.lists).ravel()
    array([1., 1., 1., 1., 1., 1.])
    """
    group = terminal_components(lists)
    count = int(group.max()) + 1
    if count == 1:
        return np.ones((len(group), 1))
    _warn_of_closed_groups(np.bincount(group[group >= 0]), len(group))
    vectors = (group[:, None] == np.arange(count)).astype(float)
    passing = np.flatnonzero(group < 0)
    if len(passing):
        rows = weights[passing]
        inner = sp.csc_array(sp.eye_array(len(passing)) - rows[:, passing])
        try:
            vectors[passing] = splu(inner).solve(rows @ vectors)
        except RuntimeError as singular:
            raise InvalidInput(
                "the weights of the points between closed groups of neighbours do not "
                "determine where they lie; raise ",
                Argument("reg"),
                " or ",
                Argument("n_neighbors"),
            ) from singular
    return vectors


def _warn_of_closed_groups(sizes: Array, n: int) -> None:
    shown = ", ".join(str(size) for size in sizes[1:4]) + (", …" if len(sizes) > 4 else "")
    warn(
        PointsCollapse(
            f"{len(sizes) - 1} group(s) of points ({shown} of {n}) have neighbours only among "
            "themselves, so local weights do not tie them to the rest: each such group comes "
            "out as about one spot. Raise ",
            Argument("n_neighbors"),
            " to tie them in",
        )
    )


def several_weights(
    X: Rows, lists: Lists, *, n_components: int, ridge: float = 1e-3, modified_tol: float = 1e-12
) -> sp.csr_array:
    """F with s_i rows w − e_i for point i, each w a combination that nearly gives x_i.

    X are the points, `lists` their neighbours, d = `n_components`.
    The Gram matrix of i's k neighbours (seen from x_i) has eigenvalues λ₁ ≥ … ≥ λ_k. Its
    s_i smallest, those that add up to less than η of the others, belong to directions V
    in which the weights can move without spoiling the reconstruction. With w the weights
    of plain LLE (`ridge`·trace added to the Gram matrix), α = ‖Vᵀ1‖/√s and H the
    reflection that takes Vᵀ1 to α1, the combinations are the columns of

        (1 − α)·w·1ᵀ + V·H

    each adding up to 1. η is the median over all points of (λ_{d+1} + … + λ_k) divided by
    (λ₁ + … + λ_d). Reflections by less than `modified_tol` are left out.
    """
    refuse_ridge(ridge)

    def spectra(rows: Array, places: Array) -> tuple[Array, Array, Array, Array]:
        neighbors = lists.indices[places]
        return rows, neighbors, *_spectra(offsets(X, neighbors, rows))

    batches = in_batches(lists, X.shape[1], spectra)
    eta = float(np.median(_ratios([values for _, _, values, _ in batches], n_components)))

    def parts() -> Iterator[tuple[Array, Array]]:
        for rows, neighbors, values, vectors in batches:
            weights = _ridge_weights(values, vectors, ridge)
            sizes = _small_eigenvalue_counts(values, eta)
            for size in np.unique(sizes):
                same = sizes == size
                combined = _combinations(weights[same], vectors[same, :, -size:], modified_tol)
                selves = np.full((*combined.shape[:2], 1), -1.0)
                columns = np.concatenate([neighbors[same], rows[same, None]], axis=1)
                entries = np.concatenate([combined, selves], axis=2)
                yield entries, np.broadcast_to(columns[:, None], entries.shape)

    return stacked_rows(parts(), len(lists))


def _ratios(spectra: list[Array], n_components: int) -> Array:
    """Extent beyond the tangent plane over that within it, for each neighbourhood."""
    ratios = []
    for values in spectra:
        large, small = values[:, :n_components].sum(axis=1), values[:, n_components:].sum(axis=1)
        # All neighbours are duplicates: no direction is larger than another.
        ratios.append(np.divide(small, large, out=np.zeros(len(values)), where=large > 0))
    return np.concatenate(ratios)


def _spectra(around: Array) -> tuple[Array, Array]:
    """Eigenvalues of the local Gram matrices, largest first, and all their eigenvectors."""
    count, width = around.shape[1:]
    if width < count:
        # From the neighbours themselves: squares would lose the digits of the smallest.
        U, singular, _ = np.linalg.svd(around, full_matrices=True)
        values = np.zeros((len(around), count))
        values[:, :width] = singular**2
        return values, U
    gram = around @ around.transpose(0, 2, 1)
    values, U = np.linalg.eigh(gram)
    return np.maximum(values[:, ::-1], 0.0), U[:, :, ::-1]


def _ridge_weights(values: Array, vectors: Array, ridge: float) -> Array:
    """Plain LLE's weights from the spectra of the Gram matrices."""
    trace = values.sum(axis=1, keepdims=True)
    regularised = values + np.where(trace > 0, ridge * trace, ridge)
    if not regularised.all():
        raise _many_weights(ridge)
    solved = np.einsum("bks,bs->bk", vectors, vectors.sum(axis=1) / regularised)
    return np.asarray(solved / solved.sum(axis=1, keepdims=True))


def _small_eigenvalue_counts(values: Array, eta: float) -> Array:
    """Number of last eigenvalues that together stay under η of the others; at least one."""
    kept = np.cumsum(values, axis=1)
    left = values[:, ::-1].cumsum(axis=1)[:, ::-1]  # λ_j + … + λ_k, without cancellation
    small = (left[:, 1:] < eta * kept[:, :-1]) | (left[:, 1:] == 0)
    return np.maximum(small.sum(axis=1), 1)


def _combinations(weights: Array, V: Array, modified_tol: float) -> Array:
    """(1 − α)·w·1ᵀ + V·H, transposed: one combination a row."""
    size = V.shape[2]
    sums = V.sum(axis=1)
    alpha = np.linalg.norm(sums, axis=1, keepdims=True) / np.sqrt(size)
    normal = alpha - sums
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    least = max(modified_tol, np.finfo(float).tiny)
    normal = np.where(length < least, 0.0, normal / np.maximum(length, least))
    reflected = V - 2 * np.einsum("bks,bs->bk", V, normal)[:, :, None] * normal[:, None]
    return np.asarray(
        (reflected + (1 - alpha)[:, :, None] * weights[:, :, None]).transpose(0, 2, 1)
    )
