"""Pieces side by side: together they are as good as the worst of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import dualfold
from dualfold.certificate import Certificate, Level
from dualfold.data import swiss_roll
from dualfold.saved import model_of, rechecked_model, rechecked_points
from tests.methods.door import WORST_FIRST, PiecewiseCertificate

PROVED = Certificate(level="proved", gap=0.0, value=1.0, bound=1.0, tolerance=1e-4)


def test_every_level_has_a_place_among_the_worst():
    assert sorted(WORST_FIRST) == sorted(get_args(Level))


@pytest.mark.parametrize("level", [one for one in get_args(Level) if one != "proved"])
def test_one_piece_that_is_not_proved_decides(level):
    found = PiecewiseCertificate.of([PROVED, replace(PROVED, level=level, gap=0.5), PROVED])
    assert found.level == level


def test_a_level_that_nobody_knows_is_an_error_and_never_proved():
    with pytest.raises(ValueError, match="not in tuple"):
        PiecewiseCertificate.of([PROVED, replace(PROVED, level="unheard of")])


def test_the_words_of_pieces_without_a_bound_are_those_of_the_worst():
    loose = replace(PROVED, level="not stationary", gap=np.inf, reasons=("forces remain",))
    found = PiecewiseCertificate.of([PROVED, loose])
    assert not found.holds
    assert str(found).startswith(f"not stationary: the worst piece: {loose.statement}")
    assert found.reasons == ("piece 2: forces remain",)


GRAPH_METHODS = [
    dualfold.LaplacianEigenmaps, dualfold.Isomap, dualfold.LocallyLinearEmbedding,
    dualfold.DiffusionMaps, dualfold.MaximumVarianceUnfolding, dualfold.NeighborMap,
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "copies"), [*[(kind, 1) for kind in GRAPH_METHODS], (dualfold.LaplacianEigenmaps, 2)]
)
def test_small_pieces_are_all_counted_and_have_the_coordinates_asked_for(kind, copies):
    rng = np.random.default_rng(copies)
    X = np.vstack([100 * rng.standard_normal((6, 3))] * copies)
    X += 1e-4 * rng.standard_normal(X.shape)
    asked = {"n_components": 3, "n_neighbors": None, "radius": 1e-2, "pieces": "separate"}
    model = kind(**asked).fit(X)
    found = model.certificate_
    assert model.embedding_.shape == (6 * copies, 3)
    assert len(found.pieces) + found.single_points == model.n_connected_components_ == 6
    assert str(found).count("6 pieces") == 1
    assert found.single_points == (6 if copies == 1 else 0)
    if copies == 1:
        assert "nothing was solved" in str(found)
        assert (found.value, found.bound, found.tolerance) == (0.0, 0.0, 1e-4)
    again = rechecked_model(model_of(model), X)
    assert again.level == found.level
    assert again.about == found.about
    assert rechecked_points(kind(**asked), X, model.embedding_).level == found.level


def test_the_certificate_of_pieces_is_like_any_other():
    X = swiss_roll(150, random_state=0).points
    far = np.vstack([X[:60], X[60:110] + 500])
    found = dualfold.Isomap(n_neighbors=6, pieces="separate").fit(far).certificate_
    assert found.level == "proved"
    assert found.gap == max(piece.gap for piece in found.pieces) <= found.tolerance == 1e-4
    assert found.value == pytest.approx(sum(piece.value for piece in found.pieces))
    assert found.bound == pytest.approx(found.value)
    assert "each on its own" in found.about
    assert found.reasons == ()
    told = found.to_dict()
    names = ("level", "gap", "value", "bound", "about", "reasons", "tolerance", "verdict")
    assert all(name in told for name in names)
    json.dumps(told, allow_nan=False)
    doubtful = found.with_doubts("a piece lies elsewhere")
    assert doubtful.level == "failed"
    assert doubtful.reasons == ("a piece lies elsewhere",)
