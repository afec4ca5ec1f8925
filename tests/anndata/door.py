"""Names that tests of AnnData need: neighbours across batches, a graph among the entries."""

from __future__ import annotations

from dualfold.anndata.batch_maps import mutual_nearest
from dualfold.anndata.cell_entries import stored_graph
