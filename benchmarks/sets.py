"""The data of the cases, made before any clock starts; sizes times `scale`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.case import Data
from dualfold.arrays import Array

Maker = Callable[[float], Data]
LEAST = 500  # points, at the smallest scale
# Generated data is drawn anew in every turn, for all sides alike (`running.run_once` sets it).
SEED = int(os.environ.get("DUALFOLD_BENCHMARK_SEED", "0"))


def sized(n: int, scale: float) -> int:
    return n if scale == 1 else max(LEAST, round(n * scale))


def roll(n: int) -> Maker:
    """A swiss roll, float64."""

    def data(scale: float) -> Data:
        from dualfold.data import swiss_roll

        X = swiss_roll(sized(n, scale), random_state=SEED).points
        return Data(X, X)

    return data


def images(n: int) -> Maker:
    """The first n images of MNIST, 784 columns, float32."""

    def data(scale: float) -> Data:
        from dualfold.data import mnist

        X = mnist(sized(n, scale)).points.astype(np.float32)
        return Data(X, X)

    return data


def exact_images(n: int) -> Maker:
    """The first n images of MNIST in float64: every side computes in double precision."""

    def data(scale: float) -> Data:
        X = images(n)(scale).given.astype(float)
        return Data(X, X)

    return data


def texts(n: int, words: int) -> Maker:
    """TF-IDF of n generated texts: words by Zipf's law, two of 150 subjects a text, sparse."""

    def data(scale: float) -> Data:
        import scipy.sparse as sp
        from sklearn.feature_extraction.text import TfidfTransformer

        rng = np.random.default_rng(SEED)
        rows, width, subjects = sized(n, scale), sized(words, scale), 150
        frequencies = np.arange(1.0, width + 1) ** -1.05
        common = np.cumsum(frequencies / frequencies.sum())
        orders = np.array([rng.permutation(width) for _ in range(subjects)], dtype=np.int32)
        weights = rng.pareto(1.5, subjects) + 0.2
        first, second = rng.choice(subjects, (2, rows), p=weights / weights.sum())
        text = np.repeat(np.arange(rows), rng.poisson(150, rows) + 10)
        word = np.minimum(np.searchsorted(common, rng.random(len(text))), width - 1)
        share = rng.random(len(text))
        subject = np.where(share < 0.35, first[text], second[text])
        word = np.where(share < 0.5, orders[subject, word], word)
        counts = sp.csr_array((np.ones(len(text)), (text, word)), shape=(rows, width))
        counts.sum_duplicates()
        return Data(sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts)))

    return data


def image_components(n: int, width: int = 50) -> Maker:
    """Components of MNIST's images, each drawn, turned, stretched and shifted at random."""

    def data(scale: float) -> Data:
        from scipy.ndimage import affine_transform

        from dualfold import PCA
        from dualfold.data import mnist

        rng = np.random.default_rng(SEED)
        drawn = mnist().points.reshape(-1, 28, 28).astype(np.float32) / 255
        centre = np.array([13.5, 13.5])
        rows = np.empty((sized(n, scale), 784), np.float32)
        for row in rows:
            angle, shear = 0.15 * rng.normal(), 0.1 * rng.normal()
            wide, high = np.exp(0.08 * rng.normal(size=2))
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            turn = turn @ np.array([[wide, shear], [0, high]])
            shift = centre - turn @ centre + 0.7 * rng.normal(size=2)
            row[:] = affine_transform(drawn[rng.integers(len(drawn))], turn, shift, order=1).ravel()
        return Data(PCA(width).fit_transform(rows).astype(np.float32))

    return data


@dataclass(frozen=True, eq=False)
class Mapped:
    """Points, a map of them, and what they show."""

    X: Array
    Y: Array
    labels: Array | None = None

    @property
    def nbytes(self) -> int:
        return int(self.X.nbytes + self.Y.nbytes)


def images_and_plane(n: int, *, labels: bool = False) -> Maker:
    """Images, float32, and their two leading principal components (of the first 5,000)."""

    def data(scale: float) -> Data:
        from dualfold.data import mnist

        found = mnist(sized(n, scale))
        X = found.points.astype(np.float32)
        return Data(Mapped(X, plane_of(X), np.asarray(found.labels) if labels else None))

    return data


