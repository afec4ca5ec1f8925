"""Honest and forged stored maps, and how many of each are accepted.

    python -m tests.proofs.fuzz_maps --count 200 --seed 0

prints a table. A map is accepted when `certify` would exit with 0: proved or measured, to a
tolerance of 1e-4. A refusal (InvalidInput) rejects. Truth is by construction: honest maps are
what the library wrote, forged ones differ from it by more than any rounding.
"""

from __future__ import annotations

import argparse
import collections
import tempfile
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import dualfold
from dualfold.data import swiss_roll
from dualfold.errors import DualfoldError
from dualfold.saved import load_model, model_of, save_model
from tests.proofs.door import (
    BothSides,
    ScaledVectorLift,
    certify_points,
    map_from_parts,
    rechecked_unfolding,
)

TOLERANCE = 1e-4


def accepted(judgement) -> bool:
    """Whether a judgement (a function) lets the map pass."""
    try:
        certificate = judgement()
    except (DualfoldError, ValueError):
        return False
    return certificate.level in ("proved", "measured") and certificate.gap <= TOLERANCE


# ---- data


def rows_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "roll":
        return swiss_roll(n, random_state=int(rng.integers(2**31))).points
    if kind == "strip":  # one direction 30 times as wide
        return rng.uniform(size=(n, 2)) * [30, 1]
    if kind == "ring":  # equal eigenvalues: any turn of the map is as good
        turn = np.linspace(0, 2 * np.pi, n, endpoint=False)
        return np.column_stack([np.cos(turn), np.sin(turn), np.zeros(n)])
    if kind == "twins":  # a tenth of the rows occur twice
        rows = rng.normal(size=(n, 3)) * [3, 2, 1]
        rows[: n // 10] = rows[n // 10 : 2 * (n // 10)]
        return rows
    if kind == "sheet":  # two directions in ten columns
        return rng.uniform(size=(n, 2)) @ rng.normal(size=(2, 10))
    return rng.normal(size=(n, 6)) * np.linspace(3, 1, 6)


DATA = ("roll", "strip", "ring", "twins", "sheet", "cloud")
# Where the sheet is flat the optimum of LLE and its kin is 0, and any answer is rounding.
CURVED = ("roll", "twins", "cloud")
WIDE = {"unfolding": ("roll", "strip", "twins"), "geodesic": DATA, "landmarks": DATA}


# ---- honest maps: points with eigenvalues, and models


@dataclass
class Stored:
    """Points that were stored, the problem they answer, and what its solver said of them."""

    kind: str
    problem: object
    points: np.ndarray
    values: np.ndarray
    level: str
    other: object  # the same problem of other data of the same shape

    def judged(self, points=None, values=None):
        Y = self.points if points is None else points
        return certify_points(self.problem, Y, self.values if values is None else values)


GRAPH_METHODS = ("isomap", "eigenmaps", "lle", "ltsa", "modified_lle", "hessian_lle")
PROJECTIONS = ("lpp", "npp", "orthogonal_lpp", "orthogonal_npp")
LANDMARKS = [("landmark isomap", "roll"), ("landmark isomap", "strip")]
POINT_KINDS = ("pca", "gram pca", "mds", "landmark isomap", *GRAPH_METHODS, *PROJECTIONS)


def problem_of(kind: str, X: np.ndarray, k: int, landmarks: int):
    if kind in ("pca", "gram pca"):
        return dualfold.methods.pca(X, matrix="gram" if kind == "gram pca" else "auto")
    if kind == "mds":
        return dualfold.methods.mds(X)
    graph = dualfold.graph.join_pieces(dualfold.graph.knn(X, k))
    if kind == "landmark isomap":
        corners = dualfold.graph.farthest_points(graph, landmarks, random_state=0)
        return dualfold.methods.landmark_isomap(graph, corners)
    return getattr(dualfold.methods, kind)(graph)


def stored_points(kind: str, rng: np.random.Generator, *, data=None, single=None) -> Stored:
    n = int(rng.integers(120, 400))
    free = ("pca", "gram pca", "mds", "isomap", "eigenmaps", "landmark isomap")
    data = data or str(rng.choice(DATA if kind in free else CURVED))
    k, landmarks = int(rng.integers(8, 14)), int(rng.integers(20, 60))
    single = bool(rng.integers(2)) if single is None else single
    X, other = (rows_of(data, n, rng) for _ in range(2))
    if single:
        X, other = X.astype(np.float32), other.astype(np.float32)
    problem = problem_of(kind, X, k, landmarks)
    answer = dualfold.embed(problem)
    again = problem_of(kind, X, k, landmarks)
    points = answer.points.astype(np.float32) if single else answer.points
    strange = problem_of(kind, other, k, landmarks) if data != "ring" else None
    label = f"{kind}, {data}" + (", float32" if single else "")
    return Stored(label, again, points, answer.values, answer.certificate.level, strange)


ESTIMATORS = {
    "linear": [
        lambda r: dualfold.PCA(2),
        lambda r: dualfold.PCA(2, standardize=True),
        lambda r: dualfold.PointPCA(2, random_state=0),
        lambda r: dualfold.ClassicalMDS(2),
        lambda r: dualfold.LocalityPreservingProjection(2),
        lambda r: dualfold.OrthogonalNPP(2),
    ],
    "geodesic": [
        lambda r: dualfold.Isomap(n_neighbors=int(r.integers(6, 12))),
        lambda r: dualfold.Isomap(n_neighbors=10, neighborhood="variable"),
    ],
    "landmarks": [
        lambda r: dualfold.Isomap(n_neighbors=8, landmarks=int(r.integers(20, 60))),
    ],
    "nystrom": [
        lambda r: dualfold.LaplacianEigenmaps(n_neighbors=int(r.integers(6, 12))),
        lambda r: dualfold.LaplacianEigenmaps.named("ALE"),
        lambda r: dualfold.LaplacianEigenmaps(constraint="identity", weights="binary"),
    ],
    "local weights": [
        lambda r: dualfold.LocallyLinearEmbedding(n_neighbors=int(r.integers(8, 12))),
        lambda r: dualfold.LocallyLinearEmbedding(n_neighbors=10, method="ltsa"),
        lambda r: dualfold.LocallyLinearEmbedding(n_neighbors=12, method="modified"),
    ],
    "rescaled": [
        lambda r: dualfold.PCA(2, whiten=True),
        lambda r: dualfold.PCA(2, whiten=True, standardize=True),
        lambda r: dualfold.LaplacianEigenmaps(n_neighbors=8, diffusion_time=2.5),
    ],
    "pieces": [
        lambda r: dualfold.Isomap(n_neighbors=6, pieces="separate"),
        lambda r: dualfold.Isomap(n_neighbors=6, pieces="separate", landmarks=25),
        lambda r: dualfold.LaplacianEigenmaps(n_neighbors=6, pieces="separate"),
        lambda r: dualfold.LaplacianEigenmaps(n_neighbors=6, pieces="separate", diffusion_time=1.5),
        lambda r: dualfold.LocallyLinearEmbedding(n_neighbors=8, pieces="separate"),
    ],
    "unfolding": [
        lambda r: dualfold.MaximumVarianceUnfolding(n_neighbors=4),
        lambda r: dualfold.MaximumVarianceUnfolding(n_neighbors=4, n_components=3),
    ],
}


def stored_model(
    kind: str, rng: np.random.Generator, *, data=None, single=None, number=None, rows=(120, 300)
):
    """(label, model as loaded from its file, the rows it is of, its own level)."""
    made = ESTIMATORS[kind]
    maker = made[int(rng.integers(len(made))) if number is None else number]
    n = int(rng.integers(50, 80)) if kind == "unfolding" else int(rng.integers(*rows))
    data = data or str(rng.choice(WIDE.get(kind, CURVED)))
    X = rows_of(data, n, rng)
    if kind == "pieces":
        X = np.vstack([X, rows_of(data, n // 2, rng) + 1000])
    single = bool(rng.integers(2)) if single is None else single
    X = X.astype(np.float32) if single else X
    estimator = maker(rng).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "m.dualfold"
        save_model(place, model_of(estimator))
        model = load_model(place)
    label = f"model, {type(estimator).__name__} ({kind}), {data}" + (", float32" if single else "")
    return label, model, X, estimator.certificate_.level


# ---- forgeries of points


def forged_points(stored: Stored, rng: np.random.Generator) -> dict:
    """Name → (points, values), each of them wrong."""
    Y, values = stored.points.astype(float), stored.values.copy()
    n = len(Y)
    found = {}

    def keep(name, points, stated=values):
        found[name] = (np.asarray(points), np.asarray(stated, dtype=float))

    moved = Y.copy()
    moved[int(rng.integers(n)), 1] += 1e-3 * np.ptp(Y[:, 1])
    keep("a point moved by 1e-3", moved)
    keep("scaled by 1.001", Y * 1.001)
    keep("half of a column mirrored", np.where(np.arange(n)[:, None] < n // 2, Y, Y * [1, -1]))
    keep("rows scrambled", rng.permutation(Y))
    keep("last column a copy of the first", Y[:, [0, 0]], values[[0, 0]])
    nothing = Y.copy()
    nothing[3, 0] = np.nan
    keep("NaN", nothing)
    if abs(values[0] / values[1] - 1) > 0.01:  # equal values leave the columns free
        keep("columns exchanged", Y[:, ::-1])
        keep("columns and values exchanged", Y[:, ::-1], values[::-1])
        keep("values exchanged", Y, values[::-1])
        keep("turned by a degree", *_turned(stored, np.pi / 180))
    wrong = _suboptimal(stored)
    if wrong is not None:
        keep("an eigenvector further on", *wrong)
    huge = rng.permutation(Y)
    spare = np.arange(n)
    if "landmark" in stored.kind:
        corners = stored.problem.lift.landmarks.indices
        spare = np.setdiff1d(spare, corners)
        scrambled = Y.copy()
        scrambled[spare] = rng.permutation(Y[spare])
        keep("all but landmarks scrambled", scrambled)
        huge = scrambled.copy()
        one = Y.copy()
        one[int(rng.choice(spare)), 0] += 1e-3 * np.ptp(Y[:, 0])
        keep("a point that is no landmark moved", one)
    huge[spare[:2]] = 1.7e308  # their mean overflows, and so does any extent
    keep("two rows of 1.7e308", huge)
    if stored.other is not None:
        answer = dualfold.embed(stored.other)
        keep("a map of other data", answer.points, answer.values)
    return found


def _turned(stored: Stored, angle: float):
    """The vectors turned within their plane, with the values that they then have."""
    Y, values = stored.points.astype(float), stored.values
    lift = stored.problem.lift
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    new = np.diagonal(turn.T @ np.diag(values) @ turn)
    by_length = "landmark" in stored.kind or isinstance(lift, ScaledVectorLift)
    if by_length and (values > 0).all():
        return (Y / np.sqrt(values)) @ turn * np.sqrt(new), new
    return Y @ turn, new


def _suboptimal(stored: Stored):
    """The third direction in place of the second, honestly lifted, with its own value."""
    problem = stored.problem
    try:
        wider = dualfold.embed(replace(problem, count=3))
    except DualfoldError:
        return None
    V, values = wider.solution.vectors[:, [0, 2]], wider.values[[0, 2]]
    if abs(wider.values[2] - wider.values[1]) < 1e-3 * abs(wider.values[1]) or values[1] <= 0:
        return None
    if values[1] < 1e-9 * abs(wider.values).max() and problem.sense == "max":
        return None
    return problem.lift(V, values), values


# ---- forgeries of models


def forged_models(model, rng: np.random.Generator) -> dict:
    """Name → model, each wrong in one part."""

    found = {}

    def keep(name, change, **others):
        parts = model.map.parts()
        parts.arrays = {key: np.array(value) for key, value in parts.arrays.items()}
        try:
            change(parts)
            found[name] = replace(model, map=map_from_parts(parts), **others)
        except DualfoldError:  # refused before it is a model
            found[name] = None

    parts = model.map.parts()
    for name, array in parts.arrays.items():
        last = name.rpartition(".")[2]
        if array.dtype.kind == "f" and array.size and last != "data" and last != "mean":
            keep(f"{name}: an entry changed", _entry_changed(name, rng))
        if last in ("directions", "points", "components"):
            keep(f"{name}: scaled by 1.001", _scaled(name))
            keep(f"{name}: NaN", _poisoned(name, np.nan))
            keep(f"{name}: 1.7e308", _poisoned(name, 1.7e308))
        if last in ("directions", "points") and array.shape[1] > 1:
            keep(f"{name}: columns exchanged", _exchanged(name))
        if last == "components":
            keep(f"{name}: rows exchanged", _flipped(name))
        if last in ("landmarks", "owner"):
            keep(f"{name}: another one", _another(name, array))
        if name == "mean":
            keep("mean: shifted", _shifted(model))
    for name, value in parts.facts.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            keep(f"{name}: another number", _fact(name, value * 2 + 1))
    if "graph" in parts.facts:
        keep("graph: another number of neighbours", _neighbours)
    if model.both_sides is not None:
        found |= _forged_sides(model, rng)
    return found


def _entry_changed(name, rng):
    def change(parts):
        array = parts.arrays[name]
        place = np.unravel_index(int(rng.integers(array.size)), array.shape)
        array[place] += 0.01 * (np.abs(array[np.isfinite(array)]).max() or 1.0)

    return change


def _scaled(name):
    return lambda parts: parts.arrays.__setitem__(name, parts.arrays[name] * 1.001)


def _poisoned(name, number):
    def change(parts):
        parts.arrays[name] = parts.arrays[name].astype(float)
        parts.arrays[name][0, 0] = number

    return change


def _exchanged(name):
    def change(parts):
        parts.arrays[name] = parts.arrays[name][:, ::-1].copy()

    return change


def _flipped(name):
    return lambda parts: parts.arrays.__setitem__(name, parts.arrays[name][::-1].copy())


def _another(name, array):
    def change(parts):
        taken = set(array.tolist())
        free = next((i for i in range(10**6) if i not in taken), 0)
        parts.arrays[name][-1] = free if name.endswith("landmarks") else 1 - array[-1]

    return change


def _shifted(model):
    inner = getattr(model.map, "map", model.map)
    along = np.asarray(inner.components)[0]

    def change(parts):
        scale = parts.arrays.get("scale", 1.0)
        size = np.abs(parts.arrays["mean"]).max() + 1.0
        parts.arrays["mean"] = parts.arrays["mean"] + 0.01 * size * along * scale

    return change


def _fact(name, value):
    return lambda parts: parts.facts.__setitem__(name, value)


def _neighbours(parts):
    parts.facts["graph"] = parts.facts["graph"] | {"n_neighbors": 3, "kind": "fixed"}


def _forged_sides(model, rng):
    sides = model.both_sides
    kind = type(sides)
    weak = sp.csr_array(sides.weights)
    weak.data = rng.uniform(size=weak.nnz)
    bad = sides.factor.copy()
    bad[0] = np.nan
    scrambled = rng.permutation(sides.factor)
    pairs = {
        "factor: scrambled": kind(scrambled, sides.weights),
        "factor: a tenth shorter": kind(0.9 * sides.factor, sides.weights),
        "factor: NaN": kind(bad, sides.weights),
        "factor: 1.7e308": kind(np.where(np.isnan(bad), 1.7e308, bad), sides.weights),
        "weights: at random": kind(sides.factor, weak),
        "weights: none": kind(sides.factor, sp.csr_array(sides.weights.shape)),
    }
    return {name: replace(model, both_sides=pair) for name, pair in pairs.items()}


# ---- the table


def honest_judgements(count: int, seed: int, *, models: bool = True):
    """`count` honest maps: (label, the level they were stored with, their judgement)."""
    rng = np.random.default_rng(seed)
    kinds = [*POINT_KINDS, "landmark isomap", "unfolding points"]
    if models:
        kinds += [*(f"model {kind}" for kind in ESTIMATORS), "model landmarks"]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        if kind == "unfolding points":
            yield unfolding_points(rng)
        elif kind.startswith("model "):
            label, model, X, level = stored_model(kind.removeprefix("model "), rng)
            yield label, level, (lambda m=model, X=X: _model_judged(m, X))
        else:
            stored = stored_points(kind, rng)
            yield stored.kind, stored.level, stored.judged


def sides_of(unfolding):
    """What proves an unfolding."""

    return BothSides(unfolding.factor, unfolding.weights)


def unfolding_points(rng: np.random.Generator):
    """The leading coordinates of an unfolding, with both its sides."""
    X = rows_of(str(rng.choice(("roll", "twins"))), 60, rng)
    graph = dualfold.graph.join_pieces(dualfold.graph.knn(X, 5))
    unfolding = dualfold.unfolding.unfold(graph)
    points, sides = unfolding.coordinates(2)[0], sides_of(unfolding)
    return (
        "unfolding",
        unfolding.certificate.level,
        lambda: rechecked_unfolding(graph, points, sides, tolerance=TOLERANCE),
    )


def forged_judgements(seed: int, *, models: bool = True):
    """Every forgery of every kind: (kind, forgery, its judgement)."""
    rng = np.random.default_rng(seed)
    for kind, data in [*((kind, "cloud") for kind in POINT_KINDS), *LANDMARKS]:
        stored = stored_points(kind, rng, data=data, single=False)
        for name, (Y, values) in forged_points(stored, rng).items():
            yield f"points: {kind}", name, (lambda s=stored, Y=Y, v=values: s.judged(Y, v))
    if not models:
        return
    from dualfold.saved import rechecked_model

    for kind, makers in ESTIMATORS.items():
        for number in range(len(makers)):
            _, model, X, _ = stored_model(kind, rng, data="roll", single=False, number=number)
            for name, wrong in forged_models(model, rng).items():
                yield f"model: {kind}", name, (lambda m=wrong, X=X: _model_judged(m, X))
            other = X + rng.normal(size=X.shape) * 0.05 * np.abs(X).max()
            judgement = lambda m=model, X=other: rechecked_model(m, X)  # noqa: E731
            yield f"model: {kind}", "a model of other data", judgement


def _model_judged(model, X):
    from dualfold.saved import rechecked_model

    if model is None:
        raise ValueError("refused when it was read")
    return rechecked_model(model, X)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--count", type=int, default=200, help="honest maps")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--points-only", action="store_true", help="for releases without models")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    table = collections.defaultdict(lambda: [0, 0])
    wrong = 0
    for kind, name, judgement in forged_judgements(given.seed, models=not given.points_only):
        passed = accepted(judgement)
        table[f"forged {kind}"][0] += 1
        table[f"forged {kind}"][1] += not passed
        if passed:
            wrong += 1
            print(f"FORGED, ACCEPTED  {kind}: {name}")
    models = not given.points_only
    for label, level, judgement in honest_judgements(given.count, given.seed, models=models):
        passed = accepted(judgement)
        kind = "honest models" if label.startswith("model") else "honest points"
        table[kind][0] += 1
        table[kind][1] += passed
        if not passed:
            wrong += 1
            print(f"HONEST, REJECTED  {label} (stored as {level}): {str(judgement())[:150]}")
    for kind, (whole, right) in table.items():
        print(f"{right:5d} of {whole:5d} right  {kind}")
    print(f"{wrong} wrong")
    return min(wrong, 125)


if __name__ == "__main__":
    raise SystemExit(main())
