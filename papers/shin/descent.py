"""Lecture 2, first part: gradient descent, its zig-zag, memory, and gradients of batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, islice
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.games import (
    LeastSquares,
    Quadratic,
    accelerated_gradient,
    adagrad,
    adam,
    gradient_descent,
    minibatch,
    momentum,
    rmsprop,
)
from dualfold.theory.games.textbook_methods import DescentMethod, Path
from papers.figures.charts import Chart, Line, chart_figure
from papers.figures.games import path_figure
from papers.finding import Experiment, Finding, Row, Setting, also, claim, theorem

# The lecture's function, start and step.
VALLEY = Quadratic(np.array([[2.0, 1.0], [1.0, 20.0]]), np.array([-5.0, -3.0]))
START, STEP = np.array([-3.0, -1.0]), 0.085
LOWEST = np.array([97.0, 1.0]) / 39  # Q⁻¹(5, 3)
LEAST = VALLEY.value(LOWEST)
NEAR = 1e-6  # gap to the minimum that ends a race
SHOWN = 0.4  # the step drawn for a method that arrives with none
ENOUGH = 2_000  # steps after which a method counts as not arriving


def zigzag(setting: Setting) -> Finding:
    """The lecture's valley with its step: the steep part changes sign at every step."""
    values, vectors = np.linalg.eigh(VALLEY.matrix)
    slow, steep = 1 - STEP * values
    path = gradient_descent(VALLEY, START, step=STEP).play(30)
    parts = (path.points - LOWEST) @ vectors
    ratios = parts[1:21] / parts[:20]
    turns, turns_with = (_turns(one, vectors[:, 1]) for one in (path, _remembering(0.5).play(30)))
    plain = _rounds(gradient_descent(VALLEY, START, step=STEP))
    limit = 2 / float(values[1])
    too_big = gradient_descent(VALLEY, START, step=1.01 * limit).play(400)
    small = _rounds(gradient_descent(VALLEY, START, step=STEP / 10))
    forgetful, endless = _rounds(_remembering(0.5)), _remembering(1.0).play(ENOUGH)
    descends = _descends(setting)
    pattern = (ratios[:, 1] < 0).all() and (ratios[:, 0] > 0).all()
    rows = (
        theorem("gradient at the start, first entry", VALLEY.subgradient(START)[0], equals=-12),
        theorem("gradient at the start, second entry", VALLEY.subgradient(START)[1], equals=-26),
        _factor("the steep part a step", steep, ratios[:, 1], "1 − γλ₁ < 0: the zig-zag"),
        _factor("the flat part a step", slow, ratios[:, 0], "1 − γλ₂: the slow way"),
        claim("sides of the valley changed in 30 steps", "zigzag", float(turns),
              lambda x: x == 30 and pattern, "at every step, and in the steep direction only"),
        claim("the same with memory ½", "dampened", float(turns_with), lambda x: x < turns,
              f"fewer than {turns}"),
        also("steps to 1e-6, γ = 0.085", float(plain)),
        claim("steps to 1e-6, γ = 0.0085, over those with γ = 0.085", "slow", small / plain,
              lambda x: x > 5, "a tenth of the step; more than 5 times as many"),
        claim(f"γ 1 % above 2/λ₁ = {limit:.4f}: f after 400 steps less f at the start",
              "fails to converge", float(too_big.upper[-1]) - VALLEY.value(START), lambda x: x > 0),
        theorem("γ 1 % above 2/λ₁: the steep part a step", _last_ratio(too_big, vectors[:, 1]),
                equals=1 - 1.01 * limit * float(values[1]), within=1e-9, about="below −1"),
        claim("steps to 1e-6, memory ½, over those without", "better", forgetful / plain,
              lambda x: x < 1),
        claim(f"memory 1: gap after {ENOUGH:,} steps", "α ∈ [0, 1]",
              float(endless.upper[-100:].max() - LEAST), lambda x: x <= NEAR,
              "a ball without friction never rests: α must be below 1"),
        theorem("share of descent directions along which f falls", descends, equals=1,
                about="every step below 2|∇f·d|/dᵀQd"),
    )  # fmt: skip
    sentence = (
        f"With the lecture's step the steep part of the error is multiplied by "
        f"−{-ratios[0, 1]:.3f} a step and changes sides {turns} times in 30 steps, the flat part "
        f"by {ratios[0, 0]:.3f}; {plain} steps reach a gap of 1e-6, {forgetful} with memory ½."
    )
    return Finding(sentence, rows)


