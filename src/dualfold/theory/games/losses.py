"""Functions that are often minimised: regressions, norms, entropies (quadratics.py: squares).

Regressions are sums over rows; `sample(rows)` is the gradient of some of them, scaled by
N/|rows| so that it is right on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, softmax, xlogy

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.arithmetic import EPS, OPERATIONS_UNDERFLOW
from dualfold.kernels.arithmetic.intervals import (
    LIBRARY_ERROR,
    Interval,
    SizedMatrix,
    dot,
    gram_interval,
    interval,
    largest_eigenvalue,
)
from dualfold.theory.games.convex_functions import DOMAIN_ROUNDING, Convex, Support
from dualfold.theory.games.convex_sets import Ball
from dualfold.theory.games.doubles import doubles, number, table, vector
from dualfold.theory.games.planes import Plane
from dualfold.theory.games.polytopes import Box, L1Ball, Simplex


def norm(order: Literal[1, 2, "inf"], weight: float = 1.0) -> Support:
    """The function weight·‖x‖ of order 1, 2 or "inf", as the support function of the dual ball.

    Parameters
    ----------
    order : {1, 2, "inf"}
        Order of the norm.
    weight : float, default=1.0
        Factor, 0 or more.

    Returns
    -------
    Support
        The function, with its proximal map.

    Raises
    ------
    InvalidInput
        If the order is none of these, or the weight is negative.

    See Also
    --------
    accelerated_proximal : Minimises f plus a norm.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import norm
    >>> norm(1).value(np.array([3.0, -4.0])), norm(1).proximal(np.array([3.0, -0.5]), 1.0) + 0.0
    (7.0, array([2., 0.]))
    """
    weight = number(weight, "the weight of a norm")
    if order == 1:
        return Support(Box(-weight, weight))
    if order == 2:
        return Support(Ball(weight))
    if order == "inf":
        return Support(L1Ball(weight))
    raise InvalidInput(Argument("order"), f" of a norm is 1, 2 or 'inf', not {order!r}")


@dataclass(frozen=True, eq=False)
class Logistic(Convex):
    """Loss of logistic regression: Σ log(1 + exp(−label·⟨row, x⟩)).

    Parameters
    ----------
    rows : ndarray of shape (n_samples, d)
        Rows of features.
    labels : ndarray of shape (n_samples,)
        Labels +1 or −1.

    See Also
    --------
    LeastSquares : Loss of linear regression.

    Notes
    -----
    The conjugate is Σ p_i log p_i + (1 − p_i) log(1 − p_i) with y = −Σ p_i label_i row_i; it is in
    closed form if the rows are independent.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Logistic
    >>> f = Logistic(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> round(f.value(np.zeros(1)), 6), f.subgradient(np.zeros(1))
    (1.386294, array([-1.]))
    """

    rows: Array
    labels: Array
    rounding_bounded = True

    def __post_init__(self) -> None:
        rows = table(self.rows, "the rows of a logistic regression", squared=True)
        object.__setattr__(self, "rows", rows)
        labels = vector(self.labels, "the labels of a logistic regression", len(rows))
        object.__setattr__(self, "labels", labels)
        if not np.all(np.abs(self.labels) == 1):
            raise InvalidInput("labels are +1 and −1; map classes to these two first")

    @cached_property
    def smoothness(self) -> float:
        small = self.rows if len(self.rows) >= self.rows.shape[1] else self.rows.T
        return max(0.0, largest_eigenvalue(gram_interval(small))) / 4

    @cached_property
    def _signed_rows(self) -> SizedMatrix:
        return SizedMatrix(self.rows * self.labels[:, None])

    def value_interval(self, x: Array) -> Interval:
        margin = self._signed_rows @ x
        m = margin.mid
        loss = np.maximum(-m, 0.0) + np.log1p(np.exp(-np.abs(m)))
        # The loss of a row rises no faster than its margin falls.
        return Interval(loss, margin.off + 3 * LIBRARY_ERROR * loss + OPERATIONS_UNDERFLOW).sum()

    def slope_interval(self, x: Array) -> Interval:
        margin = self._signed_rows @ x
        small = np.exp(-np.abs(margin.mid))
        p = np.where(margin.mid > 0, small, 1.0) / (1 + small)
        # p moves no faster than a quarter of the margin.
        return self._signed_rows.transpose @ Interval(
            -p, margin.off / 4 + 2 * LIBRARY_ERROR * p + OPERATIONS_UNDERFLOW
        )

    @property
    def gradient_bound(self) -> float:
        return float(np.linalg.norm(self.rows, axis=1).sum())

    def value(self, x: Array) -> float:
        return float(np.sum(np.logaddexp(0.0, -self.labels * (self.rows @ x))))

    def subgradient(self, x: Array) -> Array:
        return -self.rows.T @ (self.labels * expit(-self.labels * (self.rows @ x)))

    @property
    def n_terms(self) -> int:
        return len(self.rows)

    def sample(self, x: Array, chosen: Array) -> Array:
        """Estimate the gradient from some rows, without bias.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.
        chosen : ndarray of int
            Numbers of the rows.

        Returns
        -------
        ndarray of shape (d,)
            The estimate.
        """
        rows, labels = self.rows[chosen], self.labels[chosen]
        scale = len(self.rows) / len(chosen)
        return -scale * (rows.T @ (labels * expit(-labels * (rows @ x))))

    def closed_conjugate(self, y: Array) -> float:
        signed = -(self.rows * self.labels[:, None]).T
        if np.linalg.matrix_rank(signed) < len(self.rows):
            raise self._lacks("conjugate (its rows are dependent)")
        p = np.linalg.lstsq(signed, y, rcond=None)[0]
        off = float(np.linalg.norm(signed @ p - y))
        if (
            off > 1e-9 * (1 + np.linalg.norm(y))
            or p.min() < -DOMAIN_ROUNDING
            or p.max() > 1 + DOMAIN_ROUNDING
        ):
            return np.inf
        p = p.clip(0.0, 1.0)
        return float(np.sum(xlogy(p, p) + xlogy(1 - p, 1 - p)))


@dataclass(frozen=True, eq=False)
class LargestAffine(Convex):
    """Largest of affine functions, max_i ⟨row_i, x⟩ + offset_i: every polyhedral function.

    Parameters
    ----------
    rows : ndarray of shape (n_planes, d)
        Slopes of the planes.
    offsets : ndarray of shape (n_planes,) or float, default=0.0
        Heights of the planes at 0.

    See Also
    --------
    LogSumExp : A smooth largest entry.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LargestAffine
    >>> LargestAffine(np.array([[1.0], [-1.0]]), np.array([0.0, 3.0])).value(np.array([1.0]))
    2.0
    """

    rows: Array
    offsets: Array | float = 0.0
    rounding_bounded = True

    def __post_init__(self) -> None:
        rows = table(self.rows, "the rows of planes")
        offsets = doubles(self.offsets, "the offsets of planes")
        if offsets.shape not in ((), (len(rows),)):
            raise InvalidInput(f"{len(rows)} planes have {len(rows)} offsets, or one for all")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "offsets", offsets)

    def value_interval(self, x: Array) -> Interval:
        heights = self._exact_matrix @ x + self.offsets
        return Interval(float(heights.mid.max()), float(heights.off.max()))

    @cached_property
    def _exact_matrix(self) -> SizedMatrix:
        return SizedMatrix(self.rows)

    def plane(self, z: Array) -> Plane:
        # One of the planes: under the largest of them wherever rounding took it from.
        i = int(np.argmax(self.rows @ z + self.offsets))
        offset = np.broadcast_to(self.offsets, len(self.rows))[i]
        return Plane((dot(self.rows[i], z) + offset).low(), self.rows[i], 0.0)

    @property
    def gradient_bound(self) -> float:
        return float(np.linalg.norm(self.rows, axis=1).max())

    def value(self, x: Array) -> float:
        return float(np.max(self.rows @ x + self.offsets))

    def subgradient(self, x: Array) -> Array:
        return np.asarray(self.rows[int(np.argmax(self.rows @ x + self.offsets))])


@dataclass(frozen=True)
class Entropy(Convex):
    """Negative entropy Σ x log x on the simplex; its conjugate is log Σ exp(y).

    See Also
    --------
    LogSumExp : The conjugate.
    KullbackLeibler : The divergence of the entropy.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Entropy
    >>> round(Entropy().value(np.array([0.5, 0.5])), 6)
    -0.693147
    """

    rounding_bounded = True

    @property
    def strong_convexity(self) -> float:
        # 1/x ≥ 1 on the simplex; less 1e-8 for points that rounding puts a little beyond 1.
        return 1.0 - 1e-8

    def value_interval(self, x: Array) -> Interval:
        terms = xlogy(x, x)
        inside = x.min() >= 0 and self.outside_distance(x) <= 1e-9
        off = 2 * LIBRARY_ERROR * np.abs(terms) + OPERATIONS_UNDERFLOW
        return Interval(terms, off if inside else np.inf).sum()

    def slope_interval(self, x: Array) -> Interval:
        slope = self.subgradient(x)
        return Interval(slope, LIBRARY_ERROR * (np.abs(slope) + 2))

    def outside_distance(self, x: Array) -> float:
        return Simplex().outside_distance(x)

    def value(self, x: Array) -> float:
        return float(np.sum(xlogy(x, x))) if Simplex().contains(x) else np.inf

    def subgradient(self, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(x) + 1)

    def maximiser(self, y: Array) -> Array:
        return np.asarray(softmax(y))

    def closed_conjugate(self, y: Array) -> float:
        return float(logsumexp(y))


@dataclass(frozen=True)
class LogSumExp(Convex):
    """Smooth largest entry width·log Σ exp(x/width), at most width·log d above the largest.

    Parameters
    ----------
    width : float, default=1.0
        How far the corners are rounded, above 0.

    See Also
    --------
    Entropy : The conjugate, for width 1.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LogSumExp
    >>> round(LogSumExp().value(np.zeros(2)), 6)
    0.693147
    """

    width: float = 1.0
    rounding_bounded = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", number(self.width, "the width", above=True))

    @property
    def smoothness(self) -> float:
        return 1 / self.width * (1 + EPS)

    def value_interval(self, x: Array) -> Interval:
        # It moves no faster than the largest change of an entry; d·exp(d) ≥ −1/e pays for
        # the rounding of each exponent.
        scaled = interval(x) / self.width
        top = scaled.mid.max()
        value = float(top + np.log(np.sum(np.exp(scaled.mid - top))))
        off = float(scaled.off.max()) + (8 * len(x) * EPS + 4 * LIBRARY_ERROR) * (1 + abs(value))
        return Interval(value, off) * self.width

    def slope_interval(self, x: Array) -> Interval:
        scaled = interval(x) / self.width
        below = scaled.mid - scaled.mid.max()
        p = np.exp(below)
        p = p / p.sum()
        relative = (
            2 * scaled.off.max() + 2 * EPS * np.abs(below) + 8 * len(x) * EPS + 4 * LIBRARY_ERROR
        )
        return Interval(p, np.where(relative < 0.1, 2 * relative * p + OPERATIONS_UNDERFLOW, 1.0))

    def value(self, x: Array) -> float:
        return self.width * float(logsumexp(x / self.width))

    def subgradient(self, x: Array) -> Array:
        return np.exp(log_softmax(x / self.width))

    def maximiser(self, y: Array) -> Array:
        return np.asarray(self.width * np.log(y))

    def closed_conjugate(self, y: Array) -> float:
        return self.width * Entropy().value(y)


@dataclass(frozen=True)
class Huber(Convex):
    """Huber's loss: Σ ½x² where `|x| ≤ width`, and `width·|x| − ½width²` beyond.

    Parameters
    ----------
    width : float, default=1.0
        Where the square ends.

    See Also
    --------
    LeastSquares : Squares everywhere.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
       Statistics, 35(1), 73–101, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Huber
    >>> Huber(1.0).value(np.array([0.5, 3.0]))
    2.625
    """

    width: float = 1.0
    rounding_bounded = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", number(self.width, "the width", above=True))

    @property
    def smoothness(self) -> float:
        return 1.0

    def value_interval(self, x: Array) -> Interval:
        inner = np.clip(x, -self.width, self.width)
        return dot(inner, interval(x) - inner / 2)

    def value(self, x: Array) -> float:
        inner = np.clip(x, -self.width, self.width)
        return float(np.sum(inner * (x - inner / 2)))

    def subgradient(self, x: Array) -> Array:
        return np.clip(x, -self.width, self.width)

    def closed_conjugate(self, y: Array) -> float:
        return float(y @ y) / 2 if np.abs(y).max() <= self.width * (1 + DOMAIN_ROUNDING) else np.inf

    def proximal(self, x: Array, weight: float) -> Array:
        far = weight * self.width
        return np.where(np.abs(x) <= self.width + far, x / (1 + weight), x - far * np.sign(x))
