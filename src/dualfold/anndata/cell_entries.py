"""What is read from an AnnData, and what is written to it as plain types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.data.notices import quoted_names
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph import Graph, from_affinities, from_lengths

if TYPE_CHECKING:
    from anndata import AnnData


# Used where var has it, as scanpy does.
DEFAULT_MASK = "highly_variable"


def cells_to_write(adata: AnnData, *, copy: bool) -> AnnData:
    """The cells themselves or a copy; a file that is open (backed) is copied into memory."""
    if not hasattr(adata, "obsm") or not hasattr(adata, "uns"):
        raise InvalidInput(
            Argument("adata"), f" must be an AnnData; it is of type {type(adata).__name__}"
        )
    if not copy:
        return adata
    return adata.to_memory() if getattr(adata, "isbacked", False) else adata.copy()


def rows_of_cells(
    adata: AnnData, use_rep: str, *, layer: str | None = None, argument: str = "use_rep"
) -> Any:
    """Rows of `obsm[use_rep]`; "X" is the matrix X itself, or a layer."""
    if use_rep == "X":
        if layer is not None and layer not in adata.layers:
            raise InvalidInput(
                Argument("layer", layer),
                f" is not in layers, which holds {quoted_names(adata.layers) or 'nothing'}",
            )
        if layer is None and adata.X is None:
            raise InvalidInput("adata.X is empty; name an entry of obsm by ", Argument("use_rep"))
        matrix = _in_memory(adata.X if layer is None else adata.layers[layer])
        name = Argument("layer", layer) if layer is not None else "adata.X"
        return _complete_rows(adata, matrix, name)
    if use_rep not in adata.obsm:
        remedy = "compute it (scanpy.pp.pca, or dualfold.anndata.pca)"
        remedy = remedy if use_rep == "X_pca" else "compute it"
        raise InvalidInput(
            Argument(argument, use_rep),
            f" is not in obsm, which holds {quoted_names(adata.obsm) or 'nothing'}; {remedy}, "
            "or name another entry",
        )
    rows = adata.obsm[use_rep]
    rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    return _complete_rows(adata, rows, Argument(argument, use_rep))


def _complete_rows(adata: AnnData, rows: Any, name: str) -> Any:
    """The rows, if no number is missing or infinite; the cells of the others are named."""
    entries = sp.coo_array(rows) if sp.issparse(rows) else rows
    numbers = entries.data if sp.issparse(rows) else rows
    if numbers.dtype.kind != "f" or np.isfinite(numbers).all():
        return rows
    places = np.nonzero(~np.isfinite(numbers))[0]
    bad = np.unique(entries.row[places] if sp.issparse(rows) else places)
    raise InvalidInput(
        name,
        f" holds missing or infinite numbers for {counted(len(bad), 'cell')}, first for "
        f"'{adata.obs_names[bad[0]]}'; leave such cells out, or compute it again",
    )


def _in_memory(X: Any) -> Any:
    """A matrix that is in a file (backed), read."""
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return X
    return X.to_memory() if hasattr(X, "to_memory") else np.asarray(X[...])


def used_genes(adata: AnnData, mask_var: Any) -> Array | None:
    """Places of the genes that a mask names; None for all."""
    if mask_var is None:
        return None
    if isinstance(mask_var, str):
        if mask_var not in adata.var:
            if mask_var == DEFAULT_MASK:
                return None
            raise InvalidInput(
                Argument("mask_var", mask_var),
                f" is no column of var, which has {quoted_names(adata.var) or 'none'}",
            )
        mask_var = adata.var[mask_var]
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.shape[1],) or not mask.any():
        raise InvalidInput(
            Argument("mask_var"),
            f" must be true or false for each of {adata.shape[1]} genes, and true for some",
        )
    return np.flatnonzero(mask)


def stored_graph(adata: AnnData, neighbors_key: str, *, affinities: bool = False) -> Graph:
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


def plain_entries(values: Mapping[str, object]) -> dict[str, object]:
    """Numbers, text, arrays and dicts of them, as h5ad and zarr store them; None is left out."""
    entries = {str(name): _plain(value) for name, value in values.items()}
    return {name: value for name, value in entries.items() if value is not None}


def _plain(value: object) -> object:
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
