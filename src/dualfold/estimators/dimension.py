"""n_components="auto": how many coordinates the spectrum asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.embedding import Embedding, embed
from dualfold.trace.certificate import certify
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Solver

Array = np.ndarray[Any, np.dtype[Any]]

# The eigengap is looked for among this many first eigenvalues.
LOOKED_AT = 10


@dataclass(frozen=True)
class Choice:
    """The number of coordinates and the reason for it, in words."""

    count: int
    reason: str


def widest_gap(values: Array) -> Choice:
    """Cut where consecutive eigenvalues differ most (relative to the larger one).

    Of eigenvalues λ₁ … λ_m in the order of the embedding, keeps the k < m before the
    widest step |λ_{k+1} − λ_k|/max(|λ_k|, |λ_{k+1}|).
    """
    values = np.abs(np.asarray(values, dtype=float))
    larger = np.maximum(np.maximum(values[1:], values[:-1]), np.finfo(float).tiny)
    steps = np.abs(np.diff(values)) / larger
    count = int(np.argmax(steps)) + 1
    return Choice(
        count,
        f"{count} coordinates: the widest eigengap among the first {len(values)} eigenvalues "
        f"({values[count - 1]:.3g} to {values[count]:.3g})",
    )


def embedded(
    problem: TraceProblem, solver: Solver, n_components: int | str
) -> tuple[Embedding, str | None]:
    """The embedding, cut at the widest eigengap (with the reason) when asked for "auto".

    `problem` then has some more directions than will be kept.
    """
    embedding = embed(problem, solver=solver)
    if n_components != "auto" or problem.count < 2:
        return embedding, None
    choice = widest_gap(embedding.values)
    return shortened(embedding, choice.count), choice.reason


def shortened(embedding: Embedding, count: int) -> Embedding:
    """The first `count` coordinates, certified as an answer of their own."""
    problem = replace(embedding.problem, count=count)
    solution = embedding.solution
    whole = np.hstack([solution.vectors, solution.guard])
    kept = replace(
        solution,
        vectors=solution.vectors[:, :count],
        values=solution.values[:count],
        guard=whole[:, count:],
    )
    certificate = certify(problem, whole, kept.values)
    points = problem.lift(kept.vectors, kept.values)
    return Embedding(points, kept.values, certificate, problem, kept, embedding.seconds)
