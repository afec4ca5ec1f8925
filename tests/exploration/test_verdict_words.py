"""The sentences of the command line about certificate and picture."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from dualfold import MDS, PCA, TraceProblem, certify
from dualfold.methods.descriptions import DESCRIPTIONS
from tests.cli.command_line import CLOUD
from tests.exploration.door import short_verdict, verdict


def test_a_search_by_chance_that_could_have_missed_much_is_not_proved():
    proved = PCA(n_components=2).fit(CLOUD).certificate_
    found = replace(proved, level="measured", gap=0.25, chance=1e-9)
    said = verdict(DESCRIPTIONS["pca"], found, 2)
    assert said.startswith("Not proved: a random search found nothing better")
    assert "up to 25 %" in said


def test_a_bound_that_does_not_decide_is_named():
    corners = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    found = MDS().fit(corners).certificate_
    assert found.level == "stationary"
    assert f"below {found.bound:.4g}" in verdict(DESCRIPTIONS["mds_stress"], found, 2)
    unknown = MDS(metric_mds=False).fit(corners).certificate_
    assert "no bound exists" in verdict(DESCRIPTIONS["mds_stress"], unknown, 2)


@pytest.mark.parametrize("gap", [3.39e-9, 1.04e-7, 2.5e-5, 4.4e-16])
def test_a_gap_in_words_is_never_below_the_gap(gap):
    found = certify(TraceProblem(np.diag([1.0, 2.0, 3.0]), count=1), np.eye(3)[:, :1])
    for level, chance in (("proved", 0.0), ("measured", 1.2e-12)):
        judged = replace(found, level=level, gap=gap, chance=chance)
        for words in (short_verdict(judged), verdict(DESCRIPTIONS["pca"], judged, 1)):
            numbers = [float(one) for one in re.findall(r"\d+(?:\.\d+)?e-\d+", words)]
            assert numbers[0] >= gap
            assert all(number >= chance for number in numbers[1:])
