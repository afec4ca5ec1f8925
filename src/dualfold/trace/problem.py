"""The trace problem behind every spectral method.

    opt tr(VᵀAV)   subject to   VᵀBV = I,   VᵀBN = 0

`TraceProblem` states it as data. It does not solve or certify anything.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array, Matrix
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.reports import tally
from dualfold.kernels.sparse import filled_square, sparse_product
from dualfold.kernels.threads import (
    in_shares,
    in_threads,
    lapack_threads,
    row_slices,
    thin_tiles,
    thread_count,
)
from dualfold.trace.lift import Lift, VectorLift, as_lift
from dualfold.trace.matrix_entries import (
    ASYMMETRY_TOLERANCE,
    asymmetry,
    not_symmetric,
    real_entries,
    real_sparse,
    symmetric,
)
from dualfold.trace.metric import (
    Diagonal,
    ExcludedSpan,
    Identity,
    Metric,
    excluded_span,
    metric,
)

_wide_product = kernel("wide_product")
PRODUCT_COLUMNS = c_constant("PRODUCT_COLUMNS")  # of V that the kernel takes together
PRODUCT_CHUNK_ROWS = 512  # of A that a thread takes at a time


class Gramian(LinearOperator):
    """The operator A = MᵀM, known by its sparse factor M.

    Products go through M, so small eigenvalues keep their digits.

    Parameters
    ----------
    factor : csr_array of shape (n_rows, n)
        The factor M.

    Attributes
    ----------
    factor : csr_array of shape (n_rows, n)
        M, by its rows.
    factor_transpose : csr_array of shape (n, n_rows)
        Mᵀ, by its rows.
    trace : float
        Trace of A.

    See Also
    --------
    TraceProblem : Takes it as A.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from dualfold.trace import Gramian
    >>> A = Gramian(sp.csr_array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]))
    >>> A @ np.array([1.0, 0.0, 0.0])
    array([ 1., -1.,  0.])
    """

    def __init__(self, factor: sp.csr_array) -> None:
        self.factor = real_sparse(factor, "A")
        self.factor_transpose = self.factor.T.tocsr()
        super().__init__(np.dtype(float), (factor.shape[1], factor.shape[1]))

    @cached_property
    def trace(self) -> float:
        """Sum of the squares of the factor's entries."""
        return float(self.factor.data @ self.factor.data)

    @cached_property
    def absolute(self) -> sp.csr_array:
        """Entrywise absolute value of the factor, for bounds of rounding."""
        return _absolute(self.factor)

    @cached_property
    def absolute_transpose(self) -> sp.csr_array:
        """Transpose of `absolute`, by rows."""
        return _absolute(self.factor_transpose)

    @cached_property
    def square_entries(self) -> Array:
        """Entries of MᵀM. Who uses them bounds their rounding."""
        return filled_square(self.factor)

    def _matmat(self, V: Array) -> Array:
        return sparse_product(self.factor_transpose, sparse_product(self.factor, V))

    _matvec = _matmat

    def _adjoint(self) -> Gramian:
        return self


def _absolute(rows: sp.csr_array) -> sp.csr_array:
    """|M| with the places of M, which `abs` would copy."""
    return sp.csr_array((np.abs(rows.data), rows.indices, rows.indptr), shape=rows.shape)


