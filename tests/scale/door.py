"""Names inside the room of scale that its tests need, each with its reason.

Everything else is tested by the public names of `dualfold.scale`.
"""

from __future__ import annotations

# Limits of memory, before a table is read.
from dualfold.scale.budget import budget, memory_bytes

# What a lost worker becomes, without losing one.
from dualfold.scale.engine import translate_failures

# Files that change while they are read.
from dualfold.scale.files import ReadParquet, parquet_parts

# Rows that are held out decide how the others are placed.
from dualfold.scale.landmark_fit import HeldOut, rms_motion

# The tree of partitions, and searches of some rows by brute force.
from dualfold.scale.partitions import median_tree

# Models that are sent to workers, or opened there.
from dualfold.scale.placing import MAX_MODEL_BYTES_IN_GRAPH, OpenedModel, model_for_tasks
from dualfold.scale.rows import plain_rows
from dualfold.scale.search import kept_on_maps, nearest_of

# Sums of a tile, as a task makes them.
from dualfold.scale.tile_moments import _tile_moments

# Samples depend on the numbers of rows alone.
from dualfold.scale.tiled_table import drawn_row_numbers, gather_rows
