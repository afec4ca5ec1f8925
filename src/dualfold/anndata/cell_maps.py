"""The methods of dualfold on an AnnData: rows or a graph in, a map with its certificate out."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.anndata.entries import cells_to_write, plain_entries, rows_of_cells, used_genes
from dualfold.anndata.graph_maps import write_graph_map
from dualfold.methods._pca import PCA


def pca(
    adata: Any,
    n_comps: int = 50,
    *,
    layer: str | None = None,
    mask_var: Any = "highly_variable",
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Compute principal components of the matrix X, as `scanpy.pp.pca` names them.

    Writes `obsm["X_pca"]`, `varm["PCs"]` and `uns["pca"]` with parameters, `variance`,
    `variance_ratio` and the certificate.

    Parameters
    ----------
    adata : AnnData
        Cells and genes, with few enough genes to be dense, or sparse.
    n_comps : int, default=50
        Number of components; less if there are fewer cells or genes.
    layer : str or None, default=None
        Entry of `layers` to take instead of X.
    mask_var : str, array of bool or None, default="highly_variable"
        Genes to use: a column of `var`, or one value for each gene; None uses all. As in scanpy,
        a table without the column "highly_variable" uses all. Other genes are zeros in `varm`.
    key_added : str or None, default=None
        Name of all three entries; None takes scanpy's names.
    copy : bool, default=False
        Whether to return a copy instead of writing into `adata`.
    **options : object
        Further parameters of `dualfold.PCA`.

    Returns
    -------
    AnnData or None
        The copy, if asked for.

    See Also
    --------
    dualfold.PCA : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import pca
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(40, 6)))
    >>> pca(cells, 3)
    >>> cells.obsm["X_pca"].shape, cells.uns["pca"]["certificate"]["level"]
    ((40, 3), 'proved')
    """
    cells = cells_to_write(adata, copy=copy)
    rows, used = rows_of_cells(cells, "X", layer=layer), used_genes(cells, mask_var)
    rows = rows if used is None else rows[:, used]
    count = max(1, min(n_comps, min(rows.shape) - 1))
    model = PCA(n_components=count, **options)
    points = model.fit_transform(rows)
    components = np.zeros((cells.shape[1], count))
    components[slice(None) if used is None else used] = model.components_.T
    cells.obsm[key_added or "X_pca"] = points
    cells.varm[key_added or "PCs"] = components
    genes = None if used is None else mask_var if isinstance(mask_var, str) else "given"
    cells.uns[key_added or "pca"] = plain_entries(
        {
            "params": {"n_comps": count, "layer": layer, "mask_var": genes, **options},
            "variance": model.explained_variance_,
            "variance_ratio": model.explained_variance_ratio_,
            "certificate": model.certificate_.to_dict(),
        }
    )
    return cells if copy else None


def isomap(
    adata: Any,
    *,
    use_rep: str = "X_pca",
    neighbors_key: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map cells by geodesic distances in their neighbour graph.

    Writes `obsm["X_isomap"]` and `uns["isomap"]` with
    parameters, eigenvalues (where the method has some) and the certificate, in plain types that
    .h5ad and Zarr files keep.

    Parameters
    ----------
    adata : AnnData
        The cells.
    use_rep : str, default="X_pca"
        Entry of `obsm` whose rows are mapped; "X" is the matrix X.
    neighbors_key : str or None, default=None
        Entry of `uns` that says where scanpy stored its neighbours, as "neighbors"; cells may have
        different numbers of them. None searches neighbours among the rows.
    key_added : str or None, default=None
        Name of both entries; None takes those above.
    copy : bool, default=False
        Whether to return a copy instead of writing into `adata`.
    **options : object
        Parameters of `dualfold.Isomap`.

    Returns
    -------
    AnnData or None
        The copy, if asked for.

    See Also
    --------
    dualfold.Isomap : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import isomap
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(40, 3)))
    >>> isomap(cells, use_rep="X", n_neighbors=6)
    >>> cells.obsm["X_isomap"].shape
    (40, 2)
    """
    places = {
        "use_rep": use_rep,
        "neighbors_key": neighbors_key,
        "key_added": key_added,
        "copy": copy,
    }
    return write_graph_map("isomap", adata, options, places)


def eigenmaps(
    adata: Any,
    *,
    use_rep: str = "X_pca",
    neighbors_key: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map cells by Laplacian eigenmaps of their neighbour graph.

    Writes `obsm["X_eigenmaps"]` and `uns["eigenmaps"]` with
    parameters, eigenvalues (where the method has some) and the certificate, in plain types that
    .h5ad and Zarr files keep.

    `weights="precomputed"` with a `neighbors_key` takes scanpy's connectivities as weights;
    else the weights are made of distances.

    Parameters
    ----------
    adata : AnnData
        The cells.
    use_rep : str, default="X_pca"
        Entry of `obsm` whose rows are mapped; "X" is the matrix X.
    neighbors_key : str or None, default=None
        Entry of `uns` that says where scanpy stored its neighbours, as "neighbors"; cells may have
        different numbers of them. None searches neighbours among the rows.
    key_added : str or None, default=None
        Name of both entries; None takes those above.
    copy : bool, default=False
        Whether to return a copy instead of writing into `adata`.
    **options : object
        Parameters of `dualfold.LaplacianEigenmaps`.

    Returns
    -------
    AnnData or None
        The copy, if asked for.

    See Also
    --------
    dualfold.LaplacianEigenmaps : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import eigenmaps
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(40, 3)))
    >>> eigenmaps(cells, use_rep="X", n_neighbors=6)
    >>> cells.obsm["X_eigenmaps"].shape
    (40, 2)
    """
    places = {
        "use_rep": use_rep,
        "neighbors_key": neighbors_key,
        "key_added": key_added,
        "copy": copy,
    }
    return write_graph_map("eigenmaps", adata, options, places)


