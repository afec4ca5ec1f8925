"""Maps that keep neighbours: t-SNE beside openTSNE and scikit-learn's, UMAP and PaCMAP for context.

All t-SNEs have perplexity 30 and the same number of rounds, neighbour search included. The
objective of every side is measured on the same affinities, those of the exact neighbours, after the
clock has stopped; that of UMAP and PaCMAP, who minimise something else, says little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.case import UMAP, Answer, Case, Data, Side, ours, peer
from benchmarks.sets import (
    gaussian,
    groups,
    handwritten,
    image_components,
    images,
    roll,
)
from benchmarks.verdicts import (
    Faster,
    LessMemory,
    Memory,
    NoHigher,
    NoMoreThan,
    SameQuality,
    Seconds,
)

ROUNDS = 750  # openTSNE's default
PACMAP = Side("pacmap:pacmap_map", "context", note="another objective")
TSNES = {
    "dualfold": ours("tsne", rounds=ROUNDS),
    "openTSNE": peer("opentsne:tsne", rounds=ROUNDS),
}
SKLEARN = {"scikit-learn": peer("scikit_learn:tsne", rounds=ROUNDS)}
CONTEXT = {"umap": replace(UMAP), "PaCMAP": PACMAP}


def objective(answer: Answer, data: Data) -> dict[str, Any]:
    """KL and unbalanced forces of the points, by the affinities of the exact neighbours."""
    from dualfold import TSNE

    found = TSNE().judged_points(data.given, answer.points)
    return {"kl": found.kl, "unbalanced": found.unbalanced}


NEIGHBOUR_MAPS = {
    "tsne-mnist-10k": Case(
        "t-SNE, MNIST 10,000, perplexity 30, 750 rounds",
        images(10_000),
        {**TSNES, **SKLEARN, **CONTEXT},
        (
            Faster(3, ("openTSNE",)),
            SameQuality("openTSNE", 0.01),
            NoHigher("kl", "openTSNE"),
            LessMemory(1.0, "openTSNE"),
        ),
        objective,
        limit=1_200,
    ),
    "tsne-mnist": Case(
        "t-SNE, MNIST 70,000, perplexity 30, 750 rounds",
        images(70_000),
        {**TSNES, **SKLEARN, **CONTEXT},
        (
            NoMoreThan(1.0, ("umap",)),
            SameQuality("openTSNE", 0.01),
            NoHigher("kl", "openTSNE"),
            LessMemory(1.0, "openTSNE"),
        ),
        objective,
        limit=3_600,
    ),
    "tsne-gaussian": Case(
        "t-SNE, a normal cloud, 5,000×20, perplexity 30, 750 rounds",
        gaussian(5_000, 20),
        {**TSNES, **SKLEARN, **CONTEXT},
        (SameQuality("openTSNE", 0.01), NoHigher("kl", "openTSNE")),
        objective,
        limit=1_200,
    ),
    "tsne-digits": Case(
        "t-SNE, digits, 1,797×64, perplexity 30, 750 rounds",
        handwritten(),
        {**TSNES, **SKLEARN, **CONTEXT},
        (SameQuality("openTSNE", 0.01), NoHigher("kl", "openTSNE")),
        objective,
        limit=1_200,
    ),
    "tsne-groups": Case(
        "t-SNE, ten normal groups, 10,000×50, perplexity 30, 750 rounds",
        groups(10_000, 50),
        {**TSNES, **SKLEARN, **CONTEXT},
        (SameQuality("openTSNE", 0.01), NoHigher("kl", "openTSNE")),
        objective,
        limit=1_200,
    ),
    "tsne-roll": Case(
        "t-SNE, swiss roll 5,000, perplexity 30, 750 rounds",
        roll(5_000),
        {**TSNES, **CONTEXT},
        (SameQuality("openTSNE", 0.01), NoHigher("kl", "openTSNE")),
        objective,
        limit=1_800,
    ),
}

# Beyond 200,000 rows neighbours are approximate on both sides, and so are the affinities by which
# both are judged. openTSNE needs more than an hour of processor time for a million
# (docs/dev/notes/tsne-grid.md); `--sides dualfold` leaves it out.
LARGE_MAPS = {
    f"tsne-{name}-{words}": Case(
        f"t-SNE, {words} of {n:,}×50, perplexity 30, {rounds:,} rounds",
        made(n),
        {
            "dualfold": ours("tsne", rounds=rounds),
            "openTSNE": peer("opentsne:tsne", rounds=rounds),
        },
        (Faster(3, ("openTSNE",)), NoHigher("kl", "openTSNE"), Seconds(seconds), Memory(8.0)),
        objective,
        limit=7_200,
    )
    for name, n, rounds, seconds in (
        ("300k", 300_000, ROUNDS, 180),
        ("million", 1_000_000, 1_000, 600),
    )
    for words, made in (
        ("groups", lambda n: groups(n, 50, 100, judged=False)),
        ("images", image_components),
    )
}

SPREAD = 0.1
BOUNDED_MAPS = {
    f"neighbor-map-{name}": Case(
        f"neighbour map with a bound, {words}, spread {SPREAD:g}",
        data,
        {"dualfold": ours("neighbor_map", spread=SPREAD)},
    )
    for name, words, data in (
        ("digits", "1,000 digits", handwritten(1_000)),
        ("mnist-2k", "2,000 images", images(2_000)),
        ("mnist-10k", "10,000 images", images(10_000)),
        ("mnist-20k", "20,000 images", images(20_000)),
        ("roll", "a roll of 10,000", roll(10_000)),
    )
}
