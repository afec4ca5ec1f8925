"""Isomap of all points, and of landmarks."""

from __future__ import annotations

from benchmarks.case import UMAP, Case, ours, peer, unable
from benchmarks.sets import images, roll
from benchmarks.verdicts import Certified, Faster, Memory, SameQuality, TimesStage

TAPKEE = peer("tapkee:reduced", method="isomap")

ISOMAP = {
    "isomap-roll": Case(
        "Isomap exact, swiss roll 10,000, k = 10",
        roll(10_000),
        {
            "dualfold": ours("isomap", exact=True),
            "scikit-learn": peer("scikit_learn:isomap"),
            "tapkee": TAPKEE,
            "umap": UMAP,
        },
        (Faster(8, ("scikit-learn", "tapkee")), Memory(1.0), Certified()),
    ),
    "isomap-mnist": Case(
        "Isomap exact, MNIST 10,000, k = 10",
        images(10_000),
        {
            "dualfold": ours("isomap", exact=True),
            "scikit-learn": peer("scikit_learn:isomap"),
            "tapkee": TAPKEE,
            "umap": UMAP,
        },
        (Faster(8, ("scikit-learn",)), Certified()),
    ),
    "isomap-landmarks": Case(
        "Isomap by landmarks, MNIST 70,000, k = 10",
        images(70_000),
        {
            "dualfold": ours("isomap", like=70_000),
            "tapkee": peer("tapkee:reduced", method="l-isomap", landmarks=529),
            "scikit-learn": unable("needs n×n distances: 39 GB"),
            "umap": UMAP,
        },
        (TimesStage(1.5, "neighbours"), Memory(3.0), Certified(about="landmarks")),
    ),
    "isomap-landmarks-quality": Case(
        "the same landmarks against exact, MNIST 10,000",
        images(10_000),
        {"dualfold": ours("isomap", like=70_000), "dualfold exact": ours("isomap", exact=True)},
        (SameQuality("dualfold exact"),),
    ),
}
