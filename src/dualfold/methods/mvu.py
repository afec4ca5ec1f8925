"""Maximum variance unfolding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.embedding import Embedding
from dualfold.trace.lift import scaled_vectors
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solution import Solution, with_signs
from dualfold.unfolding.unfold import Unfolding

Array = np.ndarray[Any, np.dtype[Any]]


def mvu(unfolding: Unfolding, *, n_components: int = 2) -> TraceProblem:
    """Pull the points as far apart as the edges of their graph let them.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   points VΛ^½,   with K the answer of
        maximise tr K  subject to  K ⪰ 0,  K1 = 0,  K_ii + K_jj − 2K_ij ≤ (or =) d_ij²

    over the edges: `dualfold.unfolding.unfold(graph)` finds K with dual weights that bound
    every other one. A sheet without holes is laid flat, and a hole is not blown up as by
    Isomap. Fails where one edge cuts across a gap, which then pins the two sides together;
    a graph in several pieces has no answer at all (they could fly apart for ever).

    Weinberger and Saul, "Unsupervised learning of image manifolds by semidefinite
    programming" (2004); Xiao, Sun and Boyd, "A duality view of spectral methods for
    dimensionality reduction" (2006).
    """
    K = Gramian(sp.csr_array(unfolding.factor.T))
    return TraceProblem(K, None, n_components, "max", lift=scaled_vectors)


def unfolded(unfolding: Unfolding, *, n_components: int = 2) -> Embedding:
    """The leading coordinates of an unfolding, with its certificate.

    K is known by its thin factor, so its eigenvectors are that factor's singular vectors.
    """
    problem = mvu(unfolding, n_components=n_components)
    U, lengths, _ = np.linalg.svd(unfolding.factor, full_matrices=False)
    missing = n_components - U.shape[1]
    if missing > 0:  # K has fewer directions than were asked for: the rest have no extent
        U = np.hstack([U, _complement(U, missing)])
        lengths = np.concatenate([lengths, np.zeros(missing)])
    values = lengths[:n_components] ** 2
    vectors = with_signs(U[:, :n_components])
    found = unfolding.solution
    solution = Solution(
        vectors=vectors,
        values=values,
        guard=np.zeros((len(U), 0)),
        solver=found.solver,
        status=found.status,
        products=len(found.history),
        story=found.story,
    )
    points = problem.lift(vectors, values)
    return Embedding(points, values, unfolding.certificate, problem, solution)


def _complement(U: Array, count: int) -> Array:
    """Some orthonormal directions off those of U."""
    fill = np.random.default_rng(0).standard_normal((len(U), count))
    return np.asarray(np.linalg.qr(np.hstack([U, fill]))[0][:, U.shape[1] :])
