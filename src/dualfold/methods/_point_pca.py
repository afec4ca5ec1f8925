"""PCA by descent on the points as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array, Rows, Seed
from dualfold.errors import Argument, CertificateFailed, warn
from dualfold.graph.number_rows import in_units
from dualfold.methods._pca import pca
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import Estimator, Statement, asked_count, linear_statement
from dualfold.methods.fitting.linear import LinearEstimator
from dualfold.methods.fitting.solver_choice import solver_to_last_digits
from dualfold.methods.fitting.tiles import TiledRows
from dualfold.methods.maps.out_of_sample import float_array
from dualfold.methods.parameters import Constraints
from dualfold.theory.point_pca.certificate import certify_points
from dualfold.theory.point_pca.leading_sum import leading_directions, leading_fourth_powers
from dualfold.theory.point_pca.point_descent import PointDescent, descend_points
from dualfold.trace.solution import with_signs
from dualfold.weights.column_moments import column_means
from dualfold.weights.row_passes import combined_rows

# A coordinate whose variance is below this share of the first one's is rounding: the
# error sees fourth powers, so it cannot tell such a one from 0.
NEGLIGIBLE_VARIANCE_SHARE = 1e-8
# Entries whose fourth powers, summed and multiplied, stay in the range of doubles.
MIN_ENTRY = 1e-35
MAX_ENTRY = 1e35


@dataclass(eq=False, repr=False)
class PointPCA(LinearEstimator):
    """PCA by gradient descent on the points themselves.

    The points move until their inner products fit those of the rows, and are returned in their
    principal axes: `embedding_` is what `PCA` gives. `dualfold.point_pca.point_forces` shows
    the forces that move them.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of coordinates; those that the data have no variance for are 0.
    init : "random" or array-like of shape (n_samples, n_components), default="random"
        "random" starts at standard normal points, scaled; an array is the start itself.
    max_iter : int ≥ 1, default=1000
        Maximum number of steps.
    tol : float in [0, 1), default=1e-13
        Stop when the error is this close to its minimum, as a share of the possible fall.
    tolerance : float in [0, 1], default=1e-08
        Largest gap that the certificate calls "proved", as a share of the possible fall.
    random_state : int, RandomState instance or None, default=None
        Seed of the start.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    components_ : ndarray of shape (n_components, n_features)
        The linear map: a row for each coordinate.
    mean_ : ndarray of shape (n_features,)
        Mean of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Variances of the coordinates (divisor n).
    certificate_ : PointCertificate
        How far from the exact minimum the points are; print it.
    history_ : ndarray of shape (n_steps + 1, 2)
        A row for each step, first the start: the share of the possible fall that is missing, and
        the slope ‖∇f‖/(16‖Y‖³).
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    PCA : The same coordinates, from eigenvectors, and faster.
    dualfold.point_pca.point_forces : The forces on the points.

    Notes
    -----
    PointPCA solves::

        minimise ‖X_cX_cᵀ − YYᵀ‖²  over the points Y (n×d)

    where X_c holds the centred rows, after [1]_, by conjugate gradients with exact steps.

    **Proof.** The least value is known from the singular values of X_c. The certificate bounds how
    far the points are from it, as a share of the fall that was possible.

    **Cost.** O(n·D·d) operations a step for D columns, and O(n·(D + d)) memory. No n×n matrix is
    formed.

    **Failure.** Coordinates with nearly equal variances converge slowly; a warning says where
    `max_iter` was too small. A coordinate whose variance is below 1e-8 of the first one's cannot be
    told from 0.

    References
    ----------
    .. [1] Andrew Draganov, "PCA as gradient descent", manuscript, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import PCA, PointPCA
    >>> from dualfold.data import digits
    >>> X = digits().points[:300]
    >>> model = PointPCA(random_state=0).fit(X)
    >>> np.allclose(model.embedding_, PCA(2).fit_transform(X), atol=1e-3)
    True
    >>> model.certificate_.level
    'proved'
    """

    _instead_of_tiles: ClassVar[str] = "PCA gives the same coordinates and reads tiles"

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"random"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "random_state": ["random_state"],
    }

    n_components: int = 2
    _: KW_ONLY
    init: Any = "random"
    max_iter: int = 1_000
    tol: float = 1e-13
    tolerance: float = 1e-8
    random_state: Seed = None

    def _fit(self, X: Rows, context: FitContext) -> None:
        """Fit X, in other units where fourth powers of its entries leave double precision."""
        power = _power_of(X)
        scaled = X if not power else in_units(X, power)
        self._fit_scaled(scaled, power)
        if not power:
            return
        # A power of 2 changes no digit.
        for name, degree in (("embedding_", 1), ("mean_", 1), ("eigenvalues_", 2)):
            with np.errstate(over="ignore"):
                setattr(self, name, np.ldexp(getattr(self, name), degree * power))
        self.certificate_ = replace(
            self.certificate_,
            about=f"the rows times 2^{-power}: fourth powers of theirs leave double precision",
        )

    def _fit_scaled(self, X: Rows, power: int) -> None:
        count = min(self.n_components, *X.shape)
        directions = self._directions(X, count)
        reachable = 4 * leading_fourth_powers(X, count, directions).lower
        start = None if isinstance(self.init, str) else self._start(count, power)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        run = descend_points(
            X,
            count,
            # Where no variance is proved, the rows are equal but for rounding, and so are points.
            start=start if reachable > 0 else np.zeros((X.shape[0], count)),
            most_steps=self.max_iter,
            tol=self.tol,
            reachable=reachable,
            seed=seed,
        )
        fall = reachable or 1.0
        missing = np.maximum(run.errors + reachable, 0) / fall
        self.history_ = np.column_stack([missing, run.slopes])
        self.n_iter_ = len(run.errors) - 1
        self.certificate_ = certify_points(
            X, run.points, directions=directions, tolerance=self.tolerance
        )
        if self.certificate_.level not in ("proved", "measured"):
            warn(
                CertificateFailed(
                    f"the points are not at their minimum after {self.n_iter_} steps: "
                    f"{'; '.join(self.certificate_.reasons)}. Raise ",
                    Argument("max_iter"),
                )
            )
        self._keep_points(run, X)

    def _start(self, count: int, power: int) -> Array:
        given = float_array(self.init)
        given = given[:, :count] if given.ndim == 2 else given
        return np.ldexp(given, -power) if power else given

    def _directions(self, X: Rows, count: int) -> Array:
        """About the leading principal axes, one more than asked for where there is one."""
        leading = leading_directions(X, count)
        if leading is not None:
            return leading
        problem = pca(X, n_components=count, matrix="products")
        solution = solver_to_last_digits(problem).solve(problem)
        return np.hstack([solution.vectors, solution.guard])

    def _keep_points(self, run: PointDescent, X: Rows) -> None:
        """The points in their principal axes, and the map that gives them."""
        mean = column_means(X)
        squares, turn = np.linalg.eigh(run.points.T @ run.points)
        squares, turn = np.maximum(squares[::-1], 0), turn[:, ::-1]
        points = run.points @ turn
        extent = squares > NEGLIGIBLE_VARIANCE_SHARE * squares[0]
        points[:, ~extent] = 0
        # At the minimum X_cᵀY = VΣ², V the principal directions and Σ² = YᵀY.
        directions = combined_rows(X, points, mean) / np.where(extent, squares, 1.0)
        signs = np.where((with_signs(directions) == directions).all(axis=0), 1.0, -1.0)
        placed = np.zeros((X.shape[0], self.n_components))
        placed[:, : len(squares)] = points * signs
        components = np.zeros((self.n_components, X.shape[1]))
        components[: len(squares)] = (directions * signs).T
        values = np.zeros(self.n_components)
        values[: len(squares)] = np.where(extent, squares, 0) / X.shape[0]
        self.embedding_ = placed.astype(X.dtype, copy=False)
        self.components_ = components.astype(X.dtype, copy=False)
        self.mean_ = mean
        self.eigenvalues_ = values

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        Estimator._fit_tiles(self, rows, y, context)  # says what to take instead

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        return linear_statement(pca(X, n_components=asked_count(self, count, min(X.shape))))


def _power_of(X: Any) -> int:
    """The power of 2 that X is a multiple of, roughly; 0 where fourth powers have room."""
    largest = float(np.abs(X.data if sp.issparse(X) else X).max(initial=0.0))
    return 0 if not largest or MIN_ENTRY < largest < MAX_ENTRY else int(np.frexp(largest)[1])
