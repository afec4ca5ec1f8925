"""Right answers to problems of data, and whether each is proved: Laplacians and Gramians.

    python -m tests.proofs.data_alarms --rows 1000 10000 100000 --seed 0

Points of known shapes, clouds without one, groups apart, and images where DUALFOLD_MNIST names
them; every method that states a Laplacian or a Gramian is fitted with its defaults. The solver's
answers are right, so each certificate that is neither "proved" nor "measured" is an alarm, unless
the problem is ill posed: 1e-13 of every entry can move its optimum by more than the tolerance
(`posed.py` has the formula).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import Counter

import numpy as np

import dualfold
from dualfold import embedding
from dualfold.data import (
    helix,
    holed_swiss_roll,
    linked_rings,
    oversampled_swiss_roll,
    s_curve,
    sphere_cap,
    swiss_roll,
    toroidal_helix,
)
from dualfold.trace import Gramian
from tests.proofs.posed import CHANGE

SHAPES = (
    *(swiss_roll, holed_swiss_roll, oversampled_swiss_roll, s_curve),
    *(helix, toroidal_helix, linked_rings, sphere_cap),
)
METHODS = {
    "eigenmaps": dualfold.LaplacianEigenmaps,
    "spectral embedding": lambda: dualfold.SpectralEmbedding(
        affinity="nearest_neighbors", n_neighbors=10
    ),
    "diffusion maps": dualfold.DiffusionMaps,
    "LLE": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10),
    "modified LLE": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10, method="modified"),
    "Hessian LLE": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10, method="hessian"),
    "LTSA": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10, method="ltsa"),
    "LPP": dualfold.LocalityPreservingProjection,
    "NPP": dualfold.NeighborhoodPreservingProjection,
}


def tables(rows, seed):
    """(name, points) of that many rows."""
    rng = np.random.default_rng(seed)
    for shape in SHAPES:
        yield shape.__name__, shape(rows, random_state=seed).points
        if shape is swiss_roll:
            yield "noisy roll", shape(rows, noise=0.3, random_state=seed).points
    yield "normal cloud", rng.standard_normal((rows, 6))
    groups = rng.standard_normal((5, 8))[rng.integers(5, size=rows)] * 3
    yield "groups", groups + rng.standard_normal((rows, 8))
    images = os.environ.get("DUALFOLD_MNIST")
    if images:
        with np.load(images) as file:
            digits = next(v for v in file.values() if v.ndim > 1 and len(v) >= min(rows, 60_000))
            yield "images", digits[:rows].reshape(min(rows, len(digits)), -1).astype(np.float32)


class Asked:
    """Stands in for `certify` and keeps the last problem with its answer."""

    def __init__(self):
        self.certify, self.problem, self.vectors = embedding.certify, None, None
        embedding.certify = self

    def __call__(self, problem, vectors, *values, **options):
        self.problem, self.vectors = problem, vectors[:, : len(values[0])]
        return self.certify(problem, vectors, *values, **options)

    def movement(self):
        """How far 1e-13 of every entry of A moves the optimum relatively."""
        A, V = self.problem.A, np.asarray(self.vectors)
        if isinstance(A, Gramian):
            image, size = np.abs(A.factor @ V), abs(A.factor) @ np.abs(V)
            change = 2 * CHANGE * (image * size).sum() + CHANGE**2 * (size**2).sum()
            return float(change / (image**2).sum())
        value = float(np.abs((V * (A @ V)).sum()))
        return float(CHANGE * (np.abs(V) * (abs(A) @ np.abs(V))).sum() / value)


def main():
    """Fit all, print each alarm at once and the counts at the end."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a table's or a method's name")
    chosen = parser.parse_args()
    levels, asked, alarms = Counter(), Asked(), 0
    for rows in chosen.rows:
        for table, X in tables(rows, chosen.seed):
            for method, made in METHODS.items():
                if chosen.only not in f"{table} {method}":
                    continue
                begin = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    certificate = made().fit(X).certificate_
                took = time.process_time() - begin
                levels[certificate.level] += 1
                fine = certificate.level in ("proved", "measured")
                moves = 0.0 if fine else asked.movement()
                posed = moves < certificate.tolerance
                alarms += not fine and posed
                word = "fine " if fine else "ALARM" if posed else "ill posed"
                print(f"{word} {rows:7} {table:24} {method:20} {took:6.1f} s", end=" ")
                print(certificate.level if fine else f"({moves:.0e}) {certificate}", flush=True)
    print(f"{sum(levels.values())} answers, {alarms} alarms: {dict(levels)}")
    raise SystemExit(int(alarms > 0))


if __name__ == "__main__":
    main()
