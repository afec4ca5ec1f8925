"""What Tucker prints of gradient PCA: the table of figure 2 and the sizes behind it."""

from __future__ import annotations

import numpy as np

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
