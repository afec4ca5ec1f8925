"""Parts of an unfolding that lie as in the data, and what that means exactly.

X are rows whose lengths are asked, Y points of an unfolding. In a part, all mutual distances of Y
are those of X. Where it has more points than its dimension needs, its points satisfy the affine
dependencies of X: x_p = Σ λ_b x_b with Σ λ_b = 1 implies y_p = Σ λ_b y_b. X are doubles, so λ are
fractions, and `exact_dependencies` computes them without rounding.

That a part lies as in the data may follow from its edges (a clique) or be the choice of the
points: both are allowed, because X itself has all these distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import scipy.linalg

from dualfold.arrays import Array

# Points that span a part must have no spread below this share of the largest.
MIN_SPREAD_RATIO = 1e-5
# Directions of what is known of a part count from this share of the largest on.
NEW_DIRECTION_SHARE = 1e-5
# Pairs decide a part when their unit directions have no singular value below this. Rounding, of
# u/MIN_SPREAD_RATIO a pair, is far below it for fewer than MAX_KNOWN_PAIRS of them.
DECIDED_SHARE = 1e-6
MAX_KNOWN_PAIRS = 10_000


@dataclass(frozen=True, eq=False)
class Dependency:
    """y_p = Σ λ_b y_b for the point p and the points b of its part."""

    point: int
    base: tuple[int, ...]
    shares: tuple[Fraction, ...]


def squared_distances(points: Array) -> Array:
    """All squared distances, from differences of each row with all others."""
    out = np.empty((len(points), len(points)))
    for i, row in enumerate(points):
        differences = points - row
        out[i] = np.einsum("ij,ij->i", differences, differences)
    return out


def congruent_parts(X: Array, Y: Array, edges: Array, tolerance: float) -> list[tuple[int, ...]]:
    """Sets of points whose mutual squared distances in Y are those of X to `tolerance`.

    Every edge is in one of them (of two points at least), sets that share points which span one
    of them are one set, and none is inside another.
    """
    asked = squared_distances(X)
    same = np.abs(squared_distances(Y) - asked) <= tolerance * asked
    beside = np.zeros(same.shape, bool)
    beside[edges[:, 0], edges[:, 1]] = beside[edges[:, 1], edges[:, 0]] = True
    same |= beside
    covered = np.zeros(same.shape, bool)
    parts: list[set[int]] = []
    for i, j in edges.tolist():
        if not covered[i, j]:
            part = _grown_part(same, beside, i, j)
            covered[np.ix_(part, part)] = True
            parts.append(set(part))
    return _merged_parts(parts, X)


def _grown_part(same: Array, beside: Array, i: int, j: int) -> list[int]:
    """The edge and points that lie as in the data to all others of the part, the best ones first.

    The best is the one that leaves most candidates.
    """
    part = [i, j]
    common = same[i] & same[j]
    common[part] = False
    near = beside[i] | beside[j]
    while (choice := np.flatnonzero(common & near)).size:
        among = np.flatnonzero(common)
        left = same[np.ix_(choice, among)].sum(axis=1)
        p = int(choice[np.argmax(left)])
        part.append(p)
        common &= same[p]
        common[p] = False
        near |= beside[p]
    return part


def _merged_parts(parts: list[set[int]], X: Array) -> list[tuple[int, ...]]:
    """Parts after those that share points which span one of them became one."""
    waiting = sorted(parts, key=len, reverse=True)
    done: list[set[int]] = []
    while waiting:
        part = waiting.pop(0)
        for k, other in enumerate(done):
            shared = sorted(part & other)
            smaller = min(part, other, key=len)
            if len(shared) == len(smaller) or _spans(X, shared, sorted(smaller)):
                done.pop(k)
                waiting.insert(0, part | other)
                break
        else:
            done.append(part)
    return [tuple(sorted(part)) for part in sorted(done, key=lambda part: sorted(part))]


def _spans(X: Array, shared: list[int], part: list[int]) -> bool:
    """Whether shared points clearly have the affine dimension of the part's rows."""
    full = min(len(part) - 1, X.shape[1])
    if len(shared) <= full:
        return False
    spread = np.linalg.svd(X[shared] - X[shared].mean(axis=0), compute_uv=False)
    return bool(spread[full - 1] > MIN_SPREAD_RATIO * spread[0])


