"""Tables that methods are tried on: a roll, a curve, handwritten digits; rows only."""

from __future__ import annotations

import numpy as np

from dualfold.data import digits, s_curve, swiss_roll
from dualfold.descriptions import Description


def roll_points(n: int, random_state: int = 0) -> np.ndarray:
    """A rolled-up sheet in space."""
    return swiss_roll(n, random_state=random_state).points


def curve_points(n: int, random_state: int = 0) -> np.ndarray:
    """A sheet bent like an S."""
    return s_curve(n, random_state=random_state).points


def digit_points(n: int | None = None) -> np.ndarray:
    """Images of 8×8 pixels as rows, whole numbers from 0 to 16."""
    return digits().points[:n]


def rows_for(method: Description, X: np.ndarray) -> np.ndarray:
    """X as the method can take it: without signs for methods of counts."""
    return np.abs(X) if method.counts else X
