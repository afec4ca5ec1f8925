"""Tucker's algorithms 3 to 5, and eleven first-order methods as games: regret, gaps, bounds.

The strategies are those of the paper on an interval, where every argmin can be looked up on a
grid: FTL, FTL⁺ and FTRL of Algorithm 4 (as printed, with the round's own loss, FTRL is the
prescient FTRL⁺), OMD and OMD⁺ of Algorithm 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dualfold.arrays import Array
from dualfold.games import (
    FTL,
    FTRL,
    OMD,
    BestResponse,
    Box,
    FTLPlus,
    FTRLPlus,
    Indicator,
    OMDPlus,
    Player,
    Quadratic,
    learn,
    recipe_curves,
)
from papers.figures.charts import Chart, Line, chart_figure
from papers.figures.games import gap_figure
from papers.finding import Experiment, Finding, Row, Setting, also, claim, identity, theorem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

START, STEP = 0.3, 0.4
GRID = np.linspace(-1.0, 1.0, 20_001)


def players(part: Indicator, start: Array, step: float) -> dict[str, Player]:
    """Every strategy of the paper's two algorithms, and best response."""
    return {
        "FTL": FTL(part, start),
        "FTL⁺": FTLPlus(part, start),
        "FTRL": FTRL(part, start, step=step),
        "FTRL⁺": FTRLPlus(part, start, step=step),
        "OMD": OMD(part, start, step=step),
        "OMD⁺": OMDPlus(part, start, step=step),
        "BestResp⁺": BestResponse(part, start),
    }


def on_a_grid(name: str, losses: Array, weights: Array) -> list[float]:
    """The paper's strategy written out: an argmin over `GRID` at every round.

    losses : one row a round, ℓ_t on the grid; weights : α_t
    """
    z, played = START, list[float]()
    weighted = weights[:, None] * losses
    near = np.square(GRID - START) / 2
    for t in range(len(losses)):
        seen = weighted[: t + 1] if name.endswith("⁺") else weighted[:t]
        total = seen.sum(axis=0)
        if name.startswith("FTL"):
            z = float(GRID[total.argmin()]) if len(seen) else START
        elif name.startswith("FTRL"):
            z = float(GRID[(total + near / STEP).argmin()])
        elif name.startswith("OMD"):
            last = seen[-1] if len(seen) else np.zeros_like(GRID)
            z = float(GRID[(last + np.square(GRID - z) / (2 * STEP)).argmin()])
        else:
            z = float(GRID[losses[t].argmin()])
        played.append(z)
    return played


def protocol(setting: Setting) -> Finding:
    """Algorithms 3 to 5: points against a grid, what was paid, and regret against its bound."""
    rng = setting.random()
    rounds, long = setting.of((6, 64), (15, 256), (30, 1_024))
    bends, places = rng.uniform(0.5, 2, rounds), rng.uniform(-1.5, 1.5, rounds)
    weights = rng.uniform(0.5, 2, rounds)
    losses = [
        Quadratic(np.array([[a]]), np.array([-a * c])) for a, c in zip(bends, places, strict=True)
    ]
    on_grid = np.array([a * GRID**2 / 2 - a * c * GRID for a, c in zip(bends, places, strict=True)])
    rows: list[Row] = []
    for name, player in players(Indicator(Box(-1.0, 1.0)), np.array([START]), STEP).items():
        found = learn(player, losses, weights.tolist())
        off = np.abs(found.points[:, 0] - on_a_grid(name, on_grid, weights)).max()
        rows.append(
            theorem(f"{name}: points off the argmin over a grid, largest", off,
                    at_most=3 * (GRID[1] - GRID[0]), about="quadratic losses, weights α_t")
        )  # fmt: skip
        by_hand = sum(
            w * loss.value(z) for w, loss, z in zip(weights, losses, found.points, strict=True)
        )
        rows.append(identity(f"{name}: Loss of Algorithm 3 over Σ α_t ℓ_t(z_t)",
                             found.paid[-1] / by_hand, 1e-12, equals=1))  # fmt: skip
    curves, more = _regret(setting, long)
    rows += more
    sentence = (
        "On an interval every strategy plays the point that its argmin has on a grid. Against "
        "losses that turn, leaders without a regulariser keep a regret, FTRL and OMD lose it as "
        "1/√T, and prescient players never had one."
    )
    caption = "Average regret to the best fixed point, losses that turn against the leader."
    return Finding(sentence, tuple(rows), ((caption, _figure(curves)),))


