"""The sentences of the command line about certificate and picture."""

from __future__ import annotations

from dataclasses import replace

from dualfold import PCA
from dualfold.cli.verdict_words import both_parts, verdict
from dualfold.descriptions import DESCRIPTIONS
from tests.cli.command_line import CLOUD


def test_a_search_by_chance_that_could_have_missed_much_is_not_proved():
    proved = PCA(n_components=2).fit(CLOUD).certificate_
    found = replace(proved, level="measured", gap=0.25, chance=1e-9)
    said = verdict(DESCRIPTIONS["pca"], found, 2)
    assert said.startswith("Not proved: a random search found nothing better")
    assert "up to 25 %" in said


def test_a_picture_that_was_not_asked_about_is_not_spoken_of():
    assert both_parts("Proved: x.", None) == "Solved? Proved: x."
