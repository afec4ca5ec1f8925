"""Tables in tiles, as methods see them; `dualfold.scale` reads them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.methods.fitting.moments import Moments


class TiledRows(Protocol):
    """A table that is read tile by tile, as methods ask for it."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def width(self) -> int:
        """Number of columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 where all columns are, else float64."""

    @property
    def meta(self) -> Any:
        """A table of no rows that is otherwise like this one."""

    @property
    def is_frame(self) -> bool:
        """Whether the tiles are data frames."""

    def moments(self, weights: Array | None = None) -> Moments:
        """Count, mean and scatter of all rows, in one pass."""

    def class_moments(self, y: Any, weights: Array | None = None) -> Any:
        """Counts, means and scatter of the classes y."""

    def encodings(self) -> Any:
        """Encodings by which the columns of a data frame become numbers."""

    def encoded_moments(self, encodings: Any, weights: Array | None = None) -> Moments:
        """The moments of the encoded_columns columns."""

    def profile_moments(self, weights: Array | None = None) -> Moments:
        """The moments of the profiles of rows of counts, each row counting as its sum."""

    def neighbors(self, count: int) -> Any:
        """The nearest rows of each row."""

    def as_one_array(self) -> Any:
        """All rows, in a file that is mapped."""

    def rows_at(self, numbers: Array) -> Array:
        """The rows of these ascending numbers."""

    def fit_landmarks(self, estimator: Any, weights: Array | None = None) -> None:
        """Fit some rows, which place the others; what that costs is measured."""

    def transform_with(self, estimator: Any) -> Any:
        """The places of all rows, as the kind of table that was given."""

    def inverse_transform_with(self, estimator: Any) -> Any:
        """Points of the data space, as the kind of table that was given."""


def tiled_rows(X: Rows) -> TiledRows | None:
    """X as a table in tiles; None where its rows are at hand.

    `dualfold.scale` stands above the methods and is looked up by name, only where X may be such a
    table: nobody else loads it.
    """
    package = type(X).__module__.partition(".")[0]
    maybe = package in ("dask", "zarr", "dualfold") or isinstance(X, str | Path | np.memmap)
    if not maybe:
        return None
    rows: TiledRows | None = import_module("dualfold.scale.fits").rows_for_fits(X)
    return rows
