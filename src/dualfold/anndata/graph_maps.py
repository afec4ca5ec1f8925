"""A method of neighbours is fitted to cells, and its map is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualfold.anndata.entries import (
    cells_to_write,
    plain_entries,
    rows_of_cells,
    stored_graph,
)
from dualfold.embedding import embed
from dualfold.errors import Argument, InvalidInput
from dualfold.methods._diffusion_maps import DiffusionMaps, diffusion_maps
from dualfold.methods._eigenmaps import LaplacianEigenmaps
from dualfold.methods._isomap import Isomap
from dualfold.methods._mvu import MaximumVarianceUnfolding
from dualfold.methods._tsne import TSNE

# By the name of the entry in uns.
ESTIMATORS: dict[str, Any] = {
    "diffusion_maps": DiffusionMaps,
    "eigenmaps": LaplacianEigenmaps,
    "isomap": Isomap,
    "mvu": MaximumVarianceUnfolding,
    "tsne": TSNE,
}


def write_graph_map(name: str, adata: Any, given: Mapping[str, Any], places: dict[str, Any]) -> Any:
    """Fit one of the methods and write its map; returns a copy or None.

    given : parameters of its estimator; places : what is read and written, by argument
    """
    cells = cells_to_write(adata, copy=places["copy"])
    key, use_rep, neighbors_key = places["key_added"], places["use_rep"], places["neighbors_key"]
    if given.get("weights") == "precomputed":
        if neighbors_key is None:
            raise InvalidInput(
                Argument("weights", "precomputed"),
                " takes connectivities as weights; say where scanpy stored them by ",
                Argument("neighbors_key", "neighbors"),
            )
        points, values, certificate = _map_of_connectivities(name, cells, given, neighbors_key)
        use_rep = None
    else:
        rows, parameters = rows_of_cells(cells, use_rep), dict(given)
        if neighbors_key is not None:
            parameters["graph"] = stored_graph(cells, neighbors_key)
        model = ESTIMATORS[name](**parameters).fit(rows)
        points, certificate = model.embedding_, model.certificate_
        values = getattr(model, "eigenvalues_", None)
    source = {"use_rep": use_rep, "neighbors_key": neighbors_key, "method": name}
    cells.obsm[key or f"X_{name}"] = np.asarray(points)
    cells.uns[key or name] = plain_entries(
        {
            "params": {**given, **source},
            "eigenvalues": None if values is None else np.asarray(values),
            "certificate": certificate.to_dict(),
        }
    )
    return cells if places["copy"] else None


def _map_of_connectivities(
    name: str, cells: Any, given: Mapping[str, Any], neighbors_key: str
) -> tuple[Any, Any, Any]:
    """Points, eigenvalues and certificate with scanpy's connectivities as weights."""
    graph = stored_graph(cells, neighbors_key, affinities=True)
    if name == "diffusion_maps":  # its estimator makes weights of distances only
        found = embed(diffusion_maps(graph, **given))
        return found.points, found.values, found.certificate
    model = ESTIMATORS[name](**given).fit(graph.weights)
    return model.embedding_, model.eigenvalues_, model.certificate_
