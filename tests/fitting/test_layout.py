"""Pieces that were embedded one by one have one certificate."""

import json

import numpy as np
import pytest

import dualfold
from dualfold.data import swiss_roll

X = swiss_roll(150, random_state=0).points


def test_the_certificate_of_pieces_is_like_any_other():
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
    doubtful = found.doubted("a piece lies elsewhere")
    assert doubtful.level == "failed"
    assert doubtful.reasons == ("a piece lies elsewhere",)