@dataclass(frozen=True, eq=False)
class TraceProblem:
    """The problem opt tr(VᵀAV) subject to VᵀBV = I and VᵀBN = 0, as data.

    Every spectral method states one. It neither solves nor certifies anything: `dualfold.embed`
    solves it, `certify` judges an answer.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator of shape (n, n)
        Symmetric matrix; `Gramian` for A = MᵀM.
    B : ndarray, sparse matrix or None, default=None
        Inner product: None is the identity, a vector a positive diagonal, a matrix must be positive
        definite.
    count : int, default=2
        Number of directions, the columns of V.
    sense : {"min", "max"}, default="min"
        Whether the trace is minimised or maximised.
    excluded : array-like of shape (n, p), ExcludedSpan or None, default=None
        Columns N that the directions must be B-orthogonal to. They must span an invariant subspace
        of the pencil (A, B).
    lift : Lift or callable, default=VectorLift()
        Function of (vectors, values) that returns the points of the embedding.
    about : str, default=""
        What the problem is about, in words, if that is not all of the data.

    Raises
    ------
    InvalidInput
        If A or B is not square, real, finite and symmetric, or `count` does not fit.

    See Also
    --------
    certify : Certifies an answer.
    dualfold.embed : Solves the problem and judges the answer.
    dualfold.methods : Functions that state such problems.

    References
    ----------
    .. [1] E. Kokiopoulou, J. Chen and Y. Saad, "Trace optimization and eigenproblems in dimension
       reduction methods", Numerical Linear Algebra with Applications, 18(3), 565–602, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> problem = TraceProblem(np.diag([1.0, 2.0, 3.0]), count=1, sense="max")
    >>> problem.n, problem.count
    (3, 1)
    """

    A: Any
    B: Any = None
    count: int = 2
    sense: Literal["min", "max"] = "min"
    excluded: Any = None
    lift: Lift = field(default_factory=VectorLift)
    about: str = ""

    def __post_init__(self) -> None:
        if np.ndim(self.A) != 2 or self.A.shape[0] != self.A.shape[1]:
            raise InvalidInput(
                Argument("A"), f" must be a square matrix; its shape is {np.shape(self.A)}"
            )
        if self.sense not in ("min", "max"):
            raise InvalidInput(Argument("sense"), f" is {self.sense!r}; it must be 'min' or 'max'")
        object.__setattr__(self, "A", _checked_matrix(self.A))
        object.__setattr__(self, "lift", as_lift(self.lift))
        object.__setattr__(self, "B", metric(self.B, self.n))
        self._refuse_count()

    @property
    def n(self) -> int:
        """Number of rows of A."""
        return int(self.A.shape[0])

    @property
    def sign(self) -> float:
        """Sign of the minimised matrix: +1 for "min", −1 for "max"; sign·A is always minimised."""
        return 1.0 if self.sense == "min" else -1.0

    @property
    def metric(self) -> Metric:
        """The matrix B as an inner product."""
        return self.B

    @property
    def excluded_basis(self) -> Array:
        """A B-orthonormal basis of the excluded directions, n×p (p may be 0)."""
        return self._span.basis

    @cached_property
    def excluded_images(self) -> Array:
        """B times `excluded_basis`."""
        return self.metric.times(self.excluded_basis)

    @property
    def excluded_error(self) -> float:
        """Bound of the distance, in the norm of B, of a basis column from the excluded span."""
        return self._span.error

    @property
    def excluded_columns(self) -> Array:
        """The excluded directions as they were given, n×p."""
        return self._span.columns

    @cached_property
    def _span(self) -> ExcludedSpan:
        known = isinstance(self.excluded, ExcludedSpan)
        return self.excluded if known else excluded_span(self.excluded, self.metric)

    @cached_property
    def norm_estimate(self) -> float:
        """Estimate of ‖A‖ for operators: 1.5 times what a power iteration finds; no bound."""
        v = np.random.default_rng(2).standard_normal((self.n, 1))
        top = 0.0
        for _ in range(12):
            length = float(np.linalg.norm(v))
            if length == 0:  # A is 0 (all points are equal)
                break
            v = self.descent(v / length)
            top = max(top, float(np.linalg.norm(v)))
        return 1.5 * top

    @cached_property
    def asymmetry(self) -> float:
        """Bound of ‖A − Aᵀ‖/2 for a dense A; sparse ones were made symmetric.

        For an operator it holds but for a chance of 1e-12: xᵀ(A − Aᵀ)y is normal with the Frobenius
        norm as its spread, and four draws are all 800 times smaller with that chance.
        """
        if isinstance(self.A, np.ndarray):
            return asymmetry(self.A)
        if not isinstance(self.A, LinearOperator) or isinstance(self.A, Gramian):
            return 0.0
        rng = np.random.default_rng(5)
        X, Y = rng.standard_normal((2, self.n, 4))
        crossed = np.einsum("ij,ij->j", X, self.A @ Y) - np.einsum("ij,ij->j", Y, self.A @ X)
        return 400 * float(np.abs(crossed).max())

    @cached_property
    def square_norm(self) -> float:
        """Upper bound of ‖A‖² (Frobenius) for a dense A."""
        A: Array = self.A

        def share(slices: list[slice]) -> float:
            wide = (A[rows].astype(float, copy=False).ravel() for rows in slices)
            with np.errstate(over="ignore"):  # infinite is an upper bound too
                return sum(float(tile @ tile) for tile in wide)

        total = sum(in_shares(share, thin_tiles(A)))
        # n² terms added tile by tile: nowhere are more than 2^18 sums deep.
        return total * (1 + (2**18 + len(A)) * float(np.finfo(float).eps))

    def descent(self, V: Array) -> Array:
        """Multiply: sign·A·V, the product that solvers minimise with.

        Parameters
        ----------
        V : ndarray of shape (n,) or (n, k)
            Vectors.

        Returns
        -------
        ndarray
            The products, in the shape of V.
        """
        if np.ndim(V) not in (1, 2) or len(V) != self.n:
            raise InvalidInput(
                f"the vectors have shape {np.shape(V)}, and the problem has {self.n} rows; give "
                "one row of numbers for each"
            )
        image = product(self.A, V)
        return image if self.sense == "min" else -image

    def quadratic(self, V: Array) -> Array:
        """Compute Vᵀ(sign·A)V; for A = MᵀM from MV, which keeps the digits of small values.

        Parameters
        ----------
        V : ndarray of shape (n, k)
            Vectors.

        Returns
        -------
        ndarray of shape (k, k)
            The quadratic form.
        """
        if isinstance(self.A, Gramian):
            images = sparse_product(self.A.factor, V)
            return self.sign * (images.T @ images)
        return V.T @ self.descent(V)

    def with_count(self, count: int) -> TraceProblem:
        """Ask for another number of directions.

        The matrices, which were checked before, are shared and not checked again.

        Parameters
        ----------
        count : int
            Number of directions.

        Returns
        -------
        TraceProblem
            The problem with this number.

        Raises
        ------
        InvalidInput
            If there are not as many directions.
        """
        other = copy.copy(self)
        object.__setattr__(other, "count", count)
        other._refuse_count()
        return other

    def congruent(self, A: Any, B: Metric, excluded: Any) -> TraceProblem:
        """Problem of DᵀAD and DᵀBD instead of A and B, for a permutation or a diagonal matrix D.

        These matrices are as symmetric and finite as A and B, which were checked, and are not
        checked again.

        Parameters
        ----------
        A : sparse matrix or Gramian
            The matrix DᵀAD, symmetric to the last bit where A is.
        B : Metric
            Its inner product.
        excluded : ndarray or ExcludedSpan
            The excluded directions.

        Returns
        -------
        TraceProblem
            The problem.
        """
        parts = {"A": A, "B": B, "excluded": excluded}
        other = object.__new__(type(self))
        for each in fields(self):
            object.__setattr__(other, each.name, parts.get(each.name, getattr(self, each.name)))
        return other

    def absolute(self) -> sp.csr_array:
        """Entrywise absolute value of a sparse A, for bounds of rounding; its places are A's.

        Returns
        -------
        csr_array
            The matrix.
        """
        return _absolute(self.A)

    def _refuse_count(self) -> None:
        """InvalidInput if there are not as many directions as are asked for."""
        room = self.n - self.excluded_basis.shape[1]
        if not 1 <= self.count <= room:
            raise InvalidInput(
                f"{self.count} directions were asked for, but a problem of size {self.n} with "
                f"{self.n - room} trivial direction(s) has {room}; lower ",
                Argument("n_components"),
            )

    def with_masses(self, masses: Array) -> TraceProblem:
        """Give the rows masses: VᵀMBV = I and VᵀMBN = 0 in place of VᵀBV = I and VᵀBN = 0.

        A stays as it is. For problems whose vectors have an entry for each row, and whose B is the
        identity or a diagonal.

        Parameters
        ----------
        masses : ndarray of shape (n,)
            Positive numbers, the diagonal of M.

        Returns
        -------
        TraceProblem
            The problem with masses.

        Raises
        ------
        InvalidInput
            If B is a matrix, or N is not of vectors that A maps to 0.
        """
        N = self.excluded_columns
        if not isinstance(self.metric, Identity | Diagonal):
            raise InvalidInput(Argument("masses"), " need a diagonal B, and B is a matrix")
        size = float(np.abs(N).max(initial=0.0)) * self.norm_estimate
        if N.shape[1] and float(np.abs(self.descent(N)).max()) > 1e-6 * size:
            raise InvalidInput(
                Argument("masses"), " need excluded directions that A maps to 0, as the constant is"
            )
        return replace(self, B=self.metric.times(masses), excluded=N if N.shape[1] else None)

    def without_excluded(self, V: Array) -> Array:
        """Remove the components along the excluded directions, B-orthogonally.

        Parameters
        ----------
        V : ndarray of shape (n, k)
            Vectors.

        Returns
        -------
        ndarray of shape (n, k)
            The vectors without these components.
        """
        N = self.excluded_basis
        return V - N @ (self.excluded_images.T @ V) if N.shape[1] else V


