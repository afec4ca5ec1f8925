"""A roll of a million points; ours alone, the peers are known to fail or take hours."""

from __future__ import annotations

from benchmarks.case import Case, ours, peer, unable
from benchmarks.sets import roll
from benchmarks.verdicts import Certified, Memory, Seconds

WISHES = (Seconds(120), Memory(8.0), Certified())

MILLION = {
    "million-eigenmaps": Case(
        "eigenmaps, swiss roll 1,000,000, k = 10",
        roll(1_000_000),
        {"dualfold": ours("eigenmaps")},
        WISHES,
    ),
    "million-lle": Case(
        "LLE, swiss roll 1,000,000, k = 10", roll(1_000_000), {"dualfold": ours("lle")}, WISHES
    ),
    "million-landmarks": Case(
        "Isomap by landmarks, swiss roll 1,000,000, k = 10",
        roll(1_000_000),
        {
            "dualfold": ours("isomap"),
            "scikit-learn": unable("needs n×n distances: 8 TB"),
        },
        (Seconds(120), Memory(8.0), Certified(about="landmarks")),
    ),
    "million-pca": Case(
        "PCA, swiss roll 1,000,000 → 2",
        roll(1_000_000),
        {
            "dualfold": ours("pca", n_components=2),
            "scikit-learn": peer("scikit_learn:pca", n_components=2),
        },
        WISHES,
    ),
}
