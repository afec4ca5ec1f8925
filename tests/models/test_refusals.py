"""Models and settings that state no problem: each is refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import dualfold
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.models import load_model, model_of
from dualfold.models.model import storable_map
from dualfold.models.rechecks import estimator_of, estimator_of_model
from tests.robustness import forgeries
from tests.robustness.forgeries import npy

X = np.random.default_rng(0).normal(size=(30, 3))
MODEL = model_of(dualfold.PCA(n_components=2).fit(X))


def stating(**settings):
    return replace(MODEL, settings=MODEL.settings | settings)


def with_parameter(**parameters):
    return stating(parameters=MODEL.settings["parameters"] | parameters)


REFUSALS = {
    "which is no estimator": lambda: estimator_of_model(stating(estimator="Oracle")),
    "does not hold the parameters": lambda: estimator_of_model(stating(parameters=None)),
    "does not hold the parameters it was": lambda: estimator_of_model(with_parameter(magic=1)),
    "which no file keeps": lambda: estimator_of_model(stating(not_kept=["metric"])),
    "there is no method 'oracle'": lambda: estimator_of({"method": "oracle"}),
    "the file states n_components as True": lambda: estimator_of_model(
        with_parameter(n_components=True)
    ),
    "the file states n_components as [2]": lambda: estimator_of_model(
        with_parameter(n_components=[2])
    ),
    "places no new points": lambda: storable_map(object()),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_what_states_no_problem_is_refused(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_what_a_file_can_state_makes_the_same_estimator():
    again = estimator_of_model(MODEL)
    np.testing.assert_array_equal(
        again.fit_transform(X), dualfold.PCA(n_components=2).fit_transform(X)
    )


# ---- files that somebody altered, with checksums that fit


def stated(parts, *place, value=None):
    """The header with another value at a place; None takes it away."""
    header = json.loads(parts["dualfold.json"])
    inner = header
    for name in place[:-1]:
        inner = inner[name]
    inner.pop(place[-1])
    inner |= {} if value is None else {place[-1]: value}
    return parts | {"dualfold.json": json.dumps(header).encode()}


def with_array(parts, name, array):
    return parts | {f"{name}.npy": npy(array)}


FACTS = ("map", "facts")
ALTERED = {
    "neighbours: points that are no numbers": lambda parts: with_array(
        parts, "points", np.full((60, 2), np.nan)
    ),
    "neighbours: a scalar of features": lambda parts: with_array(parts, "features", 3.0),
    "neighbours: no points": lambda parts: {n: p for n, p in parts.items() if n != "points.npy"},
    "neighbours: no number of them": lambda parts: stated(parts, *FACTS, "n_neighbors"),
    "neighbours: no metric": lambda parts: stated(parts, *FACTS, "metric"),
    "neighbours: an unknown metric": lambda parts: stated(parts, *FACTS, "metric", value="near"),
    "neighbours: a perplexity below 0": lambda parts: stated(
        parts, *FACTS, "perplexity", value=-5.0
    ),
    "linear: version 0": lambda parts: stated(parts, "version", value=0),
    "linear: version True": lambda parts: stated(parts, "version", value=True),
    "linear: more bytes than numbers": lambda parts: parts
    | {"mean.npy": parts["mean.npy"] + b"0"},
    "pieces: words for pieces": lambda parts: stated(parts, *FACTS, "single_points", value="x"),
    "pieces: all of them alone": lambda parts: stated(
        parts, *FACTS, "single_points", value=[True, True, True, True]
    ),
    "geodesic: links of two ends": lambda parts: stated(
        parts, *FACTS, "graph", "links", value=[[0, 1]]
    ),
    "geodesic: links to nobody": lambda parts: stated(
        parts, *FACTS, "graph", "links", value=[[0, 10**6, 1.0]]
    ),
    "sparse features: another shape": lambda parts: with_array(
        parts, "points", np.zeros((59, 2))
    ),
    "mixed: other columns": lambda parts: stated(parts, "columns", value=["a", "b", "c"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("altered")


@pytest.mark.parametrize("what", ALTERED)
def test_altered_models_are_damaged(folder, what):
    sound = forgeries.sound(what.partition(":")[0], folder)
    assert load_model(sound).coordinates == 2
    parts = ALTERED[what](forgeries.parts_of_file(sound.read_bytes()))
    (folder / "x.dualfold").write_bytes(forgeries.archive_of(forgeries.sealed(parts)))
    with pytest.raises(DamagedFile, match="damaged"):
        load_model(folder / "x.dualfold")
