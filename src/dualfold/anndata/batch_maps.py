"""Maps of batches of cells, held together by links of cells that are assumed to be alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.anndata.cell_entries import cells_to_write, plain_entries, rows_of_cells
from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph import nearest
from dualfold.models.aligned_maps import AlignedMaps

if TYPE_CHECKING:
    from anndata import AnnData


# A graph of neighbours needs so many rows.
MIN_BATCH_CELLS = 3
ASSUMPTION = (
    "assumed, not tested: cells of successive batches that are among each other's nearest are of "
    "one kind; where a kind is in one batch only, its links are wrong and draw different cells "
    "together"
)


def aligned_maps(
    adata: AnnData,
    batch_key: str,
    *,
    use_rep: str = "X_pca",
    n_links: int = 5,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map each batch of cells on its own, and hold the maps together by links.

    Cells of two successive batches are linked if each is among the nearest of the other (mutual
    nearest neighbours). That linked cells are of one kind is an assumption; nothing here tests it,
    and the rows themselves stay as they are.

    Writes `obsm["X_aligned_maps"]` and `uns["aligned_maps"]` with parameters, the batches in their
    order, the assumption in words, the number of links of each two successive batches, the median
    distance of linked cells relative to the map's radius (`movement`) and the certificate.

    Parameters
    ----------
    adata : AnnData
        The cells.
    batch_key : str
        Column of `obs` that names the batch of each cell; batches follow one another in the order
        of its categories, or of their names.
    use_rep : str, default="X_pca"
        Entry of `obsm` whose rows are mapped and compared; "X" is the matrix X.
    n_links : int, default=5
        Number of nearest cells of the other batch among which a linked cell must be.
    key_added : str or None, default=None
        Name of both entries; None takes those above.
    copy : bool, default=False
        Whether to return a copy instead of writing into `adata`.
    **options : object
        Parameters of `dualfold.AlignedMaps`, as `method` and the weight `mu` of the links.

    Returns
    -------
    AnnData or None
        The copy, if asked for.

    See Also
    --------
    dualfold.AlignedMaps : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import aligned_maps
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(80, 3)))
    >>> cells.obs["batch"] = ["first", "second"] * 40
    >>> aligned_maps(cells, "batch", use_rep="X", mu=0.1)
    >>> cells.obsm["X_aligned_maps"].shape, cells.uns["aligned_maps"]["batches"].tolist()
    ((80, 2), ['first', 'second'])
    """
    cells = cells_to_write(adata, copy=copy)
    names, members = _batches(cells, batch_key)
    rows = rows_of_cells(cells, use_rep)
    slices = [rows[member] for member in members]
    links = [
        _checked_links(slices[t], slices[t + 1], n_links, names[t : t + 2])
        for t in range(len(slices) - 1)
    ]
    model = AlignedMaps(**options).fit(slices, links=links)
    points = np.empty((len(rows), model.embeddings_[0].shape[1]))
    for member, part in zip(members, model.embeddings_, strict=True):
        points[member] = part
    source = {"use_rep": use_rep, "batch_key": batch_key, "n_links": n_links}
    cells.obsm[key_added or "X_aligned_maps"] = points
    cells.uns[key_added or "aligned_maps"] = _record(model, names, options | source)
    return cells if copy else None


def mutual_nearest(one: Any, other: Any, count: int) -> Array:
    """Pairs (row of one, row of other), each among the `count` nearest of its partner."""
    forth = nearest(other, min(count, other.shape[0]), queries=one).indices
    back = nearest(one, min(count, one.shape[0]), queries=other).indices
    rows = np.repeat(np.arange(len(forth)), forth.shape[1])
    partners = forth.ravel()
    mutual = (back[partners] == rows[:, None]).any(axis=1)
    return np.column_stack([rows[mutual], partners[mutual]])


def _batches(adata: AnnData, batch_key: str) -> tuple[list[str], list[Array]]:
    """Names of the batches in their order, and the rows of each."""
    if batch_key not in adata.obs:
        raise InvalidInput(
            Argument("batch_key", batch_key),
            " is no column of obs; name the one that says which batch each cell is of",
        )
    column = adata.obs[batch_key].astype("category").cat.remove_unused_categories()
    codes = np.asarray(column.cat.codes)
    if (codes < 0).any():
        raise InvalidInput(
            Argument("batch_key", batch_key),
            f" is missing for {counted(int((codes < 0).sum()), 'cell')}; drop them, or name one",
        )
    names = [str(name) for name in column.cat.categories]
    sizes = np.bincount(codes, minlength=len(names))
    if len(names) < 2:
        only = "no cell has one" if not names else f"all cells are of '{names[0]}'"
        raise InvalidInput(
            Argument("batch_key", batch_key),
            f" must tell two batches or more apart; {only}; a map of one batch needs no links "
            "(tsne, eigenmaps, pca)",
        )
    if sizes.min() < MIN_BATCH_CELLS:
        least = int(sizes.argmin())
        raise InvalidInput(
            Argument("batch_key", batch_key),
            f" needs {MIN_BATCH_CELLS} cells or more in each batch; '{names[least]}' has "
            f"{sizes[least]}; join it to another or leave it out",
        )
    return names, [np.flatnonzero(codes == code) for code in range(len(names))]


def _checked_links(one: Any, other: Any, count: int, names: list[str]) -> Array:
    if count < 1:
        raise InvalidInput(Argument("n_links", count), " must be at least 1")
    pairs = mutual_nearest(one, other, count)
    if not len(pairs):
        raise InvalidInput(
            f"no cells of batches '{names[0]}' and '{names[1]}' are each among the {count} nearest "
            "of the other; give a larger ",
            Argument("n_links"),
            ", or map these batches apart: that linked cells are alike is an assumption",
        )
    return pairs


def _record(
    model: AlignedMaps, names: list[str], parameters: dict[str, object]
) -> dict[str, object]:
    steps = model.to_dict()["steps"]
    return plain_entries(
        {
            "params": parameters,
            "batches": names,
            "assumption": ASSUMPTION,
            "links": [step["links"] for step in steps],
            "movement": [step["movement"] for step in steps],
            "mu": model.mu_,
            "mu_reason": model.mu_reason_,
            "certificate": model.certificate_.to_dict(),
        }
    )
