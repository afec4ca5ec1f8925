"""Maps that show groups where the data have none: does an audit say so?

    python -m benchmarks.impostors              # 20 maps of each kind: some 20 minutes of CPU
    python -m benchmarks.impostors --maps 2 --kinds tsne
    pip install umap-learn                      # for the rows of UMAP; left out without it

t-SNE with a small perplexity and UMAP with few neighbours clump one normal cloud into visible
groups. Samples whose map shows no groups are passed over, so that every map that is counted is one
that deceives. Shuffled tables: two columns of diabetes, and iris, whose petals have two humps each:
shuffled they make four groups, which are there. Then the same settings on tables with groups.
Each audit runs the method again on 19 shuffled and 19 normal tables. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_iris, load_wine, make_blobs

import dualfold
from dualfold import TSNE
from dualfold.data import digits
from dualfold.quality.visible_groups import map_groups

ROWS = 400
Maker = Callable[[Any, int], Any]


def tsne(perplexity: float) -> Maker:
    """t-SNE of ours."""
    return lambda X, seed: TSNE(2, perplexity=perplexity, random_state=seed).fit_transform(X)


def umap(n_neighbors: int) -> Maker:
    """UMAP with points as close as they like."""

    def made(X: Any, seed: int) -> Any:
        from umap import UMAP

        settings = {"n_neighbors": n_neighbors, "min_dist": 0.0}
        return UMAP(random_state=seed, n_jobs=1, **settings).fit_transform(X)

    return made


def one_cloud(seed: int) -> Any:
    """A normal cloud in two dimensions: nothing has to be left out of the map."""
    return np.random.default_rng(seed).standard_normal((ROWS, 2))


def shuffled_diabetes(seed: int) -> Any:
    """Body mass and blood pressure of 442 people, each column shuffled: no humps."""
    rng = np.random.default_rng(seed)
    two = load_diabetes().data[:, 2:4]
    return np.stack([rng.permutation(column) for column in two.T], axis=1)


def shuffled_iris(seed: int) -> Any:
    """Measurements of iris, every column shuffled; petals have two humps each."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(column) for column in load_iris().data.T], axis=1)


def iris(seed: int) -> Any:
    """Nine tenths of it."""
    return _some(load_iris().data, seed)


def wine(seed: int) -> Any:
    """Nine tenths of it, columns of one weight."""
    X = load_wine().data
    return _some((X - X.mean(axis=0)) / X.std(axis=0), seed)


def some_digits(seed: int) -> Any:
    """Images of four digits."""
    images = digits()
    return _some(images.points[np.isin(images.labels, (0, 1, 4, 6))], seed)[:ROWS]


def blobs(seed: int) -> Any:
    """Four normal clouds in ten dimensions, 8 standard deviations apart or more."""
    return make_blobs(ROWS, 10, centers=8 * np.eye(4, 10) / np.sqrt(2), random_state=seed)[0]


def _some(X: Any, seed: int) -> Any:
    return X[np.random.default_rng(seed).permutation(len(X))[: len(X) * 9 // 10]]


def kinds() -> Iterator[tuple[str, bool, Callable[[int], Any], Maker]]:
    """Name, whether there are groups, the data, the method."""
    yield "one normal cloud, tsne, perplexity 5", False, one_cloud, tsne(5)
    yield "one normal cloud, umap, 4 neighbours", False, one_cloud, umap(4)
    yield "diabetes shuffled, tsne, perplexity 5", False, shuffled_diabetes, tsne(5)
    yield "diabetes shuffled, umap, 4 neighbours", False, shuffled_diabetes, umap(4)
    yield "iris shuffled, tsne, perplexity 10", False, shuffled_iris, tsne(10)
    yield "iris shuffled, umap, 5 neighbours", False, shuffled_iris, umap(5)
    yield "four clouds, tsne, perplexity 5", True, blobs, tsne(5)
    yield "four clouds, umap, 5 neighbours", True, blobs, umap(5)
    yield "iris, tsne, perplexity 10", True, iris, tsne(10)
    yield "wine, tsne, perplexity 10", True, wine, tsne(10)
    yield "digits 0 1 4 6, tsne, perplexity 10", True, some_digits, tsne(10)


def measured(
    sample: Callable[[int], Any], make: Maker, maps: int, rerun: int
) -> list[tuple[int, bool, bool | None]]:
    """Groups on the map, whether the data have one, whether the method draws such groups anywhere.

    rerun : the last one is asked of so many maps
    """
    found: list[tuple[int, bool, bool | None]] = []
    for seed in range(20 * maps):
        X = sample(seed)
        Y = np.asarray(make(X, seed), dtype=float)
        if map_groups(Y).count < 2:
            continue
        again = len(found) < rerun
        one = dualfold.audit(X, Y, method=make if again else None, n_repeats=0, random_state=seed)
        anywhere = None if one.impostors is None else not one.impostors.supported
        found.append((len(one.groups), one.supported, anywhere))
        if len(found) == maps:
            break
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--maps", type=int, default=20)
    parser.add_argument("--rerun", type=int, default=20, help="maps whose method runs again")
    parser.add_argument("--kinds", default="", help="only those whose name holds this")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| data and method | maps with groups | groups each | supported | drawn anywhere |")
    print("|---|---|---|---|---|")
    for name, _, sample, make in kinds():
        if asked.kinds not in name:
            continue
        try:
            found = measured(sample, make, asked.maps, asked.rerun)
        except ImportError as error:
            print(f"| {name} | not run: {error} | | | |", flush=True)
            continue
        counts = [one[0] for one in found]
        spread = f"{min(counts)} to {max(counts)}" if counts else ""
        links, both = sum(one[1] for one in found), [one[2] for one in found if one[2] is not None]
        print(
            f"| {name} | {len(found)} | {spread} | {links} | {sum(both)} of {len(both)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
