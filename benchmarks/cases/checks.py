"""What `python -m benchmarks --check` runs: ratios to a peer or to a floor, on generated data.

Sizes are small enough for five seeds of all of them in a quarter of an hour on two cores. A ratio
is the time of the other side over ours, so that more is better; it is the same on a fast machine
and a slow one, which seconds are not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.case import Case, Side, ours, peer
from benchmarks.cases.neighbour_maps import TSNES
from benchmarks.cases.unfolding import UNFOLDING
from benchmarks.sets import gaussian, gaussian_and_plane, gaussian_distances, roll, roll_edges

WISH = "the wish of the case {} in benchmarks/cases"
SMALLER = "half of the wish of the case {}, whose size is larger, or less (one-clock.md)"
FLOOR = "docs/dev/notes/one-clock.md: what the measured machine allows"


@dataclass(frozen=True)
class Check:
    """One ratio: its case, the other side, the least that is wanted, and where that comes from.

    published : the case of the data file that shows the same work at its full size, or nothing
    """

    case: Case
    other: str
    wanted: float
    source: str
    published: str = ""


def _beside(title: str, data: object, mine: Side, other: str, theirs: Side) -> Case:
    return Case(title, data, {"dualfold": mine, other: theirs}, limit=120.0)  # type: ignore[arg-type]


CHECKS: dict[str, Check] = {
    "isomap": Check(
        _beside("Isomap, roll 5,000", roll(5_000), ours("isomap", exact=True),
                "scikit-learn", peer("scikit_learn:isomap")),
        "scikit-learn", 4.0, SMALLER.format("isomap-roll"), "isomap-roll",
    ),
    "lle": Check(
        _beside("LLE, roll 20,000", roll(20_000), ours("lle"),
                "scikit-learn", peer("scikit_learn:lle")),
        "scikit-learn", 2.0, SMALLER.format("lle-roll"), "lle-roll",
    ),
    "eigenmaps": Check(
        _beside("eigenmaps, roll 50,000", roll(50_000), ours("eigenmaps"),
                "scikit-learn arpack", peer("scikit_learn:eigenmaps")),
        "scikit-learn arpack", 1.0, SMALLER.format("eigenmaps-roll"), "eigenmaps-roll",
    ),
    "eigenmaps-amg": Check(
        _beside("eigenmaps, roll 50,000", roll(50_000), ours("eigenmaps"),
                "scikit-learn amg", peer("scikit_learn:eigenmaps_amg")),
        "scikit-learn amg", 1.0, "docs/dev/notes/one-clock.md: not behind the quickest peer",
    ),
    "neighbours": Check(
        _beside("10 neighbours, normal cloud 30,000×50", gaussian(30_000, 50), ours("neighbours"),
                "faiss Flat",
                Side("faiss:flat", environment={"OPENBLAS_CORETYPE": "SkylakeX"})),
        "faiss Flat", 1.0, "docs/dev/notes/one-clock.md: not behind the quickest peer",
        "neighbours-mnist",
    ),
    "trustworthiness": Check(
        _beside("trustworthiness, 5,000×50", gaussian_and_plane(5_000, 50), ours("trustworthiness"),
                "scikit-learn", peer("scikit_learn:trustworthiness_of_map")),
        "scikit-learn", 5.0, WISH.format("trustworthiness-mnist"), "trustworthiness-mnist",
    ),
    "mds-distances": Check(
        _beside("classical MDS of 2,000² distances", gaussian_distances(2_000),
                ours("mds", metric="precomputed"),
                "scikit-learn", peer("scikit_learn:mds", metric="precomputed")),
        "scikit-learn", 1.0, SMALLER.format("mds-distances"),
        "mds-distances",
    ),
    "tsne": Check(
        Case("t-SNE, normal cloud 2,000×20, 750 rounds", gaussian(2_000, 20), TSNES, limit=300.0),
        "openTSNE", 3.0, WISH.format("tsne-mnist-10k"), "tsne-mnist-10k",
    ),
    "unfolding": Check(
        replace(UNFOLDING["unfolding-100"], title="unfolding, roll 50, k = 6", data=roll_edges(50)),
        "CVXPY Clarabel",
        20.0,
        SMALLER.format("unfolding-100"),
        "unfolding-100",
    ),
    "pca-floor": Check(
        _beside("PCA, normal cloud 40,000×400 → 50", gaussian(40_000, 400), ours("pca"),
                "floor", Side("floor:pca", "floor")),
        "floor", 1 / 1.2, WISH.format("pca-mnist"), "pca-mnist",
    ),
    "scatter-peak": Check(
        _beside("scatter, normal cloud 40,000×400: n·D²/2 multiply-adds", gaussian(40_000, 400),
                ours("scatter"), "peak", Side("floor:multiply_adds_of_scatter", "floor")),
        "peak", 0.8, FLOOR,
    ),
    "projection-bandwidth": Check(
        _beside("projection, 1,000,000×20 → 2: the table is read once", gaussian(1_000_000, 20),
                ours("projected"), "bandwidth", Side("floor:bytes_of_table", "floor")),
        "bandwidth", 0.05, FLOOR,
    ),
}  # fmt: skip
