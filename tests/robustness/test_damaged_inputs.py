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
from dualfold.trace import Gramian, TraceProblem


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


@pytest.mark.parametrize("bad", [lambda a, b: -1.0, lambda a, b: float("nan"), lambda a, b: 1j])
def test_graphs_take_no_distances_that_are_none(bad):
    for made in (
        lambda: graph.knn(X, 5, metric=bad),
        lambda: dualfold.Isomap(metric=bad).fit(X),
        lambda: dualfold.LaplacianEigenmaps(metric=bad).fit(X),
    ):
        with pytest.raises(InvalidInput, match=r"negative|not finite|could not be computed"):
            made()


def test_new_rows_by_negative_distances_are_refused():
    D = np.abs(X[:, :1] - X[:, 0])
    wrong = D[:4].copy()
    wrong[2, 3] = -5.0
    for estimator in (dualfold.Isomap, dualfold.LaplacianEigenmaps, dualfold.ClassicalMDS):
        fitted = estimator(metric="precomputed").fit(D)
        with pytest.raises(InvalidInput, match="negative"):
            fitted.transform(wrong)


@pytest.mark.parametrize("rows", [0, 20, 40])
@pytest.mark.parametrize("form", [np.float32, np.float64, sp.csr_array])
def test_vectors_of_the_wrong_length_do_not_reach_c(rows, form):
    A = sp.csr_array(np.eye(30)) if form is sp.csr_array else np.eye(30, dtype=form)
    with pytest.raises(InvalidInput, match="the problem has 30 rows"):
        TraceProblem(A).descent(np.ones((rows, 2)))


# ---- errors of LAPACK and SciPy are said in words


@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_a_metric_that_is_not_positive_is_refused(low):
    problem = TraceProblem(np.diag(np.arange(30.0)), B=np.diag(np.r_[low, np.ones(29)]))
    with pytest.raises(InvalidInput, match="positive"):
        dualfold.embed(problem)


def test_excluded_directions_that_are_none_are_refused():
    A = np.diag(np.arange(30.0))
    words = np.full((30, 1), "x", dtype=object)
    for wrong in (np.eye(30)[:, [0, 0]], np.full((30, 1), np.nan), np.zeros((30, 1)), words):
        with pytest.raises(InvalidInput):
            TraceProblem(A, excluded=wrong)


def test_weights_without_a_ridge_that_have_no_single_answer_are_refused():
    with pytest.raises(InvalidInput, match="reg"):
        dualfold.LocallyLinearEmbedding(n_neighbors=8, reg=0).fit(X)
    dualfold.LocallyLinearEmbedding(n_neighbors=3, reg=0).fit(X)


# ---- a fit that does not end


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, InvalidInput])
def test_a_fit_that_does_not_end_leaves_an_estimator_unfitted(monkeypatch, failure):
    from sklearn.exceptions import NotFittedError

    for estimator in (dualfold.PCA(2), dualfold.Isomap(n_neighbors=5), dualfold.PointPCA(2)):
        estimator.fit(X)
        kept = estimator.get_params()
        with monkeypatch.context() as patched:
            for owner in type(estimator).__mro__:
                if "_fit" in vars(owner):
                    patched.setattr(owner, "_fit", interrupted(failure, vars(owner)["_fit"]))
                    break
            with pytest.raises(failure):
                estimator.fit(2 * X)
        assert vars(estimator).keys() == kept.keys()
        with pytest.raises(NotFittedError):
            estimator.transform(X)
        estimator.fit(X)


def interrupted(failure, fit):
    def half(self, data, labels):
        fit(self, data, labels)
        raise failure("in the middle")

    return half


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


def test_what_a_mask_hides_is_no_data():
    """scikit-learn's own check takes what is behind the mask; here every door refuses it."""
    hidden = np.ma.masked_array(X, X > 1)
    fitted = dualfold.PCA(n_components=2).fit(X)
    for use in (dualfold.PCA().fit, dualfold.Isomap(n_neighbors=5).fit, fitted.transform):
        with pytest.raises(InvalidInput, match="X has masked entries"):
            use(hidden)
    shown = np.ma.masked_array(X, np.zeros(X.shape, bool))
    np.testing.assert_array_equal(fitted.transform(shown), fitted.transform(X))
