"""Optima of small unfolding problems, enclosed by fractions that are proved exactly.

`reference` finds points and weights with a barrier method of its own; what they prove is
decided by `judge_unfoldings` in rational arithmetic. Trees, cliques and cycles have closed
forms. Nothing of dualfold is imported.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from flint import arb, fmpq

from tests.proofs.judge_unfoldings import Net, dual_bound, exact, reaches, spread

Array = np.ndarray[Any, np.dtype[Any]]


def reference(net: Net, relaxation: float | None = None) -> tuple[fmpq, fmpq | None]:
    """(a reached value, a bound or None), both exact; `relaxation` is ε of equal lengths."""
    unit = max(net.squared)
    d = np.array([float(x / unit) for x in net.squared])
    mass = np.array([float(m) for m in net.masses])
    weights, Y = _Barrier(net, d, mass, relaxation).solve()
    found = spread(net, Y)
    reached = found.value
    if relaxation is not None:
        allowed = found.relaxation <= exact(relaxation)
        reached = found.variance * (1 + exact(relaxation)) / found.high if allowed else fmpq(0)
    L = _laplacian(net, weights) / np.sqrt(np.outer(mass, mass))
    second = float(np.linalg.eigvalsh(L)[1])
    for drop in (1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-7, 1e-5, 1e-3):
        floor = second * (1 - drop)
        if floor > 0 and reaches(net, weights, floor):
            return reached, dual_bound(net, weights, floor, relaxation or 0)
    return reached, None


def _laplacian(net: Net, weights: Array) -> Array:
    L = np.zeros((net.n, net.n))
    for (i, j), w in zip(net.edges, weights, strict=True):
        L[i, i] += w
        L[j, j] += w
        L[i, j] -= w
        L[j, i] -= w
    return L


@dataclass
class _Barrier:
    """Newton's method on the dual with logarithms, in doubles; nothing here is believed.

        minimise  Σ ±u·limit − μ log det(Σ ±u a aᵀ − I) − μ Σ log u

    The best points and weights of all levels are kept: the last ones are full of rounding.
    """

    net: Net
    d: Array
    mass: Array
    relaxation: float | None

    def __post_init__(self) -> None:
        self.root = np.sqrt(self.mass)[:, None]
        columns = np.column_stack([self.root, np.eye(self.net.n)[:, 1:]])
        self.Q = np.linalg.qr(columns)[0][:, 1:]
        self.ends = np.array(self.net.edges).reshape(-1, 2)
        a = (self.Q / self.root)[self.ends[:, 0]] - (self.Q / self.root)[self.ends[:, 1]]
        self.a, self.sign, self.limit = a, np.ones(len(self.d)), self.d
        if self.relaxation is not None:  # a little less than ε, so that the points keep it
            inner = self.relaxation * (1 - 1e-5)
            self.a, self.sign = np.vstack([a, a]), np.repeat([1.0, -1.0], len(self.d))
            self.limit = np.concatenate([(1 + inner) * self.d, (1 - inner) * self.d])
        self.best = (-1.0, np.zeros((self.net.n, 1)))
        self.lowest = (np.inf, np.ones(len(self.limit)))

    def stiff(self, u: Array) -> Array:
        return (self.a.T * (u * self.sign)) @ self.a - np.eye(self.net.n - 1)

    def inside(self, u: Array) -> bool:
        return bool(np.all(u > 0) and np.linalg.eigvalsh(self.stiff(u))[0] > 0)

    def centred(self, u: Array, mu: float) -> Array:
        sign = self.sign
        for _ in range(12):
            cross = self.a @ np.linalg.inv(self.stiff(u)) @ self.a.T
            slope = sign * self.limit - mu * sign * np.diagonal(cross) - mu / u
            curve = (np.outer(u * sign, u * sign) * cross**2 + np.eye(len(u))) * mu
            step = -u * np.linalg.lstsq(curve, u * slope, rcond=None)[0]
            decrement = max(float(-(slope @ step)) / mu, 0.0)
            length = 1.0 if decrement < 0.1 else 1 / (1 + np.sqrt(decrement))
            while length > 1e-9 and not self.inside(u + length * step):
                length /= 2
            if length <= 1e-9:
                break
            u = u + length * step
            if decrement < 1e-6:
                break
        return u

    def keep(self, u: Array, mu: float) -> None:
        values, vectors = np.linalg.eigh(mu * np.linalg.inv(self.stiff(u)))
        Y = self.Q @ (vectors * np.sqrt(values.clip(0))) / self.root
        ratio = np.sum((Y[self.ends[:, 0]] - Y[self.ends[:, 1]]) ** 2, axis=1) / self.d
        off = np.ptp(ratio) / (ratio.max() + ratio.min())
        kept = self.relaxation is None or off < self.relaxation
        value = values.sum() / ratio.max() if kept else 0.0
        self.best = max(self.best, (value, Y), key=lambda pair: pair[0])
        cost = float((u * self.sign) @ self.limit)
        self.lowest = min(self.lowest, (cost, u * self.sign), key=lambda pair: pair[0])

    def solve(self) -> tuple[Array, Array]:
        """(weights, points)."""
        u = np.where(self.sign > 0, 1 / self.limit, 0.25 / self.limit)
        u *= 2 / np.linalg.eigvalsh(self.stiff(u) + np.eye(self.net.n - 1))[0]
        mu = float((u * self.sign) @ self.limit)
        least, count = 1e-13 * mu / len(u), len(self.d)
        with contextlib.suppress(np.linalg.LinAlgError):
            while mu > least:
                mu *= 0.4
                u = self.centred(u, mu)
                self.keep(u, mu)
        signed = self.lowest[1]
        return signed[:count] + signed[count:].reshape(-1, count).sum(axis=0), self.best[1]


def tree_optimum(net: Net, lengths: list[int]) -> fmpq:
    """min over points p of a tree of Σ m g(i, p)²: Fiedler's variance (whole lengths).

    Above: ‖y_i − y_p‖ ≤ g(i, p), and about no point is the sum smaller than about the mean.
    Below: where p is best no branch at p outweighs the others together, so that rays in
    balanced directions have p as their mean.
    """
    g = [[fmpq(0) if i == j else fmpq(10**30) for j in range(net.n)] for i in range(net.n)]
    for (i, j), length in zip(net.edges, lengths, strict=True):
        g[i][j] = g[j][i] = fmpq(length)
    for k, i, j in product(range(net.n), repeat=3):
        g[i][j] = min(g[i][j], g[i][k] + g[k][j])
    best = None
    for (a, b), length in zip(net.edges, lengths, strict=True):
        near = [g[i][a] <= g[i][b] for i in range(net.n)]
        # p at a distance t from a: g(i, a) + t on a's side, g(i, b) + d − t on the other.
        pull = fmpq(0)
        for i, m in enumerate(net.masses):
            pull += m * (-g[i][a] if near[i] else g[i][b] + length)
        t = min(max(pull / net.total, fmpq(0)), fmpq(length))
        far = [g[i][a] + t if near[i] else g[i][b] + length - t for i in range(net.n)]
        total = sum((m * x * x for m, x in zip(net.masses, far, strict=True)), fmpq(0))
        best = total if best is None else min(best, total)
    assert best is not None
    return best


def clique_optimum(net: Net) -> fmpq:
    """All pairs tied at distances that points have: Σ m_i m_j d²/Σm."""
    parts = [
        net.masses[i] * net.masses[j] * d for (i, j), d in zip(net.edges, net.squared, strict=True)
    ]
    return sum(parts, fmpq(0)) / net.total


def cycle_optimum(n: int) -> tuple[fmpq, fmpq]:
    """A regular polygon of side 1: n/(4 sin²(π/n)), between two fractions."""
    ball = n / (4 * (arb.pi() / n).sin() ** 2)
    return _fraction(ball.lower()), _fraction(ball.upper())


def _fraction(ball: arb) -> fmpq:
    mantissa, power = ball.mid().man_exp()
    return fmpq(int(mantissa)) * (fmpq(2) ** int(power))


def chain_edges(n: int) -> list[tuple[int, int]]:
    return list(pairwise(range(n)))
