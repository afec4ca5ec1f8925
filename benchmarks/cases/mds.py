"""Classical scaling of points and of their distances."""

from __future__ import annotations

from benchmarks.case import Case, ours, peer, unable
from benchmarks.sets import image_distances, images
from benchmarks.verdicts import Certified, Faster, Memory

MDS = {
    "mds-mnist": Case(
        "classical MDS of 10,000 points (MNIST), Euclidean",
        images(10_000),
        {
            "dualfold": ours("mds"),
            "scikit-learn": peer("scikit_learn:mds"),
            "tapkee": peer("tapkee:reduced", method="mds"),
            "tapkee randomized": peer("tapkee:reduced", method="mds", eigen_method="randomized"),
        },
        (Faster(100, ("scikit-learn",)), Memory(0.5), Certified()),
    ),
    "mds-distances": Case(
        "classical MDS of the 10,000² distances themselves",
        image_distances(10_000),
        {
            "dualfold": ours("mds", metric="precomputed"),
            "scikit-learn": peer("scikit_learn:mds", metric="precomputed"),
            "tapkee": unable("takes features, not distances, from Python"),
        },
        (Faster(10, ("scikit-learn",)), Certified()),
    ),
}
