"""The methods of dualfold on an AnnData: rows or a graph in, a map with its certificate out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.anndata.cell_entries import (
    cells_to_write,
    plain_entries,
    rows_of_cells,
    stored_graph,
    used_genes,
)
from dualfold.embedding import embed
from dualfold.errors import Argument, InvalidInput
from dualfold.methods._diffusion_maps import DiffusionMaps
from dualfold.methods._diffusion_maps import diffusion_maps as diffusion_maps_problem
from dualfold.methods._eigenmaps import LaplacianEigenmaps
from dualfold.methods._isomap import Isomap
from dualfold.methods._mvu import MaximumVarianceUnfolding
from dualfold.methods._pca import PCA
from dualfold.methods._tsne import TSNE

if TYPE_CHECKING:
    from anndata import AnnData

    from dualfold.arrays import Array


# The methods of neighbours, by the name of their function and of its entry in uns.
ESTIMATORS: dict[str, Any] = {
    "diffusion_maps": DiffusionMaps,
    "eigenmaps": LaplacianEigenmaps,
    "isomap": Isomap,
    "mvu": MaximumVarianceUnfolding,
    "tsne": TSNE,
}
# What they read and write is the same.
GRAPH_MAP_DOCSTRING = """{summary}

    Writes `obsm["X_{name}"]` and `uns["{name}"]` with
    parameters, eigenvalues (where the method has some) and the certificate, in plain types that
    .h5ad and Zarr files keep.
{remarks}
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
        Parameters of `dualfold.{estimator}`.

    Returns
    -------
    AnnData or None
        The copy, if asked for.

    See Also
    --------
    dualfold.{estimator} : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import anndata
    >>> from dualfold.anndata import {name}
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(40, 3)))
    >>> {name}(cells, use_rep="X", {example_option})
    >>> cells.obsm["X_{name}"].shape
    (40, 2)
    """


def pca(
    adata: AnnData,
    n_comps: int = 50,
    *,
    layer: str | None = None,
    mask_var: str | Array | None = "highly_variable",
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


def _graph_map(
    name: str, summary: str, remarks: str = "", example_option: str = "n_neighbors=6"
) -> Callable[..., Any]:
    """A function that maps cells by one method of neighbours; its docstring has the other words."""
    estimator = ESTIMATORS[name]

    def map_cells(
        adata: AnnData,
        *,
        use_rep: str = "X_pca",
        neighbors_key: str | None = None,
        key_added: str | None = None,
        copy: bool = False,
        **options: Any,
    ) -> Any:
        cells = cells_to_write(adata, copy=copy)
        source = {"use_rep": use_rep, "neighbors_key": neighbors_key, "method": name}
        if options.get("weights") == "precomputed":
            if neighbors_key is None:
                raise InvalidInput(
                    Argument("weights", "precomputed"),
                    " takes connectivities as weights; say where scanpy stored them by ",
                    Argument("neighbors_key", "neighbors"),
                )
            found = _map_of_connectivities(estimator, cells, options, neighbors_key)
            source["use_rep"] = None
        else:
            rows, parameters = rows_of_cells(cells, use_rep), dict(options)
            if neighbors_key is not None:
                parameters["graph"] = stored_graph(cells, neighbors_key)
            model = estimator(**parameters).fit(rows)
            found = model.embedding_, getattr(model, "eigenvalues_", None), model.certificate_
        points, values, certificate = found
        cells.obsm[key_added or f"X_{name}"] = np.asarray(points)
        cells.uns[key_added or name] = plain_entries(
            {
                "params": {**options, **source},
                "eigenvalues": None if values is None else np.asarray(values),
                "certificate": certificate.to_dict(),
            }
        )
        return cells if copy else None

    map_cells.__name__ = map_cells.__qualname__ = name
    map_cells.__doc__ = GRAPH_MAP_DOCSTRING.format(
        name=name,
        estimator=estimator.__name__,
        summary=summary,
        remarks=remarks,
        example_option=example_option,
    )
    return map_cells


def _map_of_connectivities(
    estimator: Any, cells: AnnData, options: Mapping[str, Any], neighbors_key: str
) -> tuple[Any, Any, Any]:
    """Points, eigenvalues and certificate with scanpy's connectivities as weights."""
    graph = stored_graph(cells, neighbors_key, affinities=True)
    if estimator is DiffusionMaps:  # it makes weights of distances only
        found = embed(diffusion_maps_problem(graph, **options))
        return found.points, found.values, found.certificate
    model = estimator(**options).fit(graph.weights)
    return model.embedding_, model.eigenvalues_, model.certificate_


isomap = _graph_map("isomap", "Map cells by geodesic distances in their neighbour graph.")
eigenmaps = _graph_map(
    "eigenmaps",
    "Map cells by Laplacian eigenmaps of their neighbour graph.",
    """
    `weights="precomputed"` with a `neighbors_key` takes scanpy's connectivities as weights;
    else the weights are made of distances.
""",
)
diffusion_maps = _graph_map(
    "diffusion_maps",
    "Map cells by where a random walk over neighbours leads.",
    """
    These are right eigenvectors of the walk times powers of its eigenvalues, without the
    constant one; weights are made of distances. `scanpy.tl.diffmap` takes its connectivities as
    weights, returns eigenvectors of the symmetrised matrix (each entry times the square root of
    the cell's degree), and keeps the trivial one. With a `neighbors_key` and
    `weights="precomputed"` ours take the connectivities, too; then the only other options are
    `n_components`, `alpha` and `diffusion_time`. The eigenvalues in `uns` are 1 − λ of the walk.
""",
)
tsne = _graph_map(
    "tsne",
    "Map cells by t-SNE.",
    """
    Neighbours that scanpy stored are fewer than three times the usual perplexity: give a
    smaller `perplexity`, or let neighbours be searched (the default).
""",
    example_option="perplexity=8",
)
mvu = _graph_map(
    "mvu",
    "Map cells by maximum variance unfolding of their neighbour graph.",
)