def _checked_matrix(A: Matrix | LinearOperator) -> Matrix | LinearOperator:
    """A with its entries as they were given, real, finite and symmetric to rounding."""
    if isinstance(A, LinearOperator):
        if A.dtype is not None and np.issubdtype(A.dtype, np.complexfloating):
            raise InvalidInput("A is a complex operator, and these problems are real")
        return A
    if sp.issparse(A):
        rows = real_sparse(A, "A")
        if not np.isfinite(rows.data).all():
            raise _not_finite()
        return symmetric(rows, "A")
    dense = real_entries(A, "A", single=True)
    # xᵀAy − yᵀAx for random x, y has the size of ‖A − Aᵀ‖, and is not finite if an entry is not:
    # one pass over A. Certificates measure the asymmetry that is left (`asymmetry`).
    pair = _probe_pair(len(dense))
    with np.errstate(invalid="ignore", over="ignore"), lapack_threads(len(dense)):
        images = product(dense, pair)
        crossed = pair.T @ images
    if not np.isfinite(images).all() and not np.isfinite([dense.min(), dense.max()]).all():
        raise _not_finite()
    difference = float(abs(crossed[0, 1] - crossed[1, 0]))
    size = float(np.abs(images).mean()) if images.size else 0.0
    if difference > ASYMMETRY_TOLERANCE * size:
        raise not_symmetric("A", dense)
    return dense


