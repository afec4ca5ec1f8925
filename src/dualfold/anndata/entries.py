"""What is read from an AnnData, and what is written to it as plain types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.data.notices import quoted_names
from dualfold.errors import Argument, InvalidInput
from dualfold.graph import Graph, from_affinities, from_lengths


def rows_of_cells(adata: Any, use_rep: str) -> Any:
    """Rows of `obsm[use_rep]`; "X" is the matrix X itself."""
    if use_rep == "X":
        return adata.X
    if use_rep not in adata.obsm:
        raise InvalidInput(
            Argument("use_rep", use_rep),
            f" is not in obsm, which holds {quoted_names(adata.obsm) or 'nothing'}; compute it "
            "(scanpy.pp.pca, or dualfold.anndata.pca), or name another entry",
        )
    return np.asarray(adata.obsm[use_rep])


def stored_graph(adata: Any, neighbors_key: str, *, affinities: bool = False) -> Graph:
    """The graph that scanpy stored: distances, or connectivities as weights."""
    entry = adata.uns.get(neighbors_key)
    if entry is None:
        raise InvalidInput(
            Argument("neighbors_key", neighbors_key),
            " is not in uns; run scanpy.pp.neighbors first, or leave it out to search neighbours",
        )
    kind = "connectivities" if affinities else "distances"
    key = str(entry.get(f"{kind}_key", kind))
    if key not in adata.obsp:
        raise InvalidInput(
            f"obsp holds no '{key}', which uns['{neighbors_key}'] names; run scanpy.pp.neighbors "
            "again"
        )
    matrix = sp.csr_array(adata.obsp[key], dtype=float)
    if affinities:
        return from_affinities(matrix)
    metric = str(entry.get("params", {}).get("metric", "euclidean"))
    return replace(from_lengths(matrix), metric=metric)


def plain_entries(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers, text, arrays and dicts of them, as h5ad and zarr store them; None is left out."""
    entries = {str(name): _plain(value) for name, value in values.items()}
    return {name: value for name, value in entries.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain_entries(value)
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value
    if isinstance(value, list | tuple) and value:
        kinds = {type(item) for item in value}
        return np.asarray(value) if kinds <= {bool, int, float} or kinds == {str} else str(value)
    return None if value is None or isinstance(value, list | tuple) else str(value)
