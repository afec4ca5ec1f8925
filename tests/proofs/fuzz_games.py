"""Random games, judged: every recipe × losses × sets × scales × starts × radii.

    python -m tests.proofs.fuzz_games --count 2000 --seed 0

The seed is that of the environment (DUALFOLD_FUZZ_SEED) where none is given.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections import Counter

import numpy as np

from dualfold import games
from dualfold.errors import InvalidInput
from dualfold.games import (
    AffineSet,
    Ellipsoid,
    Entropy,
    Everywhere,
    HalfSquare,
    LargestAffine,
    Logistic,
    LogSumExp,
    Support,
)
from dualfold.theory.games import accelerated_recipes, plain_recipes, textbook_methods
from tests.proofs.judge_games import Function, Place, best_point, false_claims

FREE = ("averaged_descent", "averaged_subgradient_descent", "cumulative_descent", "extragradient",
        "nesterov", "nesterov_infinite_memory", "accelerated_strongly_convex",
        "gradient_descent", "momentum", "adam")  # fmt: skip
BOUNDED = (*FREE[:7], "frank_wolfe", "boundary_frank_wolfe", "heavy_ball",
           "accelerated_by_gauge", "gradient_descent")  # fmt: skip
LOSSES = ("quadratic", "squares", "squares", "logistic", "huber", "logsumexp", "half square",
          "planes", "entropy")  # fmt: skip
PLACES = ("everywhere", "everywhere", "everywhere", "box", "box", "simplex", "simplex", "l1 ball",
          "ball", "ball", "ellipsoid", "ellipsoid", "sum", "l1", "l2", "linf")  # fmt: skip


def loss(kind, d, scale, unit, random):
    """The function for dualfold and for the judge; `scale` of values, `unit` of x."""
    m = int(random.integers(1, 2 * d + 2))
    rows = random.normal(size=(m, d)) * scale / unit
    if random.random() < 0.25:
        rows[:, random.integers(d)] = 0.0
    if random.random() < 0.2 and m > 1:
        rows[0] = rows[1]
    targets = rows @ (unit * random.normal(size=d)) + random.choice([0, 0.1, 1]) * scale * (
        random.normal(size=m)
    )
    if random.random() < 0.15:
        targets = np.zeros(m)
    if kind == "squares":
        return games.LeastSquares(rows, targets), Function("squares", (rows, targets))
    if kind == "logistic":
        rows = rows / scale
        labels = random.choice([-1.0, 1.0], size=m)
        return Logistic(rows, labels), Function("logistic", (rows, labels))
    if kind == "planes":
        return LargestAffine(rows, targets), Function("planes", (rows, targets))
    if kind == "huber":
        width = float(unit * random.choice([0.01, 0.25, 1, 100]))
        return games.Huber(width), Function("huber", (width,))
    if kind == "logsumexp":
        width = float(unit * random.choice([0.05, 1, 20]))
        return LogSumExp(width), Function("logsumexp", (width,))
    if kind == "entropy":
        return Entropy(), Function("entropy")
    if kind == "half square":
        weight, center = float(scale / unit**2), unit * random.normal(size=d)
        data = (weight * np.eye(d), -weight * center, 0.0)
        f = HalfSquare(weight, center)
        rows = np.sqrt(weight) * np.eye(d)
        return f, HalfSquareFunction(weight, center)
    matrix = rows.T @ rows if random.random() < 0.7 else np.diag(np.abs(rows[0]) * scale / unit)
    if random.random() < 0.2:
        skew = np.triu(random.normal(size=(d, d)), 1) * np.abs(matrix).max()
        matrix = matrix + skew - skew.T
    linear = -matrix.T @ (unit * random.normal(size=d)) if random.random() < 0.7 else (
        scale * scale / unit * random.normal(size=d))  # fmt: skip
    constant = float(scale**2 * random.choice([0, 1, -1, 1e3]) * random.random())
    data = (matrix, linear, constant)
    return games.Quadratic(*data), Function("quadratic", data)


class HalfSquareFunction(Function):
    """(weight/2)‖x − center‖² without rounding its expanded form."""

    def __init__(self, weight, center):
        super().__init__("quadratic", (np.eye(len(center)), np.zeros(len(center)), 0.0))
        self.weight, self.center = Function("huber", (weight,)).width, center

    def _away(self, x):
        return [t - float(c) for t, c in zip(x, self.center, strict=True)]

    def value(self, x):
        return self.weight * super().value(self._away(x))

    def slope_and_curvature(self, x):
        slope, curvature = super().slope_and_curvature(self._away(x))
        return [self.weight * t for t in slope], [[self.weight * t for t in r] for r in curvature]


def where(kind, d, unit, f, start, random):
    """The set or penalty for dualfold and for the judge."""
    size = float(unit * 10.0 ** random.uniform(-2, 1))
    if kind == "everywhere":
        return Everywhere(), Place(kind)
    if kind == "box":
        low = size * random.uniform(-1, 0.5, size=d)
        high = low if random.random() < 0.1 else low + size * random.random(size=d)
        return games.Box(low, high), Place(kind, (low, high))
    if kind == "ellipsoid":
        axes = size * random.uniform(0.1, 1, size=d)
        return Ellipsoid(axes), Place(kind, (axes,))
    if kind == "sum":
        return AffineSet(np.ones((1, d)), np.array([size])), Place(kind, (size,))
    if kind in ("simplex", "l1 ball", "ball"):
        size = 0.0 if random.random() < 0.05 and kind != "simplex" else size
        made = {"simplex": games.Simplex, "l1 ball": games.L1Ball, "ball": games.Ball}[kind]
        return made(size), Place(kind, (size,))
    steep = float(np.linalg.norm(f.subgradient(start)))
    weight = steep * float(random.choice([0, 1e-12, 1e-3, 0.3, 0.9999, 1.3, 3, 1e6]))
    order = {"l1": 1, "l2": 2, "linf": "inf"}[kind]
    return games.norm(order, weight), Place(kind, (weight,))


def draw(random):
    """One problem: f for both sides, the place for both, a start and a name."""
    d = int(random.choice([1, 2, 2, 3]))
    kind, place = str(random.choice(LOSSES)), str(random.choice(PLACES))
    if kind == "entropy":
        place, d = "simplex", max(d, 2)
    scale, unit = 10.0 ** random.uniform(-8, 8, size=2) if random.random() < 0.6 else (1.0, 1.0)
    f, theirs = loss(kind, d, scale, unit, random)
    start = unit * random.normal(size=d) * float(random.choice([0, 1, 1, 30]))
    over, place_of = where(place, d, unit, f, start + (0.5 if kind == "entropy" else 0), random)
    if kind == "entropy":
        over, place_of = games.Simplex(), Place("simplex", (1.0,))
        start = random.dirichlet(np.ones(d))
    elif not isinstance(over, Support):
        start = over.project(start)
    return f, theirs, over, place_of, start, kind


def recipe_named(name):
    files = (accelerated_recipes, plain_recipes, textbook_methods)
    return next(getattr(file, name) for file in files if hasattr(file, name))


def recipe_of(f, over, place, start, radius, rounds, random):
    """A recipe's name and itself."""
    if isinstance(over, Support):
        return "accelerated_proximal", games.accelerated_proximal(f, over, start, radius=radius)
    unbounded = place.kind in ("everywhere", "sum")
    name = str(random.choice(FREE if unbounded else BOUNDED))
    make, common = recipe_named(name), {"over": over}
    within = None if radius is None else games.Ball(radius, start)
    if name in ("gradient_descent", "momentum", "adam"):
        step = 1 / f.smoothness if 0 < f.smoothness < np.inf else 0.1
        if name == "gradient_descent":
            return name, make(f, start, step=step, minimiser_ball=within, over=over)
        if place.kind != "everywhere":
            return "gradient_descent", games.gradient_descent(
                f, start, step=step, minimiser_ball=within, over=over
            )
        return name, make(f, start, step=step, minimiser_ball=within)
    if name in ("frank_wolfe", "boundary_frank_wolfe", "heavy_ball"):
        return name, make(f, start, over=over)
    if name == "accelerated_by_gauge":
        return name, make(f, len(start), over=over)
    if name in ("averaged_subgradient_descent", "cumulative_descent"):
        steep = float(np.linalg.norm(f.subgradient(start)))
        common |= {"rounds": rounds, "gradient_bound": float(random.choice([1, 2])) * steep}
    return name, make(f, start, radius=radius, **common)


