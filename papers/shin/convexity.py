"""Lecture 2, middle part: which functions and sets are convex, and what keeps them so."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from papers.figures.charts import Chart, Line, chart_figure
from papers.figures.lectures import Region, regions_figure
from papers.finding import Experiment, Finding, Row, Setting, agrees
from papers.shin.functions import (
    Shape,
    Values,
    broken_rules,
    keeping_rules,
    lecture_shapes,
)

ROUNDING = 1e-10  # relative to the values that are compared


def conditions(setting: Setting) -> Finding:
    """Definition, first and second order, Jensen, on every function the lecture names."""
    rng, count = setting.random(), setting.of(300, 5_000, 100_000)
    shapes = lecture_shapes()
    rows = [_function_row(shape, rng, count) for shape in shapes]
    held = sum(bool(row.holds) for row in rows)
    cubic = Shape("x³", lambda x: x[:, 0] ** 3)
    cut = chord_excess(cubic, rng, count)
    strict = _least_bulge(rng, count)
    rows += [
        Row("x³ on ℝ: not convex by", None, cut, cut > 0.1, "the check can fail"),
        Row("x log x: least bulge below a chord", "> 0", strict, strict > 0, "strictly convex"),
        Row(
            "slope of x³ at 0, no minimum there",
            None,
            3 * 0.0**2,
            float(cubic.values(np.array([[-0.1]]))[0]) < 0,
            "∇f = 0 proves a minimum only for convex f",
        ),
    ]
    sentence = (
        f"{held} of {len(shapes)} functions of the lecture pass every test on {count:,} random "
        f"pairs of points; x³, which is not convex, rises above a chord by {cut:.2f} of its values."
    )
    notes = ("Violations are relative to the values compared; ≤ 1e-10 is rounding.",)
    return Finding(sentence, tuple(rows), ((TANGENTS, _tangents_figure()),), notes)


TANGENTS = "The lecture's y² lies above each of its tangents: local knowledge, global bound."


def rules(setting: Setting) -> Finding:
    """What keeps convexity, each with its limits; and sets."""
    rng, count = setting.random(), setting.of(300, 5_000, 100_000)
    rows = []
    made = keeping_rules(rng)
    for shape in made:
        off, word = chord_excess(shape, rng, count), "convex" if shape.sign > 0 else "concave"
        rows.append(agrees(f"{shape.name}: not {word} by", off, ROUNDING))
    kept = sum(bool(row.holds) for row in rows)
    for shape, why in broken_rules():
        off = chord_excess(shape, rng, count)
        rows.append(Row(f"{shape.name}: not convex by", None, off, off > 1e-3, why))
    pairs = rng.uniform(-1.2, 1.2, (2, 20 * count, 2))
    for region in REGIONS:
        left = leaving_share(region.contains, pairs, rng)
        holds = (left == 0) == region.convex
        rows.append(Row(f"{region.name}: segments that leave it", None, left, holds, region.words))
    rows.append(
        Row(
            "points of {x: x³ = 0}",
            "only affine h",
            1,
            True,
            "a convex set though x³ is not affine; affine is what keeps it so in general",
        )
    )
    sentence = (
        f"{kept} of {len(made)} functions made by the lecture's rules are as convex as it says. "
        "One rule is stated too strongly: f(Ax + b) can be convex although f is not (A = (1, 0)ᵀ "
        "on u² − v² leaves u²), so the lecture's “iff” needs an A that is onto."
    )
    caption = "Convex and other sets: a segment between two points of the set, inside or not."
    return Finding(sentence, tuple(rows), ((caption, regions_figure(REGIONS)),))


def chord_excess(shape: Shape, rng: np.random.Generator, count: int) -> float:
    """How far sign·f rises above its chords, relative to the values at their ends."""
    x, y = shape.points(rng, count), shape.points(rng, count)
    share = rng.uniform(size=count)
    middle = shape.values(share[:, None] * x + (1 - share)[:, None] * y)
    ends = shape.values(x), shape.values(y)
    chord = share * ends[0] + (1 - share) * ends[1]
    return _largest_excess(shape.sign * (middle - chord), np.abs(ends[0]) + np.abs(ends[1]))


def tangent_excess(shape: Shape, rng: np.random.Generator, count: int) -> float:
    """How far tangents rise above sign·f."""
    if shape.slopes is None:
        return 0.0
    x, y = shape.points(rng, count), shape.points(rng, count)
    rise = np.einsum("ij,ij->i", shape.slopes(x), y - x)
    over = shape.sign * (shape.values(x) + rise - shape.values(y))
    return _largest_excess(over, np.abs(shape.values(x)) + np.abs(shape.values(y)) + np.abs(rise))


def _bend_excess(shape: Shape, rng: np.random.Generator, count: int) -> float:
    """How negative the least eigenvalue of sign·Hessian gets, relative to the largest."""
    if shape.bend is None:
        return 0.0
    spectra = [np.linalg.eigvalsh(shape.sign * shape.bend(x)) for x in shape.points(rng, count)]
    return max(_largest_excess(-low[:1], np.abs(low).max(keepdims=True)) for low in spectra)


def _jensen_excess(shape: Shape, rng: np.random.Generator, count: int) -> float:
    """How far sign·f(E X) is above sign·E f(X), X of ten values."""
    worst = 0.0
    for _ in range(max(1, count // 10)):
        X, weights = shape.points(rng, 10), rng.dirichlet(np.ones(10))
        each = shape.values(X)
        over = shape.sign * (shape.values((weights @ X)[None]) - weights @ each)
        worst = max(worst, _largest_excess(over, np.abs(each).max(keepdims=True)))
    return worst


def _least_bulge(rng: np.random.Generator, count: int) -> float:
    """x log x at the middle of a chord of length ≥ 0.1, below it, at the least."""
    x, y = np.exp(rng.standard_normal((2, count)))
    apart = np.abs(x - y) >= 0.1
    x, y = x[apart], y[apart]
    middle = (x + y) / 2
    return float(((x * np.log(x) + y * np.log(y)) / 2 - middle * np.log(middle)).min())


def _largest_excess(over: Array, scale: Array) -> float:
    return float(np.maximum(over / np.maximum(scale, 1e-300), 0.0).max())


def leaving_share(contains: Values, ends: Array, rng: np.random.Generator) -> float:
    """Of segments with both ends inside a set, how many have a random point outside."""
    x, y = ends
    both = contains(x) & contains(y)
    share = rng.uniform(size=(int(both.sum()), 1))
    return float(np.mean(~contains(share * x[both] + (1 - share) * y[both])))


def _function_row(shape: Shape, rng: np.random.Generator, count: int) -> Row:
    worst = max(
        chord_excess(shape, rng, count),
        tangent_excess(shape, rng, count),
        _bend_excess(shape, rng, min(count, 1_000)),
        _jensen_excess(shape, rng, min(count, 1_000)),
    )
    word = "convex" if shape.sign > 0 else "concave"
    note = "chord, tangent, Hessian, Jensen" if shape.bend else "chord, tangent, Jensen"
    return agrees(f"{shape.name}: not {word} by", worst, ROUNDING, about=note)


def _tangents_figure() -> Any:
    y = np.linspace(-2, 2, 101)
    lines = [Line("y²", y, y**2)]
    for x in (-1.2, 0.0, 0.7):
        name = f"tangent at {x:g}".replace("-", "−")
        lines.append(Line(name, y, x**2 + 2 * x * (y - x), look="bound"))
    return chart_figure([Chart(lines, x_name="y")])


def _within(*centre: float, radius: float) -> Values:
    return lambda x: np.linalg.norm(x - np.array(centre), axis=1) <= radius


def _hexagon(x: Array) -> Array:
    angles = np.arange(6) * np.pi / 3
    return np.asarray((x @ np.vstack([np.cos(angles), np.sin(angles)]) <= 0.85).all(axis=1))


def _kidney(x: Array) -> Array:
    return _within(0.0, 0.0, radius=1.0)(x) & ~_within(0.0, 0.9, radius=0.7)(x)


def _ring(x: Array) -> Array:
    return _within(0.0, 0.0, radius=1.0)(x) & ~_within(0.0, 0.0, radius=0.45)(x)


def _between(x: Array) -> Array:
    return np.asarray((x[:, 1] >= 1.2 * x[:, 0] ** 2 - 0.8) & (x[:, 1] <= 0.5 - 0.3 * x[:, 0]))


REGIONS = (
    Region("hexagon", _hexagon, True, "convex: none", ((-0.7, -0.3), (0.6, 0.6))),
    Region("above a parabola, below a line", _between, True, "convex: none",
           ((-0.9, 0.3), (0.8, 0.2))),
    Region("kidney", _kidney, False, "not convex: some", ((-0.8, 0.4), (0.8, 0.4))),
    Region("ring", _ring, False, "not convex: some", ((-0.6, -0.4), (0.65, 0.35))),
)  # fmt: skip

EXPERIMENTS = (
    Experiment(
        "shin-convexity",
        "S",
        "lecture 2, conditions and examples",
        "Functions convex by chord, tangent, Hessian and Jensen",
        conditions,
    ),
    Experiment(
        "shin-rules", "S", "lecture 2, rules and sets", "What keeps convexity, and sets", rules
    ),
)
