"""Trace problems of several slices whose answers are held together along links.

    minimise Σₜ tr(VₜᵀAₜVₜ) + μ·tr(VᵀKV)   subject to   VₜᵀBₜVₜ = I,  VₜᵀBₜNₜ = 0  for each slice t

V stacks the Vₜ, and tr(VᵀKV) is the sum over successive slices of the mean squared distance of
linked rows. One constraint for all slices together would return indicators of slices; so each slice
has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.trace.problem import TraceProblem

# Up to this many rows of all slices together the relaxed problem is stated by a dense matrix.
MAX_DENSE_ROWS = 5_000
# Directions of a slice that are shorter than the longest by more (squared) are rounding.
MIN_SQUARE_RATIO = 1e-8


@dataclass(frozen=True, eq=False)
class AlignedProblem:
    """The problem of several slices.

    slices : the trace problem of each slice; all minimise, and have as many directions
    coupling : K, symmetric and positive semidefinite, over the stacked entries of all slices
    mu : μ ≥ 0
    """

    slices: tuple[TraceProblem, ...]
    coupling: sp.csr_array
    mu: float

    def __post_init__(self) -> None:
        counts = {problem.count for problem in self.slices}
        senses = {problem.sense for problem in self.slices}
        if len(counts) != 1 or senses != {"min"}:
            raise InvalidInput("all slices must minimise, with the same number of directions")

    @property
    def count(self) -> int:
        """The number of directions."""
        return self.slices[0].count

    @cached_property
    def ends(self) -> Array:
        """Where the entries of each slice end in a stack."""
        return np.cumsum([problem.n for problem in self.slices])

    def parts(self, V: Array) -> list[Array]:
        """A stack as the parts of its slices."""
        return np.split(V, self.ends[:-1])

    @cached_property
    def joint(self) -> TraceProblem:
        """The relaxed problem: one constraint ΣVₜᵀBₜVₜ = I for all slices, each centred.

        An answer of the aligned problem, divided by √T, is feasible for it: T times its optimum is
        a lower bound.
        """
        A = sp.block_diag([_sparse(problem.A) for problem in self.slices], format="csr")
        A = sp.csr_array(A + self.mu * self.coupling)
        B = _joint_metric(self.slices)
        columns = [problem.excluded_columns for problem in self.slices]
        width = sum(N.shape[1] for N in columns)
        excluded = None
        if width:
            excluded = sp.block_diag(columns).toarray()
        matrix: Any = A if A.nnz < 0.2 * A.shape[0] ** 2 else A.toarray()
        return TraceProblem(matrix, B, self.count, "min", excluded=excluded)

    @cached_property
    def relaxed(self) -> TraceProblem:
        """Problem with PᵀAP in place of A, P the projection off the excluded directions.

        On the constraint both are the same; here A maps the excluded directions to 0, as a sharp
        certificate needs it. The matrix is dense; of many rows the problem is `joint` itself.
        """
        joint = self.joint
        N = joint.excluded_basis
        if joint.n > MAX_DENSE_ROWS or not N.shape[1]:
            return joint
        A = joint.A.toarray() if sp.issparse(joint.A) else np.array(joint.A)
        BN = joint.metric.times(N)
        A -= BN @ (N.T @ A)
        A -= (A @ N) @ BN.T
        return replace(joint, A=(A + A.T) / 2)

    def product(self, V: Array) -> Array:
        """(blockdiag(Aₜ) + μK)·V."""
        return np.asarray(self.joint.A @ V)

    def value(self, V: Array) -> float:
        """The objective."""
        return float(np.sum(V * self.product(V)))

    def times_metric(self, V: Array) -> Array:
        """blockdiag(Bₜ)·V."""
        parts = zip(self.slices, self.parts(V), strict=True)
        return np.vstack([problem.metric.times(part) for problem, part in parts])

    def without_excluded(self, V: Array) -> Array:
        """V off the excluded directions of each slice."""
        parts = zip(self.slices, self.parts(V), strict=True)
        return np.vstack([problem.without_excluded(part) for problem, part in parts])

    def feasible(self, V: Array) -> Array:
        """The feasible point nearest to V in each slice: off N, times the inverse polar factor."""
        parts = []
        for problem, part in zip(self.slices, self.parts(V), strict=True):
            inside = problem.without_excluded(part)
            form = inside.T @ problem.metric.times(inside)
            squares, Q = np.linalg.eigh((form + form.T) / 2)
            squares = np.maximum(squares, np.finfo(float).tiny)
            parts.append(inside @ ((Q / np.sqrt(squares)) @ Q.T))
        return np.vstack(parts)

    def spans(self, V: Array) -> bool:
        """Whether V has as many directions as are wanted in each slice."""
        for problem, part in zip(self.slices, self.parts(V), strict=True):
            inside = problem.without_excluded(part)
            squares = np.linalg.eigvalsh(inside.T @ problem.metric.times(inside))
            if not squares[0] > MIN_SQUARE_RATIO * max(float(squares[-1]), MIN_SQUARE_RATIO):
                return False
        return True

    def gradient(self, V: Array) -> Array:
        """The gradient along the constraints; 0 where V is stationary.

        HV − BV·sym(VᵀHV), slice by slice.
        """
        HV, BV = self.product(V), self.times_metric(V)
        stacks = zip(*(self.parts(stack) for stack in (V, HV, BV)), strict=True)
        tangents = []
        for part, image, metric_image in stacks:
            form = part.T @ image
            tangents.append(image - metric_image @ ((form + form.T) / 2))
        return np.vstack(tangents)


def link_matrix(features: Sequence[Any], links: Sequence[Array]) -> sp.csr_array:
    """K of links between successive slices: the mean squared distance of linked rows is tr(VᵀKV).

    features : Fₜ of each slice, whose rows times Vₜ are the points; None for the identity's rows
    links : pairs (row of slice t, row of slice t + 1), m×2, for each t but the last
    """
    sizes = [F.shape[1] for F in features]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    total = sp.csr_array((int(starts[-1]), int(starts[-1])))
    for t, pairs in enumerate(links):
        if not len(pairs):
            continue
        first = sp.csr_array(features[t])[pairs[:, 0]]
        second = sp.csr_array(features[t + 1])[pairs[:, 1]]
        before = sp.csr_array((len(pairs), int(starts[t])))
        after = sp.csr_array((len(pairs), int(starts[-1] - starts[t + 2])))
        G = sp.csr_array(sp.hstack([before, first, -second, after]))
        total = total + (G.T @ G) / len(pairs)
    return sp.csr_array(total)


def _sparse(A: Any) -> sp.csr_array:
    return sp.csr_array(A)


def _joint_metric(slices: Sequence[TraceProblem]) -> Any:
    """blockdiag(Bₜ): a vector where every Bₜ is diagonal, else a matrix."""
    matrices = [problem.metric.sparse() for problem in slices]
    whole = sp.csr_array(sp.block_diag(matrices, format="csr"))
    diagonal = whole.diagonal()
    if whole.nnz <= len(diagonal):
        return diagonal
    return whole.toarray() if whole.nnz > 0.2 * whole.shape[0] ** 2 else whole
