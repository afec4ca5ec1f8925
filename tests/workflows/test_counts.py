"""Slower code is caught by what it counts, not by seconds, which change with the machine.

Small fixed problems, their counts (`dualfold.kernels.reports`) against `counts.json`. A
count may fall; one that grows by half fails. Compilers and instruction levels move some
of them by a few in a hundred (sums are rounded differently, so an iteration may take a
step more), which the room of one half allows for.

    python -m tests.workflows.test_counts            what is counted now, beside the baseline
    python -m tests.workflows.test_counts --update   make that the baseline (say why in the commit)
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dualfold import (
    MDS,
    PCA,
    TSNE,
    ClassicalMDS,
    Isomap,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    LocallyLinearEmbedding,
    NeighborhoodPreservingProjection,
)
from dualfold.data import digits, swiss_roll
from dualfold.graph import geodesic_distances, join_pieces, knn, nearest
from dualfold.quality import trustworthiness
from dualfold.unfolding import unfold
from tests.workflows.door import count_work, tally

BASELINE = Path(__file__).with_name("counts.json")
MOST = 1.5
COMMAND = "python -m tests.workflows.test_counts --update"


def roll(n: int) -> Any:
    return swiss_roll(n, random_state=0).points


def images() -> Any:
    return digits().points.astype(np.float32)


def distances() -> Any:
    from sklearn.metrics import pairwise_distances

    # Past 2,000 rows the solver iterates and its products count.
    return pairwise_distances(roll(2_500)).astype(np.float32)


def wide(n: int, search: str) -> Any:
    """Points around a few centres in 40 dimensions: too many for a kd-tree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 40))[rng.integers(20, size=n)] + 0.3 * rng.normal(size=(n, 40))
    return nearest(X.astype(np.float32), 10, search=search, random_state=0, n_jobs=2)


def cloud(n: int) -> Any:
    """The unfolding of points in 12 dimensions, whose graph has no small separators."""
    X = np.random.default_rng(0).normal(size=(n, 12))
    return unfold(join_pieces(knn(X, 6)), solver="low_rank", tol=1e-3, random_state=0)


def plane(X: Any) -> Any:
    return PCA(2).fit_transform(X)


PROBLEMS: dict[str, Callable[[], Any]] = {
    "eigenmaps of a roll": lambda: LaplacianEigenmaps(n_neighbors=10).fit(roll(8_000)),
    "eigenmaps of digits": lambda: LaplacianEigenmaps(n_neighbors=10).fit(images()),
    "LLE of a roll": lambda: LocallyLinearEmbedding(n_neighbors=10).fit(roll(5_000)),
    "LLE of digits": lambda: LocallyLinearEmbedding(n_neighbors=10).fit(images()),
    "LTSA of digits": lambda: LocallyLinearEmbedding(n_neighbors=30, method="ltsa").fit(
        images()[:1_000]
    ),
    "Isomap of a roll": lambda: Isomap(n_neighbors=10, landmarks=None).fit(roll(3_000)),
    "Isomap of digits": lambda: Isomap(n_neighbors=10, landmarks=None).fit(images()),
    "landmark Isomap of a roll": lambda: Isomap(n_neighbors=10, landmarks=200, random_state=0).fit(
        roll(10_000)
    ),
    "MDS of a roll": lambda: ClassicalMDS().fit(roll(10_000)),
    "MDS of distances": lambda: ClassicalMDS(metric="precomputed").fit(distances()),
    "stress of a roll": lambda: MDS(n_init=1, random_state=0).fit(roll(400)),
    "PCA of digits": lambda: PCA(20).fit(images()),
    "LPP of digits": lambda: LocalityPreservingProjection(n_neighbors=10).fit(images()),
    "NPP of digits": lambda: NeighborhoodPreservingProjection(n_neighbors=10).fit(images()),
    "unfolding of a cloud": lambda: cloud(400),
    "neighbours in 3 dimensions": lambda: nearest(roll(10_000), 10),
    "neighbours in 40 dimensions": lambda: wide(8_000, "auto"),
    "approximate neighbours": lambda: wide(8_000, "approximate"),
    "t-SNE of digits": lambda: TSNE(max_iter=300, random_state=0).fit(images()),
    "trustworthiness of digits": lambda: trustworthiness(images(), plane(images()), n_neighbors=50),
}


def counts_of(problem: str) -> dict[str, int]:
    with warnings.catch_warnings(), count_work() as work:
        warnings.simplefilter("ignore")  # digits fall into pieces, and are joined
        PROBLEMS[problem]()
    return {what: int(n) for what, n in sorted(work.items()) if not what.startswith("seconds")}


def grown(counts: dict[str, int], baseline: dict[str, int]) -> list[str]:
    """What was counted more than MOST times as often as the baseline says, in words."""
    return [
        f"{what}: {count:,} now, {baseline.get(what, 0):,} in the baseline"
        for what, count in counts.items()
        if count > MOST * baseline.get(what, 0)
    ]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_no_more_work_than_before(problem: str) -> None:
    baseline = json.loads(BASELINE.read_text())
    assert problem in baseline, f"{problem!r} has no baseline yet; make it: {COMMAND}"
    counts = counts_of(problem)
    # A count that is gone would be compared with nothing from then on.
    gone = set(baseline[problem]) - set(counts)
    assert not gone, f"{problem}: {gone} is counted no more; if that is meant: {COMMAND}"
    more = grown(counts, baseline[problem])
    assert not more, (
        f"{problem} does more than {MOST} times the work it did. {'; '.join(more)}. "
        f"If that is meant, make it the new baseline and say why in the commit: {COMMAND}"
    )


def test_visits_are_those_of_the_kernel() -> None:
    """Every node at least once for each patch of 16 sources, each by hand or not at all."""
    graph = knn(roll(1_000), 10)
    with count_work() as work:
        geodesic_distances(graph, np.arange(32))
    assert work["geodesic visits"] >= 2 * graph.n
    with count_work() as none:
        geodesic_distances(graph, np.arange(0))
    assert none["geodesic visits"] == 0


def test_who_listens_hears_everything_said_meanwhile() -> None:
    tally("knocks", 1)
    with count_work() as outer:
        tally("knocks", 2)
        with count_work() as inner:
            tally("knocks", 3)
    tally("knocks", 4)
    assert (outer["knocks"], inner["knocks"]) == (5, 3)


def test_growth_is_seen_and_shrinking_is_welcome() -> None:
    before = {"products": 100, "distances": 10}
    assert grown({"products": 150, "distances": 1}, before) == []
    assert len(grown({"products": 151, "distances": 1, "visits": 1}, before)) == 2


def main() -> None:
    counts = {problem: counts_of(problem) for problem in PROBLEMS}
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    for problem, found in counts.items():
        for what, count in found.items():
            print(f"{problem}, {what}: {count:,} ({baseline.get(problem, {}).get(what, 0):,})")
    if "--update" in sys.argv:
        BASELINE.write_text(json.dumps(counts, indent=1) + "\n")


if __name__ == "__main__":
    main()
