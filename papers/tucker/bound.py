"""Tucker's remark 6.23: what ten averaged steps of gradient PCA are promised, and what they do.

The remark takes G = 1 because the steps are along gradients of length 1. But that changes
the steps and not f, whose gradients are as long as they are: the bound 3GR/(2√T) is then
about f/G. It also needs a convex f, which this one is not (the paper says so).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dualfold import PCA
from dualfold.arrays import Array
from dualfold.point_pca import averaged_directions, direction_error, direction_gradient
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, claim
from papers.tucker.descent import (
    Scatter,
    random_start,
)
from papers.tucker.table import IMAGES, ROUNDS, SIZES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PRINTED = 12.5
RADIUS = 25.0


@dataclass(frozen=True)
class Outcome:
    """Descent with errors of the average and of its polar factor, gradients and distance met.

    The walk, its errors and gradients are this package's; the least error is LAPACK's.
    """

    average: float
    polar: float
    steepest: float
    distance: float

    def bound(self, rounds: int) -> float:
        """3GR/(2√T) with the gradients that were met."""
        return self.steepest * 3 * RADIUS / (2 * np.sqrt(rounds))


def outcome(X: Array, scatter: Scatter, k: int, rounds: int, rng: np.random.Generator) -> Outcome:
    """From a random orthonormal start of norm 1, with R = 25: ten steps of this package."""
    start = random_start(scatter, k, rng)
    walk = averaged_directions(X, k, rounds=rounds, step=RADIUS / np.sqrt(rounds), start=start)
    least = float(scatter.values[k:].sum())
    met = [start, *walk.iterates[:-1]][:: max(rounds // ROUNDS, 1)]
    return Outcome(
        direction_error(X, walk.average) - least,
        direction_error(X, walk.directions) - least,
        max(float(np.linalg.norm(direction_gradient(X, U))) for U in met),
        scatter.distance(start),
    )


def remark(setting: Setting) -> Finding:
    """Errors over k and over the number of rounds, against the printed bound and the right one."""
    rng, points = setting.random(), setting.images.points
    count = min(setting.of(500, IMAGES, IMAGES), len(points))
    X = points[rng.choice(len(points), count, replace=False)] / float(points.max())
    scatter = Scatter.of(X)
    sizes = [k for k in setting.of((2, 12), (2, 12, 43, 149), SIZES) if k <= X.shape[1]]
    starts, horizons = setting.of(1, 2, 10), setting.of((10, 40), (10, 40), (10, 40, 160, 640))
    over_k = {k: [outcome(X, scatter, k, ROUNDS, rng) for _ in range(starts)] for k in sizes}
    over_T = {T: [outcome(X, scatter, 12, T, rng) for _ in range(starts)] for T in horizons}
    worst = max(one.polar for some in over_k.values() for one in some)
    sentence = (
        f"The remark promises an error of at most {PRINTED:g} after ten steps; measured are up to "
        f"{worst:,.0f} in the remark's own units, {worst / count:.1f} an image. It takes "
        "G = 1, but the gradients of this f are up to "
        f"{max(o.steepest for s in over_k.values() for o in s):.1e} long."
    )
    notes = [
        f"{count:,} images, {starts} random start{'s' * (starts > 1)}, R = {RADIUS:g}. The "
        "error is f(w̄) less its minimum, f the squared projection error summed over the images.",
        *([setting.stand_in] if setting.stand_in else []),
    ]
    caption = "Error of gradient PCA after ten averaged steps, and after more, with both bounds."
    rows = (*_premises(over_k, X), *_error_rows(over_k, count))
    return Finding(sentence, rows, ((caption, _figure(over_k, over_T)),), tuple(notes))


def _premises(over_k: dict[int, list[Outcome]], X: Array) -> list[Row]:
    """Premises of the remark: norms of the minimisers, the start, and the gradients."""
    k = max(over_k)
    norm = float(np.linalg.norm(PCA(n_components=k).fit(X).components_))
    distance = max(one.distance for some in over_k.values() for one in some)
    steepest = max(one.steepest for some in over_k.values() for one in some)
    return [
        claim(f"norm of our minimiser, k = {k}", "≤ 24", norm, lambda x: x <= 24, "√k"),
        claim("from the start to the nearest minimiser, at most", "≤ 25", distance,
              lambda x: x <= RADIUS),
        claim("longest gradient met", "G = 1", steepest, lambda x: x <= 1,
              "steps were normalised, not f: its gradients stay as long as they are"),
    ]  # fmt: skip


def _error_rows(over_k: dict[int, list[Outcome]], count: int) -> list[Row]:
    rows: list[Row] = []
    for k, some in over_k.items():
        polar, average = max(o.polar for o in some), max(o.average for o in some)
        note = f"an image {polar / count:.2g}; the average before its polar factor: {average:.3g}"
        rows.append(
            claim(f"f − min f after ten steps, k = {k}", "≤ 12.5", polar, lambda x: x <= PRINTED,
                  note)
        )  # fmt: skip
    return rows


def _figure(over_k: dict[int, list[Outcome]], over_T: dict[int, list[Outcome]]) -> Figure:
    charts = []
    for title, found, x_name, rounds in (
        ("Ten rounds", over_k, "dimension k", None),
        ("k = 12", over_T, "rounds T", list(over_T)),
    ):
        x = list(found)
        turns = np.array([ROUNDS] * len(x) if rounds is None else rounds)
        average = np.array([[o.average for o in found[at]] for at in x])
        polar = np.array([[o.polar for o in found[at]] for at in x])
        right = [min(o.bound(int(T)) for o in found[at]) for at, T in zip(x, turns, strict=True)]
        lines = [
            Line("3GR/(2√T), G met", x, right, look="bound", hue=2),
            Line("average w̄", x, average.mean(axis=1), average.std(axis=1), hue=0),
            Line("its polar factor", x, polar.mean(axis=1), polar.std(axis=1), hue=5),
            Line("as printed, G = 1", x, 3 * RADIUS / (2 * np.sqrt(turns)), look="bound", hue=4),
        ]
        charts.append(
            Chart(lines, title, x_name, "f − min f", x_scale="log", y_scale="log", x_ticks=x)
        )
    return chart_figure(charts)


EXPERIMENTS = (
    Experiment(
        "tucker-bound",
        "T",
        "Remark 6.23",
        "What ten steps of gradient PCA are promised, and what they reach",
        remark,
    ),
)
