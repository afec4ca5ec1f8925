"""Lower bounds of distances from short float32 vectors.

An orthogonal projection never lengthens. With P the top q principal directions,
and ρ the length of what P drops from a point,

    ‖Px − Py‖² + (ρ_x − ρ_y)² ≤ ‖x − y‖²,

so the vectors f = (Px, ρ_x) bound every distance from below, and so does f = x
itself (no projection). The bound includes rounding, so it is a theorem about the
float32 numbers actually used:

- f as stored is within `slack` of the exact one: float32 rounding 2⁻²⁴‖f‖, and
  the float64 errors of centring, of the product with P and of P's own defect
  ‖PᵀP − I‖ (which also makes a basis that is not orthonormal harmless).
- A float32 inner product of K terms, in any order, is off by at most
  γ_K‖f_i‖‖f_j‖, so |f_i|² + |f_j|² − 2f_i·f_j is off by c(|f_i|² + |f_j|²) with
  c = (K + 8)2⁻²⁴ (eight for the outer sums and the rounded squares).
- (t + e)² ≤ t²(1 + s) + e²(1 + 1/s) splits the slack of a pair into a part for
  the row's threshold and a part for the column's square.

Together: a pair with  square_i + square_j − 2f_i·f_j > (d·scale + slack_i)²(1 + s)
is truly farther apart than d.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dualfold.graph.distances import chunks
from dualfold.kernels.arithmetic import SINGLE_ROUNDOFF, UNIT_ROUNDOFF
from dualfold.kernels.threads import one_blas_thread

# s above: costs 1/8000 of a distance, and allows for slack of 1/64 of that.
SLACK_SHARE = 2.0**-12
# For the principal directions; any directions are valid, so few rows suffice.
_MAX_SAMPLE_ROWS = 8192
_MAX_SAMPLE_NUMBERS = 1 << 24
# Wider tables get approximate directions: docs/dev/notes/neighbours.md
_MAX_EIGH_COLUMNS = 1500


@dataclass(frozen=True, eq=False)
class Coordinates:
    """f of each row of a table, with the rounding errors that a bound must allow for.

    table : the rows themselves, for true distances
    vectors : f, n×K in float32
    square : |f|² less all that must be allowed for, in float32
    slack : how far each stored f may be from the exact one, in float64
    scale : what lengths are multiplied by; the same for all tables of one frame
    """

    table: np.ndarray
    vectors: np.ndarray
    square: np.ndarray
    slack: np.ndarray
    scale: float

    def rows(self, rows: np.ndarray) -> Coordinates:
        """The coordinates of some rows."""
        vectors, square, slack = self.vectors[rows], self.square[rows], self.slack[rows]
        return Coordinates(self.table[rows], vectors, square, slack, self.scale)


@dataclass(frozen=True, eq=False)
class Frame:
    """Where the origin is, how long the unit is and which directions are kept.

    scale : a power of two that brings every centred row inside the unit ball
    basis : D×q in float64, or None for all coordinates
    """

    mean: np.ndarray
    scale: float
    basis: np.ndarray | None

    def coordinates(self, X: np.ndarray) -> Coordinates:
        """The vectors f of the rows of X, a block of rows at a time."""
        n, width = X.shape
        depth = width if self.basis is None else self.basis.shape[1] + 1
        vectors = np.empty((n, depth), dtype=np.float32)
        square, slack = np.empty(n, dtype=np.float32), np.empty(n)
        defect = self._defect()
        offset = float(np.linalg.norm(self.mean)) * self.scale
        for rows in chunks(n, width):
            centred = X[rows] - self.mean
            centred *= self.scale
            length = np.sqrt(np.einsum("ij,ij->i", centred, centred))
            error = 4 * UNIT_ROUNDOFF * (length + 2 * offset)
            if self.basis is None:
                vectors[rows] = centred
            else:
                kept = centred @ self.basis
                dropped = np.sqrt(np.maximum(length**2 - np.einsum("ij,ij->i", kept, kept), 0.0))
                vectors[rows, :-1] = kept
                vectors[rows, -1] = dropped
                error += defect * length + _root_error(length, dropped, 4 * defect)
            square[rows], slack[rows] = _square_and_slack(vectors[rows], error)
        return Coordinates(X, vectors, square, slack, self.scale)

    def _defect(self) -> float:
        """A bound on ‖fl(xP) − xQ‖/‖x‖ for the orthonormal Q nearest to P."""
        if self.basis is None:
            return 0.0
        width, kept = self.basis.shape
        gram = self.basis.T @ self.basis - np.eye(kept)
        rounding = 2 * width * UNIT_ROUNDOFF * np.sqrt(kept)
        return float(np.linalg.norm(gram)) + 3 * rounding


def fewer_directions(points: Coordinates, count: int) -> Coordinates:
    """Rows in the first `count` directions, f = (Px, ρ), from their coordinates in more of them.

    What P drops is joined with ρ to one length, which moves no farther than its parts do: the error
    is that of the given coordinates and one more rounding.
    """
    n = len(points.vectors)
    vectors = np.empty((n, count + 1), dtype=np.float32)
    square, slack = np.empty(n, dtype=np.float32), np.empty(n)
    for rows in chunks(n, points.vectors.shape[1]):
        dropped = points.vectors[rows, count:].astype(np.float64)
        vectors[rows, :-1] = points.vectors[rows, :count]
        vectors[rows, -1] = np.sqrt(np.einsum("ij,ij->i", dropped, dropped))
        square[rows], slack[rows] = _square_and_slack(vectors[rows], 1.01 * points.slack[rows])
    return replace(points, vectors=vectors, square=square, slack=slack)


def _square_and_slack(vectors: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`square` and `slack` of rounded vectors that are `error` away from the exact ones."""
    stored = vectors.astype(np.float64)
    norm = np.einsum("ij,ij->i", stored, stored)
    error = 1.01 * (error + SINGLE_ROUNDOFF * np.sqrt(norm)) + 1e-30
    allowed = norm * (1.01 * (vectors.shape[1] + 8) * SINGLE_ROUNDOFF) + error**2 * (
        1.01 + 1 / SLACK_SHARE
    )
    with np.errstate(over="ignore"):  # minus infinity proves nothing, and is right
        least = (norm - allowed).astype(np.float32)
    return np.nextafter(least, np.float32(-np.inf)), error