def one(random, table):
    """Draw, play and judge one game; what is refused is drawn again."""
    for _ in range(100):
        try:
            return played(random, table)
        except InvalidInput:
            table["refused, drawn again"] += 1
    raise AssertionError("a hundred problems were refused")


def played(random, table):
    """One game and what is false about it."""
    f, theirs, over, place, start, kind = draw(random)
    rounds = int(random.choice([1, 2, 10, 60, 250], p=[0.1, 0.1, 0.2, 0.35, 0.25]))
    state = random.bit_generator.state
    recipe_of(f, over, place, start, None if place.kind != "everywhere" else 1.0, rounds, random)
    random.bit_generator.state = state  # it was not refused, so the judge may look
    least, best = best_point(theirs, place, len(start), [start])
    best_start = np.array([float(t) for t in best])
    if random.random() < 0.1 and place.kind in ("everywhere", "l1", "l2", "linf"):
        start = best_start  # begins at the minimiser
    away = float(np.linalg.norm(best_start - start))
    radius = away * float(random.choice([1 + 1e-9, 1.5, 10, 1e4])) + float(random.choice([0, away]))
    radius = None if random.random() < 0.3 or not np.isfinite(radius) else radius
    name, recipe = recipe_of(f, over, place, start, radius, rounds, random)
    run = recipe.play(rounds)
    finite = bool(np.isfinite(run.answer).all())
    if finite and kind not in ("quadratic", "squares", "half square"):  # a better point?
        again = best_point(theirs, place, len(start), [run.answer])
        least, best = min(again, (least, best), key=lambda pair: pair[0].mid())
    away = float(np.linalg.norm(np.array([float(t) for t in best]) - start))
    if radius is not None and away > radius and run.terms.assumed:
        raise InvalidInput("the radius was not true: the minimum is further, or nowhere")
    table[f"level: {run.level}"] += 1
    table[f"recipe: {name}"] += 1
    usefulness(table, run, least)
    return [f"{name}, {kind} on {place.kind}: {words}" for words in
            false_claims(theirs, place, run, least)]  # fmt: skip


