"""How often the 95 % intervals of sampled measures of quality hold the value over all points.

    python -m benchmarks.calibration.quality_intervals             # 1,000 samples a cell
    python -m benchmarks.calibration.quality_intervals --runs 5    # does it run?

The measures of all points are computed once for each map; samples are drawn from them. Prints
tables in Markdown; docs/calibration.md has those of all of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import t as student

from benchmarks.calibration.runs import StoredRuns, markdown
from dualfold import quality
from dualfold.data import swiss_roll
from dualfold.quality.estimate import interval_of_means
from dualfold.quality.pair_measures import PairSums
from dualfold.quality.ranks import neighbor_ranks

N_POINTS = 6_000
SAMPLES = (200, 1_000, 2_000)
N_PAIR_POINTS = 1_200
PAIR_SAMPLES = (100, 300)
BAD_POINTS = (1, 2, 5, 10, 20, 50)
# Samples together in memory.
CHUNK_RUNS = 250


def values_of_points() -> dict[str, Any]:
    """Made-up measures of single points between 0 and 1; 1 is right."""
    rng, n = np.random.default_rng(1), N_POINTS
    cases = {}
    for bad in BAD_POINTS:
        losses = np.zeros(n)
        losses[:bad] = 1.0
        cases[f"{bad} of {n:,} points wrong"] = 1 - losses
        losses[:bad] = rng.random(bad)
        losses[bad : 11 * bad] = 0.1 * rng.random(10 * bad)
        cases[f"{bad} wrong in part, ten neighbours of each a little"] = 1 - losses
    cases["all right"] = np.ones(n)
    cases["all wrong"] = np.zeros(n)
    cases["small losses, exponential"] = 1 - np.minimum(rng.exponential(0.02, n), 1)
    cases["losses with a heavy tail (Pareto, 1)"] = 1 - np.minimum(1e-3 * rng.pareto(1.0, n), 1)
    cases["losses with a heavy tail (Pareto, 0.6)"] = 1 - np.minimum(1e-4 * rng.pareto(0.6, n), 1)
    cases["uniform"] = rng.random(n)
    cases["half of them wrong"] = (rng.random(n) < 0.5) * 1.0
    one_in_fifty = rng.random(n) < 0.02
    cases["1 in 50 anything, the others nearly right"] = np.where(
        one_in_fifty, rng.random(n), 1 - 0.01 * rng.random(n)
    )
    return cases


def maps(n: int) -> dict[str, tuple[Any, Any]]:
    """(data, map) pairs."""
    rng = np.random.default_rng(2)
    line = np.column_stack([np.arange(n) * 1.0, 0.01 * rng.random(n)])
    cases = {}
    for bad in (1, 5, 50):
        moved = line.copy()
        moved[rng.choice(n, bad, replace=False), 0] = n * rng.random(bad)
        cases[f"line, {bad} of {n:,} moved"] = line, moved
    cloud = rng.standard_normal((n, 10))
    roll = swiss_roll(n, random_state=0)
    cases["normal cloud, 10 to 2"] = cloud, cloud[:, :2]
    cases["roll, seen from the side"] = roll.points, roll.points[:, [0, 2]]
    cases["random map"] = cloud, rng.standard_normal((n, 2))
    return cases


def measures_of_points(X: Any, Y: Any) -> dict[str, tuple[Any, tuple[float, float]]]:
    """Name → (values of all points, their bounds)."""
    share = 0.0, 1.0
    labels = (X[:, 0] > np.median(X[:, 0])).astype(int)
    ranks = neighbor_ranks(X, Y, 10)
    intruders, lost = ranks.mean_relative_rank_errors(per_point=True)
    curve = quality.neighborhood_curve(X, Y, 100)
    chance = 10 / (len(X) - 1)
    return {
        "t_similarity": (ranks.t_similarity(per_point=True), share),
        "trustworthiness": (ranks.trustworthiness(per_point=True), share),
        "continuity": (ranks.continuity(per_point=True), share),
        "rank_error_intruders": (intruders, share),
        "rank_error_lost": (lost, share),
        "lcmc": (ranks.lcmc(per_point=True), (-chance, 1 - chance)),
        "r_nx_area": (curve.auc_per_point, (-0.02, 1.0)),
        "local_distortion": (quality.local_distortion(X, Y, per_point=True), share),
        "silhouette": (quality.silhouette(Y, labels, per_point=True), (-1.0, 1.0)),
        "neighborhood_hit": (quality.neighborhood_hit(Y, labels, per_point=True), share),
        "knn_accuracy": (quality.knn_accuracy(Y, labels, per_point=True), share),
    }


def student_interval(values: Any, n: int, bounds: tuple[float, float]) -> tuple[Any, Any]:
    """What was used before."""
    m, mean = len(values), values.mean(axis=0)
    half = student.ppf(0.975, m - 1) * values.std(axis=0, ddof=1) / np.sqrt(m) * np.sqrt(1 - m / n)
    return np.maximum(mean - half, bounds[0]), np.minimum(mean + half, bounds[1])


def coverage(values: Any, bounds: tuple[float, float], m: int, runs: int, seed: int) -> list[float]:
    """[held, mean width] of the interval, and of Student's."""
    rng, n, found = np.random.default_rng([seed, m]), len(values), []
    for first in range(0, runs, CHUNK_RUNS):
        some = range(first, min(runs, first + CHUNK_RUNS))
        drawn = np.stack([rng.choice(values, m, replace=False) for _ in some], axis=1)
        limits = [rule(drawn, n, bounds) for rule in (interval_of_means, student_interval)]
        found.append(np.concatenate([np.stack(pair) for pair in limits]))
    every, truth, room = np.concatenate(found, axis=1), values.mean(), 1e-12
    return [
        float(number)
        for low, high in (every[:2], every[2:])
        for number in (
            np.mean((low <= truth + room) & (truth <= high + room)),
            np.mean(high - low),
        )
    ]


