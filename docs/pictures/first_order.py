"""The pictures of the pages on the game and on descent; `make.py` writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from dualfold import games
from dualfold.point_pca import (
    algorithm_one,
    averaged_directions,
    descend_points,
    pair_forces,
)
from dualfold.theory.games.online_learning import Past

INK, SOFT, BLUE, ORANGE, GREEN = "#222222", "#666666", "#0072B2", "#D55E00", "#009E73"


def game() -> Figure:
    """Gaps with their promises; regret against an opponent who answers; two divergences."""
    figure = Figure(figsize=(11.5, 3.6), dpi=110, layout="constrained")
    gaps, against, experts = figure.subplots(1, 3)
    _gaps(gaps)
    _opponent(against)
    _experts(experts)
    return _finished(figure, (gaps, against, experts))


def _gaps(axes: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 8)) * np.geomspace(1, 0.2, 8)
    f, over = games.LeastSquares(rows, rng.normal(size=60)), games.Ball(0.3)
    for recipe, color in (
        (games.averaged_descent(f, np.zeros(8), over=over), ORANGE),
        (games.frank_wolfe(f, np.zeros(8), over=over), GREEN),
        (games.nesterov(f, np.zeros(8), over=over), BLUE),
    ):
        run = recipe.play(400)
        rounds = np.arange(1, 401)
        axes.loglog(rounds, run.gap, color=color, lw=1.8, label=recipe.name)
        axes.loglog(rounds, [recipe.bound(int(T)) for T in rounds], color=color, lw=1, ls=":")
    axes.legend(fontsize=8, frameon=False, loc="lower left")
    axes.set(title="how far from the minimum?", xlabel="round", ylabel="duality gap")


def _opponent(axes: Any) -> None:
    interval, start = games.Indicator(games.Box(-1.0, 1.0)), np.zeros(1)

    def answers(past: Past) -> Any:
        return np.array([1.0 if past.points[-1][0] >= 0 else -1.0])

    horizons = 2 ** np.arange(1, 11)
    for name, color in (("follow the leader", ORANGE), ("mirror descent", BLUE)):
        low, high = [], []
        for T in horizons:
            leads = name == "follow the leader"
            player = games.FTL(interval, start) if leads else games.OMD(interval, start, T**-0.5)
            curve = games.learn(player, answers, rounds=int(T)).average_regret([T])
            low.append(curve.low[0])
            high.append(curve.high[0])
        axes.fill_between(horizons, low, high, color=color, alpha=0.3, lw=0)
        axes.loglog(horizons, high, color=color, lw=1.8, label=name)
        if name == "mirror descent":
            # The best point of an even number of rounds is anywhere; 1 bounds ‖z*‖.
            promised = 1 / np.sqrt(horizons)
            axes.loglog(horizons, promised, color=color, lw=1, ls=":", label="… promised")
    axes.set_ylim(5e-3, 5)
    axes.legend(fontsize=8, frameon=False, loc="upper right")
    axes.set(title="an opponent who answers", xlabel="rounds", ylabel="average regret")


def _experts(axes: Any) -> None:
    rng, d, rounds = np.random.default_rng(0), 200, 600
    losses = rng.uniform(size=(rounds, d))
    losses[:, 0] *= 0.6  # the good one
    simplex, start = games.Indicator(games.Simplex()), np.full(d, 1 / d)
    entropy = games.KullbackLeibler()
    for player, name, color in (
        (games.OMD(simplex, start, (1 / (d * rounds / 3)) ** 0.5), "projected steps", ORANGE),
        (games.OMD(simplex, start, (2 * np.log(d) / rounds) ** 0.5, entropy), "entropic", BLUE),
    ):
        curve = games.learn(player, losses).average_regret()
        shown = curve.rounds >= 5
        axes.loglog(curve.rounds[shown], curve.high[shown], color=color, lw=1.8, label=name)
        axes.loglog(curve.rounds[shown], curve.bound[shown], color=color, lw=1, ls=":")
    axes.legend(fontsize=8, frameon=False, loc="lower left")
    axes.set(title="one good expert among 200", xlabel="round", ylabel="average regret")


def descent() -> Figure:
    """Points on their way to PCA, how fast three descents fall, a nearest pair that repels."""
    figure = Figure(figsize=(11.5, 3.6), dpi=110, layout="constrained")
    paths, falls, line = figure.subplots(1, 3, width_ratios=(1, 1.15, 1))
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3)) * np.array([3.0, 1.6, 0.3])
    X = X - X.mean(axis=0)
    _paths(paths, X)
    _falls(falls, X)
    _four_points(line)
    return _finished(figure, (paths, falls, line))


def _paths(axes: Any, X: Any) -> None:
    rate = 0.02 / np.linalg.norm(X, 2) ** 2
    steps = np.array(algorithm_one(X, 2, n_epochs=400, rate=rate, seed=2))
    angle = np.arctan2(steps[-1][:, 1], steps[-1][:, 0])
    for i, turn in enumerate(angle):
        color = f"C{int((turn + np.pi) / (2 * np.pi) * 9.99)}"
        axes.plot(*steps[:, i].T, color=color, lw=0.8, alpha=0.7)
        axes.plot(*steps[-1, i], "o", color=color, ms=3.5)
    axes.set_aspect("equal")
    axes.set(title="from a random start to PCA", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _falls(axes: Any, X: Any) -> None:
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    reach, rest = float((squares[:2] ** 2).sum()), float((squares[2:] ** 2).sum())

    def missing(Y: Any) -> float:
        Y = Y - Y.mean(axis=0)
        return (float(np.square(X @ X.T - Y @ Y.T).sum()) - rest) / reach

    slow = [missing(Y) for Y in algorithm_one(X, 2, n_epochs=60, rate=0.1 / squares[0], seed=2)]
    run = descend_points(X, 2, reachable=4 * reach, tol=1e-13, seed=2)
    fast = run.errors / (4 * reach) + 1
    paper = averaged_directions(X, 2, rounds=60, step=1.0)
    total = squares[:2].sum()
    kept = []
    for t in range(1, 61):
        left, _, right = np.linalg.svd(paper.iterates[:t].mean(axis=0), full_matrices=False)
        kept.append(1 - float(np.square(X @ left @ right).sum()) / total)
    for values, name, color in (
        (slow, "Algorithm 1, one rate", ORANGE),
        (kept, "directions, averaged", GREEN),
        (fast, "PointPCA", BLUE),
    ):
        axes.semilogy(np.maximum(values, 1e-13), color=color, lw=1.8, label=name)
    axes.set_ylim(1e-13, 30)
    axes.legend(fontsize=8, frameon=False, loc="upper right")
    axes.set(title="what is missing, step by step", xlabel="step", ylabel="share of the fall")


def _four_points(axes: Any) -> None:
    line = np.array([[-10.0], [-3.0], [2.0], [11.0]])
    of_data, _ = pair_forces(line, line)
    axes.axhline(0, color="#e0e0e0", lw=1, zorder=0)
    axes.plot(line[:, 0], np.zeros(4), "o", color=INK, ms=8)
    for i, other, color in ((1, 2, ORANGE), (2, 1, ORANGE), (0, 1, BLUE), (3, 2, BLUE)):
        force = float(of_data[i, other, 0])
        axes.annotate(
            "",
            (line[i, 0] + np.sign(force) * 3.2, 0.0),
            (line[i, 0], 0.0),
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2.2},
        )
    mean = float(line.mean())
    axes.axvline(mean, color=SOFT, lw=1, ls="--")
    axes.text(mean + 0.3, 0.75, "the mean", fontsize=8.5, color=SOFT)
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    for height, words, color in (
        (-0.45, "nearest pair, across the mean:\npushed apart", ORANGE),
        (0.35, "pairs on one side of it:\npulled together", BLUE),
    ):
        axes.text(0, height, words, fontsize=8.5, color=color, ha="center", bbox=ground)
    axes.set_ylim(-1, 1)
    axes.set(title="near points need not attract", yticks=[], xlabel="four points of a line")


def _finished(figure: Figure, panels: tuple[Any, ...]) -> Figure:
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8, colors=SOFT)
        axes.title.set(fontsize=10.5, color=INK)
        axes.xaxis.label.set(fontsize=9, color=SOFT)
        axes.yaxis.label.set(fontsize=9, color=SOFT)
    return figure
