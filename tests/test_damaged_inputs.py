"""Arrays that point outside of themselves are refused in words; none of them reaches C.

Each runs in a process of its own where the machine would otherwise stop the tests: that it does not
is the point, so they run here, and a crash is a failure of the whole file.
"""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import dualfold
from dualfold import data, graph, quality
from dualfold.errors import InvalidInput
from dualfold.programs import LinearProgram
from dualfold.trace.problem import Gramian, TraceProblem


def damaged(kind: str, n: int = 40) -> sp.csr_array:
    """A symmetric matrix of a ring, its parts altered behind SciPy's back."""
    ring = np.arange(n)
    entries = (np.ones(2 * n), (np.r_[ring, (ring + 1) % n], np.r_[(ring + 1) % n, ring]))
    matrix = sp.csr_array(sp.coo_array(entries, shape=(n, n)))
    if kind == "far column":
        matrix.indices[3] = 2**30
    elif kind == "negative column":
        matrix.indices[3] = -(2**30)
    elif kind == "long rows":
        matrix.indptr[5] = 2**30
    elif kind == "falling rows":
        matrix.indptr[5] = -7
    elif kind == "beyond the end":
        matrix.indptr[-1] = 2**30
    elif kind == "cut data":
        matrix.data = matrix.data[:5]
    return matrix


KINDS = (
    "far column",
    "negative column",
    "long rows",
    "falling rows",
    "beyond the end",
    "cut data",
)
X = np.random.default_rng(0).normal(size=(40, 3))
DOORS = {
    "trace problem": lambda M: TraceProblem(M),
    "its metric": lambda M: TraceProblem(sp.eye_array(40, format="csr"), B=M),
    "gramian": lambda M: Gramian(M),
    "graph": lambda M: graph.from_lengths(M),
    "estimator's graph": lambda M: dualfold.LaplacianEigenmaps(graph=M).fit(X),
    "affinity": lambda M: dualfold.SpectralEmbedding(affinity="precomputed").fit(M),
    "features": lambda M: dualfold.PCA(2).fit(M),
    "projection": lambda M: dualfold.RandomProjection(5).fit(M),
    "quality": lambda M: quality.trustworthiness(M, X),
    "program": lambda M: LinearProgram(np.ones(40), A=M, b=np.ones(40)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_damaged_sparse_matrices_are_refused(door, kind):
    with pytest.raises(InvalidInput, match="damaged"):
        DOORS[door](damaged(kind))


def test_sound_matrices_pass():
    for door in ("trace problem", "gramian", "graph", "estimator's graph", "features", "program"):
        DOORS[door](damaged("none"))


@pytest.mark.parametrize("form", ["coo", "csc", "bsr"])
def test_other_formats_are_checked_as_well(form):
    matrix = sp.csr_array(X).asformat(form)
    (matrix.coords[0] if form == "coo" else matrix.indices)[0] = 2**28
    with pytest.raises(InvalidInput, match="damaged"):
        dualfold.PCA(2).fit(matrix)


def test_an_altered_graph_is_refused_or_cannot_be_altered():
    found = graph.knn(X, 5)
    with pytest.raises(ValueError, match="read-only"):
        found.lengths.indices[0] = 10**9
    with pytest.raises(ValueError, match="read-only"):
        found.lists.indices[0] = 10**9
    far = found.lengths.copy()
    far.indices[0] = 10**8
    with pytest.raises(InvalidInput, match="damaged"):
        dataclasses.replace(found, lengths=far)
    lists = found.lists.indices.copy()
    lists[0] = -3
    with pytest.raises(InvalidInput, match="damaged"):
        dataclasses.replace(found, lists=dataclasses.replace(found.lists, indices=lists))
    with pytest.raises(InvalidInput, match="same points"):
        dataclasses.replace(found, lengths=sp.csr_array((39, 39)))


def test_a_sparse_table_that_points_outside_is_refused(tmp_path):
    for kind in KINDS:
        sp.save_npz(tmp_path / "table.npz", damaged(kind))
        with pytest.raises(InvalidInput, match=r"damaged|not a readable"):
            data.prepare(tmp_path / "table.npz")


@pytest.mark.parametrize("B", [2.0, np.ones((2, 2, 2)), np.full(40, np.nan), "B"])
def test_a_metric_that_is_none_is_refused(B):
    with pytest.raises(InvalidInput, match="B"):
        TraceProblem(np.eye(40), B=B)


def test_negative_distances_are_refused_everywhere():
    negative = lambda a, b: float(a[0] - b[0])  # noqa: E731
    for measure in (quality.shepard, quality.stress):
        with pytest.raises(InvalidInput, match="negative"):
            measure(X, X[:, :2], metric=negative)
        D = np.abs(X[:, :1] - X[:, 0])
        D[3, 4] = D[4, 3] = -5.0
        with pytest.raises(InvalidInput, match="negative"):
            measure(D, X[:, :2], metric="precomputed")


def test_vectors_of_the_wrong_length_do_not_reach_c():
    A = np.eye(30, dtype=np.float32)
    with pytest.raises((InvalidInput, ValueError)):
        TraceProblem(A).descent(np.ones((20, 2)))


def test_data_that_become_nan_during_the_search_give_no_index_outside():
    rng = np.random.default_rng(1)
    for delay in (0.0, 0.002, 0.005):
        points = rng.normal(size=(4000, 20))
        writer = threading.Timer(delay, points.fill, [np.nan])
        writer.start()
        try:
            found = graph.nearest(points, 5, search="blocked")
        except InvalidInput:
            continue
        finally:
            writer.join()
        assert found.indices.max() < len(points)
