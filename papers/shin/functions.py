"""The functions that lecture 2 calls convex or concave, and those its rules make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from dualfold.arrays import Array

Values = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Shape:
    """A function on rows of points, with its (sub)gradients and Hessian where there are any.

    sign : +1 where it should be convex, −1 where it should be concave
    positive : defined for positive entries only
    """

    name: str
    values: Values
    slopes: Values | None = None
    bend: Callable[[Array], Array] | None = None
    sign: float = 1.0
    positive: bool = False
    dimensions: int = 1

    def points(self, rng: np.random.Generator, count: int) -> Array:
        points = rng.standard_normal((count, self.dimensions))
        return np.exp(points) if self.positive else 2 * points


def lecture_shapes() -> list[Shape]:
    """Every function the lecture calls convex or concave."""
    shapes = [_power(a, 1.0) for a in (-2.0, -1.0, 1.0, 1.5, 3.0)]
    shapes += [_power(a, -1.0) for a in (0.25, 0.5, 1.0)]
    shapes += [_exponential(a) for a in (-2.0, -0.5, 0.5, 2.0)]
    shapes += [_absolute(p) for p in (1.0, 1.5, 3.0)]
    shapes += [
        Shape("x²", lambda x: x[:, 0] ** 2, lambda x: 2 * x, lambda x: np.array([[2.0]])),
        Shape(
            "log x", lambda x: np.log(x[:, 0]), lambda x: 1 / x,
            lambda x: -np.diag(x**-2.0), -1.0, True,
        ),
        Shape(
            "x log x", lambda x: x[:, 0] * np.log(x[:, 0]), lambda x: np.log(x) + 1,
            lambda x: np.diag(1 / x), 1.0, True,
        ),
        Shape("‖x‖₁", lambda x: np.abs(x).sum(axis=1), np.sign, None, dimensions=4),
        Shape("‖x‖₂", _length, lambda x: x / _length(x)[:, None], _length_bend, dimensions=4),
        Shape("‖x‖_∞", lambda x: np.abs(x).max(axis=1), _largest_sign, None, dimensions=4),
        Shape("max x_i", lambda x: x.max(axis=1), _largest, None, dimensions=4),
        Shape("log Σ exp x_i", lambda x: logsumexp(x, axis=1), lambda x: softmax(x, axis=1),
              lambda x: np.diag(softmax(x)) - np.outer(softmax(x), softmax(x)), dimensions=4),
        Shape("(Π x_i)^(1/n)", _geometric, lambda x: _geometric(x)[:, None] / (x.shape[1] * x),
              _geometric_bend, -1.0, True, 4),
    ]  # fmt: skip
    return shapes


def keeping_rules(rng: np.random.Generator) -> list[Shape]:
    """Functions that the lecture's rules make of convex ones."""
    A, b = rng.standard_normal((4, 3)), rng.standard_normal(4)
    others = rng.standard_normal((30, 3))
    Q = np.array([[2.0, 1.0], [1.0, 20.0]])

    def largest_two(x: Array) -> Array:
        return np.sort(x, axis=1)[:, -2:].sum(axis=1)

    def farthest(x: Array) -> Array:
        return np.linalg.norm(x[:, None] - others[None], axis=2).max(axis=1)

    def dual(y: Array) -> Array:  # of min ½xᵀQx − (5, 3)x subject to two rows, for any y
        pull = y @ A[:2, :2] - np.array([5.0, 3.0])
        return -np.einsum("ij,ij->i", pull, np.linalg.solve(Q, pull.T).T) / 2 - y @ b[:2]

    return [
        Shape("2·x² + 3·|x|", lambda x: 2 * x[:, 0] ** 2 + 3 * np.abs(x[:, 0])),
        Shape("log Σ exp (Ax + b)", lambda x: logsumexp(x @ A.T + b, axis=1), dimensions=3),
        Shape("max(x², e^x)", lambda x: np.maximum(x[:, 0] ** 2, np.exp(x[:, 0]))),
        Shape("sum of the 2 largest of 4", largest_two, dimensions=4),
        Shape("exp(x²/4): h rising, g convex", lambda x: np.exp(x[:, 0] ** 2 / 4)),
        Shape("1/log(1 + x): h falling, g concave", lambda x: 1 / np.log1p(x[:, 0]), positive=True),
        Shape("distance to the farthest of 30 points", farthest, dimensions=3),
        Shape("the Lagrange dual of a quadratic", dual, sign=-1.0, dimensions=2),
    ]


def broken_rules() -> list[tuple[Shape, str]]:
    """Rules bent beyond what they allow."""
    return [
        (Shape("x² − 2|x|", lambda x: x[:, 0] ** 2 - 2 * np.abs(x[:, 0])), "a weight below 0"),
        (Shape("(x² − 4)²", lambda x: (x[:, 0] ** 2 - 4) ** 2), "h = u² falls before it rises"),
        (
            Shape("min(x², (x − 2)²)", lambda x: np.minimum(x**2, (x - 2) ** 2)[:, 0]),
            "min, not max",
        ),
        (
            Shape("u² − v²", lambda x: x[:, 0] ** 2 - x[:, 1] ** 2, dimensions=2),
            "yet f(Ax) = x² with A = (1, 0)ᵀ is convex: “iff” is false unless A is onto",
        ),
    ]


def _power(a: float, sign: float) -> Shape:
    return Shape(
        f"x^{a:g}".replace("-", "−"),
        lambda x: x[:, 0] ** a,
        lambda x: a * x ** (a - 1),
        lambda x: np.diag(a * (a - 1) * x ** (a - 2)),
        sign,
        positive=True,
    )


def _exponential(a: float) -> Shape:
    return Shape(
        f"e^({a:g}x)".replace("-", "−"),
        lambda x: np.exp(a * x[:, 0]),
        lambda x: a * np.exp(a * x),
        lambda x: np.diag(a**2 * np.exp(a * x)),
    )


def _absolute(p: float) -> Shape:
    return Shape(
        f"|x|^{p:g}",
        lambda x: np.abs(x[:, 0]) ** p,
        lambda x: p * np.sign(x) * np.abs(x) ** (p - 1),
    )


def _largest(x: Array) -> Array:
    return np.eye(x.shape[1])[x.argmax(axis=1)]


def _largest_sign(x: Array) -> Array:
    return _largest(np.abs(x)) * np.sign(x)


def _length(x: Array) -> Array:
    return np.asarray(np.linalg.norm(x, axis=1))


def _length_bend(x: Array) -> Array:
    length = float(np.linalg.norm(x))
    return np.asarray((np.eye(len(x)) - np.outer(x, x) / length**2) / length)


def _geometric(x: Array) -> Array:
    return np.asarray(np.exp(np.log(x).mean(axis=1)))


def _geometric_bend(x: Array) -> Array:
    mean, n = float(_geometric(x[None])[0]), len(x)
    return np.asarray(mean * (np.outer(1 / x, 1 / x) / n**2 - np.diag(x**-2.0) / n))
