"""How often an audit judges the groups of a map rightly, on data whose truth is known.

    python -m benchmarks.calibration.groups             # 400 maps a cell: 10 minutes of CPU
    python -m benchmarks.calibration.groups --runs 2    # does it run?

First data without groups, which a map cuts into pieces: at any place, at the thinnest place, into
eight pieces, into eight pieces with crumbs between them that belong to none. Then data with
groups, drawn as these or on top of one another. Links, valleys and verdicts are those of an audit;
the groups of the map and the dimension of the data are given. Prints tables in Markdown;
docs/calibration.md has those of all of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold.data import swiss_roll
from dualfold.graph import nearest
from dualfold.judging.groups import LINKS_PER_POINT, Group, LinkedGroups, groups_with_verdicts
from dualfold.quality.picture import percent
from dualfold.quality.visible_groups import MapGroups

# Of cells with 1,000 rows and of those with groups, in parts of the others; of those with 10,000.
FEWER_PART = 4
FEW_MAPS = 20
# The data, and the coordinate along which a map cuts them.
Line = tuple[Any, Any]
# The data, and the group of each point on the map.
Drawn = tuple[Any, Any]


def along_line(t: Any) -> Line:
    return t[:, None], t


def curve(rng: np.random.Generator, n: int) -> Line:
    t = 6 * rng.random(n)
    return np.stack([np.cos(t), np.sin(t), t / 3], axis=1) + 0.001 * rng.normal(size=(n, 3)), t


def sheet(rng: np.random.Generator, n: int, aspect: float) -> Line:
    flat = rng.random((n, 2)) * [aspect, 1]
    return flat, flat[:, 0]


def cloud(rng: np.random.Generator, n: int, width: int, degrees: float = np.inf) -> Line:
    """Normal, or Student's t."""
    X = (
        rng.standard_normal((n, width))
        if np.isinf(degrees)
        else rng.standard_t(degrees, (n, width))
    )
    return X, X[:, 0]


def roll(rng: np.random.Generator, n: int) -> Line:
    made = swiss_roll(n, random_state=int(rng.integers(2**31)))
    return made.points, made.flat[:, 0]


def core_in_shell(rng: np.random.Generator, n: int, width: int, ratio: float) -> Line:
    """Two normal clouds with the same centre: one hill. Cut along the distance from it."""
    inner = rng.random(n) < 0.5
    X = rng.standard_normal((n, width)) * np.where(inner, 1 / ratio, 1.0)[:, None]
    return X, np.linalg.norm(X, axis=1)


# Name: dimension and sampler.
WITHOUT_GROUPS: dict[str, tuple[int, Callable[[np.random.Generator, int], Line]]] = {
    "uniform line": (1, lambda rng, n: along_line(rng.random(n))),
    "exponential line": (1, lambda rng, n: along_line(rng.exponential(size=n))),
    "normal line": (1, lambda rng, n: along_line(rng.standard_normal(n))),
    "Cauchy line": (1, lambda rng, n: along_line(rng.standard_cauchy(n))),
    "curve in 3-D": (1, curve),
    "sheet 100:1": (2, partial(sheet, aspect=100.0)),
    "sheet 1:1": (2, partial(sheet, aspect=1.0)),
    "Swiss roll": (2, roll),
    "normal cloud, 2-D": (2, partial(cloud, width=2)),
    "t cloud (2 degrees), 3-D": (3, partial(cloud, width=3, degrees=2.0)),
    "normal cloud, 10-D": (10, partial(cloud, width=10)),
    "core in a shell, 1:10, 2-D": (2, partial(core_in_shell, width=2, ratio=10.0)),
    "core in a shell, 1:10, 5-D": (5, partial(core_in_shell, width=5, ratio=10.0)),
    "core in a shell, 1:30, 2-D": (2, partial(core_in_shell, width=2, ratio=30.0)),
}
CUTS = ("anywhere", "thinnest", "eight pieces", "pieces and crumbs")
# Rows, families, cuts.
NULL_CELLS = (
    (200, tuple(WITHOUT_GROUPS), CUTS[:2]),
    (1_000, ("uniform line", "sheet 100:1"), CUTS[1:]),
    (1_000, ("normal cloud, 2-D",), CUTS[2:3]),
    (1_000, tuple(WITHOUT_GROUPS)[-3:], CUTS[:2]),
    (10_000, ("uniform line",), CUTS[1:3]),
)


