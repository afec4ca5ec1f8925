"""How far a matrix that was computed can be from the one that the data define.

A certificate judges the matrix it is given. These are proved bounds e of ‖Â − A‖₂, Â as
computed and A as exact arithmetic on the given rows gives it, and the sentences that report
them. No eigenvalue of A is further than e from that of Â (Weyl), and with V orthonormal,
d columns, |tr VᵀÂV − tr VᵀAV| ≤ d·e: an answer within a gap g of the optimum for Â is within
g + 2d·e of the optimum for the data.

Everything rests on three facts. A sum of k products, added in any order in numbers of
unit roundoff u, is off by at most γ·Σ|aᵢbᵢ|, γ = ku/(1 − ku). If |E| ≤ F entry by entry then
‖E‖₂ ≤ ‖F‖₂. And ‖|Z|ᵀ|Z|‖₂ ≤ ‖Z‖²_F, the trace of ZᵀZ. `HIGHER_ORDER_FACTOR`
covers 1/(1 − ku) and products of
errors, which stay under a hundredth (k·u < 1/200 is checked where k may be large).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array, DType
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF as _U
from dualfold.kernels.arithmetic import smallest_positive, unit_roundoff
from dualfold.kernels.threads import in_shares, thin_tiles
from dualfold.weights.column_moments import tight_columns
from dualfold.weights.row_weights import RowWeights

HIGHER_ORDER_FACTOR = 1.02
# Errors below this share of the largest eigenvalue are not reported in a certificate.
MIN_REPORTED_SHARE = 1e-9
# Up to this many rows two more steps of the power method take no noticeable time.
MAX_SMALL_ROWS = 4_000


def rounding_sentence(error: float, A: Any, kind: DType) -> str:
    """Words that a certificate of A adds where A may be off by `error`; "" if negligible."""
    if error <= MIN_REPORTED_SHARE * float(_diagonal(A).max(initial=0.0)):
        return ""
    largest = largest_value(A)
    if error <= MIN_REPORTED_SHARE * largest:
        return ""
    name = "single" if np.dtype(kind) == np.float32 else "double"
    if not error < largest:
        return (
            f"the matrix in {name} precision, whose rounding may be as large as all of it: it says "
            "nothing about the data. Take off what all rows share, or rescale the data"
        )
    return (
        f"the matrix in {name} precision: its eigenvalues are those of the data to "
        f"{_rounded_up(error / largest)} of the largest"
    )


def joined_sentences(*parts: str) -> str:
    """Sentences about a problem in one string, empty ones left out."""
    return "; ".join(part for part in parts if part)


def _diagonal(A: Any) -> Array:
    return np.diagonal(A) if isinstance(A, np.ndarray) else A.diagonal


def _rounded_up(number: float) -> str:
    """Two digits, rounded up: a bound stays one."""
    step = 10.0 ** (math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / step) * step:.1e}"


def largest_value(A: Any) -> float:
    """A lower bound of the largest eigenvalue: vᵀAv/vᵀv, v from a few steps of the power method.

    They begin at the column of the largest diagonal entry. A thousandth is taken off for
    rounding, which in float64 is at most n·2⁻⁵³ of ‖|A|‖.
    """
    diagonal = _diagonal(A)
    best = 0.999 * max(float(diagonal.max(initial=0.0)), 0.0)
    v = np.eye(1, A.shape[0], int(np.argmax(diagonal)))[0]
    for _ in range(4 if A.shape[0] <= MAX_SMALL_ROWS else 2):
        image = _image(A, v)
        size = float(np.abs(image).max())
        if not 0 < size < np.inf:
            break
        best = max(best, 0.999 * float(v @ image) / float(v @ v))
        v = image / size
    return best


def _image(A: Any, v: Array) -> Array:
    """Av in float64, without a float64 copy of A."""
    if not isinstance(A, np.ndarray):
        return np.asarray(A @ v)
    if np.count_nonzero(v) == 1:
        return A[:, int(np.argmax(v))].astype(float)
    parts = in_shares(
        lambda slices: [A[rows].astype(float, copy=False) @ v for rows in slices], thin_tiles(A)
    )
    return np.concatenate([image for part in parts for image in part])


@dataclass(frozen=True)
class Products:
    """Order in which products of an n×width table are added: `depth` of them in `kind`."""

    n: int
    width: int
    kind: DType
    depth: int

    @property
    def unit(self) -> float:
        """The unit roundoff of the products."""
        return unit_roundoff(self.kind)

    @property
    def underflow(self) -> float:
        """Loss of all products where they underflow, at most."""
        return self.n * self.width * smallest_positive(self.kind)


def squares_error(trace: float, left_over: float, mean_off: float, products: Products) -> float:
    """Bound for Σ(x − s)(x − s)ᵀ − n(x̄ − s)(x̄ − s)ᵀ.

    trace : of the result, left_over : ‖x̄ − s‖, mean_off : a bound of the error of x̄

    Each x − s is off by u of itself, so that a product is by 3u, and sums of `depth` products
    are by (depth + 3)u in all, times Σ‖x − s‖² = trace + n‖x̄ − s‖². They are added in
    float64, at most n/50 + 64 of them. An error η of x̄ changes the last term by
    n(2‖η‖‖x̄ − s‖ + ‖η‖²), whose rounding is 4u of its size. Products that underflow lose
    the smallest positive number each.
    """
    n, around = products.n, trace + products.n * left_over**2
    relative = (products.depth + 3) * products.unit + (n / 50 + 64) * _U
    off = n * mean_off * (2 * left_over + mean_off)
    return HIGHER_ORDER_FACTOR * (relative * around + off + 8 * _U * around) + products.underflow


def mean_error(square_sum: float, n: float, depth: float) -> float:
    """A bound of ‖fl(x̄) − x̄‖ for sums at most `depth` deep; square_sum = Σ‖x‖².

    Column j is off by (depth + 2)u·Σ|x_ij|/n ≤ (depth + 2)u·√(Σx_ij²/n).
    """
    return HIGHER_ORDER_FACTOR * (depth + 2) * _U * math.sqrt(square_sum / n)


def weighted_mean_error(X: Array, trace: float, mean: Array, weights: RowWeights) -> float:
    """A bound of ‖fl(x̄) − x̄‖ for the weighted mean of dense rows (`column_means`).

    trace, mean : of the scatter, and the mean, both in the units that the bound is wanted in

    Sums of columns that spread little are of offsets from the mean.
    """
    summed = np.abs(mean)
    summed[tight_columns(X)] = 0.0
    square_sum = trace + weights.total * float(summed @ summed)
    off = mean_error(square_sum, weights.total, len(X) + more_terms(weights))
    return off + 2 * _U * float(np.linalg.norm(mean))


def more_terms(weights: RowWeights | None) -> int:
    """Roundings that weights add to a sum over rows: a root, products, the sum of them."""
    return 0 if weights is None else 6


def gram_error(trace: float, mean_off: float, products: Products) -> float:
    """Bound for the n×n products ⟨x_i − x̄, x_j − x̄⟩, `depth` columns at a time.

    As `squares_error`, by columns; an entry may also have been divided and made float32.
    With η for the error of x̄ the rows are X_c + 1ηᵀ, and the products are off by
    2√n‖η‖‖X_c‖ + n‖η‖² besides.
    """
    n, depth = products.n, products.depth
    relative = (depth + 8) * products.unit + (products.width / max(depth, 1) + 8) * _U
    off = mean_off * (2 * math.sqrt(n * max(trace, 0.0)) + n * mean_off)
    return HIGHER_ORDER_FACTOR * (relative * trace + off) + products.underflow


def weighted_squares_error(trace: float, mean_off: float, total: float, depth: float) -> float:
    """Bound for Σ w(x − x̄)(x − x̄)ᵀ by products of √w(x − x̄), `depth` of them in a sum.

    total : Σw, mean_off : a bound of the error η of x̄

    An entry √w(x − x̄) is off by 3u of itself, so that a product is by 7u. Σ w(x − x̄) is 0, so
    that η adds Σw·ηηᵀ.
    """
    return HIGHER_ORDER_FACTOR * ((depth + 8) * _U * trace + total * mean_off**2)


def weighted_gram_error(trace: float, mean_off: float, total: float, depth: float) -> float:
    """Bound for the products √(w_i w_j)⟨x_i − x̄, x_j − x̄⟩ of rows.

    With η the rows are √w(x − x̄) + √w·ηᵀ, and ‖√w‖² = Σw.
    """
    off = mean_off * (2 * math.sqrt(total * max(trace, 0.0)) + total * mean_off)
    return HIGHER_ORDER_FACTOR * ((depth + 12) * _U * trace + off)


def sparse_mean_error(square_sum: float, mean: Array, n: float, depth: float) -> float:
    """Bound for the mean of sparse rows: added around the shift, from a sum off by depth·u.

    n : the number of rows, or the sum of their weights
    """
    rounding = (2 * _U + (depth * _U) ** 2) * float(np.linalg.norm(mean))
    return mean_error(square_sum, n, depth) + HIGHER_ORDER_FACTOR * rounding


def sparse_error(
    trace: float, left_over: Array, mean: Array, n: float, depth: float, mean_depth: float
) -> float:
    """Bound for XᵀX − n·mmᵀ and XXᵀ less its means, in float64 by algebra, m = `left_over`.

    trace : of the result
    left_over, mean : what is left of the mean where columns were shifted, and the mean itself
    n : the number of rows, or the sum of their weights; rows are multiplied by √w then
    depth, mean_depth : how many terms a product and a mean are the sum of

    Σ‖x‖² = trace + n‖m‖² is not taken down to the spread before: (depth + 8)u of it stays, and
    of what the means take off, at most 2√n·‖X‖‖m‖ + n‖m‖².
    """
    size = float(np.linalg.norm(left_over))
    square_sum = trace + n * size**2
    off = sparse_mean_error(square_sum, mean, n, mean_depth)
    rounding = (depth + 8) * _U * (2 * square_sum + 3 * n * size**2)
    return HIGHER_ORDER_FACTOR * (
        rounding + n * off * (2 * size + off) + 2 * off * math.sqrt(n * square_sum)
    )


def products_error(trace: float, mean_off: float, shape: tuple[int, int], total: float) -> float:
    """Bound for a product with X_cᵀX_c: sums of D, then of n, and nηηᵀ (X_cᵀ1 = 0).

    total : n, or the sum of the weights in the place of n
    """
    n, width = shape
    return HIGHER_ORDER_FACTOR * ((n + width + 8) * _U * trace + total * mean_off**2)


def centred_distances_error(K: Array, rounding: float, squared: DType) -> float:
    """Bound for K = −½HΔH, Δ the squares, made in `squared`, of distances right to `rounding`.

    An entry of Δ is off by 2·rounding + rounding² and its own rounding, as a share; let that
    be r. H does not lengthen, so Δ's errors count half: ‖r·Δ‖ ≤ r·n·M with M the largest
    mean of a row of Δ, which K knows: K_ii = M_i − m/2 and tr K = n·m/2, m the mean of all.
    Row means are off by (n + 4)u, in float64, and enter n·2M at a time. |K| has row sums of at
    most 1.25n·M, and is rounded to its own kind.
    """
    n, unit = len(K), unit_roundoff(K.dtype)
    diagonal = np.diagonal(K).astype(float)
    most = max(float(diagonal.max()) + float(diagonal.sum()) / n, 0.0)
    share = rounding + unit_roundoff(squared) / 2 + 2 * (n + 4) * _U + 1.25 * (unit + 2 * _U)
    return HIGHER_ORDER_FACTOR * n * most * share + n * smallest_positive(K.dtype)


def weighted_centring_error(K: Array, total: float) -> float:
    """Bound for √w(I − 1mᵀ)K(I − m1ᵀ)√w (`centre_by_masses`), K as it is; total : Σw.

    An entry is K_ij less two means and plus one, each off by (n + 6)u of the largest |K_ij|, then
    multiplied by √w_i√w_j, a matrix of norm Σw.
    """
    most = max(float(np.max(K)), -float(np.min(K)))
    return HIGHER_ORDER_FACTOR * 4 * (len(K) + 10) * _U * most * total


def scale_share(mean: Array, scale: Array, n: int, weights: RowWeights | None = None) -> float:
    """The share of its trace by which a matrix divided by deviations may be off for their sake.

    The sum of squares of a column is off by (n + 6)u and, where x̄ is by η, by nη²; the root
    halves it, and an entry has two of them.
    """
    n = n + more_terms(weights)
    ratio = float(np.square(mean / scale).max(initial=0.0))
    share = (n + 6) * _U + ((n + 2) * _U) ** 2 * (1 + ratio)
    return math.inf if share > 0.1 else 1.2 * share
