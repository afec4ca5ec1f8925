"""Measures of a map: exact ranks of neighbours, counted beside scikit-learn's.

The map is the plane of the two leading principal components: bad enough that neighbours
on it lie at every rank in the data, the hard case for counting ranks.
"""

from __future__ import annotations

from benchmarks.case import Case, ours, peer, unable
from benchmarks.sets import images_and_plane
from benchmarks.verdicts import AsMuch, Faster, LessMemory, Memory, Seconds

QUALITY = {
    "trustworthiness-mnist": Case(
        "trustworthiness, MNIST 20,000×784, k = 10",
        images_and_plane(20_000),
        {
            "dualfold": ours("trustworthiness"),
            "scikit-learn": peer("scikit_learn:trustworthiness_of_map"),
        },
        (
            Faster(5, ("scikit-learn",)),
            LessMemory(0.1, "scikit-learn"),
            AsMuch("trustworthiness", "scikit-learn", within=1e-6),
        ),
    ),
    "neighbourhoods-mnist": Case(
        "trustworthiness, continuity and t-similarity, MNIST 70,000, k = 10",
        images_and_plane(70_000),
        {
            "dualfold": ours("neighbourhoods"),
            "scikit-learn": unable("needs n×n distances and ranks: about 90 GiB"),
        },
        (Seconds(240), Memory(3.0)),
        limit=600.0,
    ),
    "report-mnist": Case(
        "every measure of a map, MNIST 70,000",
        images_and_plane(70_000, labels=True),
        {
            "dualfold": ours("report"),
            "dualfold 1,000 drawn": ours("report", sample=1_000),
        },
        (Memory(3.0),),
        limit=900.0,
    ),
}
