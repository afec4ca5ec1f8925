"""Maps of rows that arrive day by day: kept by verdict, fitted again each day, or AlignedUMAP.

    python -m benchmarks.living_maps digits          # or: mixture, countries
    python -m benchmarks.living_maps digits --umap   # AlignedUMAP (umap-learn)

Old rows stay on the map. Three sides: `extend`, and `refit` when the verdict says so; eigenmaps
fitted again each day and laid over the day before by Procrustes; AlignedUMAP of all days at once
(its `update` optimises all days again, each day). One line of JSON a day, and one for the series:
staleness, refits, movement of old points relative to the map's radius, neighbours kept of 10,
processor seconds.
"""

from __future__ import annotations

import argparse
import json
import warnings
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np

from benchmarks.updates import BORN_DAY, BORN_SHARE, DRIFT, mixture_day

N_NEIGHBORS = 10


def digits() -> list[Any]:
    """450 of scikit-learn's digits, then eight days of 150."""
    from sklearn.datasets import load_digits

    X = load_digits().data / 16
    X = X[np.random.default_rng(0).permutation(len(X))]
    return [X[:450], *(X[start : start + 150] for start in range(450, 1650, 150))]


def mixture() -> list[Any]:
    """500 rows of five groups that drift, then eight days of 300; a sixth is born on day 6."""
    random = np.random.default_rng(0)
    centres = 3.0 * random.normal(size=(5, 10)) * (np.arange(10) < 9)
    drift = DRIFT * random.normal(size=centres.shape)
    days = [mixture_day(random, centres, 500)]
    for day in range(1, 9):
        born = BORN_SHARE if day >= BORN_DAY else 0.0
        days.append(mixture_day(random, centres + day * drift, 300, born))
    return days


def countries() -> list[Any]:
    """142 countries by year (gapminder, of plotly's wheel): four years, then one at a time."""
    from plotly.data import gapminder

    table = gapminder().sort_values(["year", "country"])
    rows = np.column_stack([np.log(table.gdpPercap), table.lifeExp, np.log(table["pop"])])
    years = np.split(rows, len(rows) // 142)
    first = np.vstack(years[:4])
    mean, spread = first.mean(axis=0), first.std(axis=0)
    return [(one - mean) / spread for one in [first, *years[4:]]]


SERIES = {"digits": digits, "mixture": mixture, "countries": countries}


def kept_by_map(X: Any, Y: Any) -> float:
    """The share of the 10 nearest rows in the data that are nearest on the map."""
    from sklearn.neighbors import NearestNeighbors

    lists = [
        NearestNeighbors(n_neighbors=10).fit(rows).kneighbors(return_distance=False)
        for rows in (X, Y)
    ]
    return float(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(*lists, strict=True)]))


def moved(old: Any, new: Any) -> float:
    """The median distance of old points, relative to the radius of the old map."""
    radius = np.sqrt(np.mean(np.sum((old - old.mean(axis=0)) ** 2, axis=1)))
    return float(np.median(np.linalg.norm(new[: len(old)] - old, axis=1)) / radius)


def report(series: str, side: str, **facts: Any) -> None:
    """One line of JSON, numbers to three digits."""
    short = {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in facts.items()}
    print(json.dumps({"series": series, "side": side} | short), flush=True)


def kept_by_verdict(series: str, days: list[Any]) -> None:
    """`extend` each day; `refit` where the verdict says "fit again"."""
    from dualfold import LaplacianEigenmaps

    begin, refits, moves = process_time(), 0, []
    grown = LaplacianEigenmaps(n_neighbors=N_NEIGHBORS).fit(days[0]).extend()
    for day, rows in enumerate(days[1:], 1):
        before, grown = grown.embedding_, grown.extend(rows)
        stale, verdict = grown.staleness_, grown.verdict()
        report(
            series, "extend", day=day, staleness_most=stale.gap, staleness_least=stale.at_least,
            level=stale.level, verdict=verdict.word, reasons=list(verdict.reasons),
        )  # fmt: skip
        if verdict.word == "fit again":
            grown, refits = grown.refit(), refits + 1
        moves.append(moved(before, grown.embedding_))
    report(
        series, "extend", refits=refits, days=len(days) - 1, moved_median=float(np.mean(moves)),
        neighbors_kept=kept_by_map(grown.rows, grown.embedding_),
        cpu_seconds=process_time() - begin,
    )  # fmt: skip


def fitted_each_day(series: str, days: list[Any]) -> None:
    """A fit each day, laid over the day before."""
    from dualfold import LaplacianEigenmaps
    from dualfold.quality import procrustes

    begin, moves = process_time(), []
    before = LaplacianEigenmaps(n_neighbors=N_NEIGHBORS).fit(days[0]).embedding_
    for day in range(1, len(days)):
        X = np.vstack(days[: day + 1])
        own = LaplacianEigenmaps(n_neighbors=N_NEIGHBORS).fit(X).embedding_
        near = procrustes(before, own[: len(before)], scale="best")
        own = near.scale * (own @ near.rotation) + near.shift
        moves.append(moved(before, own))
        before = own
    report(
        series, "fit and Procrustes", refits=len(days) - 1, days=len(days) - 1,
        moved_median=float(np.mean(moves)), neighbors_kept=kept_by_map(X, before),
        cpu_seconds=process_time() - begin,
    )  # fmt: skip


def aligned_umap(series: str, days: list[Any]) -> None:
    """AlignedUMAP of all days at once: all rows of a day as a slice, old rows related."""
    import umap

    tables = [np.vstack(days[: day + 1]) for day in range(len(days))]
    relations = [{row: row for row in range(len(old))} for old in tables[:-1]]
    begin = process_time()
    model = umap.AlignedUMAP(random_state=0).fit(tables, relations=relations)
    maps = [np.asarray(one) for one in model.embeddings_]
    moves = [moved(old, new) for old, new in pairwise(maps)]
    report(
        series, "AlignedUMAP", refits=len(days) - 1, days=len(days) - 1,
        moved_median=float(np.mean(moves)), neighbors_kept=kept_by_map(tables[-1], maps[-1]),
        cpu_seconds=process_time() - begin,
    )  # fmt: skip


def main() -> None:
    """Run one series."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("series", choices=sorted(SERIES))
    parser.add_argument("--umap", action="store_true")
    given = parser.parse_args()
    days = SERIES[given.series]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for side in (aligned_umap,) if given.umap else (kept_by_verdict, fitted_each_day):
            side(given.series, days)


if __name__ == "__main__":
    main()
