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

from dualfold.arrays import Array, Rows, Seed
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.graph.distortion import distortion_of_pairs, drawn_pairs, measured_distortion
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import (
    Estimator,
    Statement,
    fit_any_table,
    unfitted_on_failure,
)
from dualfold.methods.fitting.linear import LinearEstimator
from dualfold.methods.fitting.tiles import TiledRows, tiled_rows
from dualfold.methods.maps.linear_map import LinearMap
from dualfold.methods.maps.random_maps import Kind, random_map
from dualfold.methods.parameters import Constraints


def random_projection(
    X: Any,
    *,
    n_components: int | Literal["auto"] = "auto",
    kind: Kind = "gaussian",
    eps: float = 0.1,
    density: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> LinearMap:
    """Random linear map for data of the shape of X.

    Nothing is optimised: the map is drawn without looking at the data. Its method `encode` gives
    the points.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; only their shape matters.
    n_components : int or "auto", default="auto"
        Number of coordinates; "auto" takes as many as keep all squared distances within 1 ± eps.
    kind : {"gaussian", "orthogonal", "sparse"}, default="gaussian"
        "gaussian" draws independent entries from N(0, 1/k); "orthogonal" draws k orthonormal
        directions, times √(D/k); "sparse" draws entries that are mostly 0.
    eps : float in (0, 1), default=0.1
        Relative change of squared distances that "auto" allows.
    density : float in (0, 1] or None, default=None
        Share of the entries of a sparse map that are not 0; None is 1/√D.
    random_state : int, Generator or None, default=None
        Seed of the map.

    Returns
    -------
    LinearMap
        The map.

    Raises
    ------
    InvalidInput
        If "auto" would need more coordinates than there are features.

    See Also
    --------
    RandomProjection : The estimator.
    johnson_lindenstrauss_size : The size that "auto" takes.

    Notes
    -----
    The lemma of Johnson and Lindenstrauss [1]_ is about the worst case, so that "auto" often asks
    for more coordinates than there are features; it is then refused. A dense map takes O(k·D)
    memory and O(n·k·D) operations to apply; a sparse one [2]_ takes the share `density` of both.

    References
    ----------
    .. [1] W. B. Johnson and J. Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert
       space", Contemporary Mathematics, 26, 189–206, 1984.
    .. [2] P. Li, T. J. Hastie and K. W. Church, "Very sparse random projections", Proceedings of
       the 12th ACM SIGKDD International Conference on Knowledge Discovery and Data Mining, 287–296,
       2006.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.methods import random_projection
    >>> X = np.eye(100, 500)
    >>> random_projection(X, n_components=20, random_state=0).encode(X).shape
    (100, 20)
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
    """Remedy instead of "auto", so that the map has at most `width` rows."""
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
    """Number of dimensions that keep all distances of n points nearly as they are.

    A random map to k ≥ 4 ln n / (eps²/2 − eps³/3) dimensions keeps all squared distances within 1 ±
    eps with positive probability, whatever the points are [1]_.

    Parameters
    ----------
    n : int ≥ 1
        Number of points, at least 1.
    eps : float in (0, 1)
        Relative change of squared distances.

    Returns
    -------
    int
        The least such k.

    Raises
    ------
    InvalidInput
        If n or eps is out of its range.

    See Also
    --------
    random_projection : A random map.

    References
    ----------
    .. [1] S. Dasgupta and A. Gupta, "An elementary proof of a theorem of Johnson and
       Lindenstrauss", Random Structures & Algorithms, 22(1), 60–65, 2003.

    Examples
    --------
    >>> from dualfold.methods import johnson_lindenstrauss_size
    >>> johnson_lindenstrauss_size(1_000, 0.5)
    332
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
    """Random projection: a linear map that keeps distances nearly, without seeing the data.

    Nothing is optimised, so nothing can be proved optimal: `certificate_` measures how the
    distances of the fitted rows have changed.

    Parameters
    ----------
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" takes as many as keep all squared distances within 1 ± eps
        (Johnson and Lindenstrauss), and is refused where these are more than the features.
    kind : {"gaussian", "orthogonal", "sparse"}, default="gaussian"
        Entries of the map: "gaussian", "orthogonal" (orthonormal directions, scaled), or "sparse"
        (mostly 0).
    eps : float in (0, 1), default=0.1
        Relative change of squared distances that "auto" allows and that the certificate counts.
    density : float in (0, 1] or None, default=None
        Share of the entries of a sparse map that are not 0; None is 1/√n_features.
    random_state : int, RandomState instance or None, default=None
        Seed of the map.

    Attributes
    ----------
    components_ : ndarray or sparse matrix of shape (n_components, n_features)
        The map; sparse for `kind="sparse"`.
    certificate_ : Distortion
        Change of the distances, measured on pairs of fitted rows.
    n_components_ : int
        Number of coordinates.
    n_components_reason_ : str or None
        Why there are so many coordinates, in words; None unless `n_components="auto"`.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    PCA : Keeps the most variance.
    dualfold.quality.measured_distortion : Measures any map in the same way.
    dualfold.methods.random_projection : The map alone.

    Notes
    -----
    A random map to k ≥ 4 ln n / (eps²/2 − eps³/3) dimensions keeps all squared distances of n
    points within 1 ± eps with positive probability, whatever the points are [1]_, [2]_.

    **Proof.** None: nothing is optimised. `certificate_` has the level "measured": it states the
    share of pairs whose squared distance changed by at most eps.

    **Cost.** The map takes O(k·D) numbers and O(n·k·D) operations for D columns; a sparse one [3]_
    the share `density` of both.

    **Failure.** With few coordinates (2 or 3) distances change a lot. Distances that are nearly
    equal change their order, and with them the neighbours.

    References
    ----------
    .. [1] W. B. Johnson and J. Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert
       space", Contemporary Mathematics, 26, 189–206, 1984.
    .. [2] S. Dasgupta and A. Gupta, "An elementary proof of a theorem of Johnson and
       Lindenstrauss", Random Structures & Algorithms, 22(1), 60–65, 2003.
    .. [3] P. Li, T. J. Hastie and K. W. Church, "Very sparse random projections", Proceedings of
       the 12th ACM SIGKDD International Conference on Knowledge Discovery and Data Mining, 287–296,
       2006.

    Examples
    --------
    >>> from dualfold import RandomProjection
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = RandomProjection(20, eps=0.5, random_state=0).fit(X)
    >>> model.transform(X).shape, model.certificate_.level
    ((500, 20), 'measured')
    >>> 0.6 < model.certificate_.share < 0.95  # pairs whose squared distance is within 1 ± eps
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
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
    random_state: Seed = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Draw the map, measure it, and return the coordinates of X.

        The estimator does not keep them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to project.
        y : object, default=None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates.
        """
        if tiled_rows(X) is not None:
            return fit_any_table(self, X, y).transform_with(self)  # type: ignore[union-attr]
        with unfitted_on_failure(self):
            return self._fit_points(self._checked_rows(X, reset=True))

    def _fit(self, X: Rows, context: FitContext) -> None:
        self._fit_points(X)

    def _fit_points(self, X: Rows) -> Array:
        self._draw(X)
        points = self.placing_map()(X).astype(X.dtype, copy=False)
        self.certificate_ = measured_distortion(X, points, eps=self.eps)
        return points

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        """The map needs the shape alone; what it does is measured on independent pairs of rows."""
        n, dtype = rows.n_rows, rows.dtype
        if n < 2:
            raise InvalidInput("the table has fewer than 2 rows in all of its tiles")
        self._draw(np.broadcast_to(np.zeros(1, dtype), (n, rows.width)))
        most = max(100, min(MAX_MEASURED_PAIRS, MAX_GATHERED_NUMBERS // rows.width))
        first, second = drawn_pairs(n, most, 0)
        numbers, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        measured = rows.rows_at(numbers)
        points = self.placing_map()(measured).astype(dtype, copy=False)
        half = len(first)
        self.certificate_ = distortion_of_pairs(
            measured, points, places[:half], places[half:], eps=self.eps
        )

    def _draw(self, X: Rows) -> None:
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

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        return Estimator._statement(self, X, count, context)  # nothing is optimised
