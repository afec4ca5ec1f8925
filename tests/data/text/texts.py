"""Small texts with known topics."""

from __future__ import annotations

import numpy as np

TOPICS = {
    "kitchen": "bake bread oven flour butter recipe spoon kettle pepper soup",
    "sea": "sail harbour tide anchor wave captain island fishing lighthouse storm",
    "music": "violin concert rhythm singer melody drum orchestra chord piano stage",
}
COMMON = ["every", "person", "often", "finds", "something", "here", "waiting", "home", "today"]


def corpus(n: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Texts of about ten words and the topic of each."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, len(TOPICS), n)
    words = [one.split() for one in TOPICS.values()]
    texts = [" ".join([*rng.choice(words[topic], 6), *rng.choice(COMMON, 4)]) for topic in topics]
    return texts, topics
