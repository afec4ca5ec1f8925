"""Maps of cells in AnnData, under the keys that scanpy uses (extra `h5ad`)."""

from dualfold.anndata.batch_maps import aligned_maps
from dualfold.anndata.cell_maps import (
    diffusion_maps,
    eigenmaps,
    isomap,
    mvu,
    pca,
    tsne,
)
from dualfold.anndata.grown_maps import audit, extend
from dualfold.anndata.knn_transformer import KnnTransformer, record_search

__all__ = [
    "KnnTransformer",
    "aligned_maps",
    "audit",
    "diffusion_maps",
    "eigenmaps",
    "extend",
    "isomap",
    "mvu",
    "pca",
    "record_search",
    "tsne",
]