def usefulness(table, run, least):
    """How many right answers, to 1e-6 of the minimum, have a gap of more than 1 %."""
    size = abs(float(least))
    finite = np.isfinite(run.gap[-1])
    table["finite gap"] += int(finite)
    if finite and float(run.upper[-1]) - float(least) <= 1e-6 * size:
        table["right to 1e-6"] += 1
        table["right, gap above 1 %"] += int(run.gap[-1] > 0.01 * size)
        table["right, gap above 1e-4"] += int(run.gap[-1] > 1e-4 * size)


def fuzz(count: int, seed: int) -> dict:
    """Judge `count` games: the table, the false claims and the crashes."""
    table: Counter = Counter()
    false, crashes = [], []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in range(count):
            random = np.random.default_rng((seed, number))
            try:
                false += [f"#{number} {words}" for words in one(random, table)]
            except Exception as error:
                crashes.append(f"#{number} {type(error).__name__}: {error}")
    return {"seed": seed, "games": count, "false claims": len(false), "crashes": len(crashes),
            "table": dict(sorted(table.items())), "false": false, "crashed": crashes}  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("DUALFOLD_FUZZ_SEED", "0")))
    options = parser.parse_args()
    found = fuzz(options.count, options.seed)
    print(json.dumps(found, indent=1, ensure_ascii=False))
    sys.exit(min(found["false claims"] + found["crashes"], 100))
