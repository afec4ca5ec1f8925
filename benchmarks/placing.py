"""`python -m benchmarks.placing`: landmark eigenmaps beside "fit on a sample, transform the rest".

4,000 rows: 2,000 landmarks, 1,000 on which our fit measures what placing costs (and chooses between
two rules), and 1,000 that nobody has seen, whose neighbours are counted. The usual recipe has the
same landmarks: scikit-learn's SpectralEmbedding, which places no new rows, and a regression on the
nearest landmarks (KNeighborsRegressor with 5 or 10 of them, alike or by distance); the best of the
four is compared. "fitted" is our method with the 1,000 rows among the landmarks. A line of JSON for
each table: the share of 10 neighbours kept, a number for each of the seeds.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable

import numpy as np

from dualfold import LaplacianEigenmaps, scale
from dualfold.data import digits, mnist, swiss_roll
from dualfold.quality.ranks import t_similarity

ROWS, LANDMARKS, NEW, NEIGHBORS = 4_000, 2_000, 1_000, 10
RECIPES = [(count, weights) for count in (5, 10) for weights in ("uniform", "distance")]


def surface(seed: int) -> np.ndarray:
    """The surface of `benchmarks.scale`, two dimensions curved in 50 columns."""
    from benchmarks.scale import sheet

    return sheet(ROWS, seed)


def images(seed: int) -> np.ndarray:
    """Some of MNIST."""
    X = mnist().points
    return X[np.random.default_rng(seed).choice(len(X), ROWS, replace=False)].astype(float)


def small_images(seed: int) -> np.ndarray:
    """scikit-learn's 1,797 digits: 600 landmarks, 600 to measure the cost, 597 new ones."""
    X = digits().points.astype(float)
    return X[np.random.default_rng(seed).permutation(len(X))]


TABLES: dict[str, Callable[[int], np.ndarray]] = {
    "surface": surface,
    "roll": lambda seed: swiss_roll(ROWS, random_state=seed).points,
    "MNIST": images,
    "digits": small_images,
}


def kept(X: np.ndarray, places: np.ndarray, first: int) -> float:
    """The share of neighbours that rows from `first` on keep."""
    return float(np.mean(np.asarray(t_similarity(X, places, NEIGHBORS, per_point=True))[first:]))


def recipe(old: np.ndarray, new: np.ndarray) -> dict[str, float]:
    """scikit-learn's map of the sample, and its regressions for the others."""
    from sklearn.manifold import SpectralEmbedding
    from sklearn.neighbors import KNeighborsRegressor

    map_ = SpectralEmbedding(
        2, affinity="nearest_neighbors", n_neighbors=NEIGHBORS, eigen_solver="arpack",
        random_state=0,
    ).fit_transform(old)  # fmt: skip
    X = np.vstack([old, new])
    found = {}
    for count, weights in RECIPES:
        places = KNeighborsRegressor(count, weights=weights).fit(old, map_).predict(new)
        found[f"{count} {weights}"] = kept(X, np.vstack([map_, places]), len(old))
    return found


def one(name: str, seed: int) -> dict[str, object]:
    """One table: landmarks, rows that measure the cost, rows that nobody has seen."""
    import dask.array as da

    X = np.ascontiguousarray(TABLES[name](seed))
    count = LANDMARKS if len(X) == ROWS else 600
    seen = X[: len(X) - NEW] if len(X) == ROWS else X[:1_200]
    new = X[len(seen) :]
    rows = scale.table(da.from_array(seen, chunks=(500, X.shape[1])), landmarks=count)
    model = LaplacianEigenmaps(n_neighbors=NEIGHBORS).fit(rows)
    old = seen[model.landmark_rows_]
    both = np.vstack([old, new])
    ours = np.vstack([model.embedding_, model.transform(new)])
    whole = LaplacianEigenmaps(n_neighbors=NEIGHBORS).fit(both)
    return {
        "ours": kept(both, ours, len(old)),
        "rule": "few nearest" if model.placing_cost_.rule else "Nyström",
        "fitted": kept(both, whole.embedding_, len(old)),
    } | {"recipes": recipe(old, new)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # rolls have overtones, as they should have here
    for name in chosen.tables:
        runs = [one(name, seed) for seed in range(chosen.seeds)]
        best = [max(run["recipes"].values()) for run in runs]  # type: ignore[attr-defined]
        line = {key: [run[key] for run in runs] for key in ("ours", "rule", "fitted")}
        means = {"mean of ours": np.mean(line["ours"]), "mean of the best recipe": np.mean(best)}
        print(json.dumps({"table": name} | line | {"best recipe": best} | means), flush=True)


if __name__ == "__main__":
    main()
