"""Random calls of the public face: each ends in an answer or a refusal."""

from __future__ import annotations

import pytest

from tests.tools.random_calls import outcome_of, public_functions


def test_random_calls_end_in_an_answer_or_a_refusal():
    outcomes = [outcome_of(seed) for seed in range(100_020, 100_045)]
    assert [one for one in outcomes if one["outcome"] == "failure"] == []
    assert {one["outcome"] for one in outcomes} == {"answer", "refusal"}


@pytest.mark.full
def test_a_thousand_random_calls():
    outcomes = [outcome_of(seed) for seed in range(200_000, 201_000)]
    assert [one for one in outcomes if one["outcome"] == "failure"] == []


def test_most_public_functions_are_called():
    assert len(public_functions()) > 100
