"""Random projections as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self, get_args

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.estimators.linear import LinearEstimator
from dualfold.maps.linear import LinearMap
from dualfold.maps.random import Kind
from dualfold.methods.random_projection import random_projection
from dualfold.quality.distortion import distortion_of_pairs, drawn_pairs, measured_distortion
from dualfold.scale.sampling import gathered
from dualfold.scale.table import TiledTable, is_tiled

# Numbers in the rows of the pairs that are gathered from a table in tiles: 256 MB.
MOST_GATHERED = 2**24
# Pairs of rows of such a table: shares of them are known to ±0.007.
MOST_PAIRS = 20_000


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

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        kind: str = "gaussian",
        eps: float = 0.1,
        density: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kind = kind
        self.eps = eps
        self.density = density
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw a map for data of the shape of X and measure what it does to X."""
        with self._whole_or_unfitted():
            if is_tiled(X):
                self._fit_tiled(X, y)
            else:
                self._fit_points(self._checked(X, reset=True))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Draw, measure, and return the coordinates of X; they are not kept."""
        if is_tiled(X):
            return self._transform_tiles(self._fit_tiled(X, y))
        with self._whole_or_unfitted():
            return self._fit_points(self._checked(X, reset=True))

    def _fit_points(self, X: Any) -> Array:
        self._draw(X)
        points = self.placing_map()(X).astype(X.dtype, copy=False)
        self.certificate_ = measured_distortion(X, points, eps=self.eps)
        return points

    def _fit_tiles(self, rows: TiledTable, y: Any) -> None:
        """The map needs the shape alone; what it does is measured on independent pairs of rows."""
        n, dtype = rows.n_rows, rows.dtype
        if n < 2:
            raise InvalidInput("the table has fewer than 2 rows in all of its tiles")
        self._draw(np.broadcast_to(np.zeros(1, dtype), (n, rows.width)))
        first, second = drawn_pairs(n, max(100, min(MOST_PAIRS, MOST_GATHERED // rows.width)), 0)
        numbers, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        some = gathered(rows, numbers)
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

    @property
    def _linear_map(self) -> LinearMap:
        return LinearMap(np.zeros(self.components_.shape[1]), self.components_)
