"""Tables that do not fit into memory, and clusters: the same methods on tiles of rows.

    rows = dualfold.scale.table("big.parquet", memory_limit="2GB")
    model = dualfold.PCA(n_components=2).fit(rows)

Estimators take such a table in place of X, and also plain Dask arrays and data frames, Zarr arrays
and paths. Dask is the engine: with a `distributed.Client` the tasks run on its cluster, else in
threads of this process. docs/scale.md says what runs where.
"""

from dualfold.scale.engine import SchedulerLost, TileFailed
from dualfold.scale.landmark_fit import PlacingCost
from dualfold.scale.lists import neighbors
from dualfold.scale.search import kept_neighbors, nearest_of
from dualfold.scale.table import TiledTable, is_tiled, table
from dualfold.scale.tile_moments import Moments, standardized
from dualfold.scale.writing import write

__all__ = [
    "Moments",
    "PlacingCost",
    "SchedulerLost",
    "TileFailed",
    "TiledTable",
    "is_tiled",
    "kept_neighbors",
    "nearest_of",
    "neighbors",
    "standardized",
    "table",
    "write",
]
