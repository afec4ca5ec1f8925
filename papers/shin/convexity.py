"""Lecture 2, middle part: convexity of this package's functions and sets, and what keeps it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.games import (
    Ball,
    Box,
    Conjugate,
    Convex,
    Ellipsoid,
    Entropy,
    Huber,
    L1Ball,
    LargestAffine,
    LeastSquares,
    Logistic,
    LogSumExp,
    Oracle,
    Quadratic,
    Simplex,
    Sum,
    norm,
    refute,
)
from dualfold.theory.games.convex_sets import ConvexSet
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, claim, identity, theorem

ROUNDING = 1e-10  # relative to the values that are compared
SIZE = 4
Points = Callable[[np.random.Generator, int], Array]


@dataclass(frozen=True)
class Shape:
    """A convex function of ours, what the lecture says of it, and where to try it."""

    name: str
    f: Convex
    points: Points


def _anywhere(rng: np.random.Generator, count: int) -> Array:
    return np.asarray(2 * rng.standard_normal((count, SIZE)))


def _inside_simplex(rng: np.random.Generator, count: int) -> Array:
    return np.asarray(rng.dirichlet(np.ones(SIZE), count))


def lecture_shapes(rng: np.random.Generator) -> tuple[Shape, ...]:
    """The lecture's examples that this package has, and functions that its rules make."""
    A = rng.standard_normal((6, SIZE))
    psd = A.T @ A
    both = LeastSquares(A, rng.standard_normal(6))
    signs = np.sign(rng.standard_normal(6))
    return (
        Shape("a norm: ‖x‖₁", norm(1), _anywhere),
        Shape("a norm: ‖x‖₂", norm(2), _anywhere),
        Shape("a norm: ‖x‖_∞", norm("inf"), _anywhere),
        Shape("max{x₁, …, x_n}", LargestAffine(np.eye(SIZE)), _anywhere),
        Shape("log Σ e^(x_i)", LogSumExp(), _anywhere),
        Shape("Σ x log x", Entropy(), _inside_simplex),
        Shape("½xᵀQx + cᵀx, Q ⪰ 0", Quadratic(psd, A[0]), _anywhere),
        Shape("f(Ax + b), f = ½‖·‖²", both, _anywhere),
        Shape("f(Ax + b), f = Σ log(1 + e^−u)", Logistic(A, signs), _anywhere),
        Shape("a sum: ‖Ax − b‖²/2 + ‖x‖₁", Sum(both, norm(1)), _anywhere),
        Shape("a maximum of affine functions", LargestAffine(A), _anywhere),
        Shape("a supremum over y: Huber's", Huber(0.5), _anywhere),
        Shape("a supremum over x: a conjugate", Conjugate(Quadratic(psd, A[0])), _anywhere),
    )


