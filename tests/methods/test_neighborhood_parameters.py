"""Neighbourhoods by number or by radius: one of them, in every estimator of a graph."""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from dualfold.errors import InvalidInput
from dualfold.methods.descriptions import ESTIMATOR_MODULES
from tests.tools.tables import curve_points, digit_points, roll_points

DATA = {
    "roll": roll_points(600, random_state=0),
    "curve": curve_points(500, random_state=0),
    # A little noise: whole numbers give ties, which scikit-learn breaks in no stated order.
    "digits": digit_points(500) + 1e-3 * np.random.default_rng(0).random((500, 64)),
}


# Every estimator that finds neighbours by their number or by a radius.
BY_RADIUS = [
    kind
    for kind in (getattr(dualfold, name) for name in ESTIMATOR_MODULES)
    if {"n_neighbors", "radius"} <= kind().get_params().keys()
]


@pytest.mark.parametrize("kind", BY_RADIUS)
def test_both_and_neither_neighbourhood(kind):
    X = DATA["curve"][:150]
    with pytest.raises(ValueError, match="Both n_neighbors and radius are provided"):
        kind(n_neighbors=3, radius=2.0).fit(X)
    with pytest.raises(InvalidInput, match="neither"):
        kind(n_neighbors=None).fit(X)
    model = kind(n_neighbors=None, radius=1.2).fit(X)
    assert model.graph_.radius == 1.2


def test_a_radius_is_asked_for_in_one_way():
    assert len(BY_RADIUS) >= 8
