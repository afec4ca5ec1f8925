"""Scatter within classes and between them, as they are or shrunk towards a simpler matrix.

All are covariances (divisor n). The total is the covariance of all rows, the part within
classes the mean of the classes' own, and the part between them the difference: without
shrinkage the covariance of the class means, each counted once for each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Rows
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.arithmetic import EPS
from dualfold.weights.column_moments import column_deviations, column_means, deviations_of
from dualfold.weights.gram import refuse_large
from dualfold.weights.labels import Labels
from dualfold.weights.reduction import (
    RowMoments,
    RowSpace,
    WholeSpace,
    feature_space,
    row_space,
)
from dualfold.weights.row_weights import RowWeights, row_total

# Times the number of rows or columns: what rounding leaves of a direction without scatter within
# classes, in units in which its total scatter is 1.
FLAT_SHARE = 8 * EPS


@dataclass(frozen=True, eq=False)
class ClassScatter:
    """The two matrices of Fisher's problem.

    within, between : in the coordinates of `space`, or in the features where it is None
    mean : of all rows
    """

    within: Array
    between: Array
    mean: Array
    space: RowSpace | None


def class_scatter(
    X: Rows, labels: Labels, shrinkage: float = 0.0, weights: RowWeights | None = None
) -> ClassScatter:
    """Both covariances S as (1 − s)·S + s·(tr S/D)·I, s = `shrinkage`, D the number of features.

    Without shrinkage the space is that of the rows: along other directions both are 0. Units do
    not matter then, and each feature is measured by its own deviation. With shrinkage such
    directions count, all of them alike, and there are as many as a problem can ask for.
    """
    (n, width), units, total = X.shape, None, row_total(X, weights)
    if not shrinkage:
        units = column_deviations(X, column_means(X, weights), weights)
    space = row_space(X, variance_kept=1.0, units=units, weights=weights)
    members = sp.csr_array(
        (np.ones(len(labels.codes)), (np.arange(len(labels.codes)), labels.codes))
    )
    averages = sp.csr_array(members @ sp.diags_array(1 / class_totals(labels, weights)))

    def weigh(Z: Array) -> Array:
        return Z if weights is None else weights.values[:, None] * Z

    def class_means(Z: Array) -> Array:
        return np.asarray(averages @ (members.T @ weigh(Z)))

    space = space if shrinkage else space.as_white()
    within = space.form(lambda Z: weigh(Z - class_means(Z))) / total
    between = space.form(lambda Z: weigh(class_means(Z))) / total
    return _scatter_in_space(within, between, space, (n, width), len(labels.classes), shrinkage)


def class_totals(labels: Labels, weights: RowWeights | None) -> Array:
    """The number of rows of each class, or the sum of their weights."""
    if weights is None:
        return labels.sizes
    return np.bincount(labels.codes, weights.values, len(labels.classes))


def class_scatter_of(
    within: Array, between: Array, mean: Array, n: float, classes: int, shrinkage: float = 0.0
) -> ClassScatter:
    """Scatter of n rows that are not in memory, in this number of classes.

    within, between : Σ (x − its class's mean)(…)ᵀ, and Σ (its class's mean − mean)(…)ᵀ, D×D
    """
    total, width = within + between, len(mean)
    units = None
    if not shrinkage:
        units = deviations_of(np.diagonal(total), n, mean)
    space = feature_space(None, RowMoments(n, total, mean), units=units)
    space = space if shrinkage else space.as_white_for(n)
    forms = space.congruent(within) / n, space.congruent(between) / n
    return _scatter_in_space(*forms, space, (n, width), classes, shrinkage)


def _scatter_in_space(
    within: Array,
    between: Array,
    space: RowSpace,
    shape: tuple[float, int],
    classes: int,
    shrinkage: float,
) -> ClassScatter:
    if not shrinkage:
        _refuse_flat(shape[0] * within, shape, classes)
        return ClassScatter(within, between, space.mean, space)
    flat = min(shape[1] - len(within), classes - 1)
    if flat > 0:
        space = WholeSpace.of(space, flat)
        within, between = (np.pad(part, (0, flat)) for part in (within, between))
    within, between = (_shrunk_covariance(part, shrinkage, shape[1]) for part in (within, between))
    return ClassScatter(within, between, space.mean, space)


def ledoit_wolf_scatter(X: Any, labels: Labels, weights: RowWeights | None = None) -> ClassScatter:
    """Covariances of all rows and of each class, each shrunk as Ledoit and Wolf advise.

    Features have the standard deviation 1 while a matrix is shrunk, as in scikit-learn's
    linear discriminant analysis. Weights count as frequencies.
    """
    n, width = X.shape
    refuse_large(width, "features", n)
    if sp.issparse(X):
        raise InvalidInput(
            Argument("shrinkage", "auto"),
            " needs all entries of X, and X is sparse; give a number between 0 and 1 as ",
            Argument("shrinkage"),
            ", or X.toarray()",
        )
    within = np.zeros((width, width))
    for rows in labels.members:
        class_weights = None if weights is None else RowWeights(weights.values[rows])
        share = row_total(X[rows], class_weights) / row_total(X, weights)
        within += share * _ledoit_wolf(X[rows], class_weights)
    return ClassScatter(within, _ledoit_wolf(X, weights) - within, column_means(X, weights), None)


def _ledoit_wolf(X: Array, weights: RowWeights | None) -> Array:
    mean = column_means(X, weights)
    scale = column_deviations(X, mean, weights)
    rows = (X - mean) / scale
    if weights is None:
        from sklearn.covariance import ledoit_wolf

        covariance = ledoit_wolf(rows, assume_centered=True)[0]
    else:
        covariance = weighted_ledoit_wolf(rows, weights)
    return np.asarray(covariance * np.outer(scale, scale))


def weighted_ledoit_wolf(Z: Array, weights: RowWeights) -> Array:
    """Ledoit and Wolf's covariance of centred rows z that count w times each.

    S = Σ w·zzᵀ/Σw is moved towards μI, μ = tr S/D, by the share b/d with d = ‖S − μI‖² and
    b = min(d, Σ w‖zzᵀ − S‖²/(Σw)²); Σ w‖zzᵀ − S‖² = Σ w‖z‖⁴ − Σw·‖S‖².
    """
    total, width = weights.total, Z.shape[1]
    rows = Z * weights.roots[:, None]
    S = rows.T @ rows / total
    target, square = float(np.trace(S)) / width, float(np.square(S).sum())
    fourth = float(weights.values @ np.square(np.square(Z).sum(axis=1)))
    distance = square - width * target**2
    spread = min(max(fourth / total - square, 0.0) / total, distance)
    share = spread / distance if distance > 0 else 0.0
    return np.asarray((1 - share) * S + share * target * np.eye(width))


def _shrunk_covariance(covariance: Array, share: float, width: int) -> Array:
    target = float(np.trace(covariance)) / width
    return (1 - share) * covariance + share * target * np.eye(len(covariance))


def _refuse_flat(within: Array, shape: tuple[float, int], classes: int) -> None:
    """Raise for directions along which classes differ and their rows do not.

    The total scatter is 1 here.
    """
    least = float(np.linalg.eigvalsh(within)[0])
    if least > FLAT_SHARE * max(shape):
        return
    raise InvalidInput(
        f"along some direction the rows of each class do not differ ({shape[0]:g} rows, "
        f"{shape[1]} features, {classes} classes), so that the scatter within classes is "
        "singular and the classes can be pulled apart without end; shrink it (",
        Argument("shrinkage", "auto"),
        ", or a number such as 0.1), or reduce the features first (PCA)",
    )
