"""Whether what a certificate says of an unfolding is true. Small, slow, independent.

A problem is taken exactly as its numbers state it, and every verdict is one of rational
arithmetic (python-flint). Nothing of dualfold is imported. For edges at most d long

    any points Y:    V(Y)/max ‖y_i − y_j‖²/d²       is a value that is reached
    any w ≥ 0, ℓ:    Σ w d²/ℓ                       is a bound, if L(w) − ℓ(M − mmᵀ/Σm) ⪰ 0

V(Y) = Σ m‖y_i‖² − ‖Σ m y_i‖²/Σm; "⪰ 0" is decided by elimination without rounding. So a claimed
bound below a reached value is false, and so is a claimed value above a bound.
`unfolding_optima` finds such pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

Array = np.ndarray[Any, np.dtype[Any]]
ctx.prec = 200


def exact(number: Any) -> fmpq:
    """A number as the fraction that it is."""
    if isinstance(number, fmpq):
        return number
    top, bottom = float(number).as_integer_ratio()
    return fmpq(top, bottom)


@dataclass(frozen=True)
class Net:
    """Edges (i, j), their d² and the masses of the points, as fractions."""

    n: int
    edges: tuple[tuple[int, int], ...]
    squared: tuple[fmpq, ...]
    masses: tuple[fmpq, ...]

    @classmethod
    def of(cls, n: int, edges: Any, squared: Any, masses: Any = None) -> Net:
        pairs = tuple((int(i), int(j)) for i, j in edges)
        weights = [1] * n if masses is None else masses
        return cls(n, pairs, tuple(map(exact, squared)), tuple(map(exact, weights)))

    @property
    def total(self) -> fmpq:
        return sum(self.masses, fmpq(0))


@dataclass(frozen=True)
class Spread:
    """V(Y), and the smallest, the largest and all ‖y_i − y_j‖²/d²."""

    variance: fmpq
    low: fmpq
    high: fmpq
    ratios: tuple[fmpq, ...] = ()

    @property
    def value(self) -> fmpq:
        """What the points reach when scaled into edges of at most d."""
        return self.variance / self.high if self.high > 0 else fmpq(0)

    @property
    def relaxation(self) -> fmpq:
        """The least ε for which some scale keeps (1 ± ε)d²."""
        both = self.high + self.low
        return (self.high - self.low) / both if both > 0 else fmpq(1)


def spread(net: Net, points: Any) -> Spread:
    Y = [[exact(entry) for entry in row] for row in np.asarray(points, dtype=float).tolist()]
    variance = fmpq(0)
    for column in zip(*Y, strict=True):
        first = sum((m * y for m, y in zip(net.masses, column, strict=True)), fmpq(0))
        second = sum((m * y * y for m, y in zip(net.masses, column, strict=True)), fmpq(0))
        variance += second - first * first / net.total
    ratios = [
        sum(((a - b) * (a - b) for a, b in zip(Y[i], Y[j], strict=True)), fmpq(0)) / d
        for (i, j), d in zip(net.edges, net.squared, strict=True)
    ]
    low, high = min(ratios, default=fmpq(0)), max(ratios, default=fmpq(0))
    return Spread(variance, low, high, tuple(ratios))


def is_positive(rows: list[list[fmpq]]) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue, by exact elimination."""
    A = [list(row) for row in rows]
    n = len(A)
    for k in range(n):
        pivot = A[k][k]
        if pivot < 0:
            return False
        if pivot == 0:
            if any(A[k][j] != 0 for j in range(k + 1, n)):
                return False
            continue
        for i in range(k + 1, n):
            share = A[i][k] / pivot
            if share != 0:
                A[i] = [A[i][j] - share * A[k][j] if j > k else A[i][j] for j in range(n)]
    return True


def reaches(net: Net, weights: Any, floor: Any) -> bool:
    """Whether λ₂(L(w), M) ≥ floor, exactly (floor > 0)."""
    level, total = exact(floor), net.total
    A = [[level * a * b / total for b in net.masses] for a in net.masses]
    for i, m in enumerate(net.masses):
        A[i][i] -= level * m
    for (i, j), w in zip(net.edges, map(exact, weights), strict=True):
        A[i][i] += w
        A[j][j] += w
        A[i][j] -= w
        A[j][i] -= w
    return is_positive(A)


def dual_bound(net: Net, weights: Any, floor: Any, relaxation: Any = 0) -> fmpq:
    """(Σ w d² + εΣ|w|d²)/floor; a bound if the weights reach that floor."""
    w = [exact(x) for x in weights]
    parts = [x * d for x, d in zip(w, net.squared, strict=True)]
    return (sum(parts, fmpq(0)) + exact(relaxation) * sum(map(abs, parts), fmpq(0))) / exact(floor)


def path_bounds(net: Net) -> tuple[arb, arb]:
    """(Isomap's trace, the best centre's) by exact roots in balls."""
    far = arb(10) ** 400
    g = [[arb(0) if i == j else far for j in range(net.n)] for i in range(net.n)]
    for (i, j), d in zip(net.edges, net.squared, strict=True):
        g[i][j] = g[j][i] = arb(d).sqrt()
    for k, i, j in product(range(net.n), repeat=3):
        if (through := g[i][k] + g[k][j]).mid() < g[i][j].mid():
            g[i][j] = through
    masses = [arb(m) for m in net.masses]
    sums = [sum((m * x * x for m, x in zip(masses, row, strict=True)), arb(0)) for row in g]
    whole = sum((m * s for m, s in zip(masses, sums, strict=True)), arb(0))
    return whole / (2 * arb(net.total)), min(sums, key=lambda ball: ball.mid())


