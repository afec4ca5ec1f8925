"""What certificates say about rounding, against matrices of exact integers and 50 digits."""

from __future__ import annotations

import functools
import os
import re
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import dualfold
from dualfold.graph import farthest_points, knn
from dualfold.methods import isomap, landmark_isomap, mds, mds_of_distances, pca

Array = np.ndarray[Any, Any]
SEED = int(os.environ.get("DUALFOLD_FUZZ_SEED", "0"))
# docs/proofs.md: where nothing is said, eigenvalues are right to this share of the largest.
SILENT = 1e-9


# --- the judge: integers, fractions and mpmath only ------------------------------------


def said(about: str) -> float:
    """The share of the largest eigenvalue that a certificate allows for."""
    if "nothing about the data" in about:
        return float("inf")
    found = re.search(r"those of the data to ([0-9.e+-]+) of the largest", about)
    return float(found.group(1)) if found else SILENT


def whole(X: Any) -> tuple[Array, int]:
    """(integers, k) with X = integers/2^k, exactly."""
    rows = X.toarray() if sp.issparse(X) else np.asarray(X)
    ratios = [[float(entry).as_integer_ratio() for entry in row] for row in rows]
    power = max(below.bit_length() - 1 for row in ratios for _, below in row)
    parts = [[above * (2**power // below) for above, below in row] for row in ratios]
    return np.array(parts, object), power


def exact_scatter(X: Any) -> Array:
    """Σ(x − x̄)(x − x̄)ᵀ in fractions."""
    rows, power = whole(X)
    n, sums = len(rows), rows.sum(axis=0)
    total = n * rows.T.dot(rows) - np.outer(sums, sums)
    return np.array([[Fraction(int(one), n * 4**power) for one in row] for row in total], object)


def exact_gram(X: Any) -> Array:
    """⟨x_i − x̄, x_j − x̄⟩ in fractions."""
    rows, power = whole(X)
    n = len(rows)
    centred = n * rows - rows.sum(axis=0)
    total = centred.dot(centred.T)
    return np.array([[Fraction(int(one), n**2 * 4**power) for one in row] for row in total], object)


def off(computed: Array, exact: Array) -> float:
    """‖computed − exact‖₂ as a share of the largest eigenvalue of the exact matrix."""
    wide = np.asarray(computed, dtype=float)
    error = np.array([[float(Fraction(a) - b) for a, b in zip(x, y, strict=True)]
                      for x, y in zip(wide, exact, strict=True)])  # fmt: skip
    largest = np.linalg.norm(exact.astype(float), 2)
    return float(np.linalg.norm(error, 2) / largest)


def exact_distances(X: Any) -> list[list[Any]]:
    rows, power = whole(X)
    squares = [[int(np.square(x - y).sum()) for y in rows] for x in rows]
    return [[mpmath.sqrt(mpmath.mpf(one)) / 2**power for one in row] for row in squares]


def exact_geodesics(graph: Any, lengths: list[list[Any]]) -> list[list[Any]]:
    """Dijkstra in 50 digits along the edges of the graph, with lengths of our own."""
    ends = [graph.lengths.indices[a:b] for a, b in zip(
        graph.lengths.indptr[:-1], graph.lengths.indptr[1:], strict=True)]  # fmt: skip
    rows = []
    for source in range(graph.n):
        best: dict[int, Any] = {}
        heap = [(mpmath.mpf(0), source)]
        while heap:
            length, node = heappop(heap)
            if node in best:
                continue
            best[node] = length
            for other in ends[node]:
                if int(other) not in best:
                    heappush(heap, (length + lengths[node][other], int(other)))
        rows.append([best[j] for j in range(graph.n)])
    return rows


def exact_centred(distances: list[list[Any]]) -> Array:
    """−½HΔH in 50 digits."""
    n = len(distances)
    squares = [[d**2 for d in row] for row in distances]
    means = [mpmath.fsum(row) / n for row in squares]
    mean = mpmath.fsum(means) / n
    K = [[-(squares[i][j] - means[i] - means[j] + mean) / 2 for j in range(n)] for i in range(n)]
    return np.array([[Fraction(*_ratio(one)) for one in row] for row in K], object)


def _ratio(number: Any) -> tuple[int, int]:
    sign, man, exp, _ = number._mpf_
    value = Fraction(-int(man) if sign else int(man)) * Fraction(2) ** exp
    return value.numerator, value.denominator


@pytest.fixture(autouse=True)
def fifty_digits() -> Any:
    with mpmath.workdps(50):
        yield


def strip(ratio: float, n: int, kind: Any, rng: np.random.Generator) -> Array:
    """Points of a strip so much longer than wide, rolled up a little."""
    along, across = rng.random(n), rng.random(n) / ratio
    return np.column_stack([along, across, 0.1 * along**2]).astype(kind)


# --- PCA and scaling of features -------------------------------------------------------


def tables(rng: np.random.Generator) -> dict[str, Any]:
    normal = rng.standard_normal((90, 9)) * np.geomspace(1, 1e-3, 9)
    wide = rng.standard_normal((20, 70))
    single = np.float32
    return {
        "plain": normal,
        "float32": normal.astype(single),
        "float32, mean 1e3": (normal + 1e3).astype(single),
        "float32, mean 1e6": (normal * 10 + 1e6).astype(single),
        "mean 1e6": normal + 1e6,
        "mean 1e10": normal + 1e10,
        "mean 1e14": normal + 1e14,
        "strip 1:1000": strip(1e3, 80, single, rng),
        "strip 1:1e6": strip(1e6, 80, float, rng),
        "one far row": np.vstack([normal, np.full((1, 9), 1e9)]),
        "uint8": rng.integers(0, 256, (200, 60)).astype(np.uint8),
        "narrow": (rng.standard_normal((300, 2)) + 50).astype(single),
        "wide": wide,
        "wide float32": (wide + 100).astype(single),
        "wide, mean 1e9": wide + 1e9,
        "sparse": sp.csr_array(np.where(normal > 0.1, normal, 0)),
        "sparse, far mean": sp.csr_array(normal + 1e5),
        "sparse, wide": sp.csr_array(wide + 1e5),
        "minute": (normal * 1e-15).astype(single),
    }


@functools.cache
def judged_tables(turn: int) -> dict[str, tuple[Any, Array, Array | None]]:
    """Tables with their exact scatter matrices and, if wide, Gram matrices."""
    found = tables(np.random.default_rng((SEED, turn)))
    return {
        kind: (X, exact_scatter(X), exact_gram(X) if X.shape[0] < X.shape[1] else None)
        for kind, X in found.items()
    }


def pca_cases(X: Any, scatter: Array, products: Array | None) -> list[tuple[str, Any, Array]]:
    """(name, problem, exact A)"""
    n = X.shape[0]
    cases = [(way, pca(X, matrix=way), scatter / Fraction(n)) for way in ("covariance", "products")]
    if products is None:
        return [*cases, ("mds", mds(X), scatter)]
    return [
        *cases,
        ("gram", pca(X, matrix="gram"), products / Fraction(n)),
        ("mds", mds(X), products),
    ]


@pytest.mark.parametrize("single", [False, True], ids=["cheap", "large"])
@pytest.mark.parametrize("turn", range(2))
def test_scatter_is_as_right_as_said(turn: int, single: bool, set_limits: Any) -> None:
    """With CHEAP at 0 small tables are treated as large ones are: float32 products."""
    if single:
        set_limits("weights.covariance", MAX_FLOAT64_FLOPS=0)
        set_limits("weights.gram", MAX_FLOAT64_FLOPS=0)
    spoken = {}
    for kind, judged in judged_tables(turn).items():
        for way, problem, exact in pca_cases(*judged):
            A = problem.A if isinstance(problem.A, np.ndarray) else problem.A @ np.eye(problem.n)
            assert off(A, exact) <= said(problem.about), (kind, way, problem.about)
            spoken[kind, way] = said(problem.about)
    assert spoken["plain", "covariance"] == SILENT  # nothing to say: no false alarm
    assert spoken["mean 1e6", "covariance"] == SILENT
    # Offsets from a number nearby lose nothing to a mean of any size; products of rows do.
    assert spoken["mean 1e14", "covariance"] == SILENT
    assert spoken["mean 1e14", "products"] > SILENT
    assert spoken["sparse, far mean", "covariance"] == SILENT
    assert (spoken["float32, mean 1e3", "covariance"] > SILENT) == single
    # An honest 1e-5 or so for float32 sums.
    assert spoken["float32, mean 1e3", "covariance"] < 5e-5
    assert spoken["uint8", "covariance"] < 2e-3


def test_float32_errors_are_there_and_were_not_said(set_limits: Any) -> None:
    """The judge can see: products in float32 are off by more than silence allows."""
    set_limits("weights.covariance", MAX_FLOAT64_FLOPS=0)
    X = (np.random.default_rng(SEED).standard_normal((1000, 40)) + 2).astype(np.float32)
    problem = pca(X)
    assert SILENT < off(problem.A, exact_scatter(X) / Fraction(len(X))) <= said(problem.about)
    assert "single precision" in str(dualfold.embed(problem).certificate)


@pytest.mark.parametrize("single", [False, True], ids=["cheap", "large"])
def test_standardized_features(single: bool, set_limits: Any) -> None:
    if single:
        set_limits("weights.covariance", MAX_FLOAT64_FLOPS=0)
        set_limits("weights.gram", MAX_FLOAT64_FLOPS=0)
    rng = np.random.default_rng((SEED, 2))
    for X in (
        rng.standard_normal((70, 8)) * np.geomspace(1, 1e6, 8) + 30,
        (rng.standard_normal((70, 8)) + 1e3).astype(np.float32),
        rng.standard_normal((12, 30)).astype(np.float32) + np.float32(7),
        rng.standard_normal((70, 3)) + 1e9,
    ):
        n = len(X)
        rows = [[mpmath.mpf(float(one)) for one in row] for row in X]
        means = [mpmath.fsum(column) / n for column in zip(*rows, strict=True)]
        Z = [[a - m for a, m in zip(row, means, strict=True)] for row in rows]
        sizes = [mpmath.sqrt(mpmath.fsum(z**2 for z in c) / n) for c in zip(*Z, strict=True)]
        Z = [[a / s for a, s in zip(row, sizes, strict=True)] for row in Z]
        exact = {
            "covariance": list(zip(*Z, strict=True)),
            "gram": Z,
        }
        for way in ("covariance", "gram", "products"):
            sides = exact["gram" if way == "gram" else "covariance"]
            right = [[mpmath.fdot(a, b) / n for b in sides] for a in sides]
            matrix = np.array([[Fraction(*_ratio(one)) for one in row] for row in right], object)
            problem = pca(X, matrix=way, standardize=True)
            A = problem.A if isinstance(problem.A, np.ndarray) else problem.A @ np.eye(problem.n)
            assert off(A, matrix) <= said(problem.about), (way, problem.about)


def test_batches_are_as_right_as_said(set_limits: Any) -> None:
    rng = np.random.default_rng((SEED, 3))
    for single in (False, True):
        if single:
            set_limits("weights.covariance", MAX_FLOAT64_FLOPS=0)
        for X in (
            (rng.standard_normal((120, 10)) + 1e3).astype(np.float32),
            rng.standard_normal((120, 10)) + np.repeat([0, 1e8, 1e9], 40)[:, None],
        ):
            model = dualfold.PCA(2)
            for rows in np.split(X, 3):
                model.partial_fit(rows)
            A = model._moments.scatter / len(X)
            share = said(model.certificate_.about)
            assert off(A, exact_scatter(X) / Fraction(len(X))) <= share
            assert (share > SILENT) == (single and X.dtype == np.float32)


# --- distances -------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [1e3, 1e6])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_isomap_of_a_strip(ratio: float, kind: Any) -> None:
    """float32 Isomap of a 1:1000 strip was "proved 7e-15", its second value 1.4 % off."""
    X = strip(ratio, 60, kind, np.random.default_rng((SEED, int(ratio))))
    graph = knn(X, 6)
    exact = exact_centred(exact_geodesics(graph, exact_distances(X)))
    for dtype in (np.float32, np.float64):
        problem = isomap(graph, dtype=dtype)
        assert off(problem.A, exact) <= said(problem.about)
        assert (said(problem.about) > SILENT) == (dtype == np.float32)
        assert said(problem.about) < 1e-6
        found = dualfold.embed(problem)
        value = Fraction(0)
        for v in found.solution.vectors.T:  # what these vectors have of the exact matrix
            w = [Fraction(float(one)) for one in v]
            image = exact.dot(np.array(w, object))
            length = sum(one**2 for one in w)
            value += sum(a * b for a, b in zip(w, image, strict=True)) / length
        best = np.sort(np.linalg.eigvalsh(exact.astype(float)))[-2:]
        gap = (best.sum() - float(value)) / best.sum()
        allowed = found.certificate.gap + 2 * problem.count * said(problem.about)
        assert gap <= allowed + 1e-13  # LAPACK's own rounding
        shift = np.abs(found.values[::-1] - best).max() / best[-1]
        assert shift <= said(problem.about) + 1e-13


def test_isomap_in_single_precision_was_silently_wrong() -> None:
    """The judge can see: float32 moves the second value by a percent, and it is said."""
    X = strip(1e3, 60, float, np.random.default_rng((SEED, 9)))
    graph = knn(X, 6)
    exact = exact_centred(exact_geodesics(graph, exact_distances(X)))
    values = np.linalg.eigvalsh(exact.astype(float))
    problem = isomap(graph, dtype=np.float32)
    moved = np.abs(np.linalg.eigvalsh(problem.A.astype(float))[-2] - values[-2])
    assert moved > SILENT * values[-1]
    words = str(dualfold.embed(problem).certificate)
    assert "single precision" in words
    assert moved <= said(words) * values[-1]


def test_landmarks_are_as_right_as_said() -> None:
    X = strip(1e3, 70, float, np.random.default_rng((SEED, 4)))
    graph = knn(X, 6)
    geodesics = exact_geodesics(graph, exact_distances(X))
    for dtype in (np.float32, np.float64):
        corners = farthest_points(graph, 20, random_state=0, dtype=dtype)
        problem = landmark_isomap(graph, corners)
        between = [[geodesics[i][j] for j in corners.indices] for i in corners.indices]
        assert off(problem.A, exact_centred(between)) <= said(problem.about)
        assert (said(problem.about) > SILENT) == (dtype == np.float32)
        assert problem.about.startswith("the 20 landmarks")


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_given_distances(kind: Any, set_limits: Any) -> None:
    rng = np.random.default_rng((SEED, 5))
    X = strip(1e3, 50, float, rng)
    D = cdist(X, X).astype(kind)
    given = [[mpmath.mpf(float(one)) for one in row] for row in D]
    exact = exact_centred(given)
    problem = mds_of_distances(D)
    assert problem.A.dtype == float
    assert problem.about == ""
    assert off(problem.A, exact) <= SILENT
    set_limits("weights.gram", MAX_FLOAT64_ROWS=10)
    problem = mds_of_distances(D)
    assert off(problem.A, exact) <= said(problem.about)
    assert (said(problem.about) > SILENT) == (kind == np.float32)


def test_distances_that_differ_there_and_back_are_said() -> None:
    D = cdist(*[np.random.default_rng(0).standard_normal((30, 3))] * 2)
    D[3, 5] *= 1 + 1e-6
    problem = mds_of_distances(D)
    assert np.array_equal(problem.A, problem.A.T)
    assert "there and back" in problem.about
    D[5, 3] = D[3, 5]
    assert mds_of_distances(D).about == ""
