"""Whether a trace problem is well posed: 1e-13 of every entry moves the optimum by less than
the tolerance (relative to the optimum). Only then is it a false alarm to doubt a right answer.

To first order an entrywise change |δA| ≤ ε|A|, |δB| ≤ ε|B|, |δN| ≤ ε|N| moves the sum of the
d best eigenvalues by at most

    ε Σ_k ( |v|ᵀ|A||v| + |θ||v|ᵀ|B||v| + 4|μ|ᵀ|N|ᵀ|B||v| ),   Av = θBv + BNμ

with 2|Mv|ᵀ|M||v| for |v|ᵀ|A||v| where A = MᵀM. Second order is added where the first can vanish
(Mv = 0, μ = 0). `moved_by_chance` tries a random change at full precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import ctx

from tests.proofs import judge

Array = np.ndarray[Any, np.dtype[Any]]
CHANGE = 1e-13
LARGEST = 1e130  # squares of such entries are still far from overflow


def as_asked(found: judge.Truth) -> bool:
    """Whether the problem is what a TraceProblem asks for, so that a refusal is an alarm.

    A and B are symmetric and fit doubles, N is invariant (to a few roundings), squares stay in
    range.
    """
    A, B, _, _, gramian = found.given
    parts = [M for M in (None if gramian else A, B) if M is not None and np.ndim(_plain(M)) == 2]
    if any(_asymmetry(_plain(M)) > CHANGE for M in parts):
        return False
    if np.asarray(A).dtype.kind == "i" and (np.asarray(A).astype(float).astype(object) != A).any():
        return False  # whole numbers beyond 2⁵³
    largest, limit = float(np.abs(_plain(A)).max()), LARGEST ** (0.5 if gramian else 1.0)
    if not 1 / limit < largest < limit:
        return False
    if found.N is None:
        return True
    given = np.asarray(found.given[2], dtype=float).reshape(found.A.nrows(), -1)
    if np.linalg.cond(given / np.linalg.norm(given, axis=0)) > 1e8:
        return False
    ctx.prec = found.bits
    inner = found.N.transpose() * found.B * found.N
    image = found.A * found.N
    rest = image - found.B * found.N * inner.solve(found.N.transpose() * image)
    left, N = np.abs(judge.doubles(rest)), np.abs(judge.doubles(found.N))
    size = np.abs(judge.doubles(found.A)) @ N
    return bool((left <= 1e-12 * size.max(axis=0)).all())


def _asymmetry(M: Array) -> float:
    return float(np.abs(M - M.T).max() / (np.abs(M).max() or 1.0))


def movement(found: judge.Truth, count: int) -> float:
    """How far the optimum can move, relative to itself; infinite where it is 0."""
    A, _, _, _, gramian = found.given
    best = float(abs(found.optimum(count)).mid())
    if not best > 0:
        return float("inf")
    vectors, values = found.vectors[:, :count], np.abs(found.spectrum[:count])
    sizes = np.abs(vectors)
    metric = np.abs(judge.doubles(found.B))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        first = float((values * np.einsum("ij,ij->j", sizes, metric @ sizes)).sum())
        second = 0.0
        if gramian:
            M = np.asarray(A, dtype=float)
            image, size = np.abs(M @ vectors), np.abs(M) @ sizes
            first += 2 * float((image * size).sum())
            second += float((size**2).sum())
        else:
            first += float((sizes * (np.abs(_plain(A)) @ sizes)).sum())
        if found.N is not None:
            added = _constraint_movement(found, count, metric @ sizes, values)
            first, second = first + added[0], second + added[1]
        total = (CHANGE * first + CHANGE**2 * second) / best
    return total if np.isfinite(total) else float("inf")


def _constraint_movement(
    found: judge.Truth, count: int, weights: Array, values: Array
) -> tuple[float, float]:
    """What a change of N (or of B in NᵀBv = 0) adds: first and second order."""
    ctx.prec = found.bits
    N, B, A = found.N, found.B, found.A
    assert N is not None
    gram = N.transpose() * B * N
    forces = gram.solve(N.transpose() * A * found.basis)
    multipliers = np.abs(judge.doubles(forces)[:, :count])
    reach = np.abs(np.asarray(judge.doubles(N))).T @ weights
    first = 4 * float((multipliers * reach).sum())
    tilt = 2 * np.abs(judge.doubles(gram.inv())) @ reach
    energy = np.abs(judge.doubles(N.transpose() * A * N))
    second = float((tilt * (energy @ tilt)).sum())
    second += float((values * (tilt * (np.abs(judge.doubles(gram)) @ tilt))).sum())
    return first, second


def moved_by_chance(found: judge.Truth, count: int, rng: np.random.Generator) -> float:
    """How far one random change of every entry really moves the optimum, relative to itself."""
    A, B, N, sense, gramian = found.given

    def shaken(matrix: Any, symmetric: bool) -> Any:
        if matrix is None:
            return None
        plain = _plain(matrix)
        signs = rng.choice([-1.0, 1.0], plain.shape)
        if symmetric and plain.ndim == 2:
            signs = np.tril(signs) + np.tril(signs, -1).T
        return plain * (1 + CHANGE * signs)

    try:
        other = judge.truth(
            shaken(A, not gramian), shaken(B, True), shaken(N, False), sense, gramian
        )
    except judge.Undecided:
        return float("inf")
    best = found.optimum(count)
    if not abs(best) > 0:
        return float("inf")
    return float((abs(other.optimum(count) - best) / abs(best)).mid())


def _plain(A: Any) -> Array:
    return np.asarray(A.toarray() if sp.issparse(A) else A, dtype=float)
