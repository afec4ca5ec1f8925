"""Laplacian eigenmaps."""

from __future__ import annotations

from benchmarks.case import UMAP, Case, ours, peer, umap_from
from benchmarks.sets import images, roll
from benchmarks.verdicts import Certified, Fact, Faster, NoMoreThan

ARPACK = peer("scikit_learn:eigenmaps")
LOBPCG = peer("scikit_learn:eigenmaps", eigen_solver="lobpcg")
AMG = peer("scikit_learn:eigenmaps_amg")
PYMDE = {
    "PyMDE": peer("pymde:recipe"),
    "PyMDE spectral": peer("pymde:spectral", note="its graph, eigenvectors only"),
}
# The squared length of a usual edge between images; ours takes it from the graph.
IMAGES_WIDTH = 2e6
TAPKEE = peer("tapkee:reduced", method="laplacian_eigenmaps")
TAPKEE_IMAGES = peer("tapkee:reduced", method="laplacian_eigenmaps", squared_width=IMAGES_WIDTH)
APPROXIMATE = ours("eigenmaps", search="approximate")

EIGENMAPS = {
    "eigenmaps-mnist-10k": Case(
        "eigenmaps, MNIST 10,000, k = 10",
        images(10_000),
        {
            "dualfold": ours("eigenmaps"),
            "scikit-learn arpack": ARPACK,
            "scikit-learn lobpcg": LOBPCG,
            "scikit-learn amg": AMG,
            "tapkee": TAPKEE_IMAGES,
            **PYMDE,
            "umap": umap_from("isomap-mnist"),
        },
        (Faster(5, ("scikit-learn arpack",)), Certified()),
    ),
    "eigenmaps-mnist": Case(
        "eigenmaps, MNIST 70,000, k = 10",
        images(70_000),
        {
            "dualfold": ours("eigenmaps"),
            "dualfold approximate": APPROXIMATE,
            **PYMDE,
            "scikit-learn amg": AMG,
            "umap": umap_from("isomap-landmarks"),
        },
        (
            NoMoreThan(1.0, tuple(PYMDE), side="dualfold approximate"),
            Fact("recall", least=0.95, side="dualfold approximate"),
            NoMoreThan(2.0, tuple(PYMDE)),
            Certified(),
            Certified("dualfold approximate"),
        ),
    ),
    "eigenmaps-roll": Case(
        "eigenmaps, swiss roll 100,000, k = 10",
        roll(100_000),
        {
            "dualfold": ours("eigenmaps"),
            "scikit-learn arpack": ARPACK,
            "scikit-learn amg": AMG,
            "tapkee": TAPKEE,
            "PyMDE": PYMDE["PyMDE"],
            "umap": UMAP,
        },
        (Faster(1.5, ("scikit-learn arpack",)), Certified()),
    ),
}