def race(setting: Setting) -> Finding:
    """Momentum, NAG, Adagrad, RMSprop and Adam down the same valley."""
    steps = np.geomspace(0.01, 3.0, setting.of(5, 25, 97)).tolist()
    tried: dict[str, tuple[Callable[[float], DescentMethod], Sequence[float]]] = {
        "gradient descent": (lambda s: gradient_descent(VALLEY, START, step=s), (STEP,)),
        "momentum ½": (lambda s: momentum(VALLEY, START, step=s, memory=0.5), (STEP,)),
        "NAG ½": (
            lambda s: accelerated_gradient(VALLEY, START, step=s, memory=0.5),
            (STEP / 2,),
        ),
        "Adagrad": (lambda s: adagrad(VALLEY, START, step=s), steps),
        "RMSprop": (lambda s: rmsprop(VALLEY, START, step=s), steps),
        "RMSprop, step/√t": (lambda s: rmsprop(VALLEY, START, step=_root(s)), steps),
        "Adam": (lambda s: adam(VALLEY, START, step=s), steps),
    }
    rows: list[Row] = []
    paths: list[tuple[str, Path]] = []
    counts: dict[str, int] = {}
    for name, (method, sizes) in tried.items():
        found = [(_rounds(method(size)), size) for size in sizes]
        counts[name], size = min(found)
        rows.append(_race_row(name, counts[name], size, len(sizes)))
        shown = size if counts[name] <= ENOUGH else SHOWN
        paths.append((f"{name} (step {shown:.2g})", method(shown).play(30)))
    too_long = 2.02 / VALLEY.smoothness
    lost = gradient_descent(VALLEY, START, step=too_long).play(30)
    paths.append((f"too long a step ({too_long:.3f})", lost))
    plain = counts["gradient descent"]
    rows += [
        claim(f"steps to 1e-6: {name} over plain descent", "better", counts[name] / plain,
              lambda x: x < 1)
        for name in ("momentum ½", "NAG ½")
    ]  # fmt: skip
    circling = counts["RMSprop"] > ENOUGH
    order = sorted(counts, key=lambda name: counts[name])
    sentence = (
        f"On the lecture's valley {order[0]} needs {_in_words(counts[order[0]])} steps to a gap of "
        f"1e-6, momentum {counts['momentum ½']}, plain descent {plain}."
    )
    if circling:
        sentence += (
            " RMSprop with a constant step never rests, as it divides by the slope it should stop"
            f" for; with step/√t it arrives after {_in_words(counts['RMSprop, step/√t'])}."
        )
    figure = path_figure(VALLEY, paths)
    caption = "Thirty steps of each method from (−3, −1); the star is where they end."
    notes = (
        "Momentum takes the lecture's step; NAG half of it, as it diverges beyond 0.075; the steps "
        "of the others are the best of a grid from 0.01 to 3, which favours them.",
    )
    return Finding(sentence, tuple(rows), ((caption, figure),), notes)


def batches(setting: Setting) -> Finding:
    """The sum over a batch is |batch|/N of the gradient on average; N/|batch| mends it."""
    rng = setting.random()
    n, size = 9, 3
    f = LeastSquares(rng.standard_normal((n, 4)), rng.standard_normal(n))
    x = rng.standard_normal(4)
    full = f.subgradient(x)
    every = np.array([f.sample(x, np.array(chosen)) for chosen in combinations(range(n), size)])
    raw = every * (size / n)  # without the factor, as the lecture prints it
    share = float(raw.mean(axis=0) @ full / (full @ full))
    scaled = float(np.linalg.norm(every.mean(axis=0) - full) / np.linalg.norm(full))
    each = np.array([f.sample(x, np.array([row])) for row in range(n)])
    spread = float(np.square(every - full).sum(axis=1).mean())
    promised = float(np.square(each - full).sum(axis=1).mean()) * (n - size) / (size * (n - 1))
    lines, reached = _training(setting)
    rows = (
        claim("mean of all batch sums over the gradient", 1.0, share, lambda x: abs(x - 1) < 1e-12,
              f"the lecture's equation lacks N/|K|: it is |K|/N = {size}/{n}"),
        theorem("the same, scaled by N/|K| as our batches are: off the gradient", scaled,
                at_most=1e-12),
        theorem("variance of our scaled batch over its formula", spread / promised, equals=1,
                within=1e-12, about="that of one row times (N−|K|)/(|K|(N−1))"),
        *(
            also(f"gap after the same number of rows, {name}", gap)
            for name, gap in reached.items()
        ),
    )  # fmt: skip
    best = min(reached, key=lambda name: reached[name])
    sentence = (
        f"Averaged over all {len(every)} batches of {size} of {n} rows, the plain sum is "
        f"{share:.4f} of the gradient and the scaled one the gradient to {scaled:.1g}. For the "
        f"same number of rows looked at, {best} came lowest here."
    )
    chart = Chart(lines, "", "passes through the data", "f − minimum, relative", y_scale="log")
    caption = "Least squares: gap against rows looked at, for batches of several sizes."
    return Finding(sentence, rows, ((caption, chart_figure([chart])),))