def conditions(setting: Setting) -> Finding:
    """Definition, both conditions, Jensen and rules, on values and subgradients of ours."""
    rng, count = setting.random(), setting.of(60, 400, 5_000)
    shapes = lecture_shapes(rng)
    rows: list[Row] = []
    for shape in shapes:
        chord = chord_excess(shape, rng, count)
        tangent = tangent_excess(shape, rng, count)
        jensen = jensen_excess(shape, rng, count // 10)
        note = f"chord {chord:.0e}, tangent by our subgradient {tangent:.0e}, Jensen {jensen:.0e}"
        worst = max(chord, tangent, jensen)
        rows.append(theorem(f"{shape.name}: not convex by", worst, at_most=ROUNDING, about=note))
    rows += _second_order_rows(shapes, rng, count // 10)
    rows += _composition_rows(setting)
    rows += _lecture_rows(setting)
    strict = _least_bulge(rng, count)
    rows.append(
        theorem("Σ x log x below the middle of a chord, of ‖x − y‖²", strict, at_least=0.125,
                about="strictly convex: at least ⅛‖x − y‖² on the simplex, as it is 1-strongly")
    )  # fmt: skip
    sentence = (
        f"{len(shapes)} functions of this package, the lecture's examples and what its rules make "
        f"of them, pass chord, tangent and Jensen on {count} random pairs of points each."
    )
    notes = (
        "Violations are relative to the values compared. A search for counterexamples refutes; "
        "where it finds none it proves nothing.",
    )
    return Finding(sentence, tuple(rows), ((TANGENTS, _tangents_figure()),), notes)


# Of the largest curvature: differences of slopes with a step of 1e-5 leave less.
DIFFERENCE_ROUNDING = 1e-6


def least_curvature(f: Convex, x: Array) -> float:
    """The least eigenvalue of ∇²f(x), by differences of our slopes, over the largest modulus."""
    step = 1e-5 * float(np.abs(x).max())
    moves = step * np.eye(len(x))
    columns = [(f.subgradient(x + d) - f.subgradient(x - d)) / (2 * step) for d in moves]
    values = np.linalg.eigvalsh((np.array(columns) + np.transpose(columns)) / 2)
    return float(values[0] / max(np.abs(values).max(), 1e-300))


def _second_order_rows(
    shapes: tuple[Shape, ...], rng: np.random.Generator, count: int
) -> list[Row]:
    """∇²f ⪰ 0 at random points of what is twice differentiable; a cube is not."""
    smooth = [one for one in shapes if isinstance(one.f, SMOOTH)]
    rows = []
    for shape in smooth:
        least = min(least_curvature(shape.f, x) for x in shape.points(rng, count))
        rows.append(
            theorem(f"{shape.name}: least eigenvalue of ∇²f over the largest", least, at_least=0,
                    within=DIFFERENCE_ROUNDING, about="second-order condition, by our slopes")
        )  # fmt: skip
    cube = Oracle(lambda x: (float(np.sum(x**3)), 3 * x**2))
    bent = min(least_curvature(cube, x) for x in _anywhere(rng, count))
    rows.append(
        theorem("Σx³, not convex: the same", bent, at_most=-0.01, about="negative somewhere")
    )
    return rows


SMOOTH = (LogSumExp, Entropy, Quadratic, LeastSquares, Logistic)
# h(g(x)) of one variable: h and g with their first two derivatives, and whether the rule says
# that it is convex (h convex and rising, g convex; or h convex and falling, g concave).
Scalar = Callable[[float], float]
COMPOSITIONS: tuple[tuple[str, tuple[Scalar, ...], tuple[Scalar, ...], bool], ...] = (
    ("exp(x²): h rises, g convex", (np.exp,) * 3,
     (lambda x: x * x, lambda x: 2 * x, lambda x: 2.0), True),
    ("1/√(1 + x): h = 1/u falls, g concave", (lambda u: 1 / u, lambda u: -1 / u**2,
     lambda u: 2 / u**3), (lambda x: (1 + x) ** 0.5, lambda x: 0.5 * (1 + x) ** -0.5,
     lambda x: -0.25 * (1 + x) ** -1.5), True),
    ("(x² − 1)²: h = u² is not monotone", (lambda u: u * u, lambda u: 2 * u, lambda u: 2.0),
     (lambda x: x * x - 1, lambda x: 2 * x, lambda x: 2.0), False),
)  # fmt: skip


def _composition_rows(setting: Setting) -> list[Row]:
    """f″ = h″(g)g′² + h′(g)g″ against differences of f, and convex where the rule says so."""
    rows, tries, at = list[Row](), setting.of(500, 2_000, 20_000), np.linspace(-0.8, 1.8, 27)
    for name, h, g, convex in COMPOSITIONS:
        bend = np.array([h[2](g[0](x)) * g[1](x) ** 2 + h[1](g[0](x)) * g[2](x) for x in at])
        ends = np.array([[h[0](g[0](x + d)) for d in (-1e-4, 0.0, 1e-4)] for x in at])
        off = np.abs((ends[:, 0] - 2 * ends[:, 1] + ends[:, 2]) / 1e-8 - bend)
        found = refute(
            lambda x, h=h, g=g: float(h[0](g[0](float(x[0])))),  # type: ignore[misc]
            np.array([0.5]), over=Box(-0.8, 1.8), tries=tries,
        )  # fmt: skip
        worst = float((off / np.maximum(np.abs(bend), 1.0)).max())
        rows.append(
            identity(f"{name}: f″ by the rule less differences", worst, 1e-5, about="relative")
        )
        rows.append(
            theorem(f"{name}: refuted by our search", float(found.is_refuted),
                    equals=float(not convex), about=f"{tries} tries; least f″ {bend.min():.2g}")
        )  # fmt: skip
    return rows


Plain = Callable[[Array], float]
# The lecture's examples that are no functions of this package, and whether they are convex.
EXAMPLES: tuple[tuple[str, Plain, bool], ...] = (
    ("e^(1.3x)", lambda x: float(np.exp(1.3 * x[0])), True),
    ("x^1.5, x > 0", lambda x: float(x[0] ** 1.5), True),
    ("x^−1, x > 0", lambda x: float(1 / x[0]), True),
    ("−x^½, x > 0", lambda x: -float(np.sqrt(x[0])), True),
    ("−log x", lambda x: -float(np.log(x[0])), True),
    ("|x|^1.5", lambda x: float(abs(x[0] - 2) ** 1.5), True),
    ("−(Πx_i)^(1/n), x > 0", lambda x: -float(np.prod(x) ** (1 / len(x))), True),
    ("sum of the two largest entries", lambda x: float(np.sort(x)[-2:].sum()), True),
    (
        "distance to the farthest of two points",
        lambda x: float(max(abs(x[0]), abs(x[0] - 3))),
        True,
    ),
    ("x³ around 0: no example, to see the search refute", lambda x: float((x[0] - 2) ** 3), False),
    ("min(f₁, f₂): no rule keeps it", lambda x: float(min(abs(x[0] - 1), abs(x[0] - 3))), False),
)


def _lecture_rows(setting: Setting) -> list[Row]:
    """Each example put to our search for counterexamples, on a box of positive numbers."""
    rows, tries = list[Row](), setting.of(500, 2_000, 20_000)
    saddle = refute(lambda x: float(x[0] ** 2 - x[1] ** 2), np.zeros(2), tries=tries)
    along = refute(lambda x: float(x[0] ** 2), np.zeros(1), tries=tries)
    rows.append(
        claim("f(Ax + b) refuted as f is, f = u² − v², A = (1, 0)ᵀ", "f(Ax + b) is convex iff f is",
              float(saddle.is_refuted and along.is_refuted), lambda x: x == 1,
              "u² is left: “iff” needs an A that is onto")
    )  # fmt: skip
    for name, f, convex in EXAMPLES:
        found = refute(f, np.full(3, 2.0), over=Box(0.1, 4.0), tries=tries)
        excess = found.excess / max(found.noise, 1e-300) * 1e-9
        note = f"excess {excess:.1g} of the values, {found.tries} tries"
        rows.append(
            claim(f"{name}: counterexamples to convexity", 0.0, float(found.is_refuted),
                  lambda x: x == 0, note)
            if convex
            else theorem(f"{name}: refuted", float(found.is_refuted), equals=1, about=note)
        )  # fmt: skip
    return rows


TANGENTS = "The lecture's y² lies above each of its tangents: local knowledge, global bound."


def sets(setting: Setting) -> Finding:
    """Segments between points of a set stay inside, and projections are nearest points."""
    rng, count = setting.random(), setting.of(40, 300, 3_000)
    kinds: dict[str, ConvexSet] = {
        "ball": Ball(1.0),
        "box": Box(-0.5, 0.8),
        "ellipsoid": Ellipsoid(np.array([0.3, 0.6, 1.0, 2.0])),
        "simplex": Simplex(),
        "cross-polytope ‖x‖₁ ≤ 1": L1Ball(1.0),
    }
    rows: list[Row] = []
    for name, one in kinds.items():
        leaves = turned = 0.0
        for _ in range(count):
            x, y = (one.project(2 * rng.standard_normal(SIZE)) for _ in range(2))
            share = rng.random()
            middle = share * x + (1 - share) * y
            leaves = max(leaves, float(np.linalg.norm(one.project(middle) - middle)))
            far = 3 * rng.standard_normal(SIZE)
            foot = one.project(far)
            turned = max(turned, float((far - foot) @ (y - foot)))
        rows += [
            theorem(f"{name}: a point between two of its points, outside by", leaves, at_most=1e-9),
            theorem(f"{name}: ⟨x − Px, y − Px⟩ for y in it", turned, at_most=1e-7,
                    about="Px is the nearest point of a convex set exactly when this is ≤ 0"),
        ]  # fmt: skip
    sentence = f"On {len(kinds)} sets of this package no segment leaves the set."
    return Finding(sentence, tuple(rows))


def chord_excess(shape: Shape, rng: np.random.Generator, count: int) -> float:
    """Largest rise of f above its chords, relative to the values at their ends."""
    worst = 0.0
    for x, y in zip(shape.points(rng, count), shape.points(rng, count), strict=True):
        share, ends = rng.random(), (shape.f.value(x), shape.f.value(y))
        over = shape.f.value(share * x + (1 - share) * y) - share * ends[0] - (1 - share) * ends[1]
        worst = max(worst, over / (1e-300 + abs(ends[0]) + abs(ends[1])))
    return worst


def tangent_excess(shape: Shape, rng: np.random.Generator, count: int) -> float:
    """Largest rise of tangents by our subgradients above f."""
    worst = 0.0
    for x, far in zip(shape.points(rng, count), shape.points(rng, count), strict=True):
        # From afar the curvature hides a slope that is a little wrong; from nearby it does not.
        for y in (far, x + 1e-3 * (far - x)):
            at, there = shape.f.value(x), shape.f.value(y)
            rise = float(shape.f.subgradient(x) @ (y - x))
            worst = max(worst, (at + rise - there) / (1e-300 + abs(at) + abs(there) + abs(rise)))
    return worst


def jensen_excess(shape: Shape, rng: np.random.Generator, count: int) -> float:
    """Excess of f(E X) above E f(X), X of ten values."""
    worst = 0.0
    for _ in range(count):
        X, weights = shape.points(rng, 10), rng.dirichlet(np.ones(10))
        each = np.array([shape.f.value(x) for x in X])
        over = shape.f.value(weights @ X) - float(weights @ each)
        worst = max(worst, over / (1e-300 + float(np.abs(each).max())))
    return worst


def _least_bulge(rng: np.random.Generator, count: int) -> float:
    """Our entropy at the middle of a chord, below it, over ‖x − y‖²: the least."""
    f, least = Entropy(), np.inf
    for x, y in zip(_inside_simplex(rng, count), _inside_simplex(rng, count), strict=True):
        below = (f.value(x) + f.value(y)) / 2 - f.value((x + y) / 2)
        least = min(least, below / float(np.square(x - y).sum()))
    return float(least)


def _tangents_figure() -> Any:
    square, y = Quadratic(np.array([[2.0]]), np.zeros(1)), np.linspace(-2, 2, 101)
    lines = [Line("y²", y, [square.value(np.array([at])) for at in y])]
    for x in (-1.2, 0.0, 0.7):
        name = f"tangent at {x:g}".replace("-", "−")
        at, slope = square.value(np.array([x])), float(square.subgradient(np.array([x]))[0])
        lines.append(Line(name, y, at + slope * (y - x), look="bound"))
    return chart_figure([Chart(lines, x_name="y")])


EXPERIMENTS = (
    Experiment(
        "shin-convexity",
        "S",
        "lecture 2, conditions and examples",
        "Functions convex by chord, tangent, Jensen, second derivative and composition",
        conditions,
    ),
    Experiment(
        "shin-sets", "S", "lecture 2, convex sets", "Segments stay inside convex sets", sets
    ),
)
