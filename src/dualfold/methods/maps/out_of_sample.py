"""Out-of-sample maps: what every rule for new rows can do, and the kinds that files hold."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.methods.maps.parts import Parts
from dualfold.trace.doubts import StoredPoints
from dualfold.trace.lift import MAX_COORDINATE, Solve
from dualfold.trace.problem import TraceProblem

# The maps that files hold: their kind there, and "module:Class" in this folder.
STORED_KINDS = {
    "linear": "linear_map:LinearMap",
    "profiles": "profile_map:ProfileMap",
    "geodesic": "landmark_map:GeodesicMap",
    "nystrom": "nystrom_map:NystromMap",
    "local weights": "local_map:LocalWeightsMap",
    "neighbours": "attraction_map:AttractionMap",
    "stress": "stress_map:StressMap",
    "kernel": "kernel_map:KernelMap",
    "pieces": "piecewise_map:PiecewiseMap",
    "rescaled": "piecewise_map:RescaledMap",
    "moved": "moved_map:MovedMap",
}


@dataclass(frozen=True, eq=False)
class StoredAnswer:
    """The answer of a trace problem that a map is made of.

    vectors, values : of the coordinates; None where the map states no values
    row_by_row : whether the map stores the vectors themselves, so that each row is judged
    """

    vectors: Array
    values: Array | None = None
    row_by_row: bool = True


class OutOfSampleMap:
    """Rule that places new rows on a map, and can be stored in a file; call it with the rows.

    A new rule defines `__call__`. A rule that files hold also defines `kind` (with a line in
    `STORED_KINDS`), `parts` and `from_parts`, and `stored_points` and `fitted_rows` or, without
    these, `n_coordinates` and `n_columns`; a rule that is made of the answer of a trace problem
    also defines `stored_answer`.

    Attributes
    ----------
    kind : str
        Name of the rule in files.

    See Also
    --------
    LinearMap : Linear function of the columns.
    NystromMap : Eigenmaps and diffusion maps.
    LocalWeightsMap : Combination of the nearest fitted rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.methods.maps import LinearMap
    >>> from dualfold.methods.maps.out_of_sample import OutOfSampleMap
    >>> rule = LinearMap(np.zeros(2), np.array([[1.0, 1.0]]))
    >>> isinstance(rule, OutOfSampleMap), rule(np.array([[1.0, 2.0]]))
    (True, array([[3.]]))
    """

    kind: ClassVar[str] = ""

    def __call__(self, X: Rows) -> Array:
        """The points (n×d) of the rows of X."""
        raise NotImplementedError

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of the points."""
        points: Any = self.stored_points()
        return int(points.shape[-1])

    @property
    def n_columns(self) -> int:
        """Number of columns that rows must have."""
        rows: Any = self.fitted_rows()
        return int(rows[0].shape[1])

    def parts(self) -> Parts:
        """Collect what a file holds of this map.

        Returns
        -------
        Parts
            Arrays and facts by name.
        """
        raise _not_storable(self)

    @classmethod
    def from_parts(cls, parts: Parts) -> OutOfSampleMap:
        """Make the map of what a file holds.

        Parameters
        ----------
        parts : Parts
            What `parts` returned.

        Returns
        -------
        OutOfSampleMap
            The map.

        Raises
        ------
        DamagedFile
            If the parts are not those of such a map.
        """
        raise NotImplementedError

    def stored_answer(self, problem: TraceProblem, solve: Solve) -> StoredAnswer:
        """Recover the answer to a trace problem that the map is made of.

        Parameters
        ----------
        problem : TraceProblem
            The problem.
        solve : callable
            Computes an answer if the map alone does not determine the vectors.

        Returns
        -------
        StoredAnswer
            Vectors, and values where the map holds them.
        """
        raise InvalidInput(f"a map of kind {self.kind!r} holds no answer to this problem")

    def unmoved(self) -> OutOfSampleMap:
        """The map before it was laid over another one.

        Returns
        -------
        OutOfSampleMap
            The map that the problem leads to; this one where nothing moved it.
        """
        return self

    def piece_maps(self) -> tuple[Any, ...]:
        """The maps of the pieces of the graph.

        Returns
        -------
        tuple
            One map for each piece, None for a single point; empty for a map of one piece.
        """
        return ()

    def stored_points(self) -> Array | None:
        """The points of the fitted rows.

        Returns
        -------
        ndarray or None
            The points; None if the map does not hold them.
        """
        return None

    def fitted_rows(self) -> tuple[Rows, Metric] | None:
        """The rows that the map was made of.

        Returns
        -------
        tuple or None
            The rows and their metric; None if the map does not hold them.
        """
        return None

    def column_means(self) -> Array | None:
        """The means of the columns.

        Returns
        -------
        ndarray or None
            The means; None if the map does not hold them.
        """
        return None

    def frozen_parameters(self) -> dict[str, object]:
        """Parameters that the fit has found, and that stay when rows come.

        Returns
        -------
        dict
            Values by the names of the estimator's parameters.
        """
        return {}

    def compared_rows(self, X: Rows) -> Rows:
        """Rows in the units that the map measures in, to compare them with one another.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows as the map takes them.

        Returns
        -------
        ndarray or sparse matrix
            The rows, with columns divided where the map divides them.
        """
        return X


def _not_storable(map_: object) -> InvalidInput:
    return InvalidInput(
        f"a {type(map_).__name__} cannot be saved as data; maps that can are made from "
        "features (not from precomputed distances or affinities), by PCA, MDS, Isomap, "
        "eigenmaps, LLE, t-SNE, unfoldings and linear projections"
    )


def parts_of(map_: object) -> Parts:
    """Parts of a map for a file; InvalidInput where no file can hold it, as of a function."""
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
    map_: type[OutOfSampleMap] = getattr(import_module(f"dualfold.methods.maps.{module}"), name)
    return map_.from_parts(parts)


def vectors_behind(problem: TraceProblem, points: Array, solve: Solve) -> Array:
    """The vectors whose lift the points of a map are; NaN where they can be none."""
    width = problem.lift.n_coordinates(problem.count)
    fits = points.ndim == 2 and points.shape[1] == width
    if not fits or not (np.abs(points).astype(float) <= MAX_COORDINATE).all():
        return np.full((problem.n, width), np.nan)
    return problem.lift.vectors_behind(problem, StoredPoints(points), solve)


def float_array(numbers: ArrayLike) -> Array:
    """Real numbers as float64; anything else as an empty table, which no answer has."""
    array = np.asarray(numbers)
    return array.astype(float) if array.dtype.kind in "fiu" else np.zeros((0, 0))
