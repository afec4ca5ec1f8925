"""Tucker's theorem 1.7 and section 6 up to 6.9: gradients, conjugates, subgradients, equilibria."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dualfold.arrays import Array
from dualfold.games import (
    Ball,
    Bregman,
    Convex,
    Entropy,
    HalfSquare,
    Huber,
    Indicator,
    LogSumExp,
    Quadratic,
    equilibrium,
    least_point,
    membership,
    payoff,
    refute,
)
from dualfold.point_pca import averaged_directions, direction_error, direction_gradient
from dualfold.theory.games.curves import example_problem
from papers.finding import Experiment, Finding, Row, Setting, claim, identity, theorem

ROUNDING = 1e-9  # relative to the terms that are added
SIZE = 3


def gradient(setting: Setting) -> Finding:
    """Theorem 1.7 and Remark 1.8: the gradient, no convexity in U, the nearest orthonormal one."""
    rng = setting.random()
    X, U = rng.standard_normal((40, 6)) * np.arange(1, 7), rng.standard_normal((6, 2))
    centred = X - X.mean(axis=0)
    S = centred.T @ centred
    ours = direction_gradient(X, U)
    printed = 2 * (S @ U @ U.T @ U + U @ U.T @ S @ U - 2 * S @ U)
    slopes = np.zeros_like(U)
    for place in np.ndindex(*U.shape):
        move = np.zeros_like(U)
        move[place] = 1e-6
        slopes[place] = (direction_error(X, U + move) - direction_error(X, U - move)) / 2e-6
    size = float(np.linalg.norm(ours))
    direct = float(np.square(centred @ U @ U.T - centred).sum())
    walk = averaged_directions(X, 2, rounds=10, seed=setting.seed)
    polar = float(np.linalg.norm(walk.directions - walk.average))
    nearer = min(
        float(np.linalg.norm(np.linalg.qr(walk.average + 0.5 * Z)[0] - walk.average))
        for Z in rng.standard_normal((setting.of(50, 500, 5_000), 6, 2))
    )
    in_U = refute(lambda u: direction_error(X, u.reshape(6, 2)), np.zeros(12), scale=2.0)
    in_P = refute(
        lambda p: float(np.square(centred @ p.reshape(6, 6).T - centred).sum()),
        np.zeros(36),
        scale=2.0,
    )
    rows = (
        identity("1.7: our gradient off the printed one, relative",
                 np.linalg.norm(ours - printed) / size, 1e-12),
        theorem("1.7: our gradient off differences of our f, relative",
                float(np.linalg.norm(ours - slopes)) / size, at_most=1e-6),
        identity("our f over ‖XUUᵀ − X‖²", direction_error(X, U) / direct, 1e-12, equals=1),
        claim("1.8: excess of a chord in U over f, of f's values", "not convex in U",
              in_U.excess / max(in_U.noise, 1e-300) * 1e-9, lambda x: x > 1e-3,
              "by a search for counterexamples"),
        claim("1.8: the same in P", "convex in P", in_P.excess / max(in_P.noise, 1e-300) * 1e-9,
              lambda x: x <= 1e-9, "none is found; the search proves nothing"),
        theorem("1.8: ‖ABᵀ − w̄‖ of our polar factor over the nearest of random orthonormal ones",
                polar / nearer, at_most=1),
    )  # fmt: skip
    sentence = (
        "The gradient of Theorem 1.7 is the derivative, f is not convex in U, and the polar factor "
        "is the nearest matrix with orthonormal columns."
    )
    return Finding(sentence, rows)


def functions(rng: np.random.Generator) -> Iterator[tuple[str, Convex, Array, Array]]:
    """(name, f, a point x, a slope y of its interior) of functions with a conjugate of ours."""
    A = rng.standard_normal((SIZE, SIZE))
    shapes: tuple[tuple[str, Convex], ...] = (
        ("½‖x − c‖²", HalfSquare(1.0, rng.standard_normal(SIZE))),
        ("½xᵀQx + cᵀx", Quadratic(A @ A.T + np.eye(SIZE), rng.standard_normal(SIZE))),
        ("Huber's", Huber(0.7)),
        ("log Σ exp", LogSumExp()),
    )
    for name, f in shapes:
        x = rng.standard_normal(SIZE)
        yield name, f, x, f.subgradient(rng.standard_normal(SIZE))
    yield "Σ x log x on the simplex", Entropy(), rng.dirichlet(np.ones(SIZE)), rng.random(SIZE)


def conjugates(setting: Setting) -> Finding:
    """Definitions 6.1, 6.3, 6.16, 6.17, Proposition 6.2 and Theorem 6.4 on our functions."""
    rng, tries = setting.random(), setting.of(5, 40, 400)
    worst: dict[str, dict[str, float]] = {}
    for _ in range(tries):
        for name, f, x, y in functions(rng):
            for what, value in _errors(f, x, y).items():
                of = worst.setdefault(name, {})
                of[what] = max(of.get(what, -np.inf), value)
    rows: list[Row] = []
    for name, of in worst.items():
        rows += [theorem(f"{name}: {what}", value, at_most=ROUNDING) for what, value in of.items()]
    rows += _bregman_rows(rng, tries)
    sentence = (
        f"On {len(worst)} functions of this package and {tries} random pairs each, Fenchel's "
        "inequality holds, the three statements of Theorem 6.4 hold together, and where one is "
        "bent by 2 % all of them fail."
    )
    return Finding(sentence, tuple(rows), notes=("Relative to the terms that are added.",))


def _errors(f: Convex, x: Array, y: Array) -> dict[str, float]:
    """By how much each statement fails at x and a slope y, relative; ≤ 0 or 0 where it holds."""
    slope, top = f.subgradient(x), f.conjugate(y)
    terms = 1 + abs(f.value(x)) + abs(top) + abs(float(x @ y))
    at = f.value(x) + f.conjugate(slope) - float(x @ slope)
    peak = None if isinstance(f, Huber) else f.maximiser(y)  # its slopes leave a ray of them
    found = {
        "⟨x, y⟩ less f(x) + f*(y) (6.1)": (float(x @ y) - f.value(x) - top) / terms,
        "f(x) + f*(y) − ⟨x, y⟩ for y = ∇f(x) (6.4, I ⇒ III)": abs(at) / terms,
        "y = ∇f(x) refuted as a subgradient (6.3)": float(membership(f, x, slope).is_refuted),
        "f* above a chord between our slopes (6.2)": _chord(f, slope, y) / terms,
    }
    bent = 1.02 * slope + 0.02 * np.roll(slope, 1)
    if np.linalg.norm(bent - slope) > 1e-6 and not isinstance(f, Entropy | LogSumExp):
        outcome = membership(f, x, bent)
        found["a slope 2 % off accepted (6.4, III ⇒ I)"] = float(outcome.holds)
    if peak is not None:
        found["x* = argmax ⟨x, y⟩ − f(x) misses f* (6.4, II ⇒ III)"] = (
            abs(top + f.value(peak) - float(peak @ y)) / terms
        )
    return found


def _chord(f: Convex, y: Array, z: Array) -> float:
    middle = f.conjugate((y + z) / 2)
    return middle - (f.conjugate(y) + f.conjugate(z)) / 2


def _bregman_rows(rng: np.random.Generator, tries: int) -> list[Row]:
    """Definition 6.17: D ≥ (β/2)‖x − z‖², and the three points of the proof of 6.21."""
    A = rng.standard_normal((SIZE, SIZE))
    phi = Quadratic(A @ A.T + np.eye(SIZE), rng.standard_normal(SIZE))
    of, short, apart = Bregman(phi), np.inf, 0.0
    for _ in range(tries):
        x, z, w = rng.standard_normal((3, SIZE))
        far = phi.strong_convexity / 2 * float(np.square(x - z).sum())
        short = min(short, of.distance(x, z) / far)
        pulled = float((phi.subgradient(w) - phi.subgradient(z)) @ (x - w))
        three = of.distance(x, z) - of.distance(x, w) - of.distance(w, z)
        apart = max(apart, abs(pulled - three) / (1 + abs(three)))
    return [
        theorem("6.17: D_z(x) over (β/2)‖x − z‖², least", short, at_least=1, within=1e-9),
        identity("6.21: ⟨∇φ(w) − ∇φ(z), x − w⟩ less D_z(x) − D_w(x) − D_z(w)", apart, ROUNDING),
    ]


def equilibria(setting: Setting) -> Finding:
    """Definitions 6.5 to 6.7, Proposition 6.8 and Corollary 6.9: min f over a ball as a game."""
    rng, tries = setting.random(), setting.of(10, 60, 600)
    f, start, radius = example_problem(6)
    ball = Ball(radius / 2)
    best = least_point(f, Indicator(ball), start).point
    least = f.value(best)
    at_best = equilibrium(f, best, f.subgradient(best), over=ball)
    late = outside = 0.0
    own, above = 0.0, -np.inf
    for _ in range(tries):
        x = ball.project(radius * rng.standard_normal(6))
        y = f.subgradient(ball.project(radius * rng.standard_normal(6)))
        pair = equilibrium(f, x, y, over=ball)
        outside = max(outside, pair.low - least, least - pair.high)
        late = max(late, (f.value(x) - least) - pair.epsilon)
        own = max(own, abs(payoff(f, x, f.subgradient(x)) / f.value(x) - 1))
        above = max(above, payoff(f, x, y) - f.value(x))
    room = 1e-9 * (1 + least)
    rows = (
        theorem("6.8: ε of (x*, ∇f(x*)), of min f", at_best.epsilon / least, at_most=1e-6,
                about="x* by `least_point` on the ball"),
        theorem("6.6: V* outside [inf_x g, sup_y g] of a random pair by", outside, at_most=0,
                within=room),
        theorem("6.9: f(x̂) − min f less ε of a random pair, largest", late, at_most=0,
                within=room),
        theorem("6.5: g(x, y) less f(x), largest", above, at_most=0, within=room),
        identity("6.5: g(x, ∇f(x)) over f(x), off 1", own, 1e-9),
    )  # fmt: skip
    sentence = (
        f"The minimum of f over a ball and its gradient are an ε-equilibrium with ε = "
        f"{at_best.epsilon:.1g}; of {tries} random pairs each has V* between its two values."
    )
    return Finding(sentence, rows)


EXPERIMENTS = (
    Experiment("tucker-gradient", "T", "Theorem 1.7, Remark 1.8", "The gradient of PCA", gradient),
    Experiment(
        "tucker-conjugates", "T", "6.1–6.4, 6.16, 6.17", "Conjugates and subgradients", conjugates
    ),
    Experiment("tucker-equilibria", "T", "6.5–6.9", "A minimum as an equilibrium", equilibria),
)