def diffusion_maps(
    adata: Any,
    *,
    use_rep: str = "X_pca",
    neighbors_key: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map cells by where a random walk over neighbours leads.

    Writes `obsm["X_diffusion_maps"]` and `uns["diffusion_maps"]` with
    parameters, eigenvalues (where the method has some) and the certificate, in plain types that
    .h5ad and Zarr files keep.

    These are right eigenvectors of the walk times powers of its eigenvalues, without the
    constant one; weights are made of distances. `scanpy.tl.diffmap` takes its connectivities as
    weights, returns eigenvectors of the symmetrised matrix (each entry times the square root of
    the cell's degree), and keeps the trivial one. With a `neighbors_key` and
    `weights="precomputed"` ours take the connectivities, too; then the only other options are
    `n_components`, `alpha` and `diffusion_time`. The eigenvalues in `uns` are 1 − λ of the walk.

    Parameters
    ----------
    adata : AnnData
        The cells.
    use_rep : str, default="X_pca"
        Entry of `obsm` whose rows are mapped; "X" is the matrix X.
    neighbors_key : str or None, default=None
        Entry of `uns` that says where scanpy stored its neighbours, as "neighbors"; cells may have
        different numbers of them. None searches neighbours among the rows.
    key_added : str or None, default=None
        Name of both entries; None takes those above.
    copy : bool, default=False
        Whether to return a copy instead of writing into `adata`.
    **options : object
        Parameters of `dualfold.DiffusionMaps`.

    Returns
    -------
    AnnData or None
        The copy, if asked for.

    See Also
    --------
    dualfold.DiffusionMaps : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import diffusion_maps
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(40, 3)))
    >>> diffusion_maps(cells, use_rep="X", n_neighbors=6)
    >>> cells.obsm["X_diffusion_maps"].shape
    (40, 2)
    """
    places = {
        "use_rep": use_rep,
        "neighbors_key": neighbors_key,
        "key_added": key_added,
        "copy": copy,
    }
    return write_graph_map("diffusion_maps", adata, options, places)


def tsne(
    adata: Any,
    *,
    use_rep: str = "X_pca",
    neighbors_key: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map cells by t-SNE.

    Writes `obsm["X_tsne"]` and `uns["tsne"]` with
    parameters, eigenvalues (where the method has some) and the certificate, in plain types that
    .h5ad and Zarr files keep.

    Neighbours that scanpy stored are fewer than three times the usual perplexity: give a
    smaller `perplexity`, or let neighbours be searched (the default).

    Parameters
    ----------
    adata : AnnData
        The cells.
    use_rep : str, default="X_pca"
        Entry of `obsm` whose rows are mapped; "X" is the matrix X.
    neighbors_key : str or None, default=None
        Entry of `uns` that says where scanpy stored its neighbours, as "neighbors"; cells may have
        different numbers of them. None searches neighbours among the rows.
    key_added : str or None, default=None
        Name of both entries; None takes those above.
    copy : bool, default=False
        Whether to return a copy instead of writing into `adata`.
    **options : object
        Parameters of `dualfold.TSNE`.

    Returns
    -------
    AnnData or None
        The copy, if asked for.

    See Also
    --------
    dualfold.TSNE : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import tsne
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(40, 3)))
    >>> tsne(cells, use_rep="X", perplexity=8)
    >>> cells.obsm["X_tsne"].shape
    (40, 2)
    """
    places = {
        "use_rep": use_rep,
        "neighbors_key": neighbors_key,
        "key_added": key_added,
        "copy": copy,
    }
    return write_graph_map("tsne", adata, options, places)


def mvu(
    adata: Any,
    *,
    use_rep: str = "X_pca",
    neighbors_key: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Map cells by maximum variance unfolding of their neighbour graph.

    Writes `obsm["X_mvu"]` and `uns["mvu"]` with
    parameters, eigenvalues (where the method has some) and the certificate, in plain types that
    .h5ad and Zarr files keep.

    Parameters
    ----------
    adata : AnnData
        The cells.
    use_rep : str, default="X_pca"
        Entry of `obsm` whose rows are mapped; "X" is the matrix X.
    neighbors_key : str or None, default=None
        Entry of `uns` that says where scanpy stored its neighbours, as "neighbors"; cells may have
        different numbers of them. None searches neighbours among the rows.
    key_added : str or None, default=None
        Name of both entries; None takes those above.
    copy : bool, default=False
        Whether to return a copy instead of writing into `adata`.
    **options : object
        Parameters of `dualfold.MaximumVarianceUnfolding`.

    Returns
    -------
    AnnData or None
        The copy, if asked for.

    See Also
    --------
    dualfold.MaximumVarianceUnfolding : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import mvu
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(40, 3)))
    >>> mvu(cells, use_rep="X", n_neighbors=6)
    >>> cells.obsm["X_mvu"].shape
    (40, 2)
    """
    places = {
        "use_rep": use_rep,
        "neighbors_key": neighbors_key,
        "key_added": key_added,
        "copy": copy,
    }
    return write_graph_map("mvu", adata, options, places)