# ---- the verdict


def faults(
    certificate: Any,
    net: Net,
    points: Any,
    weights: Any,
    *,
    reached: fmpq | None,
    bound: fmpq | None,
    reached_exact: fmpq | None = None,
) -> list[str]:
    """Every sentence of the certificate that is not true (or that exact numbers do not bear out).

    reached, bound : enclose the optimum of the problem that the certificate is about; None where
        nothing is known
    reached_exact : for equal lengths, a value with exactly these lengths
    """
    if not np.isfinite(np.asarray(points)).all() or not np.isfinite(np.asarray(weights)).all():
        return [] if certificate.level == "failed" else ["numbers that are none were judged"]
    found, c = spread(net, points), certificate
    equal = c.constraints == "equal"
    said = [*_of_points(c, found, equal), *_of_levels(c)]
    w = [x if equal else max(x, 0.0) for x in np.asarray(weights, dtype=float).tolist()]
    if c.second_eigenvalue > 0 and not reaches(net, w, c.second_eigenvalue):
        said.append(f"λ₂ does not reach {c.second_eigenvalue}")
    if bound is not None and c.lower > 0 and exact(c.lower) > bound:
        said.append(f"the value {c.lower} is above a bound of the optimum, {float(bound)}")
    if not np.isfinite(c.upper):
        return said
    if reached is not None and exact(c.upper) < reached:
        said.append(f"the bound {c.upper} is below a value that is reached, {float(reached)}")
    if equal and reached_exact is not None and exact(c.upper_exact) < reached_exact:
        said.append(f"the exact bound {c.upper_exact} is below {float(reached_exact)}")
    if c.upper_exact < 0 and not dual_bound(net, w, c.second_eigenvalue) < 0:
        said.append("no points are said to have the lengths, which the weights do not prove")
    eps = exact(c.most_relaxed if equal else 0)
    if equal and c.own_gap < 1:
        # About the points' own lengths: the gap does not depend on their scale.
        own = Net(net.n, net.edges, _times(found.ratios, net.squared), net.masses)
        most = dual_bound(own, w, c.second_eigenvalue)
        if most - found.variance > exact(c.own_gap) * most * (1 + fmpq(1, 2**40)):
            said.append(f"the points are not optimal to {c.own_gap} for their own lengths")
    if c.bound_by == "weights":
        if exact(c.upper) < dual_bound(net, w, c.second_eigenvalue, eps):
            said.append(f"the weights do not prove the bound {c.upper}")
    else:
        paths = dict(zip(("Isomap's trace", "a centre"), path_bounds(net), strict=True))
        if not arb(exact(c.upper)) > (1 - arb(2) ** -150) * paths[c.bound_by] * arb(1 + eps):
            said.append(f"{c.bound_by} does not prove the bound {c.upper}")
    return said


def _times(some: Any, others: Any) -> tuple[fmpq, ...]:
    return tuple(a * b for a, b in zip(some, others, strict=True))


def _of_points(c: Any, found: Spread, equal: bool) -> list[str]:
    """What is said of the points alone."""
    if not equal:
        wrong = exact(c.lower) > found.value
        return [f"the points reach {float(found.value)}, not {c.lower}"] if wrong else []
    eps, said = exact(c.most_relaxed), []
    if c.lower > 0 and found.relaxation > exact(c.relaxation):
        said.append(f"the points keep d² to {float(found.relaxation)}, not {c.relaxation}")
    # As they are scaled: into the middle of their lengths, or to the longest that ε allows.
    longest = eps and c.reached_by == "the points"
    middle = found.high / (1 + eps) if longest else (found.high + found.low) / 2
    most = found.variance / middle if middle > 0 else fmpq(0)
    if exact(c.value) > most * (1 + fmpq(1, 2**50)):
        said.append(f"the points reach {float(most)}, not {c.value}")
    near = 2 if c.reached_by == "points near these" else 1  # mixed with the data
    if eps and c.lower > 0 and found.relaxation > near * eps:
        said.append(f"points off by {float(found.relaxation)} do not keep d² to {c.most_relaxed}")
    if eps >= found.relaxation and np.isfinite(c.upper) and exact(c.upper) < most:
        said.append("the bound is below what these very points reach")
    if c.reached_by == "nothing" and c.lower != 0:
        said.append("nothing is reached, and yet there is a lower bound")
    return said


def _of_levels(c: Any) -> list[str]:
    """Whether gap and level follow from the two numbers."""
    said = []
    if c.level not in ("proved", "within", "unresolved", "failed"):
        said.append(f"an unfolding has no level {c.level!r}")
    if c.level not in ("proved", "within"):
        return said
    lower, upper = exact(c.lower), exact(c.upper)
    if upper > 0 and (upper - lower) / upper > exact(c.gap):
        said.append(f"the gap is larger than {c.gap}")
    if c.level == "proved" and not c.gap <= c.tolerance:
        said.append(f"proved with a gap of {c.gap} for {c.tolerance}")
    if c.level == "within" and not (c.gap > c.tolerance and upper < 2 * lower):
        said.append(f"within, with {c.lower} and {c.upper} for {c.tolerance}")
    return said
