"""The type of an array, for annotations: of any shape and any kind of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
