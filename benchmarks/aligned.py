"""Aligned maps of two series: `AlignedMaps`, AlignedUMAP (umap-learn), and fits laid over another.

    python -m benchmarks.aligned dualfold        # or: umap
    python -m benchmarks.aligned calibration     # or: power

The series: digits in overlapping batches, and the countries of gapminder (of plotly's wheel) by
year. Each side prints lines of JSON: processor seconds, movement of linked rows relative to the
map's radius, and the share of 10 neighbours of each slice that its map keeps.
"""

from __future__ import annotations

import json
import sys
import warnings
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np

BATCH_ROWS, STEP_ROWS, BATCHES = 400, 200, 5


def digits() -> tuple[list[Any], list[Any]]:
    """Overlapping batches of scikit-learn's digits, and links of successive ones."""
    from sklearn.datasets import load_digits

    X = load_digits().data
    starts = [t * STEP_ROWS for t in range(BATCHES)]
    shared = np.arange(BATCH_ROWS - STEP_ROWS)
    links = [np.column_stack([shared + STEP_ROWS, shared])] * (BATCHES - 1)
    return [X[start : start + BATCH_ROWS] for start in starts], links


def countries() -> tuple[list[Any], list[Any]]:
    """142 countries in six years: income, length of life and population, standardised."""
    from plotly.data import gapminder

    table = gapminder().sort_values(["year", "country"])
    table = table[table.year.isin(sorted(table.year.unique())[::2])]
    rows = np.column_stack([np.log(table.gdpPercap), table.lifeExp, np.log(table["pop"])])
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    slices = [rows[(table.year == year).to_numpy()] for year in sorted(table.year.unique())]
    every = np.arange(len(slices[0]))
    return slices, [np.column_stack([every, every])] * (len(slices) - 1)


SERIES = {"digits": digits, "countries": countries}


def row_of(side: str, slices: list[Any], links: list[Any], maps: list[Any]) -> dict[str, Any]:
    """What is printed of one side."""
    from sklearn.neighbors import NearestNeighbors

    def lists(rows: Any) -> Any:
        return NearestNeighbors(n_neighbors=10).fit(rows).kneighbors(return_distance=False)

    kept = [
        np.mean([len(set(a) & set(b)) / 10 for a, b in zip(lists(X), lists(Y), strict=True)])
        for X, Y in zip(slices, maps, strict=True)
    ]
    radius = np.sqrt(np.mean([np.sum(Y.var(axis=0)) for Y in maps]))
    moved = np.concatenate(
        [
            np.linalg.norm(one[pairs[:, 0]] - other[pairs[:, 1]], axis=1) / radius
            for (one, other), pairs in zip(pairwise(maps), links, strict=True)
        ]
    )
    return {
        "side": side,
        "moved_median": round(float(np.median(moved)), 3),
        "moved_95": round(float(np.quantile(moved, 0.95)), 3),
        "neighbors_kept": round(float(np.mean(kept)), 3),
    }


def dualfold_rows() -> None:
    """Eigenmaps and t-SNE, and t-SNE of each slice laid over the one before."""
    from dualfold import TSNE, AlignedMaps
    from dualfold.quality import procrustes

    for name, series in SERIES.items():
        slices, links = series()
        for method in ("eigenmaps", "tsne"):
            begin = process_time()
            model = AlignedMaps(method=method).fit(slices, links=links)
            row = row_of(f"AlignedMaps {method}", slices, links, model.embeddings_)
            found, seconds = model.certificate_, round(process_time() - begin, 1)
            row |= {"series": name, "cpu_seconds": seconds, "verdict": str(found)[:60]}
            print(json.dumps(row), flush=True)
        begin = process_time()
        maps = [TSNE().fit(slices[0]).embedding_.astype(float)]
        for X, pairs in zip(slices[1:], links, strict=True):
            own = TSNE().fit(X).embedding_.astype(float)
            near = procrustes(maps[-1][pairs[:, 0]], own[pairs[:, 1]], scale=1.0)
            maps.append(own @ near.rotation + near.shift)
        row = row_of("t-SNE, laid over the slice before", slices, links, maps)
        row |= {"series": name, "cpu_seconds": round(process_time() - begin, 1)}
        print(json.dumps(row), flush=True)


def umap_rows() -> None:
    """AlignedUMAP with its defaults; the first run compiles, the second is printed."""
    import umap

    for name, series in SERIES.items():
        slices, links = series()
        relations = [{int(a): int(b) for a, b in pairs} for pairs in links]
        for _ in range(2):
            begin = process_time()
            maps = umap.AlignedUMAP(random_state=0).fit(slices, relations=relations).embeddings_
        row = row_of("AlignedUMAP", slices, links, list(maps))
        row |= {"series": name, "cpu_seconds": round(process_time() - begin, 1)}
        print(json.dumps(row), flush=True)


def table_without_drift(name: str, seed: int, rows: int = 320) -> Any:
    """A random table of one kind, its rows in random order."""
    from sklearn.datasets import load_digits

    from dualfold.data import swiss_roll

    random = np.random.default_rng(seed)
    centres = 4.0 * np.random.default_rng(9).normal(size=(5, 6))
    return {
        "sheet": lambda: random.uniform(size=(rows, 2)) * [3, 1],
        "normal": lambda: random.normal(size=(rows, 5)),
        "roll": lambda: swiss_roll(rows, random_state=seed).points,
        "clusters": lambda: centres[random.integers(5, size=rows)] + random.normal(size=(rows, 6)),
        "digits": lambda: random.permutation(load_digits().data / 16)[:rows],
    }[name]()


def reports_without_drift(name: str, seeds: Any) -> int:
    """In how many series any row is reported: other rows come, linked ones stay as they are."""
    from dualfold import AlignedMaps

    reports = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            X = table_without_drift(name, seed)
            model = AlignedMaps().fit([X[:240], X[80:]], ids=[range(240), range(80, 320)])
            reports += int(model.drift_[0].any())
    return reports


def calibration() -> None:
    """Series without drift in which some row is reported, of 40 of each kind."""
    for name in ("sheet", "normal", "roll", "clusters", "digits"):
        found = reports_without_drift(name, range(200, 240))
        print(json.dumps({"table": name, "series": 40, "with_reports": found}), flush=True)


def power() -> None:
    """Five linked rows become others in six series of each kind: how many of them are reported."""
    from dualfold import AlignedMaps

    warnings.simplefilter("ignore")
    for name in ("sheet", "normal", "roll", "clusters", "digits"):
        found = others = 0
        for seed in range(300, 306):
            X, random = table_without_drift(name, seed), np.random.default_rng(seed)
            first, second = X[:240], X[80:].copy()
            gone = random.choice(160, 5, replace=False)
            to = random.choice(np.arange(160, 240), 5, replace=False)
            noise = 0.05 * X.std(axis=0) * random.normal(size=(5, X.shape[1]))
            second[gone] = second[to] + noise
            model = AlignedMaps().fit([first, second], ids=[range(240), range(80, 320)])
            named = np.flatnonzero(model.drift_[0])
            found += len(np.intersect1d(named, gone))
            others += len(np.setdiff1d(named, gone))
        line = {"table": name, "changed": 30, "reported": found, "others": others, "of": 930}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sides = {"dualfold": dualfold_rows, "umap": umap_rows, "calibration": calibration}
    sides |= {"power": power}
    if len(sys.argv) != 2 or sys.argv[1] not in sides:
        sys.exit(f"give one of {', '.join(sides)}")
    sides[sys.argv[1]]()
