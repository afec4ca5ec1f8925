"""Locally linear embedding."""

from __future__ import annotations

from benchmarks.case import UMAP, Case, ours, peer, umap_from
from benchmarks.sets import images, roll
from benchmarks.verdicts import Certified, Faster

SIDES = {
    "dualfold": ours("lle"),
    "scikit-learn": peer("scikit_learn:lle"),
    "tapkee": peer("tapkee:reduced", method="lle"),
}

LLE = {
    "lle-mnist": Case(
        "LLE, MNIST 10,000, k = 10",
        images(10_000),
        SIDES | {"umap": umap_from("isomap-mnist")},
        (Faster(8, ("scikit-learn", "tapkee")), Certified()),
    ),
    "lle-roll": Case(
        "LLE, swiss roll 70,000, k = 10",
        roll(70_000),
        SIDES | {"umap": UMAP},
        (Faster(4, ("scikit-learn",)), Certified()),
    ),
}
