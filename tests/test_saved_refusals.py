"""Models and settings that state no problem: each is refused in one sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dualfold
from dualfold.errors import InvalidInput
from dualfold.saved import model_of, rechecked_model
from dualfold.saved.placing import rule_of
from dualfold.saved.restate import estimator_of, restated

X = np.random.default_rng(0).normal(size=(30, 3))
MODEL = model_of(dualfold.PCA(n_components=2).fit(X))


def stating(**settings):
    return replace(MODEL, settings=MODEL.settings | settings)


def with_parameter(**parameters):
    return stating(parameters=MODEL.settings["parameters"] | parameters)


REFUSALS = {
    "which is no estimator": lambda: restated(stating(estimator="Oracle")),
    "does not hold the parameters": lambda: restated(stating(parameters=None)),
    "does not hold the parameters it was": lambda: restated(with_parameter(magic=1)),
    "which no file keeps": lambda: restated(stating(not_kept=["metric"])),
    "there is no method 'oracle'": lambda: estimator_of({"method": "oracle"}),
    "the file states n_components as True": lambda: restated(with_parameter(n_components=True)),
    "the file states n_components as [2]": lambda: restated(with_parameter(n_components=[2])),
    "places no new points": lambda: rule_of(object()),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_what_states_no_problem_is_refused(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_other_data_than_the_models_are_refused_or_doubted():
    assert rechecked_model(MODEL, X).level == "proved"
    with pytest.raises(InvalidInput):
        rechecked_model(MODEL, X[:, :2])
    assert rechecked_model(MODEL, X[::-1] * [1, 2, 3]).level == "failed"


def test_what_a_file_can_state_makes_the_same_estimator():
    again = restated(MODEL)
    np.testing.assert_array_equal(
        again.fit_transform(X), dualfold.PCA(n_components=2).fit_transform(X)
    )
