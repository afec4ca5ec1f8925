"""Maps that grow by the day: staleness, alarms, refits, movement, and the time of an update.

    python -m benchmarks.updates --series digits
    python -m benchmarks.updates --series mixture
    python -m benchmarks.updates --alarms
    python -m benchmarks.updates --update-time
    python -m benchmarks.updates --products

Each prints lines of JSON: side, quantity, value and unit, for `python -m benchmarks.measured`.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from dualfold import PCA, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding
from dualfold.data import swiss_roll
from dualfold.kernels.reports import count_work
from dualfold.quality.map_comparison import procrustes

DAYS, FIRST_ROWS, DAY_ROWS, BORN_DAY, BORN_SHARE = 10, 500, 300, 6, 0.03
COLUMNS, GROUPS, SEEDS = 10, 5, 20
DRIFT = 0.05  # standard deviations that a group moves in a day, in each column


def main(arguments: list[str] | None = None) -> None:
    """Run one measurement and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--series", choices=("digits", "mixture"))
    for name in ("alarms", "update-time", "products"):
        which.add_argument(f"--{name}", action="store_true")
    given = parser.parse_args(arguments)
    run: Callable[[], Iterator[tuple[str, str, Any, str]]] = products
    if given.series:
        run = digits_by_day if given.series == "digits" else births
    elif given.alarms:
        run = false_alarms
    elif given.update_time:
        run = update_time
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for side, quantity, value, unit in run():
            line = {"side": side, "quantity": quantity, "value": value, "unit": unit}
            print(json.dumps(line), flush=True)


def mixture_day(random: Any, centres: Any, rows: int, born: float = 0.0) -> Any:
    """Rows of one day of a mixture; a share of them from a group that was not there before."""
    X = centres[random.integers(len(centres), size=rows)] + random.normal(size=(rows, COLUMNS))
    count = round(born * rows)
    X[:count] = 8.0 * np.eye(COLUMNS)[-1] + 0.5 * random.normal(size=(count, COLUMNS))
    return X


def mixture_start(seed: int) -> tuple[Any, Any, Any]:
    """The random generator of a series, its groups, and its map of the first day."""
    random = np.random.default_rng(seed)
    centres = 3.0 * random.normal(size=(GROUPS, COLUMNS)) * (np.arange(COLUMNS) < COLUMNS - 1)
    X = mixture_day(random, centres, FIRST_ROWS)
    return random, centres, PCA(2).fit(X).extend(old=X)


def births() -> Iterator[tuple[str, str, Any, str]]:
    """In how many series the group is said on the day on which it is born."""
    said = 0
    for seed in range(SEEDS):
        random, centres, grown = mixture_start(seed)
        drift = DRIFT * random.normal(size=centres.shape)
        for day in range(1, BORN_DAY + 1):
            share = BORN_SHARE if day == BORN_DAY else 0.0
            grown = grown.extend(mixture_day(random, centres + day * drift, DAY_ROWS, share))
            if seed == 0:
                yield "dualfold", f"staleness on day {day}", grown.staleness_.gap, "share"
        said += any("no old row is in" in words for words in grown.new_rows_.alarms(0.005))
    yield "dualfold", f"births said the same day, of {SEEDS}", said, ""


def false_alarms() -> Iterator[tuple[str, str, Any, str]]:
    """How many series of ten days of one kind raise an alarm."""
    raised = 0
    for seed in range(SEEDS):
        random, centres, grown = mixture_start(1000 + seed)
        alarm = False
        for _ in range(DAYS):
            grown = grown.extend(mixture_day(random, centres, DAY_ROWS))
            alarm = alarm or bool(grown.new_rows_.alarms(0.005))
        raised += alarm
    yield "dualfold", f"series with a false alarm, of {SEEDS}", raised, ""


def digits_by_day() -> Iterator[tuple[str, str, Any, str]]:
    """Digits in batches of 150: refit when the verdict says so, against one each day."""
    X = load_digits().data / 16
    X = X[np.random.default_rng(0).permutation(len(X))]
    X = X[:1650]
    for name, made in (
        ("PCA", PCA(2)),
        ("eigenmaps", LaplacianEigenmaps(n_neighbors=10)),
    ):
        fitted = made.fit(X[:450])
        grown, refits, moves = fitted.extend(old=X[:450]), 0, []
        before, fits = grown.embedding_, []
        for day, start in enumerate(range(450, len(X), 150), 1):
            grown = grown.extend(X[start : start + 150])
            stale, kept = grown.staleness_, grown.new_rows_.kept_by_new
            yield name, f"staleness on day {day}, at most", stale.gap, "share"
            yield name, f"staleness on day {day}, at least", stale.at_least, "share"
            again = type(made)(**made.get_params()).fit(X[: start + 150])
            points = again.transform(X[: start + 150]) if name == "PCA" else again.embedding_
            fits.append(_moved(before, points))
            before = points
            if grown.verdict().word == "fit again":
                grown, refits = grown.refit(), refits + 1
                moves.append(grown.registration_.typical)
            else:
                moves.append(0.0)
        yield name, "refits by the verdict", refits, ""
        yield name, "refits by the day", len(fits), ""
        yield name, "median movement by day, by the verdict", float(np.mean(moves)), "share"
        yield name, "median movement by day, fit and Procrustes", float(np.mean(fits)), "share"
        yield name, "neighbours kept by new rows", kept, "share"


def _moved(old: Any, new: Any) -> float:
    radius = np.sqrt(np.mean(np.sum((old - old.mean(axis=0)) ** 2, axis=1)))
    return float(np.median(procrustes(old, new[: len(old)], scale="best").residuals) / radius)


def update_time() -> Iterator[tuple[str, str, Any, str]]:
    """1,000 rows that come to 100,000 × 50, against a fit from nothing of all of them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(101_000, 5)) @ random.normal(size=(5, 50))
    X += 0.1 * random.normal(size=X.shape)
    made = LaplacianEigenmaps(n_neighbors=10)
    old = made.fit(X[:100_000])
    for name, work in (
        ("update", lambda: old.extend(X[100_000:])),
        ("fit from nothing", lambda: LaplacianEigenmaps(n_neighbors=10).fit(X)),
    ):
        begin, cpu = time.perf_counter(), time.process_time()
        done = work()
        yield "eigenmaps", f"{name}, seconds", time.perf_counter() - begin, "s"
        yield "eigenmaps", f"{name}, processor seconds", time.process_time() - cpu, "s"
        if name == "update":
            grown = done
    begin = time.perf_counter()
    level = grown.staleness_.level
    yield "eigenmaps", f"staleness ({level}), seconds", time.perf_counter() - begin, "s"


def products() -> Iterator[tuple[str, str, Any, str]]:
    """Products with the matrix of a refit from the old map, and from nothing."""
    X = swiss_roll(3000, random_state=0).points
    for made in (
        LaplacianEigenmaps(n_neighbors=10),
        LocallyLinearEmbedding(n_neighbors=10),
        Isomap(n_neighbors=10, landmarks=None),
    ):
        name = type(made).__name__
        grown = made.fit(X[:2700]).extend(X[2700:])
        for side, work in (
            ("from the old map", grown.refit),
            ("from nothing", lambda made=made: type(made)(**made.get_params()).fit(X)),
        ):
            with count_work() as counts:
                work()
            yield name, f"products {side}", counts["products"], ""


if __name__ == "__main__":
    main()
