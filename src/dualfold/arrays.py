"""Types for annotations: arrays of any shape and any kind of numbers, rows, metrics, seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

Array = np.ndarray[Any, np.dtype[Any]]
# The type of an array's numbers, as NumPy takes it.
DType = type[np.generic] | np.dtype[Any] | str
# A metric of scikit-learn by its name, "precomputed", or a function of two rows.
Metric = str | Callable[[Array, Array], float]
Seed = int | np.random.Generator | np.random.RandomState | None
# Numbers that a function makes an array of.
Numbers = Array | Sequence[float] | Sequence[Sequence[float]]
# A matrix of numbers, dense or sparse.
Matrix: TypeAlias = "Array | sp.csr_array"


class Rows(Protocol):
    """Rows of numbers: a dense array, a memory map or a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def __getitem__(self, rows: Any, /) -> Any: ...
