"""Who judges what a file holds of a graph in one piece, and how pieces are judged together.

An estimator whose answer is that of a trace problem is judged by its problem. One that moves points
itself (`judged_points` and `map_of_points`) judges them itself. This is the only file that calls an
estimator for its problem, its graph or its map.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.certificate import Certificate
from dualfold.errors import InPython, InvalidInput
from dualfold.graph import Graph, separate
from dualfold.methods.fitting.estimator import Statement, asked_count
from dualfold.methods.fitting.graph_estimator import StatedGraph
from dualfold.methods.fitting.piece_layout import side_by_side
from dualfold.methods.fitting.piecewise_certificate import PiecewiseCertificate
from dualfold.methods.maps.out_of_sample import OutOfSampleMap, parts_of
from dualfold.methods.maps.piecewise_map import PiecewiseMap
from dualfold.models.trace_answers import (
    CertifySettings,
    certificate_of_map,
    certificate_of_points,
    stored_embedding,
    vectors_of_points,
)
from dualfold.trace.doubts import (
    POINT_TOLERANCE,
    POINT_TOLERANCE_FLOAT32,
    StoredPoints,
    point_doubts,
)
from dualfold.trace.lift import rayleigh_matrix
from dualfold.unfolding.stored_unfolding import BothSides
from dualfold.weights.row_weights import validated_masses


class StoredMapJudge(Protocol):
    """Judge of stored answers to one problem."""

    def certificate_of_map(self, map_: OutOfSampleMap) -> tuple[Certificate, Array | None]:
        """The certificate of a stored map, and the points that it leads to (None: none at all)."""

    def certificate_of_points(self, points: Array, values: Any) -> Certificate:
        """The certificate of stored points, and of eigenvalues (None: none were stored)."""

    def map_of_points(self, points: Array, certificate: Any) -> OutOfSampleMap:
        """The map of new rows that follows from points with this certificate."""

    def centred_points(self, points: Array) -> Array:
        """Points that were moved, where the problem has them."""


@dataclass(frozen=True, eq=False)
class TraceJudge:
    """Certifies by a trace problem."""

    stated: Statement
    settings: CertifySettings

    def certificate_of_map(self, map_: OutOfSampleMap) -> tuple[Certificate, Array | None]:
        return certificate_of_map(self.stated, map_, self.settings)

    def certificate_of_points(self, points: Array, values: Any) -> Certificate:
        problem = self.stated.problem
        stored = StoredPoints.of(problem, points, values)
        if stored.values is not None:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                plain = self.stated.scaling(stored.values).undone(points).astype(points.dtype)
            stored = replace(stored, points=plain.astype(float))
        return certificate_of_points(problem, stored, self.settings)

    def map_of_points(self, points: Array, certificate: Any) -> OutOfSampleMap:
        problem = self.stated.problem
        V = vectors_of_points(problem, StoredPoints(points))
        assert V is not None  # a certificate that did not fail has found it before
        theta = np.diagonal(rayleigh_matrix(problem, V)).copy()
        answer = stored_embedding(problem, V, theta, certificate)
        return self.stated.leads_to(replace(answer, points=points))

    def centred_points(self, points: Array) -> Array:
        problem = self.stated.problem
        return problem.lift.centred_points(problem, points)


@dataclass(frozen=True, eq=False)
class PointsJudge:
    """Certifies by the estimator's own `judged_points` and `map_of_points`.

    data : what they are about: a graph, or a table
    options : of `judged_points`
    """

    estimator: Any
    data: Any
    options: dict[str, Any]

    def certificate_of_map(self, map_: OutOfSampleMap) -> tuple[Certificate, Array | None]:
        points = map_.stored_points()
        if points is None:
            raise InvalidInput(
                f"a {type(map_).__name__} holds no map of {type(self.estimator).__name__}"
            )
        certificate = self.certificate_of_points(points, None)
        made = self.map_of_points(points, certificate)
        return certificate.with_doubts(*map_differences(made, map_)), points

    def certificate_of_points(self, points: Array, values: Any) -> Certificate:
        return self.estimator.judged_points(self.data, points, **self.options)

    def map_of_points(self, points: Array, certificate: Any) -> OutOfSampleMap:
        return self.estimator.map_of_points(self.data, points)

    def centred_points(self, points: Array) -> Array:
        return points - points.mean(axis=0, dtype=float)


def map_differences(made: object, stored: object) -> list[str]:
    """In words, what of a stored map differs from the one that the data lead to."""
    return parts_of(made).differences(parts_of(stored))


@dataclass(frozen=True, eq=False)
class GraphStatement:
    """Statement of an estimator for a table: the graph that it embeds, in one piece or several.

    stated : the graph, its rows, and what is asked about it
    sides : factor and dual weights of an unfolding, where they were stored
    """

    estimator: Any
    X: Rows
    stated: StatedGraph
    sides: BothSides | None
    settings: CertifySettings

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Rows,
        sides: BothSides | None,
        settings: CertifySettings,
        masses: Array | None = None,
    ) -> GraphStatement:
        """Statement of an estimator for rows X, with these masses."""
        stated = estimator.stated_graph(X)
        if masses is not None:
            stated = stated.with_masses(validated_masses(masses, X.shape[0]))
        if estimator.pieces != "separate":
            stated = stated.in_one_piece()
        return cls(estimator, X, stated, sides, settings)

    @property
    def graph(self) -> Graph:
        """The graph that is embedded."""
        return self.stated.graph

    @property
    def has_pieces(self) -> bool:
        """Whether every piece is embedded on its own."""
        return self.graph.n_pieces > 1

    def judge(self, width: int) -> StoredMapJudge:
        """Judge of a graph in one piece whose points have `width` coordinates."""
        return self._judge_of(self.graph, width, self.sides)

    def judges_of_pieces(self, width: int) -> list[tuple[Array, StoredMapJudge | None]]:
        """The rows of each piece, the largest first, and its judge; None for a single point."""
        judges: list[tuple[Array, StoredMapJudge | None]] = []
        for rows, piece in separate(self.graph):
            sides = None if self.sides is None or len(rows) == 1 else self.sides.of_rows(rows)
            judge = None if len(rows) == 1 else self._judge_of(piece, width, sides)
            judges.append((rows, judge))
        return judges

    def _judge_of(self, graph: Graph, width: int, sides: BothSides | None) -> StoredMapJudge:
        if hasattr(self.estimator, "judged_points"):
            scope = self.stated.rows.scope()
            options = {"tolerance": self.settings.largest_gap, "sides": sides, "scope": scope}
            return PointsJudge(self.estimator, graph, options)
        count = asked_count(self.estimator, width, graph.n - 1)
        return TraceJudge(self.stated.of_piece(graph, count), self.settings)

    def certificate_of_map(self, map_: OutOfSampleMap) -> Certificate:
        """The certificate of the stored map of the whole graph."""
        if self.has_pieces:
            return self._certificate_of_pieces_map(map_)
        second = self._second_map(map_.stored_points())
        if second is None or second.kind != map_.kind:
            return self.judge(map_.n_coordinates).certificate_of_map(map_)[0]
        certificate = self.certificate_of_points(np.asarray(map_.stored_points()), None)
        return certificate.with_doubts(*map_differences(second, map_))

    def _second_map(self, points: Array | None) -> OutOfSampleMap | None:
        """Second map by which landmarks may place new rows; None where a method has one map."""
        if points is None:
            return None
        second: OutOfSampleMap | None = self.estimator.second_rule(self.graph, points, self.X)
        return second

    def certificate_of_points(self, points: Array, values: Any) -> Certificate:
        """The certificate of stored points of all rows of the table."""
        if self.graph.n < len(points):
            return self._certificate_of_some(points, values)
        if self.has_pieces:
            return self._certificate_of_pieces(points, values)
        return self.judge(points.shape[1]).certificate_of_points(points, values)

    def _certificate_of_some(self, points: Array, values: Any) -> Certificate:
        """The graph has some of the rows: landmarks, or all but those left out.

        They are judged by their problem; all others must be where the map of new rows puts them.
        """
        if self.has_pieces:
            raise InvalidInput(
                "points around landmarks in several pieces are not judged; judge the model "
                "instead: ",
                InPython("rechecked_model"),
            )
        rows, judge = self.stated.rows.numbers, self.judge(points.shape[1])
        certificate = judge.certificate_of_points(points[rows], values)
        if certificate.level == "failed":
            return certificate
        again = judge.map_of_points(points[rows].astype(float), certificate)(self.X)
        again[rows] = points[rows]
        return certificate.with_doubts(*doubts_of_points(again, points))

    def _certificate_of_pieces(self, points: Array, values: Any) -> Certificate:
        """Points of pieces that lie side by side: each piece moved back, then laid out again.

        Stored eigenvalues are those of the largest piece, which comes first.
        """
        width = points.shape[1]
        certificates: list[Certificate] = []
        pieces: list[tuple[Array, Array | None]] = []
        for rows, judge in self.judges_of_pieces(width):
            if judge is None:
                pieces.append((rows, None))
                continue
            centred = judge.centred_points(points[rows][:, : min(width, len(rows) - 1)])
            own_values = None if certificates else values
            certificates.append(judge.certificate_of_points(centred, own_values))
            pieces.append((rows, centred))
        layout = side_by_side(pieces, self.graph.n, width)
        certificate = PiecewiseCertificate.of(certificates, len(pieces) - len(certificates))
        return certificate.with_doubts(*doubts_of_points(layout.points, points))

    def _certificate_of_pieces_map(self, map_: OutOfSampleMap) -> Certificate:
        """Every piece by its own problem, then how they lie side by side."""
        judges = self.judges_of_pieces(map_.n_coordinates)
        places = map_.piece_maps()
        if len(places) != len(judges):
            raise InvalidInput(f"the data has {len(judges)} pieces, the model has another number")
        certificates: list[Certificate] = []
        pieces: list[tuple[Array, Array | None]] = []
        for number, ((rows, judge), piece_map) in enumerate(zip(judges, places, strict=True), 1):
            if (judge is None) != (piece_map is None):
                raise InvalidInput(f"piece {number} has {len(rows)} points in the data")
            if judge is None:
                pieces.append((rows, None))
                continue
            certificate, points = judge.certificate_of_map(piece_map)
            certificates.append(certificate)
            pieces.append((rows, points))
        certificate = PiecewiseCertificate.of(certificates, len(pieces) - len(certificates))
        if certificate.level == "failed":  # a piece without an answer has no place either
            return certificate
        return certificate.with_doubts(*self._layout_doubts(map_, pieces))

    def _layout_doubts(
        self, map_: OutOfSampleMap, pieces: list[tuple[Array, Array | None]]
    ) -> list[str]:
        """Doubts about the places of the pieces, whose own maps were compared before."""
        if any(len(rows) != len(points) for rows, points in pieces if points is not None):
            return ["a piece does not have the points of the data"]
        graph, layout = self.graph, side_by_side(pieces, self.graph.n, map_.n_coordinates)
        points, offsets = layout.points, layout.offsets
        maps = map_.piece_maps()
        made = PiecewiseMap(graph.points, graph.metric, graph.piece_of, points, offsets, maps)
        return map_differences(made, map_)


def doubts_of_points(again: Array, stored: Array) -> list[str]:
    """In words, which stored points are not where they should be (`again`)."""
    tolerance = POINT_TOLERANCE_FLOAT32 if stored.dtype == np.float32 else POINT_TOLERANCE
    return point_doubts(again, stored.astype(float), tolerance=tolerance)[1]
