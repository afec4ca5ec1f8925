"""Model files that somebody altered, with checksums that fit: each is called damaged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dualfold.errors import DamagedFile
from dualfold.saved import load_model
from tests.robustness import forgeries
from tests.robustness.forgeries import npy


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
    "mixed: other columns": lambda parts: stated(
        parts, "preparation", "columns", value=["a", "b", "c"]
    ),
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
