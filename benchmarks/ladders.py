"""For each method: the data of its growth, our side and the peers that climb beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.case import Case, Side, ours, peer
from benchmarks.cases.neighbour_maps import TSNES
from benchmarks.sets import Maker, gaussian, gaussian_and_plane, gaussian_distances, groups, roll


@dataclass(frozen=True)
class Ladder:
    """A method, what it is measured on, and who climbs beside it."""

    title: str
    data: Callable[[int], Maker]
    sides: dict[str, Side]


def _roll(title: str, sides: dict[str, Side]) -> Ladder:
    return Ladder(f"{title} (swiss roll)", roll, sides)


def _lle(title: str, method: str, theirs: str, tapkee: str | None) -> Ladder:
    sides = {
        "dualfold": ours("lle", method=method),
        "scikit-learn": peer("scikit_learn:lle", method=theirs),
    }
    if tapkee:
        sides["tapkee"] = peer("tapkee:reduced", method=tapkee)
    return _roll(title, sides)


def _linear_map(title: str, estimator: str, tapkee: str | None) -> Ladder:
    sides = {"dualfold": ours("projection", name=estimator)}
    if tapkee:
        sides["tapkee"] = peer("tapkee:reduced", method=tapkee)
    return Ladder(f"{title} (Gaussian, 20 columns)", lambda n: gaussian(n, 20), sides)


LADDERS: dict[str, Ladder] = {
    "pca": Ladder(
        "PCA (Gaussian, 50 columns)",
        lambda n: gaussian(n, 50),
        {
            "dualfold": ours("pca", n_components=10),
            "scikit-learn": peer("scikit_learn:pca", n_components=10),
            "tapkee": peer("tapkee:reduced", method="pca"),
        },
    ),
    "mds": Ladder(
        "classical MDS (Gaussian, 50 columns)",
        lambda n: gaussian(n, 50),
        {
            "dualfold": ours("mds"),
            "scikit-learn": peer("scikit_learn:mds"),
            "tapkee": peer("tapkee:reduced", method="mds"),
        },
    ),
    "mds-distances": Ladder(
        "classical MDS of distances",
        gaussian_distances,
        {
            "dualfold": ours("mds", metric="precomputed"),
            "scikit-learn": peer("scikit_learn:mds", metric="precomputed"),
        },
    ),
    "isomap": _roll(
        "Isomap",
        {
            "dualfold": ours("isomap", exact=True),
            "scikit-learn": peer("scikit_learn:isomap"),
            "tapkee": peer("tapkee:reduced", method="isomap"),
        },
    ),
    "landmark-isomap": _roll(
        "Isomap by landmarks",
        {
            "dualfold": ours("isomap", like=1_000_000),
            "tapkee": peer("tapkee:reduced", method="l-isomap", landmarks=500),
        },
    ),
    "lle": _lle("LLE", "standard", "standard", "lle"),
    "modified-lle": _lle("modified LLE", "modified", "modified", None),
    "hessian-lle": _lle("Hessian LLE", "hessian", "hessian", "hlle"),
    "ltsa": _lle("LTSA", "ltsa", "ltsa", "ltsa"),
    "eigenmaps": _roll(
        "eigenmaps",
        {
            "dualfold": ours("eigenmaps"),
            "scikit-learn arpack": peer("scikit_learn:eigenmaps"),
            "scikit-learn amg": peer("scikit_learn:eigenmaps_amg"),
            "tapkee": peer("tapkee:reduced", method="laplacian_eigenmaps"),
            "PyMDE": peer("pymde:recipe"),
            "umap": Side("umap:umap_map", "context"),
        },
    ),
    "tsne": Ladder(
        "t-SNE, 750 rounds (100 normal groups, 50 columns)",
        lambda n: groups(n, 50, 100, judged=False),
        TSNES,
    ),
    "mvu": _roll(
        "maximum variance unfolding, low rank, to a gap of 1e-3",
        {"dualfold": ours("unfolding", tol=1e-3, solver="low_rank")},
    ),
    "lpp": _linear_map("LPP", "LocalityPreservingProjection", "lpp"),
    "orthogonal-lpp": _linear_map("orthogonal LPP", "OrthogonalLPP", None),
    "npp": _linear_map("NPP", "NeighborhoodPreservingProjection", "npe"),
    "orthogonal-npp": _linear_map("orthogonal NPP", "OrthogonalNPP", None),
    "random-projection": Ladder(
        "random projection (Gaussian, 50 columns)",
        lambda n: gaussian(n, 50),
        {"dualfold": ours("random_projection")},
    ),
    "neighbours": Ladder(
        "10 neighbours (Gaussian, 50 columns)",
        lambda n: gaussian(n, 50),
        {
            "dualfold": ours("neighbours"),
            "dualfold approximate": ours("neighbours", search="approximate"),
            "faiss Flat": Side("faiss:flat", environment={"OPENBLAS_CORETYPE": "SkylakeX"}),
            "scikit-learn": peer("scikit_learn:neighbours"),
        },
    ),
    "trustworthiness": Ladder(
        "trustworthiness (Gaussian, 50 columns, its leading plane)",
        lambda n: gaussian_and_plane(n, 50),
        {
            "dualfold": ours("trustworthiness"),
            "scikit-learn": peer("scikit_learn:trustworthiness_of_map"),
        },
    ),
}


def rung(method: str, n: int) -> Case:
    """A ladder at n points, as a case."""
    ladder = LADDERS[method]
    return Case(f"{ladder.title}, {n:,}", ladder.data(n), ladder.sides)