def cells(found: list[list[float]]) -> list[str]:
    """Two columns for each sample: ours, then Student's."""
    row = []
    for held, width, before, narrow in found:
        row += [f"{100 * held:.1f} ({width:.4f})", f"{100 * before:.1f} ({narrow:.4f})"]
    return row


def heads(samples: tuple[int, ...], other: str) -> list[str]:
    return [words for m in samples for words in (f"{m:,} drawn", other)]


def rows_of_points(store: StoredRuns, runs: int) -> list[Any]:
    rows = []
    for name, values in values_of_points().items():
        found = [
            store.of(f"{name}, {m}, {runs}", 1, partial(coverage, values, (0.0, 1.0), m, runs))[0]
            for m in SAMPLES
        ]
        rows.append([name, f"{values.mean():.5f}", *cells(found)])
    return rows


def rows_of_measures(store: StoredRuns, runs: int) -> list[Any]:
    """The worst map of each measure."""
    rows: dict[str, Any] = {}
    for name, (X, Y) in maps(N_POINTS // 2).items():
        for measure, (values, bounds) in measures_of_points(X, Y).items():
            found = [
                store.of(
                    f"{measure}, {name}, {m}, {runs}", 1, partial(coverage, values, bounds, m, runs)
                )[0]
                for m in SAMPLES[:2]
            ]
            rows[measure, name] = found
    lines = []
    for measure in dict.fromkeys(measure for measure, _ in rows):
        every = {name: found for (own, name), found in rows.items() if own == measure}
        worst = min(every, key=lambda name: min(held for held, *_ in every[name]))
        lines.append([measure, worst, *cells(every[worst])])
    return lines


def pair_table(X: Any, Y: Any) -> tuple[Any, Any, float]:
    """The nine numbers of each pair, as in pair_sums.c, and what they are taken around."""
    d, shown = cdist(X, X), cdist(Y, Y)
    off = ~np.eye(len(X), dtype=bool)
    shift = np.array([d[off].mean(), shown[off].mean()])
    scale = float(np.sum(d * shown) / np.sum(shown**2))
    x, y, e = d - shift[0], shown - shift[1], d - scale * shown
    table = np.stack([x, y, x * x, x * y, y * y, e * e, e * shown, shown**2, d * d])
    return table * off, shift, scale


def pair_coverage(case: Any, m: int, runs: int, seed: int) -> dict[str, list[float]]:
    """Of each measure [held, mean width, value over all points]."""
    table, shift, scale = case
    n, rng = table.shape[1], np.random.default_rng([seed, m])
    sums = table.sum(axis=2).T
    whole = PairSums(sums, None, shift, scale, None, n)
    truth = {name: float(measure(whole)) for name, measure in PAIR_MEASURES.items()}
    found: dict[str, list[Any]] = {name: [] for name in truth}
    for _ in range(runs):
        rows = np.sort(rng.choice(n, m, replace=False))
        inner = np.stack([part[np.ix_(rows, rows)].sum(axis=1) for part in table], axis=1)
        drawn = PairSums(sums[rows], inner, shift, scale, rows, n)
        for name, measure in PAIR_MEASURES.items():
            one = measure(drawn)
            held = one.low <= truth[name] + 1e-12 and truth[name] <= one.high + 1e-12
            found[name].append([held, one.high - one.low])
    return {name: [*np.mean(found[name], axis=0).tolist(), truth[name]] for name in truth}


PAIR_MEASURES: dict[str, Callable[[PairSums], Any]] = {
    "stress": lambda sums: sums.stress(),
    "distance_correlation": lambda sums: sums.correlation(),
    "residual_variance": lambda sums: sums.residual_variance(),
}


def pair_maps() -> dict[str, tuple[Any, Any]]:
    rng, n = np.random.default_rng(3), N_PAIR_POINTS
    cases = maps(n)
    cloud = rng.standard_normal((n, 10))
    far = cloud.copy()
    far[:3] *= 50
    shown = cloud[:, :2].copy()
    shown[:3] *= 200
    heavy = rng.standard_t(1.5, (n, 5))
    groups = cloud + 10 * rng.integers(0, 2, (n, 1))
    return cases | {
        "3 rows far out in the data": (far, far[:, :2]),
        "3 points far out on the map": (cloud, shown),
        "heavy tails (Student, 1.5)": (heavy, heavy[:, :2]),
        "two groups": (groups, groups[:, :2]),
    }


def rows_of_pairs(store: StoredRuns, runs: int) -> list[Any]:
    every = {}
    for name, (X, Y) in pair_maps().items():
        case = pair_table(X, Y)
        every[name] = [
            store.of(f"pairs, {name}, {m}, {runs}", 1, partial(pair_coverage, case, m, runs))[0]
            for m in PAIR_SAMPLES
        ]
    rows = []
    for measure in PAIR_MEASURES:
        for name, found in every.items():
            cells = [f"{100 * one[measure][0]:.1f} ({one[measure][1]:.4f})" for one in found]
            rows.append([measure, name, f"{found[0][measure][2]:.4f}", *cells])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    runs = parser.parse_args().runs
    store = StoredRuns("quality_intervals")
    print(markdown(["values", "mean", *heads(SAMPLES, "Student's")], rows_of_points(store, runs)))
    print()
    few = heads(SAMPLES[:2], "Student's")
    print(markdown(["measure", "worst map", *few], rows_of_measures(store, runs)))
    print()
    samples = [f"{m:,} drawn" for m in PAIR_SAMPLES]
    print(markdown(["measure", "map", "value", *samples], rows_of_pairs(store, runs)))


if __name__ == "__main__":
    main()