def _root_error(length: np.ndarray, dropped: np.ndarray, relative: float) -> np.ndarray:
    """A bound of the error of √(a − b) where a − b is off by relative·length²."""
    relative = relative + 16 * UNIT_ROUNDOFF * 1e2
    near = np.sqrt(relative) * length
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(dropped > 2 * near, 2 * relative * length**2 / dropped, np.inf)
    return np.minimum(2 * near, far)


def frame_of(X: np.ndarray, others: np.ndarray | None, basis: np.ndarray | None) -> Frame:
    """Origin at the mean of X; the unit so that X and `others` fit the unit ball."""
    total = np.zeros(X.shape[1])
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for table in (X,) if others is None else (X, others):
        for rows in chunks(len(table), table.shape[1]):
            np.minimum(low, table[rows].min(axis=0), out=low)
            np.maximum(high, table[rows].max(axis=0), out=high)
            if table is X:
                total += table[rows].sum(axis=0, dtype=np.float64)
    mean = np.clip(total / len(X), low, high)
    extent = float(np.linalg.norm(np.maximum(high - mean, mean - low)))
    scale = 2.0 ** -float(np.ceil(np.log2(extent))) if extent > 0 else 1.0
    return Frame(mean, scale, basis)


def principal_directions(X: np.ndarray, count: int) -> np.ndarray:
    """About the top `count` principal directions of X, orthonormal, largest first."""
    rows = max(16, min(_MAX_SAMPLE_ROWS, _MAX_SAMPLE_NUMBERS // X.shape[1]))
    sample = X[:: max(1, -(-len(X) // rows))].astype(np.float64)
    sample -= sample.mean(axis=0)
    largest = np.abs(sample).max(initial=0.0)
    if largest > 0:
        sample /= largest
    width = X.shape[1]
    if width <= _MAX_EIGH_COLUMNS or count > width // 4:
        # One thread: two gain little here and lose much where cores are shared.
        with one_blas_thread():
            _, vectors = np.linalg.eigh(sample.T @ sample)
        return np.ascontiguousarray(vectors[:, ::-1][:, :count])
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((width, count + 16)))[0]
    for _ in range(3):
        basis = np.linalg.qr(sample.T @ (sample @ basis))[0]
    image = sample @ basis
    _, rotation = np.linalg.eigh(image.T @ image)
    return np.asarray(np.linalg.qr(basis @ rotation[:, ::-1][:, :count])[0])
