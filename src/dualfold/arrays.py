"""Types for annotations: arrays of any shape and any kind of numbers, metrics, seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
# The type of an array's numbers, as NumPy takes it.
DType = type[np.generic] | np.dtype[Any] | str
# A metric of scikit-learn by its name, "precomputed", or a function of two rows.
Metric = str | Callable[[Array, Array], float]
Seed = int | np.random.Generator | np.random.RandomState | None
