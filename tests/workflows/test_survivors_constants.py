"""Constants on which proofs and words rest: what they must be, by what they stand for."""

from __future__ import annotations

import dataclasses
import inspect
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.games import Ball, Product, descent, least, sure, verdict
from dualfold.games.divergences import Euclidean
from dualfold.graph import from_lengths, joined, knn
from dualfold.programs import exact as linear_systems
from dualfold.quality.verdict import _DISTANCES, _TEARS, _TRUST, _word
from dualfold.trace.certificate import TraceCertificate, certify
from dualfold.trace.lift import Stepped
from dualfold.trace.proof import rounding
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.sparse import factorisation
from dualfold.unfolding import bounds, certificate, certify_unfolding, spectral_floor
from dualfold.unfolding.contraction import contracted

ROUND_OFF = sys.float_info.epsilon / 2  # of IEEE doubles, to nearest
DENORMAL = 2.0**-1074


def test_units_of_rounding_are_those_of_doubles():
    for unit in (
        rounding.UNIT_ROUNDOFF,
        factorisation.ROUND_OFF,
        bounds.UNIT,
        spectral_floor.UNIT,
        sure.EPS / 2,
        linear_systems.EPS / 2,
    ):
        assert unit == ROUND_OFF
    assert sure.LIBRARY == 2 * 8 * 2 * ROUND_OFF  # twice eight units in the last place
    assert 1 + 1e-7 <= rounding.UP <= 1 + 1e-5
    assert sure.GROW >= 1 + 24 * ROUND_OFF


def test_what_underflow_loses_is_covered():
    for tiny in (bounds.UNDERFLOW, spectral_floor.UNDERFLOW, sure.TINY, linear_systems.TINY):
        assert tiny >= 12 * DENORMAL
        assert tiny <= 2.0**-900
    assert sys.float_info.min <= rounding.UNDERFLOW_BOUND**2  # its square is no underflow itself
    assert rounding.UNDERFLOW_BOUND >= 2.0**30 * DENORMAL
    assert rounding.MIN_SPECTRUM >= 1e10 * rounding.UNDERFLOW_BOUND


def test_what_is_proved_where_nobody_names_a_tolerance():
    for judge in (certify, certify_unfolding):
        assert inspect.signature(judge).parameters["tolerance"].default == 1e-4
    assert verdict.USUAL == 1e-4
    assert verdict.Terms().tolerance == 1e-4
    assert certificate.NEAR == 1e-3  # as most_relaxed asks of equal lengths
    assert inspect.signature(certify_unfolding).parameters["most_relaxed"].default == 1e-3
    for method in (descent.adagrad, descent.rmsprop, descent.adam):
        assert inspect.signature(method).parameters["floor"].default == 1e-8
    assert Euclidean.closed
    assert least.SMOOTH_STEPS >= 1_000


def test_defaults_say_that_nothing_is_known_and_nothing_is_wrong():
    plain = SpectralFloor(1, 2.0, "norm")
    assert (plain.chance, plain.seen, plain.error) == (0.0, None, 0.0)
    fields = {field.name: field.default for field in dataclasses.fields(TraceCertificate)}
    assert fields["eigenvectors"] is True
    assert Stepped((np.zeros(0), np.zeros(0))).alike == 1.5


def test_sets_are_seen_from_0_unless_said_otherwise():
    pair, slope = Product((Ball(1.0), Ball(2.0)), (1, 1)), np.array([3.0, 4.0])
    found = pair.sure_minimum(slope)
    assert found.low() <= -11.0 <= found.high()
    assert found.high() - found.low() <= 1e-9


def test_lengths_whose_squares_are_doubles_are_taken():
    ends = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    for length, taken in ((2.0**-500, True), (1e6, True), (2.0**500, True), (2.0**511, False)):
        graph = from_lengths(sp.csr_array((np.full(4, length), ends), shape=(3, 3)))
        if taken:
            assert contracted(graph).problem.squared.tolist() == [length**2] * 2
        else:
            with pytest.raises(InvalidInput, match="another unit"):
                contracted(graph)


@pytest.mark.parametrize(
    ("scale", "steps"),
    [(_TRUST, (0.95, 0.85, 0.7)), (_TEARS, (0.95, 0.85, 0.7)), (_DISTANCES, (0.9, 0.7, 0.4))],
)
def test_words_change_where_the_docs_say(scale, steps):
    words = [_word(scale, step + 0.01) for step in steps] + [_word(scale, -1.0)]
    assert words == [text for _, text in scale]
    assert [_word(scale, step - 0.01) for step in steps] == words[1:]


@pytest.mark.parametrize("kind", ["rows", "sparse", "manhattan", "precomputed"])
def test_angles_tie_neighbours_by_their_distance_in_the_graphs_metric(kind):
    X = np.random.default_rng(0).normal(size=(9, 3))
    metric = {"manhattan": "manhattan", "precomputed": "precomputed"}.get(kind, "euclidean")
    order = 1 if kind == "manhattan" else 2
    D = np.linalg.norm(X[:, None] - X, ord=order, axis=2)
    given = {"precomputed": D, "sparse": sp.csr_array(X)}.get(kind, X)
    found = contracted(joined(knn(given, 3, metric=metric)), angles=True).problem
    i, j = found.edges.T
    np.testing.assert_allclose(found.squared, D[i, j] ** 2, rtol=1e-12)
    assert found.m > 15
