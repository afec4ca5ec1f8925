"""What each measure means, and what all of them say together, in plain words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualfold.arrays import Array
from dualfold.quality.picture import Picture, percent

__all__ = ["MEASURE_MEANINGS", "Meaning", "verdict_of"]


class Meaning(NamedTuple):
    """A measure's best and worst value (or that of a random map), and a few words."""

    best: float
    worst: float
    short: str


MEASURE_MEANINGS = {
    "t_similarity": Meaning(1, 0, "share of nearest neighbours kept"),
    "trustworthiness": Meaning(1, 0, "neighbours on the map are real"),
    "continuity": Meaning(1, 0, "real neighbours are on the map"),
    "rank_error_intruders": Meaning(0, 1, "relative rank error of neighbours on the map"),
    "rank_error_lost": Meaning(0, 1, "relative rank error of real neighbours"),
    "lcmc": Meaning(1, 0, "neighbours kept beyond chance"),
    "r_nx_area": Meaning(1, 0, "neighbours kept beyond chance, over all sizes up to max_rank"),
    "local_distortion": Meaning(0, 1, "change of shape of neighbourhoods"),
    "density_correlation": Meaning(1, -1, "dense regions are dense on the map"),
    "stress": Meaning(0, 1, "relative error of distances, at the best scale"),
    "nonmetric_stress": Meaning(0, 1, "error in the order of distances"),
    "distance_correlation": Meaning(1, -1, "correlation of distances before and after"),
    "residual_variance": Meaning(0, 1, "1 - correlation of distances, squared"),
    "geodesic_residual_variance": Meaning(0, 1, "the same against geodesics of the graph"),
    "silhouette": Meaning(1, -1, "classes are apart on the map"),
    "neighborhood_hit": Meaning(1, 0, "share of neighbours on the map that are of one class"),
    "knn_accuracy": Meaning(1, 0, "neighbours on the map name the class"),
    "knn_accuracy_before": Meaning(1, 0, "neighbours in the data name the class"),
}

# Where words change. Conventions, not theorems: 0.95 is where published maps of well-kept
# data lie (t-SNE of MNIST 0.96 to 0.99), 0.5 is what a random map scores.
_TRUST_WORDS = (
    (0.95, "can be believed"),
    (0.85, "can mostly be believed"),
    (0.7, "need a second look"),
    (-np.inf, "cannot be believed"),
)
_CONTINUITY_WORDS = (
    (0.95, "stays together"),
    (0.85, "mostly stays together"),
    (0.7, "is torn in places"),
    (-np.inf, "is torn apart"),
)
_DISTANCE_WORDS = (
    (0.9, "Distances on the map mean what they seem to"),
    (0.7, "Distances on the map are a rough guide"),
    (0.4, "Distances on the map say little"),
    (-np.inf, "Distances on the map say next to nothing"),
)


def verdict_of(measures: dict[str, float], per_point: dict[str, Array], picture: Picture) -> str:
    """A few sentences: neighbours, tears, distances, classes, where to be careful."""
    sentences = [
        str(picture),
        f"Neighbours seen on the map {_word(_TRUST_WORDS, measures['trustworthiness'])} "
        f"(trustworthiness {measures['trustworthiness']:.3f}), and what was near in the data "
        f"{_word(_CONTINUITY_WORDS, measures['continuity'])} (continuity "
        f"{measures['continuity']:.3f}).",
        f"{_word(_DISTANCE_WORDS, measures['distance_correlation'])} "
        f"(correlation {measures['distance_correlation']:.2f}, stress {measures['stress']:.2f}).",
    ]
    if "knn_accuracy" in measures:
        sentences.append(
            f"Neighbours name the class of {percent(measures['knn_accuracy'])} of the points on "
            f"the map, of {percent(measures['knn_accuracy_before'])} in the data."
        )
    trust = per_point["trustworthiness"]
    trust = trust[np.isfinite(trust)]
    worst = float(np.quantile(trust, 0.1)) if len(trust) else 1.0
    if worst < 0.95 and worst < float(measures["trustworthiness"]) - 0.05:
        sentences.append(
            f"The map is uneven: a tenth of the points have a trustworthiness below {worst:.2f}; "
            "colour it by the trustworthiness of each point to see which."
        )
    return " ".join(sentences)


def _word(scale: tuple[tuple[float, str], ...], value: float) -> str:
    return next(words for least, words in scale if value >= least)
