"""Isomap, of all points and of landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.graph.geodesics import (
    geodesic_distances,
    geodesic_kind,
    geodesic_rounding,
    landmarks_at,
)
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.maps.landmark import LandmarkLift
from dualfold.trace.lift import ScaledVectorLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.gram import MAX_FLOAT64_ROWS, centred_gram
from dualfold.weights.precision import centred_distances_error, joined_sentences, rounding_sentence

EXACT_UP_TO = 10_000


def isomap(graph: Graph, *, n_components: int = 2, dtype: Any = None) -> TraceProblem:
    """Keep the distances along the sheet that the points lie on.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH,   points VΛ^½

    Δ holds the squared lengths of the shortest paths in the graph. A sheet that can be
    laid flat without stretching, with a convex outline, is recovered. Fails where one
    edge cuts across a gap (too many neighbours), around holes, which are blown up, and
    on surfaces such as a sphere that no plane can hold: K then has negative or many
    large eigenvalues. K is one n×n matrix, the only one made, of `dtype`: None is float64 up
    to 4,000 points and float32, half the memory, beyond. What float32 rounds is said by the
    certificate.

    Tenenbaum, de Silva and Langford, "A global geometric framework for nonlinear
    dimensionality reduction" (2000).
    """
    dtype = dtype or (np.float64 if graph.n <= MAX_FLOAT64_ROWS else geodesic_kind(graph))
    distances = geodesic_distances(one_piece(graph), dtype=dtype)
    K = centred_gram(distances, out=distances)
    error = centred_distances_error(K, geodesic_rounding(graph, dtype), K.dtype)
    about = rounding_sentence(error, K, K.dtype)
    return TraceProblem(K, None, n_components, "max", lift=ScaledVectorLift(), about=about)


def landmark_count(n: int) -> int | None:
    """How many landmarks stand for n points; None while all of them are cheap.

    All up to 10,000 (400 MB of float32, seconds); beyond, 2√n of them between 200 and
    1,000, and no more than fill 2 GiB with their geodesics.
    """
    if n <= EXACT_UP_TO:
        return None
    return min(1_000, max(200, int(2 * n**0.5)), 2**29 // n)


def landmark_isomap(graph: Graph, landmarks: Any, *, n_components: int = 2) -> TraceProblem:
    """Isomap of some points, and every other point by its distances to them.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH over the m landmarks,
        points ½Λ^-½Vᵀ(δ̄ − δ_x)

    `landmarks` are row numbers, or what `farthest_points(graph, m)` returned, which
    brings the geodesics along. Memory is m·n. A certificate is about the m×m problem:
    it says nothing about how well m landmarks stand for n points. With every point a
    landmark this is `isomap`.

    de Silva and Tenenbaum, "Global versus local methods in nonlinear dimensionality
    reduction" (2003).
    """
    chosen = landmarks_at(one_piece(graph), landmarks)
    between = chosen.distances[:, chosen.indices].astype(float)
    K = centred_gram((between + between.T) / 2)
    kind = chosen.distances.dtype
    error = centred_distances_error(K, geodesic_rounding(graph, kind), K.dtype)
    about = joined_sentences(
        f"the {len(chosen.indices)} landmarks; the other points are placed by them",
        rounding_sentence(error, K, kind),
    )
    return TraceProblem(K, None, n_components, "max", lift=LandmarkLift(chosen), about=about)
