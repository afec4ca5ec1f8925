"""Out-of-sample maps: what every rule for new rows can do, and the kinds that files hold."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.maps.parts import Parts
from dualfold.trace.lift import MAX_COORDINATE, Solve
from dualfold.trace.problem import TraceProblem

# The maps that files hold: their kind there, and "module:Class" in this folder.
STORED_KINDS = {
    "linear": "linear:LinearMap",
    "geodesic": "landmark:GeodesicMap",
    "nystrom": "nystrom:NystromMap",
    "local weights": "local:LocalWeightsMap",
    "neighbours": "attraction:AttractionMap",
    "pieces": "piecewise:PiecewiseMap",
    "rescaled": "piecewise:RescaledMap",
}


class OutOfSampleMap:
    """A rule that places new rows, and knows how it is stored, read back and judged.

    A new one defines `__call__`. One that files hold also defines `kind` (with a line in
    `STORED_KINDS`), `n_coordinates`, `n_columns`, `parts` and `from_parts`; one that is made of
    the answer of a trace problem, `holds_answer` and `stored_answer`.
    """

    kind: ClassVar[str] = ""

    def __call__(self, X: Any) -> Array:
        """The points (n×d) of the rows of X."""
        raise NotImplementedError

    @property
    def n_coordinates(self) -> int:
        """The number of coordinates of the points."""
        raise NotImplementedError

    @property
    def n_columns(self) -> int:
        """The number of columns that rows must have."""
        raise NotImplementedError

    def parts(self) -> Parts:
        """What a file holds of this map."""
        raise _not_storable(self)

    @classmethod
    def from_parts(cls, parts: Parts) -> OutOfSampleMap:
        """The map of these parts; DamagedFile where they are none of such a map."""
        raise NotImplementedError

    @property
    def holds_answer(self) -> bool:
        """Whether it is made of the answer of a trace problem, which `stored_answer` returns."""
        return False

    def stored_answer(self, problem: TraceProblem, solve: Solve) -> tuple[Array, Array | None]:
        """The vectors that the map is made of, and their values where it states them.

        `solve` computes an answer where the map alone does not determine the vectors.
        """
        raise InvalidInput(f"a {type(self).__name__} holds no answer to this problem")

    @property
    def stores_vectors(self) -> bool:
        """Whether the vectors of `stored_answer` are stored row by row: then each row is judged."""
        return True

    def piece_maps(self) -> tuple[Any, ...]:
        """The maps of the pieces, None for a single point; none where it is of one piece."""
        return ()

    def stored_points(self) -> Array | None:
        """The points that the fitted rows have on the map; None where it does not hold them."""
        return None

    def fitted_rows(self) -> tuple[Any, Any] | None:
        """The rows that it was made of and their metric; None where it does not hold them."""
        return None

    def column_means(self) -> Array | None:
        """The means of the columns; None where it does not hold them."""
        return None

    def column_scale(self) -> Array | None:
        """What columns are divided by; None where they are not."""
        return None


class FittedRowsMap(OutOfSampleMap):
    """A map that holds the features of the fitted rows and their points."""

    features: Any
    points: Array
    metric: Any

    @property
    def n_coordinates(self) -> int:
        return int(self.points.shape[-1])

    @property
    def n_columns(self) -> int:
        return int(self.features.shape[1])

    def stored_points(self) -> Array:
        return self.points

    def fitted_rows(self) -> tuple[Any, Any]:
        return self.features, self.metric


def _not_storable(map_: Any) -> InvalidInput:
    return InvalidInput(
        f"a {type(map_).__name__} cannot be saved as data; maps that can are made from "
        "features (not from precomputed distances or affinities), by PCA, MDS, Isomap, "
        "eigenmaps, LLE, t-SNE, unfoldings and linear projections"
    )


def parts_of(map_: Any) -> Parts:
    """What a file holds of a map; InvalidInput where no file can hold it, as of a function."""
    if not isinstance(map_, OutOfSampleMap):
        raise _not_storable(map_)
    return map_.parts()


def map_from_parts(parts: Parts) -> OutOfSampleMap:
    """The map that was taken apart; DamagedFile where the parts are none of such a map."""
    if not isinstance(parts.kind, str) or parts.kind not in STORED_KINDS:
        raise DamagedFile(
            f"it has a map of kind {str(parts.kind)[:20]!r}, which this dualfold does not know; "
            f"there are {', '.join(STORED_KINDS)}"
        )
    module, _, name = STORED_KINDS[parts.kind].partition(":")
    map_: type[OutOfSampleMap] = getattr(import_module(f"dualfold.maps.{module}"), name)
    return map_.from_parts(parts)


def vectors_behind(problem: TraceProblem, points: Array, solve: Solve) -> Array:
    """The vectors whose lift the points of a map are; NaN where they can be none."""
    width = problem.lift.n_coordinates(problem.count)
    fits = points.ndim == 2 and points.shape[1] == width
    if not fits or not (np.abs(points) <= MAX_COORDINATE).all():
        return np.full((problem.n, width), np.nan)
    return problem.lift.vectors_behind(problem, points, single=False, solve=solve)


def float_array(numbers: Any) -> Array:
    """Real numbers as float64; anything else as an empty table, which no answer has."""
    array = np.asarray(numbers)
    return array.astype(float) if array.dtype.kind in "fiu" else np.zeros((0, 0))
