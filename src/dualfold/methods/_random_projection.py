"""Random projections: distances nearly kept by maps that never saw the data.

No trace problem: nothing is optimised, so nothing can be certified optimal. What can be
said instead is how far the distances were changed, and that is measured on the points
themselves (`dualfold.quality.measured_distortion`).
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array
from dualfold.data.labels import Labels
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.fitting.estimator import Estimator, Statement, fit_any_table, unfitted_on_failure
from dualfold.fitting.linear import LinearEstimator
from dualfold.fitting.tiles import TiledRows, tiled_rows
from dualfold.maps.linear_map import LinearMap
from dualfold.maps.random_maps import Kind, random_map
from dualfold.quality.distortion import distortion_of_pairs, drawn_pairs, measured_distortion


def random_projection(
    X: Any,
    *,
    n_components: int | Literal["auto"] = "auto",
    kind: Kind = "gaussian",
    eps: float = 0.1,
    density: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> LinearMap:
    """A random linear map for data of the shape of X; `encode` gives the points.

    `kind` names its entries, `random_state` draws them:
    "gaussian" has independent N(0, 1/k) entries, "orthogonal" k orthonormal directions
    times √(D/k), "sparse" mostly zeros (`density`, default 1/√D). "auto" takes the size
    that keeps all squared distances within 1±`eps`, which is often more than D: then a
    projection saves nothing and is refused.

    Johnson and Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert space"
    (1984); Tucker, "Dimensionality reduction and the Fenchel game", §2.
    """
    if len(np.shape(X)) != 2:
        raise InvalidInput(
            Argument("X"), f" must be a table with a row for each point; its shape is {np.shape(X)}"
        )
    n, width = X.shape if hasattr(X, "shape") else np.shape(X)
    size = n_components
    if size == "auto":
        size = johnson_lindenstrauss_size(n, eps)
        if size > width:
            raise InvalidInput(
                f"to keep the distances of {n} points within 1±{eps} takes {size} components, "
                f"and the data has only {width} features, so that a random map of this size would "
                "save nothing; ",
                _looser(n, width),
                ", or leave the data as it is",
            )
    return random_map(width, size, kind=kind, density=density, random_state=random_state)


def _looser(n: int, width: int) -> Message:
    """What can be asked for instead of "auto", so that the map has at most `width` rows."""
    fitting = [eps for eps in np.arange(0.05, 1.0, 0.05) if _size(n, float(eps)) <= width]
    smaller = Message(
        "give ",
        Argument("n_components"),
        f", a number up to {width} (the distortion is then measured)",
    )
    if not fitting:
        return smaller
    return Message(Argument("eps", round(fitting[0], 2)), " would fit, or ", smaller)


def johnson_lindenstrauss_size(n: int, eps: float) -> int:
    """Dimensions that keep all squared distances of n points within 1±eps.

    k ≥ 4 ln n / (eps²/2 − eps³/3): a random map of that size does so with positive
    probability, whatever the points are.

    Dasgupta and Gupta, "An elementary proof of a theorem of Johnson and Lindenstrauss"
    (2003).
    """
    if n < 1 or not 0 < eps < 1:
        raise InvalidInput(
            Argument("n"),
            f" is {n} and ",
            Argument("eps"),
            f" is {eps}; there must be at least one point, and eps lies between 0 and 1",
        )
    return _size(n, eps)


# A smaller change of squared distances asks for more components than are ever counted.
MIN_SQUARED_EPS = 1e-290


def _size(n: int, eps: float) -> int:
    return max(1, math.ceil(4 * math.log(n) / max(eps**2 / 2 - eps**3 / 3, MIN_SQUARED_EPS)))


# Numbers in the rows of the pairs that are gathered from a table in tiles: 256 MB.
MAX_GATHERED_NUMBERS = 2**24
# Pairs of rows of such a table: shares of them are known to ±0.007.
MAX_MEASURED_PAIRS = 20_000


@dataclass(eq=False, repr=False)
class RandomProjection(LinearEstimator):
    """Distances nearly kept by a map that never saw the data.

    Nothing is optimised, so nothing can be proved optimal: `certificate_` is the
    distortion of the distances, measured on pairs of the fitted points.

    Parameters
    ----------
    n_components : int, or "auto": enough to keep all squared distances within 1±eps
        (Johnson and Lindenstrauss); refused where that is more than the features
    kind : "gaussian" entries, "orthogonal" directions (scaled), or "sparse" entries
    eps : the change of squared distances that "auto" allows and `certificate_` counts
    density : share of entries of a sparse map that are not 0; None is 1/√n_features
    random_state : of the map

    Attributes
    ----------
    components_ : n_components × n_features, a sparse matrix for kind="sparse"
    certificate_ : the measured `Distortion`
    n_components_ : number of coordinates; n_components_reason_ : why, for "auto"

    Examples
    --------
    >>> from dualfold import RandomProjection
    >>> from dualfold.data import digits
    >>> X = digits().points
    >>> model = RandomProjection(20, eps=0.5, random_state=0).fit(X)
    >>> model.transform(X).shape, model.certificate_.level
    ((1797, 20), 'measured')
    >>> 0.7 < model.certificate_.share < 0.9  # pairs whose squared distance is within 1 ± eps
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "kind": [StrOptions(set(get_args(Kind)))],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        "density": [Interval(Real, 0, 1, closed="right"), None],
        "random_state": ["random_state"],
    }

    n_components: int | str = 2
    _: KW_ONLY
    kind: str = "gaussian"
    eps: float = 0.1
    density: float | None = None
    random_state: Any = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Draw, measure, and return the coordinates of X; they are not kept."""
        if tiled_rows(X) is not None:
            return fit_any_table(self, X, y).transform_with(self)  # type: ignore[union-attr]
        with unfitted_on_failure(self):
            return self._fit_points(self._checked_rows(X, reset=True))

    def _fit(self, X: Any, labels: Labels | None) -> None:
        self._fit_points(X)

    def _fit_points(self, X: Any) -> Array:
        self._draw(X)
        points = self.placing_map()(X).astype(X.dtype, copy=False)
        self.certificate_ = measured_distortion(X, points, eps=self.eps)
        return points

    def _fit_tiles(self, rows: TiledRows, y: Any) -> None:
        """The map needs the shape alone; what it does is measured on independent pairs of rows."""
        n, dtype = rows.n_rows, rows.dtype
        if n < 2:
            raise InvalidInput("the table has fewer than 2 rows in all of its tiles")
        self._draw(np.broadcast_to(np.zeros(1, dtype), (n, rows.width)))
        most = max(100, min(MAX_MEASURED_PAIRS, MAX_GATHERED_NUMBERS // rows.width))
        first, second = drawn_pairs(n, most, 0)
        numbers, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        some = rows.rows_at(numbers)
        points = self.placing_map()(some).astype(dtype, copy=False)
        half = len(first)
        self.certificate_ = distortion_of_pairs(
            some, points, places[:half], places[half:], eps=self.eps
        )

    def _draw(self, X: Any) -> None:
        """Sets the map, for data of the shape and precision of X."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        drawn = random_projection(
            X,
            n_components=self.n_components,  # type: ignore[arg-type]
            kind=self.kind,  # type: ignore[arg-type]
            eps=self.eps,
            density=self.density,
            random_state=seed,
        )
        self.components_ = drawn.components.astype(X.dtype, copy=False)
        self.n_components_ = int(self.components_.shape[0])
        self.n_components_reason_ = (
            f"{self.n_components_} components keep all squared distances of {X.shape[0]} points "
            f"within 1±{self.eps:g} (Johnson and Lindenstrauss)"
            if self.n_components == "auto"
            else None
        )

    def _linear_map(self) -> LinearMap:
        return LinearMap(np.zeros(self.components_.shape[1]), self.components_)

    def _statement(self, X: Any, count: int, labels: Labels | None) -> Statement:
        return Estimator._statement(self, X, count, labels)  # nothing is optimised
