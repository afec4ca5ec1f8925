"""Tables that do not fit into memory, and clusters: the same methods on tiles of rows.

    rows = dualfold.scale.table("big.parquet", memory_limit="2GB")
    model = dualfold.PCA(n_components=2).fit(rows)

Estimators take such a table in place of X, and also plain Dask arrays and data frames, Zarr arrays
and paths. Dask is the engine: with a `distributed.Client` the tasks run on its cluster, else in
threads of this process. docs/scale.md says what runs where.
"""

from dualfold.scale.engine import SchedulerLost, TileFailed
from dualfold.scale.lists import neighbors
from dualfold.scale.search import kept_neighbors
from dualfold.scale.tile_moments import standardized
from dualfold.scale.tiled_table import table
from dualfold.scale.writing import write

__all__ = [
    "SchedulerLost",
    "TileFailed",
    "kept_neighbors",
    "neighbors",
    "standardized",
    "table",
    "write",
]
