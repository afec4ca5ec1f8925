"""The problem of points that attract along the edges of P, and of which all pairs repel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.sparse import canonical_rows
from dualfold.methods.points.forces import Forces


@dataclass(frozen=True, eq=False)
class AttractionProblem:
    """Attraction along the edges of P, repulsion between all pairs.

    P : symmetric affinities without a diagonal, whose sum is 1
    count : how many coordinates
    attraction : by what the attraction is multiplied
    about : what the problem is about, in words
    """

    P: sp.csr_array
    count: int = 2
    attraction: float = 1.0
    about: str = ""

    # As progress names it.
    method_name: ClassVar[str] = "points"

    def __post_init__(self) -> None:
        object.__setattr__(self, "P", canonical_rows(self.P, "P"))
        square = self.P.shape[0] == self.P.shape[1]
        if not square or self.P.indices.dtype != np.int32 or self.P.data.dtype != np.float64:
            raise InvalidInput(
                f"the affinities must be a square CSR array of doubles with 32-bit indices; they "
                f"are {self.P.shape}, {self.P.data.dtype}, {self.P.indices.dtype}"
            )
        if not (np.isfinite(self.P.data).all() and (self.P.data >= 0).all()):
            raise InvalidInput("the affinities must be finite and not negative")
        if self.n < 2:
            raise InvalidInput(f"the affinities must be of at least 2 points; they are of {self.n}")
        if not 0 < self.attraction < np.inf:
            raise InvalidInput(
                Argument("attraction", self.attraction), " must be above 0 and finite"
            )
        if self.count < 1:
            raise InvalidInput(Argument("n_components", self.count), " must be at least 1")

    @property
    def forces(self) -> Forces:
        """Attraction and repulsion, with the bounds that are proved of them."""
        raise NotImplementedError

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.P.shape[0])

    @cached_property
    def entropy(self) -> float:
        """Entropy −Σ p log p of the affinities."""
        p = self.P.data[self.P.data > 0]
        return -float(np.sum(p * np.log(p)))

    def laplacian(self) -> sp.csr_array:
        """Make the matrix (n − 1)(Deg − P).

        A direction in which its eigenvalue is above 1/ρ shrinks to 0 near Y = 0.

        Returns
        -------
        csr_array of shape (n, n)
            The scaled Laplacian of P.
        """
        degrees = np.asarray(self.P.sum(axis=1)).ravel()
        return sp.csr_array((self.n - 1) * (sp.diags_array(degrees) - self.P))

    def checked_points(self, points: object) -> Array:
        """Validate points of the map.

        Parameters
        ----------
        points : array-like of shape (n, d)
            The points of the map.

        Returns
        -------
        ndarray of shape (n, d)
            The points as doubles.

        Raises
        ------
        InvalidInput
            If they are no numbers, or have another number of rows.
        """
        try:
            Y = np.ascontiguousarray(points, dtype=float)
        except (TypeError, ValueError):  # sparse, text, rows of different lengths
            Y = np.empty(0)
        if Y.ndim != 2 or Y.shape[0] != self.n or not Y.shape[1]:
            raise InvalidInput(
                f"points must be an array of {self.n} rows, one for each row of the affinities; "
                f"the shape is {Y.shape}"
            )
        return Y
