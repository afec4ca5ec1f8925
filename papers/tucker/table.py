"""What Tucker prints of gradient PCA: the table of figure 2 and the sizes behind it."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array

T_NEAREST = 10
IMAGES = 2_000
ROUNDS = 10
# Figure 2 of the paper: k, PCA, random projection, gradient PCA.
TABLE = np.array(
    [
        [2, 0.0825, 0.0246, 0.08315],
        [3, 0.14675, 0.055, 0.1451],
        [6, 0.36865, 0.1097, 0.3672],
        [12, 0.55215, 0.23895, 0.5395],
        [23, 0.6997, 0.3765, 0.69245],
        [43, 0.8116, 0.5263, 0.7848],
        [80, 0.8911, 0.63805, 0.84355],
        [149, 0.9478, 0.72025, 0.88335],
        [276, 0.98125, 0.7943, 0.91955],
        [512, 0.9991, 0.847, 0.9631],
    ]
)
SIZES = tuple(int(k) for k in TABLE[:, 0])
PRINTED = {
    "PCA": dict(zip(SIZES, TABLE[:, 1], strict=True)),
    "random projection": dict(zip(SIZES, TABLE[:, 2], strict=True)),
    "gradient PCA": dict(zip(SIZES, TABLE[:, 3], strict=True)),
}
# One standard deviation of a score over samples of 2,000 images of MNIST: PCA and random projection
# over 40 samples, the descent of the text (R = 25, random starts) over 12 of them. The paper
# shows one sample, so this is how far its numbers may be from a mean.
SAMPLES = {"PCA": 40, "random projection": 40, "gradient PCA": 12}
_SPREAD = np.array(
    [
        [0.0031, 0.0036, 0.0099],
        [0.0048, 0.0050, 0.0138],
        [0.0066, 0.0099, 0.0205],
        [0.0048, 0.0101, 0.0141],
        [0.0042, 0.0119, 0.0098],
        [0.0029, 0.0070, 0.0036],
        [0.0024, 0.0087, 0.0041],
        [0.0013, 0.0061, 0.0031],
        [0.0008, 0.0049, 0.0017],
        [0.0002, 0.0035, 0.0011],
    ]
)
SPREAD = {name: dict(zip(SIZES, _SPREAD[:, at], strict=True)) for at, name in enumerate(PRINTED)}


def largest_deviation(mean: Array, column: str) -> float:
    """The largest |ours − paper| of a column, each in units of its own spread."""
    paper, spread = (np.array(list(of[column].values())) for of in (PRINTED, SPREAD))
    return float((np.abs(mean - paper) / spread).max())


def prediction_factor(samples: int, known: int, comparisons: int = TABLE[:, 1:].size) -> float:
    """Standard deviations, of `known` samples, that the paper's may be off the mean of ours.

    Student's prediction interval, wide enough that all comparisons hold together in 95 of
    100 repetitions (Bonferroni).
    """
    from scipy.stats import t

    return float(t.ppf(1 - 0.05 / (2 * comparisons), known - 1) * np.sqrt(1 + 1 / samples))