def _training(setting: Setting) -> tuple[list[Line], dict[str, float]]:
    """Least squares with noise: full gradients against batches, for equal work."""
    rng = setting.random()
    n, passes = setting.of(200, 1_000, 5_000), 20
    A = rng.standard_normal((n, 10)) * np.linspace(1.0, 0.3, 10)
    f = LeastSquares(A, A @ rng.standard_normal(10) + 0.5 * rng.standard_normal(n))
    best = f.value(np.linalg.lstsq(A, f.targets, rcond=None)[0])
    start = np.zeros(10)
    lines, reached = [], {}
    for size in (n, n // 10, 10, 1):
        a_pass = n // size
        # Scaled batches are steeper than f by up to N/|K| of the longest row; after two passes
        # steps fall as 1/t, which noise asks for.
        rough = 0.0 if size == n else n / size * float(np.square(A).sum(axis=1).max())
        step = 1 / (f.smoothness + rough)
        sizes: Any = step if size == n else _falling(step, 2 * a_pass)
        plain = gradient_descent(f, start, step=sizes)
        method = plain if size == n else minibatch(plain, batch_size=size, random_state=0)
        # The bare points, at 200 of the rounds: lower bounds of each would take the time.
        thin = np.unique(np.linspace(0, passes * a_pass, 200).astype(int))
        points = islice(method.points(method.gradients(), method.start), passes * a_pass + 1)
        kept = set(thin.tolist())
        gaps = np.array([f.value(x) for at, x in enumerate(points) if at in kept])
        gaps = (gaps - best) / best
        name = "all rows" if size == n else f"batches of {size}" if size > 1 else "single rows"
        lines.append(Line(name, thin / a_pass, np.maximum(gaps, 1e-16)))
        reached[name] = float(gaps[-1])
    return lines, reached


def _falling(step: float, turn: int) -> Callable[[int], float]:
    return lambda t: step * turn / (turn + t)


def _remembering(memory: float) -> DescentMethod:
    return momentum(VALLEY, START, step=STEP, memory=memory)


def _rounds(method: DescentMethod) -> int:
    """Steps until the gap is `NEAR` and stays so for the rest of `ENOUGH`; one more if never."""
    # The bare points: a race needs no lower bounds, which `play` would spend its time on.
    points = islice(method.points(method.gradients(), method.start), ENOUGH + 1)
    away = np.array(list(points)) - LOWEST
    gaps = np.einsum("ti,ij,tj->t", away, VALLEY.matrix, away) / 2
    far = np.flatnonzero(~(gaps <= NEAR))
    return int(far[-1]) + 1 if len(far) else 0


def _race_row(name: str, count: int, size: float, tried: int) -> Row:
    note = f"step {size:.3g}" + ("" if tried == 1 else f", the best of {tried} tried")
    return also(f"steps to 1e-6: {name}", _in_words(count), note)


def _root(step: float) -> Callable[[int], float]:
    return lambda t: step / float(np.sqrt(t))


def _last_ratio(path: Path, steep: Array) -> float:
    """Change of the error along `steep` in the last step."""
    along = (path.points - LOWEST) @ steep
    return float(along[-1] / along[-2])


def _turns(path: Path, steep: Array) -> int:
    """Number of times that the path changes sides of the valley's floor."""
    sides = np.sign((path.points - LOWEST) @ steep)
    return int((sides[1:] != sides[:-1]).sum())


def _factor(what: str, wanted: float, ratios: Array, note: str) -> Row:
    worst = int(np.abs(ratios - wanted).argmax())
    return theorem(f"{what}, factor", ratios[worst], equals=wanted, within=1e-9,
                   about=f"{note}; the worst of 20 steps")  # fmt: skip


def _descends(setting: Setting) -> float:
    """The lemma: f falls along d with ∇f·d < 0 for every step in (0, ᾱ)."""
    rng = setting.random()
    fell = []
    for _ in range(setting.of(50, 1_000, 10_000)):
        x, d = rng.standard_normal((2, 2))
        along = float(VALLEY.subgradient(x) @ d)
        d = -np.sign(along) * d
        end = 2 * abs(along) / float(d @ VALLEY.matrix @ d)  # f is back at its height there
        fell += [VALLEY.value(x + share * end * d) < VALLEY.value(x) for share in (0.01, 0.5, 0.99)]
    return float(np.mean(fell))


def _in_words(rounds: int) -> str:
    return f"{rounds}" if rounds <= ENOUGH else f"more than {ENOUGH:,}"


EXPERIMENTS = (
    Experiment(
        "shin-zigzag", "S", "lecture 2, Example", "The zig-zag of gradient descent", zigzag
    ),
    Experiment(
        "shin-memory", "S", "lecture 2, adaptive methods", "Momentum, NAG, Adagrad, RMSprop, Adam",
        race,
    ),
    Experiment(
        "shin-batches", "S", "lecture 2, SGD", "Stochastic and mini-batch gradients", batches
    ),
)  # fmt: skip