@lru_cache(maxsize=8)  # to draw them takes longer than a small product
def _probe_pair(n: int) -> Array:
    """Two random columns, always the same."""
    pair = np.random.default_rng(0).standard_normal((n, 2))
    pair.flags.writeable = False
    return pair


def _not_finite() -> InvalidInput:
    return InvalidInput(
        Argument("A"), " holds NaN or infinite entries; check the data for missing values"
    )


def product(A: Matrix | LinearOperator, V: Array) -> Array:
    """A·V. A float32 matrix is read as it is and its products are summed in float64.

    NumPy would make a float64 copy of A for each product.
    """
    tally("products", V.size // len(V) if len(V) else 0)
    narrow = isinstance(A, np.ndarray) and A.dtype == np.float32 and A.flags.c_contiguous
    if sp.issparse(A):
        return sparse_product(A, V)
    if not narrow or V.dtype != np.float64:
        return A @ V
    columns = V.reshape(len(V), -1)
    count = columns.shape[1]
    padded = np.zeros((-(-count // PRODUCT_COLUMNS) * PRODUCT_COLUMNS, len(V)))
    padded[:count] = columns.T
    out = np.empty((len(A), len(padded)))
    in_threads(
        lambda rows: _wide_product(A.shape[1], A, rows.start, rows.stop, padded, len(padded), out),
        row_slices(len(A), PRODUCT_CHUNK_ROWS),
        thread_count(),
    )
    return out[:, :count].reshape(len(A), *V.shape[1:])
