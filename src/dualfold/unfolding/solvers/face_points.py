"""Points with the lengths asked: an interior point among the K that keep rigid parts.

A first face holds the K that keep cliques rigid (`rigid`). While the gap is not lowered, every
direction of such a K has room, so that full steps reach the lengths asked. Where they do not, more
is rigid than cliques show, and the lengths that K has nearly then tell what: parts that lie in it
as in the data are kept rigid, too. Any such face holds the data itself, so whatever was guessed,
its points are feasible; a wrong guess costs variance only. Points count by the variance that
`feasible_value` proves for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding.congruence import congruent_parts
from dualfold.unfolding.feasible import feasible_value, rigid_system
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solvers.face_path import Face, FacePath, FacePoint, face_basis, face_of
from dualfold.unfolding.solvers.rigid import dependencies

# The measurements behind these constants: docs/dev/notes/unfolding-equal-lengths.md.
# Points are brought onto the lengths at ROOM_GAP, where every direction of K still has room. With
# the lengths kept they go on, a tenth of the gap at a time.
ROOM_GAP = 2e-3
GAP_STAGE_RATIO = 0.1
GAP_MARGIN_RATIO = 1.1  # a gap is reached within this ratio
MAX_ROOM_STEPS = 30
MAX_STAGE_STEPS = 10
# Lengths that are off by no more are on the lengths asked, as well as doubles hold points.
REACHED_TOLERANCE = 1e-12
# No smaller face is tried where the proof costs no more than this share of the variance.
MAX_PROOF_SHARE = 1e-6
# Squared distances that agree with those of the data to these shares are kept, one after another.
AGREEMENT_TOLERANCES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


class FacePoints:
    """The best points so far, and the variance that is proved of them.

    points, off : the last points that were nearest to the lengths, and how far theirs are off
    value : 0 where nothing is proved
    """

    def __init__(self, problem: UnfoldingProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.root = np.sqrt(problem.mass)[:, None]
        self.points: Array | None = None
        self.guide: Array | None = None  # the first face's points: what lies there as in the data
        self.off, self.value = np.inf, 0.0

    def steps(self) -> Iterator[tuple[Array, float]]:
        """The points and the gap after each step."""
        for face, squared in self._faces():
            path = FacePath(face, squared)
            here, gap, most = path.first, ROOM_GAP, MAX_ROOM_STEPS
            while True:
                for point in self._stage(path, here, gap, most):
                    here = point
                    yield self._points(face, here), here.gap
                points = self._points(face, here)
                if self.guide is None:
                    self.guide = points
                improved, lost = self._offer(points)
                if not improved or gap <= self.tol:
                    break
                gap, most = max(GAP_STAGE_RATIO * gap, self.tol), MAX_STAGE_STEPS
            if lost <= MAX_PROOF_SHARE:
                return

    def _faces(self) -> Iterator[tuple[Face, Array]]:
        """The face of cliques, then ever smaller ones that the last points suggest."""
        p = self.problem
        face = face_of(p, dependencies(p))
        yield face, p.squared[face.edges]
        sizes = {face.basis.shape[1]}
        for tolerance in AGREEMENT_TOLERANCES:
            if self.guide is None or p.positions is None:
                return
            parts = congruent_parts(p.positions, self.guide, p.edges, tolerance)
            system = rigid_system(p.positions, parts, p.edges)
            if system is None:
                continue
            A, pairs = system
            if np.linalg.matrix_rank(A.high) < len(A.high):
                continue  # parts that share dependencies, as those of a grid
            basis = face_basis(p, A.high)
            if basis.shape[1] in sizes:
                continue
            sizes.add(basis.shape[1])
            places = basis / self.root
            differences = p.positions[pairs[:, 0]] - p.positions[pairs[:, 1]]
            rows = places[pairs[:, 0]] - places[pairs[:, 1]]
            yield Face(basis, pairs, rows), np.einsum("ij,ij->i", differences, differences)

    def _stage(
        self, path: FacePath, here: FacePoint, gap: float, steps: int
    ) -> Iterator[FacePoint]:
        for _ in range(steps):
            point = path.step(here, gap)
            if point is None:
                if here.precise:
                    return
                here = replace(here, precise=True)
                continue
            here = point
            yield here
            if here.off <= REACHED_TOLERANCE and here.gap < GAP_MARGIN_RATIO * gap:
                return

    def _points(self, face: Face, here: FacePoint) -> Array:
        return self.problem.centred_points(face.basis @ here.F / self.root)

    def _offer(self, points: Array) -> tuple[bool, float]:
        """Take the points if more is proved of them than of the best ones, or if nothing is.

        Whether more is proved, and the share of their variance that the proof costs.
        """
        p = self.problem
        off = float(np.max(np.abs(p.squared_lengths(points) / p.squared - 1), initial=0.0))
        value = feasible_value(p, points)
        improved = value > self.value
        if improved or (self.value == 0 and off < self.off):
            self.points, self.off, self.value = points, off, value
        return improved, 1 - value / p.value(points)
