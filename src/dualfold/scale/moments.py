"""Count, mean and scatter of a table in tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.fitting.moments import Moments
from dualfold.scale.table import TiledTable

__all__ = ["Moments", "moments_of"]


def moments_of(rows: TiledTable) -> Moments:
    """The moments of a table in tiles, in one pass; their bits depend on the tiles alone."""
    size = 8 * rows.width**2
    total = rows.total("adding up tiles", _tile_moments, Moments.__add__, result_bytes=size)
    if total is None or total.count < 2:
        raise InvalidInput("the table has fewer than 2 rows in all of its tiles")
    found: Moments = total
    return found


def _tile_moments(rows: Any) -> Moments:
    """In float64 whatever the rows are: what single precision loses would depend on the tile."""
    return Moments.of(rows, precision=np.float64)