def exact_dependencies(rows: Array, X: Array, part: tuple[int, ...]) -> list[Dependency]:
    """The affine dependencies of a part, one for each point beyond those that span it.

    rows : X as integers in any unit

    The order in which points are taken is by pivoting in doubles;
    which of them span the part is decided by elimination in fractions.
    """
    points = np.array(part)
    away = X[points] - X[points[0]]
    _, _, order = scipy.linalg.qr(np.column_stack([away, np.ones(len(part))]).T, pivoting=True)
    base: list[int] = []
    echelon: list[tuple[int, list[Fraction], list[Fraction]]] = []  # pivot, vector, its shares
    dependencies = []
    for p in points[order].tolist():
        vector = [*map(Fraction, rows[p]), Fraction(1)]
        shares = [Fraction(0)] * len(base)
        for pivot, known, mixture in echelon:
            if vector[pivot]:
                by = vector[pivot] / known[pivot]
                vector = [a - by * b for a, b in zip(vector, known, strict=True)]
                for k, share in enumerate(mixture):
                    shares[k] += by * share
        pivot = max(range(len(vector)), key=lambda k: abs(vector[k]))
        if vector[pivot]:
            echelon.append((pivot, vector, [-share for share in shares] + [Fraction(1)]))
            base.append(p)
        else:
            dependencies.append(Dependency(p, tuple(base), tuple(shares)))
    return dependencies


def deciding_pairs(
    X: Array, parts: list[tuple[tuple[int, ...], int]], edges: Array
) -> Array | None:
    """Pairs (m×2) whose distances decide those of all pairs in parts, and the edges elsewhere.

    parts : the points of each, and the affine dimension r of its rows. None comes back where rows
        are so flat that doubles cannot tell whether pairs decide them

    Points that satisfy the dependencies of a part are an affine image of its rows, with
    ‖y_i − y_j‖² = zᵀMz for z = x_i − x_j. So pairs whose zzᵀ span the symmetric r×r matrices
    decide M. Pairs that an earlier part has decided are not taken again.
    """
    chosen: list[tuple[int, int]] = []
    known: set[tuple[int, int]] = set()
    for part, rank in sorted(parts, key=lambda one: -len(one[0])):
        pairs = _pairs_of_part(X, part, rank, known)
        if pairs is None:
            return None
        chosen += pairs
        known.update(combinations(part, 2))
    chosen += [pair for pair in map(tuple, edges.tolist()) if pair not in known]
    return np.array(sorted(set(chosen)), dtype=np.intp).reshape(-1, 2)


def _pairs_of_part(
    X: Array, part: tuple[int, ...], rank: int, known: set[tuple[int, int]]
) -> list[tuple[int, int]] | None:
    """Pairs of a part that, with the known ones, decide the metric of its rows.

    In coordinates in which the rows have the same spread everywhere.
    """
    points = np.array(part)
    away = X[points] - X[points[0]]  # each difference is right to a unit of itself
    U, sizes, _ = np.linalg.svd(away - away.mean(axis=0), full_matrices=False)
    if not sizes[rank - 1] > MIN_SPREAD_RATIO * sizes[0]:
        return None
    every = np.array(list(combinations(range(len(part)), 2)))
    is_known = np.array([(part[a], part[b]) in known for a, b in every.tolist()])
    is_known[np.flatnonzero(is_known)[MAX_KNOWN_PAIRS:]] = False
    z = U[every[:, 0], :rank] - U[every[:, 1], :rank]
    upper = np.triu_indices(rank)
    rows = (z[:, :, None] * z[:, None])[:, *upper] * np.where(upper[0] == upper[1], 1, np.sqrt(2))
    rows /= np.maximum(np.linalg.norm(rows, axis=1), np.finfo(float).tiny)[:, None]
    basis = np.zeros((len(upper[0]), 0))
    if is_known.any():
        Q, shares, _ = np.linalg.svd(rows[is_known].T, full_matrices=False)
        basis = Q[:, shares > NEW_DIRECTION_SHARE * shares[0]]
    wanted = len(upper[0]) - basis.shape[1]
    fresh = np.flatnonzero(~is_known)
    left = rows[fresh].T - basis @ (basis.T @ rows[fresh].T)
    if wanted == 0:
        return []
    if len(fresh) < wanted:
        return None
    order = scipy.linalg.qr(left, mode="r", pivoting=True)[1]
    taken = fresh[order[:wanted]]
    deciding = np.vstack([rows[is_known], rows[taken]])
    if not np.linalg.eigvalsh(deciding.T @ deciding)[0] > DECIDED_SHARE**2:
        return None
    return [(part[a], part[b]) for a, b in every[taken].tolist()]
