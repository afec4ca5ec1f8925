"""`dualfold methods`: the methods that there are, and sizes that were measured."""

from __future__ import annotations

import json

import pytest

from benchmarks.measured import published
from dualfold.methods.descriptions import DESCRIPTIONS, SIZES_MEAN
from tests.cli.command_line import run


def test_methods_are_those_of_the_registry():
    listed = json.loads(run("methods", "--json").stdout)["methods"]
    assert [entry["name"] for entry in listed] == list(DESCRIPTIONS)
    table = run("methods").stdout
    for method in DESCRIPTIONS.values():
        assert method.name in table


# Which case of benchmarks/measured.csv a size of `dualfold methods` is from.
MEASURED = {
    ("pca", "1,000,000 of a sheet"): "million-pca",
    ("pca", "70,000 images"): "pca-mnist",
    ("mds", "10,000 images"): "mds-mnist",
    ("isomap", "10,000 images exactly"): "isomap-mnist",
    ("isomap", "70,000 images"): "isomap-landmarks",
    ("isomap", "1,000,000 of a sheet"): "million-landmarks",
    ("eigenmaps", "1,000,000 of a sheet"): "million-eigenmaps",
    ("eigenmaps", "70,000 images"): "eigenmaps-mnist",
    ("lle", "1,000,000 of a sheet"): "million-lle",
    ("lle", "10,000 images"): "lle-mnist",
    ("lpp", "10,000 images"): "lpp-mnist",
    ("npp", "10,000 images"): "npp-mnist",
    ("mvu", "1,000 of a sheet"): "unfolding-1000",
    ("mvu", "10,000 to 1e-2"): "unfolding-10000",
    ("tsne", "70,000 images"): "turns/tsne-mnist",
}


@pytest.mark.parametrize(("method", "size"), MEASURED)
def test_sizes_take_less_than_two_minutes_as_measured(method, size):
    assert "less than two minutes" in SIZES_MEAN
    assert size in DESCRIPTIONS[method].size
    assert published()[MEASURED[method, size]]["dualfold"]["seconds"] < 120


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lists_fit_the_terminal(monkeypatch, width):
    monkeypatch.setattr("dualfold.cli.console.terminal_width", lambda: width)
    monkeypatch.setattr("dualfold.cli.method_list.terminal_width", lambda: width)
    monkeypatch.setattr("dualfold.cli.terminal.terminal_width", lambda: width)
    for words in ((), ("isomap",), ("lpp",)):
        lines = run("methods", *words).stdout.splitlines()
        assert max(map(len, lines)) <= width
        assert not [line for line in lines if "…" in line]  # no word is cut
