"""How often an audit judges the groups of a map rightly, on data whose truth is known.

    python -m benchmarks.groups              # all families, 20 samples each: some minutes
    python -m benchmarks.groups --seeds 2    # does it run?

Data are generated, and maps are drawn on purpose: true groups apart, clouds and sheets with a gap
cut into them, groups on top of one another. Every map goes the way of an audit: groups by density,
links in the data, verdicts. Prints tables in Markdown; docs/audit.md has those of all of it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from dualfold.auditing.density import map_groups
from dualfold.auditing.groups import LINKS_PER_POINT, Group, LinkedGroups, groups_with_verdicts
from dualfold.data import swiss_roll
from dualfold.graph import nearest
from dualfold.recommendation import intrinsic_dimension

POINTS = 1_000
# How far apart groups are drawn, in standard deviations of one.
GAP = 10.0
Sample = tuple[Any, Any, Any]  # the data, their coordinates on a faithful map, the drawn groups
Family = Callable[[np.random.Generator], Sample]


def clouds(
    width: int, apart: float, *, share: float = 0.5, long: float = 1.0, kinds: int = 2
) -> Family:
    """Normal clouds, neighbours `apart` standard deviations from one another.

    share : of the points in the second; long : deviation of the second column
    """

    def drawn(rng: np.random.Generator) -> Sample:
        shares = [1 - share, share] if kinds == 2 else np.full(kinds, 1 / kinds)
        kind = rng.choice(kinds, size=POINTS, p=shares)
        X = rng.standard_normal((POINTS, width))
        X[:, 1] *= long
        flat = X[:, :2] / [1, long]
        X[:, 0] += apart * kind
        return X, flat, kind

    return drawn


def cut(width: int, at: float) -> Family:
    """One normal cloud with a gap at a quantile of its first column."""

    def drawn(rng: np.random.Generator) -> Sample:
        X = rng.standard_normal((POINTS, width))
        return X, X[:, :2], (X[:, 0] > np.quantile(X[:, 0], at)).astype(int)

    return drawn


def pieces(width: int) -> Family:
    """One normal cloud in three pieces (k-means), as clumping methods cut it."""

    def drawn(rng: np.random.Generator) -> Sample:
        X = rng.standard_normal((POINTS, width))
        kind = KMeans(3, n_init=1, random_state=int(rng.integers(2**31))).fit_predict(X)
        return X, X[:, :2], kind

    return drawn


def sheet(aspect: float) -> Family:
    """A flat sheet in ten dimensions, with noise, cut across its first side."""

    def drawn(rng: np.random.Generator) -> Sample:
        flat = rng.uniform(size=(POINTS, 2)) * [aspect, 1]
        X = np.pad(flat, ((0, 0), (0, 8))) + 0.02 * rng.standard_normal((POINTS, 10))
        return X, 4 * flat / flat.std(axis=0), (flat[:, 0] > aspect / 2).astype(int)

    return drawn


def roll(rng: np.random.Generator) -> Sample:
    """A Swiss roll, cut in the middle of its length."""
    made = swiss_roll(POINTS, random_state=int(rng.integers(2**31)))
    flat = made.flat / made.flat.std(axis=0)
    return made.points, 4 * flat, (flat[:, 0] > np.median(flat[:, 0])).astype(int)


def mixed(rng: np.random.Generator) -> Sample:
    """Two true groups of which every second point is drawn in the other."""
    X, flat, kind = clouds(10, 8)(rng)
    return X, flat, np.where(rng.uniform(size=POINTS) < 0.5, kind, 1 - kind)


def families() -> Iterator[tuple[str, str, Family]]:
    """Name, the right verdict, and the sampler of every family."""
    for apart in (4, 5, 6, 8):
        for width in (2, 10, 50):
            yield f"two clouds, {apart} apart, {width}-D", "group", clouds(width, apart)
    yield "long clouds (5:1) side by side, 6 apart, 10-D", "group", clouds(10, 6, long=5)
    yield "ten to one, 6 apart, 10-D", "group", clouds(10, 6, share=0.1)
    yield "five clouds in a row, 6 apart, 10-D", "group", clouds(10, 6, kinds=5)
    for width in (2, 10, 50):
        yield f"one cloud cut in the middle, {width}-D", "torn", cut(width, 0.5)
        yield f"a fifth of a cloud cut off, {width}-D", "torn", cut(width, 0.8)
        yield f"one cloud in three pieces, {width}-D", "torn", pieces(width)
    for aspect in (1, 4, 0.25):
        yield f"a sheet {aspect:g}:1 cut in two", "torn", sheet(aspect)
    yield "a Swiss roll cut in two", "torn", roll
    yield "two groups, points exchanged", "no group", mixed


def together() -> Iterator[tuple[str, bool, Family]]:
    """Maps of two groups of which the first holds two of the data, or one."""
    for apart in (4, 5, 6, 8):
        yield f"two clouds {apart} apart drawn as one, 10-D", True, clouds(10, apart, kinds=3)
    yield "one cloud drawn as one, 2-D", False, clouds(2, 20)
    yield "one cloud drawn as one, 10-D", False, clouds(10, 20)
    yield "a long cloud (5:1) drawn as one, 10-D", False, clouds(10, 40, long=5)
    yield "half of a sheet 4:1 drawn as one", False, sheet(4)


def judged(X: Any, flat: Any, kind: Any) -> tuple[tuple[Group, ...], Any]:
    """The groups of the map on which these kinds lie apart, and the kinds of their points."""
    turn = 2 * np.pi * kind / (kind.max() + 1)
    Y = flat + GAP * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    found = map_groups(Y)
    said = intrinsic_dimension(X)
    width = max(float(said.two_nn), float(said.levina_bickel))
    lists = nearest(X, LINKS_PER_POINT).indices
    groups, _ = groups_with_verdicts(LinkedGroups(found, found.codes, lists, width))
    return groups, found.codes


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="", help="families whose names hold this")
    given = parser.parse_args()
    seeds = given.seeds
    print("| data, and how they are drawn | right verdict | right | wrong | undecided |")
    print("|---|---|---|---|---|")
    for name, truth, family in families():
        if given.only not in name:
            continue
        said = Counter[str]()
        for seed in range(seeds):
            sample = family(np.random.default_rng(seed))
            said.update(one.verdict for one in judged(*sample)[0])
        print(_line(name, truth, said), flush=True)
    print("\n| one group of the map is | two found | wrong |\n|---|---|---|")
    for name, two, family in together():
        if given.only not in name:
            continue
        found = 0
        for seed in range(seeds):
            X, flat, kind = family(np.random.default_rng(seed))
            drawn = np.minimum(kind, 1) if not two else np.maximum(kind - 1, 0)
            groups, codes = judged(X, flat, drawn)
            mine = np.bincount(codes[(drawn == 0) & (codes >= 0)], minlength=len(groups))
            found += groups[int(np.argmax(mine))].parts is not None
        wrong = seeds - found if two else found
        print(f"| {name} | {found} of {seeds} | {wrong} |", flush=True)


def _line(name: str, truth: str, said: Counter[str]) -> str:
    total = sum(said.values())
    rights = {"group": ("group",), "torn": ("torn", "scattered"), "no group": ("torn", "scattered")}
    right = sum(said[one] for one in rights[truth])
    wrong = total - right - said["undecided"]
    shares = [f"{100 * count / total:.0f} %" for count in (right, wrong, said["undecided"])]
    return f"| {name} | {truth} | {' | '.join(shares)} |"


if __name__ == "__main__":
    main()
