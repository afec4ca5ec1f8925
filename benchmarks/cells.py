"""Maps of cells beside scanpy's: time and neighbours kept (needs scanpy).

    python -m benchmarks.cells

A line of JSON a side. The cells are scanpy's `pbmc68k_reduced`, 700 cells with 50 principal
components. Programs alternate; seconds are processor time, the median of three runs after one that
is not kept.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # else threads that wait for busy cores are counted

from dualfold import anndata as cell_maps
from dualfold.quality import neighbor_agreement

RUNS, NEIGHBORS = 3, 15


def sides() -> dict[str, tuple[str, Callable[[Any], Any]]]:
    """What is compared: the entry of obsm and the call."""
    import scanpy as sc

    return {
        "dualfold tsne": ("X_tsne", cell_maps.tsne),
        "scanpy tsne": ("X_tsne", lambda cells: sc.tl.tsne(cells, use_rep="X_pca")),
        "dualfold diffusion_maps": (
            "X_diffusion_maps",
            lambda cells: cell_maps.diffusion_maps(cells, neighbors_key="neighbors"),
        ),
        "scanpy diffmap": ("X_diffmap", lambda cells: sc.tl.diffmap(cells, n_comps=3)),
    }


def main() -> None:
    """Run the comparison and print its lines."""
    import scanpy as sc

    cells = sc.datasets.pbmc68k_reduced()
    seconds: dict[str, list[float]] = {}
    kept: dict[str, float] = {}
    for _ in range(RUNS + 1):
        for side, (place, run) in sides().items():
            copy = cells.copy()
            start = time.process_time()
            run(copy)
            seconds.setdefault(side, []).append(time.process_time() - start)
            points = copy.obsm[place]
            # The first column of diffmap is the trivial one.
            points = points[:, 1:3] if place == "X_diffmap" else points
            agreement = neighbor_agreement(copy.obsm["X_pca"], points, n_neighbors=NEIGHBORS)
            kept[side] = float(agreement)
    for side, times in seconds.items():
        print(json.dumps({"side": side, "cpu": median(times[1:]), "kept": kept[side]}))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