def _regret(setting: Setting, rounds: int) -> tuple[dict[str, tuple[Array, Array]], list[Row]]:
    """Average regret against an opponent who turns on the leader: slopes ±1 on [−1, 1]."""
    turning = np.array([0.5 if t == 0 else (-1.0) ** t for t in range(rounds)])[:, None]
    part, start = Indicator(Box(-1.0, 1.0)), np.array([0.0])
    step = float(1 / np.sqrt(rounds))
    curves: dict[str, tuple[Array, Array]] = {}
    rows: list[Row] = []
    for name, player in players(part, start, step).items():
        found = learn(player, turning)
        curve = found.average_regret()
        curves[name] = (curve.rounds, curve.high)
        last = float(curve.high[-1])
        if np.isfinite(curve.bound).all():
            over = float((curve.high - curve.bound).max())
            rows.append(theorem(f"{name}: average regret less its bound, largest", over, at_most=0,
                                within=1e-9, about="Lemma 6.21 and its like"))  # fmt: skip
        if name == "FTL":
            rows.append(theorem("FTL: average regret after the last round", last, at_least=0.9,
                                about="each leader is wrong when it leads"))  # fmt: skip
        if name in ("FTRL", "OMD"):
            few = rounds // 16
            early = players(part, start, float(1 / np.sqrt(few)))[name]
            first = float(learn(early, turning[:few]).average_regret([few]).high[-1])
            rows.append(
                claim(f"{name}: average regret of {rounds} rounds over that of {few}", "→ 0",
                      last / first, lambda x: x < 0.5,
                      "Definition 6.13; ¼ if it falls as 1/√T, here below ½")
            )  # fmt: skip
    return curves, rows


def _figure(curves: dict[str, tuple[Array, Array]]) -> Figure:
    lines = [Line(name, rounds, high) for name, (rounds, high) in curves.items()]
    chart = Chart(lines, "", "rounds", "average regret", x_scale="log", names="beside")
    return chart_figure([chart])


def recipes(setting: Setting) -> Finding:
    """Eleven methods from two strategies each: the gap of every run below its guarantee."""
    curves = recipe_curves(setting.of(60, 200, 2_000))
    rows: list[Row] = []
    for curve in curves:
        known = np.isfinite(curve.bound)
        share = float((curve.gap[known] / curve.bound[known]).max()) if known.any() else np.nan
        steep = curve.rate.exponent or curve.rate.factor
        rows.append(theorem(f"{curve.name}: gap over its guarantee, largest", share, at_most=1,
                            within=1e-9))  # fmt: skip
        rows.append(also(f"{curve.name}: slope of the gap", curve.slope, f"promised {steep:.3g}"))
    sentence = (
        f"All {len(curves)} runs (averaged descent with and without corners) stay below their "
        "guarantees at every round."
    )
    caption = "The duality gap of each method against its guarantee."
    notes = ("The paper derives the first of them; the others are Wang, Abernethy and Levy's.",)
    return Finding(sentence, tuple(rows), ((caption, gap_figure(curves)),), notes)


EXPERIMENTS = (
    Experiment("tucker-online", "T", "Algorithms 3 to 5", "Online strategies and regret", protocol),
    Experiment(
        "tucker-recipes", "T", "§6, after 6.20", "Eleven methods as games, with their gaps", recipes
    ),
)
