"""Newton's equations of a net of springs by conjugate gradients, without a factorisation.

    H = (L(w) − (1 − σ)·diag(m)) ⊗ I_r + Σ_e c_e (b_e b_eᵀ) ⊗ (y_e y_eᵀ)

Elimination of H costs r³ times that of the graph, and a graph without small separators (images)
costs much already. A product with H costs O(r) an edge. The preconditioner is one symmetric
sweep of Gauss and Seidel over the points, which solves for the r numbers of a point at
once: a taut edge resists along y_e a hundred times as much as across, and only blocks see that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.reports import tally
from dualfold.unfolding.problem import UnfoldingProblem

# Steps in one call, between which Ctrl-C is heard: some milliseconds each.
STEPS_PER_CALL = 32
MAX_STEPS = 3_000
SPRING_LANES = c_constant("SPRING_LANES")
SPRINGS_INDEFINITE = c_constant("SPRINGS_INDEFINITE")

_spring_steps = kernel("spring_steps")


@dataclass(frozen=True, eq=False)
class SpringNet:
    """The edges of each point of a problem, neighbours rising."""

    problem: UnfoldingProblem

    @cached_property
    def lists(self) -> tuple[Array, Array, Array]:
        """Where each point's list starts, the neighbours, and the numbers of the edges."""
        pattern, m = self.problem.pattern, self.problem.m
        number = pattern.data - 1  # positions in [edges, edges, diagonal]
        beside = number < 2 * m
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(beside)])
        start = before[pattern.indptr].astype(np.int64)
        neighbors = pattern.indices[beside].astype(np.int32)
        return start, neighbors, (number[beside] % m).astype(np.int32)

    def step_flops(self, r: int) -> float:
        """Multiply-adds of one step of conjugate gradients with r columns."""
        r = _padded_columns(r)
        return 14.0 * self.problem.m * r + 2.0 * self.problem.n * r * r

    def inverse_blocks(self, weights: Array, bend: Array, edge_vectors: Array) -> Array:
        """The inverses of Σ_e w_e I + c_e y_e y_eᵀ over the edges of each point, n×r×r."""
        problem, r = self.problem, edge_vectors.shape[1]
        blocks = np.zeros((problem.n, r, r))
        i, j = problem.edges.T
        for a in range(r):
            for b in range(a + 1):
                parts = bend * edge_vectors[:, a] * edge_vectors[:, b]
                if a == b:
                    parts = parts + weights
                sums = np.bincount(i, parts, problem.n) + np.bincount(j, parts, problem.n)
                blocks[:, a, b] = blocks[:, b, a] = sums
        return np.ascontiguousarray(np.linalg.inv(blocks))


@dataclass(frozen=True, eq=False)
class SpringMatrix:
    """H for weights w, curvatures c (`bend`), y_e (`edge_vectors`, m×r) and σ (`shift`)."""

    net: SpringNet
    weights: Array
    bend: Array
    edge_vectors: Array
    shift: float
    inverse: Array = field(repr=False)

    @classmethod
    def of(
        cls, net: SpringNet, weights: Array, bend: Array, edge_vectors: Array, shift: float
    ) -> SpringMatrix:
        """The matrix with its preconditioner; columns of zeros fill the kernel's lanes."""
        padded = np.zeros((len(edge_vectors), _padded_columns(edge_vectors.shape[1])))
        padded[:, : edge_vectors.shape[1]] = edge_vectors
        inverse = net.inverse_blocks(weights, bend, padded)
        w, c = (np.ascontiguousarray(numbers, dtype=float) for numbers in (weights, bend))
        return cls(net, w, c, padded, shift, inverse)

    def with_shift(self, shift: float) -> SpringMatrix:
        """Springs with another σ."""
        return SpringMatrix(
            self.net, self.weights, self.bend, self.edge_vectors, shift, self.inverse
        )

    def solution(self, force: Array, tol: float) -> tuple[Array, bool]:
        """The centred X of HX = force (n×r, Σ force = 0), and whether H was positive where seen.

        tol : the residual that may be left, relative, in the norm of the preconditioner
        """
        problem = self.net.problem
        n, r = problem.n, self.edge_vectors.shape[1]
        residual = np.zeros((n, r))
        residual[:, : force.shape[1]] = force
        x, direction, state = np.zeros((n, r)), np.empty((n, r)), np.zeros(3)
        mass = np.ascontiguousarray(problem.mass, dtype=float)
        diagonal = (1 - self.shift) * mass
        springs = (
            *self.net.lists,
            self.weights,
            self.bend,
            self.edge_vectors,
            diagonal,
            self.inverse,
            mass,
        )
        for first in range(0, MAX_STEPS, STEPS_PER_CALL):
            done = _spring_steps(
                n,
                problem.m,
                r,
                STEPS_PER_CALL,
                int(first == 0),
                *springs,
                tol**2,
                state,
                x,
                residual,
                direction,
            )
            if done < 0:
                raise TooLarge(f"no memory for {8 * (n + 2) * r} bytes of scratch; free some")
            tally("spring steps", done)
            if state[2]:
                break
        X = np.ascontiguousarray(x[:, : force.shape[1]])
        return X, int(state[2]) != SPRINGS_INDEFINITE


def _padded_columns(r: int) -> int:
    return -(-r // SPRING_LANES) * SPRING_LANES