def gaussian_and_plane(n: int, width: int) -> Maker:
    """Gaussian points and their two leading principal components."""

    def data(scale: float) -> Data:
        X = gaussian(n, width)(scale).given
        return Data(Mapped(X, plane_of(X)))

    return data


def plane_of(X: Array) -> Array:
    """The two leading principal components, by those of the first 5,000 points."""
    mean = X.mean(axis=0, dtype=np.float64)
    some = X[:5000] - mean
    axes = np.linalg.eigh(some.T @ some)[1][:, :-3:-1].astype(X.dtype)
    return np.asarray((X - mean.astype(X.dtype)) @ axes)


def roll_edges(n: int) -> Maker:
    """The unfolding problem of a roll's 6 neighbours: what a solver is given."""

    def data(scale: float) -> Data:
        from dualfold.data import swiss_roll
        from dualfold.graph import join_pieces, knn
        from dualfold.unfolding import contraction_of

        # A general solver's time grows as n³ and more: never above the size that is named.
        X = swiss_roll(min(n, sized(n, scale)), random_state=SEED).points
        return Data(contraction_of(join_pieces(knn(X, 6))).problem)

    return data


def image_distances(n: int) -> Maker:
    """The n×n distances between images, float64, exactly symmetric."""

    def data(scale: float) -> Data:
        from sklearn.metrics import pairwise_distances

        X: Any = images(n)(scale).given
        D = pairwise_distances(X.astype(np.float64))
        D += D.T
        D *= 0.5
        np.fill_diagonal(D, 0.0)
        return Data(D, X)

    return data


def far_from_zero(n: int, width: int, count: int, ratio: float) -> Maker:
    """Points whose mean is `ratio` times their spread; truth: their leading directions.

    Those come from an SVD of the points less their mean, both in extended precision:
    the points as stored, so what storing them rounded is nobody's error.
    """

    def data(scale: float) -> Data:
        rng = np.random.default_rng(SEED)
        spread = 1 / np.arange(1, width + 1)
        turn = np.linalg.qr(rng.standard_normal((width, width)))[0]
        rows = sized(n, scale)
        X = (rng.standard_normal((rows, width)) * spread) @ turn
        X += ratio * rng.choice([-1.0, 1.0], size=width)
        wide = X.astype(np.longdouble)
        centred = (wide - wide.mean(axis=0)).astype(float)
        directions = np.linalg.svd(centred, full_matrices=False)[2][:count]
        return Data(X, centred, directions)

    return data


def gaussian(n: int, width: int) -> Maker:
    """Gaussian points with variances that fall along the axes, float32."""

    def data(scale: float) -> Data:
        rng = np.random.default_rng(SEED)
        X = rng.standard_normal((sized(n, scale), width), dtype=np.float32)
        X /= np.sqrt(np.arange(1, width + 1, dtype=np.float32))
        return Data(X, X)

    return data


def groups(n: int, width: int, count: int = 10, *, judged: bool = True) -> Maker:
    """Normal groups around normal centres, float32; `judged`: the map's quality is measured."""

    def data(scale: float) -> Data:
        rng = np.random.default_rng(SEED)
        centres = rng.standard_normal((count, width))
        rows = sized(n, scale)
        X = centres[rng.integers(count, size=rows)] + rng.standard_normal((rows, width))
        X = X.astype(np.float32)
        return Data(X, X if judged else None)

    return data


def handwritten(n: int = 1_797) -> Maker:
    """The first n of scikit-learn's 1,797 digits, float32; fewer at a smaller scale."""

    def data(scale: float) -> Data:
        from dualfold.data import digits

        X = digits().points.astype(np.float32)
        X = X[: min(n, sized(n, scale))]
        return Data(X, X)

    return data


def gaussian_distances(n: int) -> Maker:
    """Distances between Gaussian points in 10 dimensions, float32."""

    def data(scale: float) -> Data:
        from sklearn.metrics import pairwise_distances

        X = gaussian(n, 10)(scale).given
        D = pairwise_distances(X.astype(float)).astype(np.float32)
        return Data(np.maximum(D, D.T), X)

    return data


def table(n: int) -> Maker:
    """A roll as CSV text with a header; it is written to a file by the side."""

    def data(scale: float) -> Data:
        from dualfold.data import swiss_roll

        X = swiss_roll(sized(n, scale), random_state=SEED).points
        lines = [",".join(repr(float(number)) for number in row) for row in X]
        return Data("\n".join(["x,y,z", *lines]) + "\n", X)

    return data
