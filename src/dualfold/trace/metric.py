"""The inner product ⟨u, v⟩ = uᵀBv of a trace problem.

B is the identity, a positive diagonal (degrees), a sparse or a dense positive
definite matrix. Other modules use B only through these classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Matrix
from dualfold.errors import Argument, InvalidInput
from dualfold.trace.matrix_entries import real_entries, real_sparse, symmetric
from dualfold.trace.sparse.factorisation import Factorisation, factorise, fill_reducing_ordering


@dataclass(frozen=True, eq=False)
class Identity:
    """B = I."""

    n: int

    lowest = 1.0

    def times(self, V: Array) -> Array:
        return V

    def solve(self, R: Array) -> Array:
        return R

    @property
    def diagonal(self) -> Array:
        return np.ones(self.n)

    def sparse(self) -> sp.csr_array:
        return sp.eye_array(self.n, format="csr")


@dataclass(frozen=True, eq=False)
class Diagonal:
    """B = diag(entries), all entries positive."""

    entries: Array

    @property
    def n(self) -> int:
        return len(self.entries)

    @property
    def lowest(self) -> float:
        return float(self.entries.min())

    def times(self, V: Array) -> Array:
        return V * (self.entries if V.ndim == 1 else self.entries[:, None])

    def solve(self, R: Array) -> Array:
        return R / (self.entries if R.ndim == 1 else self.entries[:, None])

    @property
    def diagonal(self) -> Array:
        return self.entries

    def sparse(self) -> sp.csr_array:
        return sp.diags_array(self.entries, format="csr")


@dataclass(frozen=True, eq=False)
class SparseMetric:
    """B sparse, positive definite (proved by its factorisation when first used)."""

    matrix: sp.csr_array

    @property
    def n(self) -> int:
        return self.matrix.shape[0]

    @cached_property
    def _factor(self) -> Factorisation:
        factor = factorise(self.matrix, fill_reducing_ordering(self.matrix))
        if factor.negative or factor.zero:
            raise not_positive()
        return factor

    @cached_property
    def lowest(self) -> float:
        """A proved lower bound of the smallest eigenvalue of B."""
        ordering = fill_reducing_ordering(self.matrix)
        guess = 1.0 / _norm_of_inverse(self.solve, self.n)
        identity = sp.eye_array(self.n, format="csr")
        for shrink in (0.5, 0.1, 1e-2, 1e-4):
            shifted = factorise(self.matrix - shrink * guess * identity, ordering)
            if shifted.negative == 0 and shifted.backward_error < shrink * guess:
                return shrink * guess - shifted.backward_error
        return 0.0

    def times(self, V: Array) -> Array:
        return self.matrix @ V

    def solve(self, R: Array) -> Array:
        return self._factor.solve(R)

    @property
    def diagonal(self) -> Array:
        return np.asarray(self.matrix.diagonal())

    def sparse(self) -> sp.csr_array:
        return self.matrix


@dataclass(frozen=True, eq=False)
class DenseMetric:
    """Metric matrix B that is dense and positive definite.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        The matrix B.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.trace.metric import DenseMetric
    >>> DenseMetric(np.eye(3)).n
    3
    """

    matrix: Array

    @property
    def n(self) -> int:
        return self.matrix.shape[0]

    @cached_property
    def _factor(self) -> tuple[Array, bool]:
        try:
            return scipy.linalg.cho_factor(self.matrix, lower=True)
        except np.linalg.LinAlgError as error:
            raise not_positive() from error

    @cached_property
    def lowest(self) -> float:
        """A proved lower bound of the smallest eigenvalue of B, 0 where there is none.

        B − βI has a Cholesky factorisation, so its eigenvalues are not below −(n + 2)·2u·trace
        (Rump 2006, and the rounding of the shift); β is guessed by LAPACK and lowered if need be.
        """
        guess = scipy.linalg.eigh(self.matrix, eigvals_only=True, subset_by_index=[0, 0])[0]
        slack = (self.n + 4) * np.finfo(float).eps * float(np.trace(self.matrix))
        for shrink in (0.9, 0.5, 0.1):
            shifted = self.matrix - shrink * guess * np.eye(self.n)
            if not scipy.linalg.lapack.dpotrf(shifted, lower=1)[1]:
                return max(0.0, float(shrink * guess - slack))
        return 0.0

    def times(self, V: Array) -> Array:
        return self.matrix @ V

    def solve(self, R: Array) -> Array:
        return np.asarray(scipy.linalg.cho_solve(self._factor, R))

    @property
    def diagonal(self) -> Array:
        return np.diagonal(self.matrix)

    def sparse(self) -> sp.csr_array:
        return sp.csr_array(self.matrix)


Metric = Identity | Diagonal | SparseMetric | DenseMetric


@dataclass(frozen=True, eq=False)
class ExcludedSpan:
    """Excluded directions together with a basis of their span.

    columns : the directions as they were given, n×p
    basis : B-orthonormal, n×p
    error : how far, in the norm of B, a column of the basis may lie off the span of `columns`
    """

    columns: Array
    basis: Array
    error: float


def metric(B: Matrix | Metric | None, n: int) -> Metric:
    """The inner product that B stands for: None, a vector, a sparse or dense matrix."""
    if isinstance(B, Identity | Diagonal | SparseMetric | DenseMetric):
        return B
    if B is None:
        return Identity(n)
    if sp.issparse(B):
        rows = real_sparse(B, "B")
        given: Metric = SparseMetric(rows)
    else:
        entries = real_entries(B, "B")
        given = Diagonal(entries) if entries.ndim == 1 else DenseMetric(entries)
    if np.ndim(B) not in (1, 2) or set(np.shape(B)) != {n}:
        raise InvalidInput(
            Argument("B"),
            f" has shape {np.shape(B)}, ",
            Argument("A"),
            f" has size {n}; they must agree",
        )
    if isinstance(given, SparseMetric | DenseMetric):
        numbers = given.matrix.data if isinstance(given, SparseMetric) else given.matrix
        if not np.isfinite(numbers).all():
            raise InvalidInput(Argument("B"), " holds NaN or infinite entries; check the data")
        given = type(given)(symmetric(given.matrix, "B"))
    if isinstance(given, Diagonal) and not (np.isfinite(given.entries).all() and given.lowest > 0):
        bad = int(np.sum(~(given.entries > 0)))
        raise InvalidInput(
            Argument("B"),
            f" has {bad} entries that are not positive numbers; a point without neighbours "
            "has degree 0: join the graph's pieces first (dualfold.graph.join_pieces) or use ",
            Argument("B", None),
        )
    return given


def excluded_span(N: ArrayLike | None, metric: Metric) -> ExcludedSpan:
    """The span of given directions (None: there are none), with a B-orthonormal basis."""
    if N is None:
        none = np.zeros((metric.n, 0))
        return ExcludedSpan(none, none, 0.0)
    columns = real_entries(N, "excluded").reshape(metric.n, -1)
    if not np.isfinite(columns).all() or not np.abs(columns).max(axis=0, initial=0.0).all():
        raise InvalidInput("an excluded direction is 0 or not finite; leave it out")
    return ExcludedSpan(columns, *orthonormal_span(columns, metric))


def orthonormal_span(N: Array, metric: Metric) -> tuple[Array, float]:
    """A B-orthonormal basis of the span of N, and how far off that span it may lie.

    One direction, or several that are clearly independent, are only mixed: then a constant
    vector stays constant. Nearly dependent ones go through Householder's QR first.
    """
    if isinstance(metric, Diagonal) and N.shape[1] > 1:
        # In units (powers of 2) in which B is near 1; else rounding of heavy rows hides light ones.
        powers = np.rint(np.log2(metric.entries) / 2).astype(int)
        near = Diagonal(np.ldexp(metric.entries, -2 * powers))
        basis, off = _orthonormal_span(in_row_units(N, powers), near)
        return np.ldexp(basis, -powers[:, None]), off
    return _orthonormal_span(N, metric)


def in_row_units(N: Array, powers: Array) -> Array:
    """diag(2**powers)·N, each column in units of its largest entry."""
    mantissas, exponents = np.frexp(N)
    exponents = np.where(N == 0, np.iinfo(np.int32).min // 2, exponents + powers[:, None])
    return np.asarray(np.ldexp(mantissas, exponents - exponents.max(axis=0)))


def _orthonormal_span(N: Array, metric: Metric) -> tuple[Array, float]:
    u = float(np.finfo(float).eps)
    exponents = -np.frexp(np.abs(N).max(axis=0))[1]
    scaled = np.ldexp(N, exponents)
    lengths = np.linalg.norm(scaled, axis=0)
    basis = scaled / lengths
    if N.shape[1] > 1 and np.linalg.cond(basis) > 1e3:
        Q, R, _ = scipy.linalg.qr(basis, mode="economic", pivoting=True)
        sizes = np.abs(np.diagonal(R))
        if sizes[-1] <= 4 * max(N.shape) * u * sizes[0]:
            raise _dependent()
        basis = Q
    try:
        for _ in range(2):  # twice is enough: the second pass removes the first one's rounding
            basis = np.linalg.solve(np.linalg.cholesky(basis.T @ metric.times(basis)), basis.T).T
    except np.linalg.LinAlgError as error:  # by a B that is singular to rounding
        raise _dependent() from error
    mixed = np.linalg.lstsq(scaled / lengths, basis, rcond=None)[0]
    rest = basis - (scaled / lengths) @ mixed
    rounded = (N.shape[1] + 6) * u * (np.abs(scaled / lengths) @ np.abs(mixed))
    off = np.abs(rest) + rounded
    if N.shape[1] == 1 and np.ptp(scaled) == 0 == np.ptp(basis):
        return basis, 0.0  # a constant is a multiple of a constant, to the last bit
    weights = abs(metric.sparse())
    return basis, float(np.sqrt(np.einsum("ij,ij->", off, weights @ off))) * (1 + 1e-8)


def _dependent() -> InvalidInput:
    return InvalidInput(
        "the excluded directions are linearly dependent up to rounding; leave out those "
        "that the others span"
    )


def _norm_of_inverse(solve: Callable[[Array], Array], n: int) -> float:
    """A power-iteration estimate of ‖B⁻¹‖, only ever used as a guess to be proved."""
    vector = np.random.default_rng(0).standard_normal(n)
    size = 1.0
    for _ in range(20):
        vector = solve(vector / np.linalg.norm(vector))
        size = float(np.linalg.norm(vector))
    return size


def not_positive() -> InvalidInput:
    return InvalidInput(
        Argument("B"),
        " is not positive definite, so VᵀBV = I has no meaning; drop dependent columns "
        "(reduce the data to its row space) or add a small ridge to it",
    )