def cut_codes(X: Any, t: Any, cut: str, rng: np.random.Generator) -> Any:
    """The groups of a map that cuts the data along t."""
    n, rank = len(t), np.argsort(np.argsort(t))
    if cut == "anywhere":
        return (rank > rng.uniform(0.2, 0.8) * n).astype(int)
    if cut == "thinnest":
        ends = rank[nearest(X, LINKS_PER_POINT, n_jobs=1).indices]
        low, high = np.minimum(rank[:, None], ends), np.maximum(rank[:, None], ends)
        links = np.bincount(low.ravel(), minlength=n) - np.bincount(high.ravel(), minlength=n)
        inner = np.cumsum(links)[n // 5 : -n // 5]
        return (rank > n // 5 + np.argmin(inner)).astype(int)
    piece = 8 * rank // n
    if cut == "eight pieces":
        return piece
    crumb = (8 * rank) % n < 8 * 15  # the first 15 points of each piece
    return np.where(crumb, -1, piece)


def clouds(
    rng: np.random.Generator, n: int, width: int, apart: float, share: float = 0.5, kinds: int = 2
) -> Drawn:
    """Normal clouds in a row, neighbours `apart` standard deviations from one another."""
    shares = [1 - share, share] if kinds == 2 else np.full(kinds, 1 / kinds)
    kind = rng.choice(kinds, size=n, p=shares)
    X = rng.standard_normal((n, width))
    X[:, 0] += apart * kind
    return X, kind


def segments(rng: np.random.Generator, n: int, gap: float, kinds: int = 2) -> Drawn:
    """Parts of one line with gaps, in parts of their length."""
    kind = rng.integers(kinds, size=n)
    return (rng.random(n) + (1 + gap) * kind)[:, None], kind


def thirds(rng: np.random.Generator, n: int, width: int) -> Drawn:
    """One normal cloud in three pieces (k-means), as clumping methods cut it."""
    X = rng.standard_normal((n, width))
    return X, KMeans(3, n_init=1, random_state=int(rng.integers(2**31))).fit_predict(X)


# Name: the right verdict, dimension, sampler.
WITH_GROUPS: dict[str, tuple[str, int, Callable[[np.random.Generator, int], Drawn]]] = {
    "two clouds 4 apart, 2-D": ("group", 2, partial(clouds, width=2, apart=4)),
    "two clouds 5 apart, 2-D": ("group", 2, partial(clouds, width=2, apart=5)),
    "two clouds 4 apart, 10-D": ("group", 10, partial(clouds, width=10, apart=4)),
    "two clouds 5 apart, 10-D": ("group", 10, partial(clouds, width=10, apart=5)),
    "two clouds 6 apart, 50-D": ("group", 50, partial(clouds, width=50, apart=6)),
    "two clouds 10 apart, 1-D": ("group", 1, partial(clouds, width=1, apart=10)),
    "ten to one, 6 apart, 10-D": ("group", 10, partial(clouds, width=10, apart=6, share=0.1)),
    "five clouds 6 apart, 10-D": ("group", 10, partial(clouds, width=10, apart=6, kinds=5)),
    "two segments of a line, gap 1/5": ("group", 1, partial(segments, gap=0.2)),
    "five segments of a line, gap 1/5": ("group", 1, partial(segments, gap=0.2, kinds=5)),
    "one cloud in three pieces, 10-D": ("torn", 10, partial(thirds, width=10)),
}
# Three clouds in a row, of which a map draws the first two as one.
TOGETHER = (4.0, 5.0, 6.0)


def judged(X: Any, codes: Any, dimension: float) -> tuple[Group, ...]:
    """The groups of a map, with their verdicts."""
    sizes = np.bincount(codes[codes >= 0])
    near = nearest(X, LINKS_PER_POINT, n_jobs=1)
    shown = MapGroups(codes, np.full(len(sizes), np.inf), sizes)
    radii = near.distances[:, -1]
    linked = LinkedGroups(shown, codes, near.indices, dimension, radii=radii)
    return groups_with_verdicts(linked)[0]


def false_groups(family: str, n: int, cut: str, seed: int) -> list[bool]:
    """Whether any piece is called a group, and whether any is said to hold two."""
    rng = np.random.default_rng([8, n, seed])
    dimension, sample = WITHOUT_GROUPS[family]
    X, t = sample(rng, n)
    found = judged(X, cut_codes(X, t, cut, rng), dimension)
    return [any(one.verdict == "group" for one in found), any(one.parts for one in found)]


def right_share(family: str, n: int, seed: int) -> list[float]:
    """The shares of the groups of a map that are judged rightly, and wrongly."""
    truth, dimension, sample = WITH_GROUPS[family]
    found = judged(*sample(np.random.default_rng([9, n, seed]), n), dimension)
    said = [one.verdict for one in found]
    return [
        said.count(truth) / len(said),
        1 - sum(map(said.count, (truth, "undecided"))) / len(said),
    ]


def held_two(apart: float, n: int, seed: int) -> list[bool]:
    """Whether two clouds that are drawn as one are found."""
    X, kind = clouds(np.random.default_rng([10, n, seed]), n, 10, apart, kinds=3)
    return [judged(X, np.maximum(kind - 1, 0), 10)[0].parts is not None]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--subject", default="groups", help="name of the file with the runs")
    given = parser.parse_args()
    stored, few = StoredRuns(given.subject), -(-given.runs // FEWER_PART)
    rows = []
    for n, names, cuts in NULL_CELLS:
        for name in names:
            for cut in cuts:
                count = {200: given.runs, 1_000: few}.get(n, min(few, FEW_MAPS))
                cell = f"{name}, {n}, {cut}"
                found = stored.of(cell, count, partial(false_groups, name, n, cut))
                shares = (percent(float(one)) for one in np.mean(found, axis=0))
                rows.append([name, f"{n:,}", cut, count, *shares])
    heads = ["data", "rows", "cut", "maps", "maps with a false group", "maps with a false two"]
    print(markdown(heads, rows), "\n", flush=True)
    rows = []
    for name, (truth, _, _) in WITH_GROUPS.items():
        for n in (200, 1_000):
            found = stored.of(f"{name}, {n}", few, partial(right_share, name, n))
            right, wrong = np.mean(found, axis=0)
            rows.append([name, truth, f"{n:,}", few, percent(float(right)), percent(float(wrong))])
    for apart in TOGETHER:
        found = stored.of(f"together {apart}", few, partial(held_two, apart, 1_000))
        name = f"two clouds {apart:g} apart drawn as one, 10-D"
        rows.append([name, "holds two", "1,000", few, percent(float(np.mean(found))), ""])
    print(markdown(["data", "right verdict", "rows", "maps", "right", "wrong"], rows))


if __name__ == "__main__":
    main()
