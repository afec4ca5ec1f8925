"""Kernels between rows: their matrix, centred in place, or its products where it is too large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.metrics.pairwise import pairwise_kernels

from dualfold.arrays import Array, Rows
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF as _U
from dualfold.kernels.threads import (
    in_shares,
    in_threads,
    one_blas_thread,
    row_slices,
    thread_count,
)
from dualfold.weights.gram import CACHED_NUMBERS, centre_by_masses
from dualfold.weights.precision import (
    HIGHER_ORDER_FACTOR,
    weighted_centring_error,
)
from dualfold.weights.row_weights import RowWeights

# Rows and columns of a block that is computed at once and mirrored.
BLOCK_ROWS = 512
# Numbers of a tile of rows that is multiplied and forgotten.
TILE_NUMBERS = 2**22
# Kernels of differences between rows, or that differ by what centring takes off: these rows are
# centred first, so that a mean far from 0 costs no digits. The Laplacian kernel subtracts
# rows first, and a shift could only round them.
SHIFTED_KERNELS = ("linear", "rbf")
# Kernels of histograms.
POSITIVE_KERNELS = ("chi2", "additive_chi2")
KERNEL_NAMES = (
    "linear",
    "poly",
    "rbf",
    "sigmoid",
    "cosine",
    "laplacian",
    *POSITIVE_KERNELS,
)


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel of scikit-learn by its name, or a function of two rows.

    parameters : gamma, degree, coef0 where the name has them; further arguments of a function
    n_jobs : of scikit-learn's loop over a function
    """

    function: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_jobs: int | None = None

    def refuse_rows(self, X: Any) -> None:
        """InvalidInput for rows that the kernel is not defined for."""
        if self.function not in POSITIVE_KERNELS:
            return
        if sp.issparse(X) or X.min() < 0:
            raise InvalidInput(
                Argument("kernel", self.function),
                " compares histograms: it needs a dense table of numbers that are 0 or more",
            )

    def between(self, X: Any, Y: Any = None) -> Array:
        """The kernel of every row of X with every row of Y (None: of X), in float64."""
        X, Y = (None if part is None else part.astype(float, copy=False) for part in (X, Y))
        values = pairwise_kernels(
            X, Y, metric=self.function, filter_params=True, n_jobs=self.n_jobs, **self.parameters
        )
        return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=float)

    def matrix(self, X: Rows) -> Array:
        """The symmetric matrix of all pairs: blocks of its lower half, mirrored."""
        n = X.shape[0]
        K = np.empty((n, n))
        height = -(-n // -(-n // BLOCK_ROWS))  # as many rows in each: few pairs are met twice
        slices = list(row_slices(n, height))
        blocks = [(i, j) for count, i in enumerate(slices) for j in slices[: count + 1]]

        def fill(block: tuple[slice, slice]) -> None:
            i, j = block
            values = self.between(X[i], None if i == j else X[j])
            K[i, j] = (values + values.T) / 2 if i == j else values
            K[j, i] = K[i, j].T

        threads = min(thread_count(), len(blocks))
        with one_blas_thread():
            in_threads(fill, blocks, threads if isinstance(self.function, str) else 1)
        return K

    def error_bound(self, X: Any, row_means: Array) -> float | None:
        """A bound of ‖K̂ − K‖₂ for rounding; None where nothing is known of the kernel.

        row_means : of |K̂|

        A sum of D products is off by (D + 3)u of the lengths r_i·r_j. Where an entry is off by
        e_ij ≤ s·r_i·r_j + 4u|K_ij|, ‖E‖₂ is at most s·Σr² + 4u·(the largest row sum).
        """
        if not isinstance(self.function, str):
            return None
        n, width = X.shape
        squares = np.asarray((X.multiply(X) if sp.issparse(X) else np.square(X)).sum(axis=1))
        squares = squares.ravel().astype(float)
        largest, sums = float(squares.max(initial=0.0)), n * row_means
        product, gamma = (width + 3) * _U, float(self.parameters.get("gamma") or 0.0)
        constant = 4 * _U * n * abs(float(self.parameters.get("coef0") or 0.0))
        rounding = 4 * _U * float(sums.max(initial=0.0))
        if self.function == "rbf":
            # |x − y|² is off by (D + 3)u(r_i + r_j)², and K by γ of that, times itself.
            error = 2 * gamma * product * float((sums * (squares + largest)).max())
        elif self.function in ("cosine", "laplacian"):
            error = 4 * product * n
        elif self.function == "linear":
            error = product * float(squares.sum())
        elif self.function == "sigmoid":  # tanh is nowhere steeper than 1
            error = gamma * product * float(squares.sum()) + constant
        elif self.function == "poly" and float(self.parameters["degree"]) >= 1:
            degree = float(self.parameters["degree"])
            base = gamma * largest + abs(float(self.parameters["coef0"]))
            error = degree * base ** (degree - 1)
            error *= gamma * product * float(squares.sum()) + constant
        else:
            return None
        return HIGHER_ORDER_FACTOR * (error + rounding) + 4 * _U * n


@dataclass(frozen=True, eq=False)
class CentredKernel:
    """HKH, and what centring took off.

    matrix : HKH, in place of K
    column_means : of K, which new rows are centred by
    absolute_means : of the rows of |K|
    error : a bound of the rounding of the centring, ‖·‖₂
    """

    matrix: Array
    column_means: Array
    absolute_means: Array
    error: float


def centre_kernel(K: Array, weights: RowWeights | None = None) -> CentredKernel:
    """Replace a symmetric K by HKH, row by row.

    With weights w it is √w(I − 1mᵀ)K(I − m1ᵀ)√w, m the weights over their sum.
    """
    n = len(K)
    slices = list(row_slices(n, max(1, CACHED_NUMBERS // n)))

    def row_sums(slices: list[slice]) -> tuple[Array, Array]:
        means = [K[part].mean(axis=1) for part in slices]
        return np.concatenate(means), np.concatenate(
            [np.abs(K[part]).mean(axis=1) for part in slices]
        )

    with np.errstate(over="ignore", invalid="ignore"):  # refused in the next lines
        parts = in_shares(row_sums, slices)
        means, sizes = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    if not np.isfinite(sizes).all():
        raise InvalidInput(
            "the kernel of these rows is not finite: its values overflow, or are NaN; rescale the "
            "data, or take another kernel"
        )
    if weights is not None:
        means = K @ (weights.values / weights.total)
        error = weighted_centring_error(K, weights.total)
        centre_by_masses(K, weights)
        return CentredKernel(K, means, sizes, error)
    shares = means - float(means.mean()) / 2

    def centre(slices: list[slice]) -> None:
        for part in slices:
            K[part] -= np.add.outer(shares[part], shares)

    in_shares(centre, slices)
    # Means are sums of n numbers, and an entry has three of them; then it is rounded.
    error = HIGHER_ORDER_FACTOR * n * float(sizes.max()) * (3 * (n + 4) + 8) * _U
    return CentredKernel(K, means, sizes, error)


def kernel_tiles(X: Rows, m: int) -> Iterator[slice]:
    """Slices of the rows of X whose kernels with m rows fit into a tile."""
    return row_slices(X.shape[0], max(1, TILE_NUMBERS // max(m, 1)))


class KernelProducts(LinearOperator):
    """v ↦ HKHv, where K is too large to be stored: its rows are computed again for every product.

    With weights w it is √w(I − 1mᵀ)K(I − m1ᵀ)√w, m the weights over their sum. `column_means` are
    those of K, weighted; `trace` is that of the operator; ‖·‖₂ is at most `norm_bound`, from the
    row sums of |K|.
    """

    def __init__(self, X: Rows, kernel: Kernel, weights: RowWeights | None = None) -> None:
        self.data, self.kernel = X, kernel
        n = X.shape[0]
        self.masses = np.full(n, 1 / n) if weights is None else weights.values / weights.total
        self.roots = np.ones((n, 1)) if weights is None else weights.roots[:, None]
        means, sizes, diagonal = [], [], []
        for rows in kernel_tiles(X, n):
            tile = kernel.between(X[rows], X)
            means.append(tile @ self.masses)
            sizes.append(np.abs(tile).sum(axis=1))
            diagonal.append(tile[np.arange(len(tile)), np.arange(rows.start, rows.stop)])
        self.column_means = np.concatenate(means)
        largest = float(np.square(self.roots).max())
        # √w(I − 1mᵀ) = (I − √m√mᵀ)√w, and the first factor is a projection.
        self.norm_bound = 1.01 * largest * float(np.concatenate(sizes).max())
        self.diagonal = np.concatenate(diagonal) - 2 * self.column_means
        self.diagonal += float(self.masses @ self.column_means)
        self.diagonal *= np.square(self.roots[:, 0])
        self.trace = float(self.diagonal.sum())
        super().__init__(np.dtype(float), (n, n))

    def _matmat(self, V: Array) -> Array:
        weighted = self.roots * V
        centred = weighted - np.outer(self.masses, weighted.sum(axis=0))
        images = np.empty(V.shape)
        for rows in kernel_tiles(self.data, self.shape[0]):
            images[rows] = self.kernel.between(self.data[rows], self.data) @ centred
        return np.asarray(self.roots * (images - self.masses @ images))

    def _adjoint(self) -> KernelProducts:
        return self
