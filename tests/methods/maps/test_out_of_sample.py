"""Out-of-sample maps: every stored kind comes back from its parts, and a new one is one class.

The maps are those of fitted estimators; what they do is tested beside their methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np
import pytest

import dualfold
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.saved import load_model, model_of, save_model
from tests.methods.door import STORED_KINDS, OutOfSampleMap, Parts, map_from_parts, parts_of

X = np.abs(np.random.default_rng(0).normal(size=(60, 3)))  # counts have no signs
PIECES = np.vstack([X[:30], X[30:] + 100])
ESTIMATORS = {
    "linear": dualfold.PCA(2),
    "profiles": dualfold.CorrespondenceAnalysis(2),
    "geodesic": dualfold.Isomap(n_neighbors=8, landmarks=20),
    "nystrom": dualfold.LaplacianEigenmaps(n_neighbors=8),
    "local weights": dualfold.LocallyLinearEmbedding(n_neighbors=8),
    "neighbours": dualfold.TSNE(perplexity=8, max_iter=250),
    "stress": dualfold.MDS(),
    "kernel": dualfold.KernelPCA(2, kernel="rbf"),
    "pieces": dualfold.Isomap(n_neighbors=None, radius=20.0, pieces="separate"),
    "rescaled": dualfold.PCA(2, whiten=True),
}


@pytest.fixture(scope="module", params=STORED_KINDS)
def stored(request):
    """A kind, and a map of it."""
    rows = PIECES if request.param == "pieces" else X
    if request.param == "moved":
        return "moved", dualfold.PCA(2).fit(X).refit(X).rule
    return request.param, ESTIMATORS[request.param].fit(rows).placing_map()


def test_a_map_comes_back_from_its_parts(stored):
    kind, map_ = stored
    parts = map_.parts()
    again = map_from_parts(Parts(parts.kind, parts.facts, parts.arrays))
    assert parts.kind == kind == again.kind
    assert (again.n_coordinates, again.n_columns) == (2, 3)
    np.testing.assert_array_equal(again(X), map_(X))
    assert parts.differences(again.parts()) == again.parts().differences(parts) == []


def test_a_map_holds_the_rows_and_points_that_it_says(stored):
    _, map_ = stored
    fitted, points = map_.fitted_rows(), map_.stored_points()
    assert fitted is None or fitted[0].shape == (60, 3)
    assert points is None or points.shape == (60, 2)


def test_every_kind_names_the_class_that_has_it():
    for kind, place in STORED_KINDS.items():
        module, _, name = place.partition(":")
        assert getattr(import_module(f"dualfold.methods.maps.{module}"), name).kind == kind


def test_a_kind_that_is_not_known_is_refused():
    for kind in ("other", ["linear"], None):
        with pytest.raises(DamagedFile, match="which this dualfold does not know"):
            map_from_parts(Parts(kind))


def test_what_no_file_can_hold_is_refused():
    for map_ in (np.square, OutOfSampleMap()):
        with pytest.raises(InvalidInput, match="cannot be saved as data"):
            parts_of(map_)


@dataclass(frozen=True, eq=False)
class FirstColumns(OutOfSampleMap):
    """A map of its own: the first columns, times a number."""

    columns: int
    factor: np.ndarray

    kind: ClassVar[str] = "first columns"

    def __call__(self, X):
        return X[:, : len(self.factor)] * self.factor

    def parts(self):
        parts = Parts(self.kind, {"columns": self.columns})
        parts.put("factor", self.factor)
        return parts

    @classmethod
    def from_parts(cls, parts):
        return cls(parts.integer("columns", 1, 100), parts.array("factor", [None], above=0))

    @property
    def n_columns(self):
        return self.columns

    @property
    def n_coordinates(self):
        return len(self.factor)


def test_a_new_map_is_one_class_and_a_line_in_the_table_of_kinds(tmp_path, monkeypatch):
    monkeypatch.setitem(STORED_KINDS, "first columns", "random_maps:FirstColumns")
    monkeypatch.setattr(
        "dualfold.methods.maps.random_maps.FirstColumns", FirstColumns, raising=False
    )
    fitted = dualfold.PCA(2).fit(X)
    monkeypatch.setattr(fitted, "placing_map", lambda: FirstColumns(3, np.array([2.0, 3.0])))
    save_model(tmp_path / "m.dualfold", model_of(fitted))
    model = load_model(tmp_path / "m.dualfold")
    assert model.coordinates == 2
    np.testing.assert_array_equal(model.transform(X), X[:, :2] * [2, 3])
