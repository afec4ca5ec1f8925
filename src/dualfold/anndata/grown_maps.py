"""Maps of cells that are judged, and maps that grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold import judging
from dualfold.anndata.cell_entries import cells_to_write, plain_entries, rows_of_cells
from dualfold.anndata.cell_maps import ESTIMATORS
from dualfold.errors import Argument, InvalidInput

if TYPE_CHECKING:
    from anndata import AnnData

    from dualfold.models import UpdatedMap

_COORDINATE_TOLERANCE = 1e-6  # relative: a map in float32 is the same map


def audit(
    adata: AnnData,
    basis: str = "X_umap",
    *,
    use_rep: str = "X_pca",
    key_added: str | None = None,
    **options: Any,
) -> judging.Audit:
    """Audit any map of the cells: which points and groups can be believed.

    Writes the audit as text to `uns["audit_" + basis]`, and returns it.

    Parameters
    ----------
    adata : AnnData
        The cells.
    basis : str, default="X_umap"
        Entry of `obsm` that holds the map, by whatever program.
    use_rep : str, default="X_pca"
        Entry of `obsm` that the map was made of; "X" is the matrix X.
    key_added : str or None, default=None
        Name of the entry in `uns`; None takes the one above.
    **options : object
        Further arguments of `dualfold.audit`.

    Returns
    -------
    Audit
        The audit; print it.

    See Also
    --------
    dualfold.audit : The function of arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import audit
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(120, 3)))
    >>> cells.obsm["X_map"] = cells.X[:, :2]
    >>> found = audit(cells, "X_map", use_rep="X")
    >>> isinstance(cells.uns["audit_X_map"], str)
    True
    """
    adata = cells_to_write(adata, copy=False)
    points = rows_of_cells(adata, basis, argument="basis")
    found = judging.audit(rows_of_cells(adata, use_rep), points, **options)
    adata.uns[key_added or f"audit_{basis}"] = str(found)
    return found


def extend(adata: AnnData, new: AnnData, key: str = "isomap") -> UpdatedMap:
    """Place new cells in a map of `adata`; its old points keep their places.

    An AnnData holds no model, so the map is first fitted again with the stored parameters and
    compared with the stored points. Writes `obsm` and `uns` entries of the same names to `new`;
    `uns` says how far the grown map is from the best one of all cells (`staleness`).

    Parameters
    ----------
    adata : AnnData
        Cells with a map that a function of this module made.
    new : AnnData
        New cells, with the same entry of `obsm` in the same coordinates (as
        `scanpy.tl.ingest` projects them).
    key : str, default="isomap"
        Name of the map's entry in `uns`.

    Returns
    -------
    UpdatedMap
        The map of all cells.

    See Also
    --------
    dualfold.UpdatedMap : What is returned.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import extend, isomap
    >>> rows = np.random.default_rng(0).normal(size=(60, 3))
    >>> old, new = anndata.AnnData(rows[:50]), anndata.AnnData(rows[50:])
    >>> isomap(old, use_rep="X", n_neighbors=6)
    >>> grown = extend(old, new, "isomap")
    >>> new.obsm["X_isomap"].shape
    (10, 2)
    """
    if key not in adata.uns or "params" not in adata.uns[key]:
        raise InvalidInput(
            Argument("key", key), " is no map of dualfold.anndata in uns; make one first"
        )
    given = dict(adata.uns[key]["params"])
    name, use_rep = str(given.pop("method", "")), str(given.pop("use_rep", ""))
    if name not in ESTIMATORS:
        raise InvalidInput(
            Argument("key", key), f" is no map that grows; these are {', '.join(ESTIMATORS)}"
        )
    if given.pop("neighbors_key", None) is not None:
        raise InvalidInput(
            Argument("key", key),
            " cannot grow: its neighbours must be searched by dualfold (neighbors_key "
            "None), so that new cells find theirs in the same way",
        )
    place = f"X_{name}" if key == name else key
    stored = np.asarray(adata.obsm[place], dtype=float)
    model = ESTIMATORS[name](**given).fit(rows_of_cells(adata, use_rep))
    moved = np.abs(np.asarray(model.embedding_, dtype=float) - stored).max()
    if moved > _COORDINATE_TOLERANCE * np.abs(stored).max():
        raise InvalidInput(
            f"obsm['{place}'] is not what uns['{key}'] describes: fitted again, points move by "
            f"{moved:.2g}; make the map again before it grows"
        )
    grown = model.extend(rows_of_cells(new, use_rep))
    new.obsm[place] = np.asarray(grown.embedding_)[len(stored) :]
    words = {"staleness": grown.staleness_.to_dict(), "params": adata.uns[key]["params"]}
    new.uns[key] = plain_entries(words)
    return grown
