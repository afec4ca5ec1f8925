"""A new map laid over an old one, and how far the old points moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.quality.map_comparison import procrustes

# Eigenvalues this near to one another, relative to the larger one, count as equal: their
# eigenvectors may be rotated into one another, and another sample rotates them.
EQUAL_EIGENVALUES = 0.05


@dataclass(frozen=True, eq=False)
class Registration:
    """Movement that laid a map over an older one, and how far old points moved; print it.

    Attributes
    ----------
    rotation : ndarray of shape (n_components, n_components)
        Rotation or reflection R: the map's own points y were moved to scale·yR + shift.
    scale : float
        Factor; 1 where lengths on the map mean something.
    shift : ndarray of shape (n_components,)
        Shift.
    among_equals : float
        How far the rotation is from one that only rotates coordinates of near-equal eigenvalues
        into one another and changes signs: 0 (it is one) to 1. After such a rotation eigenvectors
        are eigenvectors still.
    rows : ndarray of int
        Numbers, among the rows of the new map, of the rows that both maps have.
    moved : ndarray
        Distance of each of these from its old place, relative to the root mean square distance of
        the old points from their middle.

    See Also
    --------
    dualfold.UpdatedMap : Has one after `refit`.

    Examples
    --------
    >>> from dualfold import Isomap
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(120, random_state=0).points
    >>> laid = Isomap(n_neighbors=8).fit(X[:100]).extend(X[100:]).refit().registration_
    >>> len(laid.rows), laid.most_moved(3).shape
    (120, (3,))
    """

    rotation: Array
    scale: float
    shift: Array
    among_equals: float
    rows: Array
    moved: Array

    @property
    def typical(self) -> float:
        """The median distance that an old point moved."""
        return float(np.median(self.moved))

    def most_moved(self, count: int = 10) -> Array:
        """Return the rows that moved most.

        Parameters
        ----------
        count : int, default=10
            Number of rows.

        Returns
        -------
        ndarray of int
            Their numbers, the one that moved most first.
        """
        return self.rows[np.argsort(-self.moved, kind="stable")[:count]]

    def __str__(self) -> str:
        high = float(np.quantile(self.moved, 0.95))
        return (
            f"{len(self.rows):,} old points moved by {self.typical:.1%} of the map's radius in the "
            f"median, 19 in 20 of them by at most {high:.1%}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers and lists, as JSON takes them.

        Returns
        -------
        dict
            Median and 0.95 quantile of the movement, the rows that moved most, and how the
            map was laid over the old one.
        """
        return {
            "rows": len(self.rows),
            "moved_median": self.typical,
            "moved_95": float(np.quantile(self.moved, 0.95)),
            "most_moved": [int(row) for row in self.most_moved()],
            "scale": self.scale,
            "among_equals": self.among_equals,
        }


def registration(
    old: Array, new: Array, rows: Array, values: Array | None, lengths: bool
) -> Registration:
    """The motion of the points `new` that brings them nearest to `old`, row by row.

    rows : the numbers of these rows among all rows of the new map
    values : eigenvalues of the coordinates, where there are some
    lengths : whether lengths on the map mean something, so that it is not stretched
    """
    old, new = np.asarray(old, dtype=float), np.asarray(new, dtype=float)
    fit = procrustes(old, new, scale=1.0 if lengths else "best")
    radius = float(np.sqrt(np.mean(np.sum((old - old.mean(axis=0)) ** 2, axis=1)))) or 1.0
    return Registration(
        rotation=fit.rotation,
        scale=fit.scale,
        shift=fit.shift,
        among_equals=_beyond_equals(fit.rotation, values),
        rows=np.asarray(rows),
        moved=fit.residuals / radius,
    )


def _beyond_equals(rotation: Array, values: Array | None) -> float:
    """The share of a rotation that mixes coordinates of eigenvalues which are not near-equal."""
    d = len(rotation)
    if values is None or len(values) != d:
        return np.nan
    size = np.abs(np.asarray(values, dtype=float))
    differ = np.abs(size[:, None] - size[None, :]) > EQUAL_EIGENVALUES * np.maximum(
        size[:, None], size[None, :]
    )
    return float(np.sqrt(np.sum(rotation[differ] ** 2) / d))


@dataclass(frozen=True, eq=False)
class MovementTest:
    """Whether old points moved more than another sample of the same data would move them.

    Attributes
    ----------
    observed : float
        Median movement of the old points, relative to the map's radius.
    resampled : ndarray
        The same for maps of random samples of all rows, as many as there were old rows.
    chance : float
        Chance of such a movement if the old rows are a random sample of all rows.

    See Also
    --------
    dualfold.UpdatedMap.movement_test : Makes it.

    Examples
    --------
    >>> from dualfold import PCA
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(120, random_state=0).points
    >>> again = PCA().fit(X[:100]).extend(X[100:], old=X[:100]).refit()
    >>> again.movement_test(9).chance > 0.05
    True
    """

    observed: float
    resampled: Array
    chance: float

    def __str__(self) -> str:
        usual = f"{np.min(self.resampled):.1%} to {np.max(self.resampled):.1%}"
        more = "more than" if self.chance <= 0.05 else "no more than"
        return (
            f"The old points moved by {self.observed:.1%} of the map's radius, {more} other "
            f"samples of all rows do ({usual} in {len(self.resampled)} of them; chance "
            f"{self.chance:.2g})."
        )
