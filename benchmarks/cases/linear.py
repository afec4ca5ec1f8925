"""Linear maps that keep neighbourhoods."""

from __future__ import annotations

from benchmarks.case import Case, ours, peer
from benchmarks.cases.eigenmaps import IMAGES_WIDTH
from benchmarks.sets import images
from benchmarks.verdicts import Certified, Faster

LINEAR = {
    f"{short}-mnist": Case(
        f"{short.upper()}, MNIST 10,000, k = 10",
        images(10_000),
        {
            "dualfold": ours("projection", name=estimator),
            "tapkee": peer("tapkee:reduced", method=theirs, squared_width=IMAGES_WIDTH),
        },
        (Faster(5, ("tapkee",)), Certified()),
    )
    for short, estimator, theirs in (
        ("lpp", "LocalityPreservingProjection", "lpp"),
        ("npp", "NeighborhoodPreservingProjection", "npe"),
    )
}
