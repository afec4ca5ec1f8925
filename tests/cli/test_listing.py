"""`dualfold methods`: the methods that there are, and sizes that were measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dualfold.descriptions import DESCRIPTIONS
from tests.cli.command_line import run


def test_methods_are_those_of_the_registry():
    listed = json.loads(run("methods", "--json").stdout)["methods"]
    assert [entry["name"] for entry in listed] == list(DESCRIPTIONS)
    table = run("methods").stdout
    for method in DESCRIPTIONS.values():
        assert method.name in table


# Which row of benchmarks/RESULTS.md a figure of `dualfold methods` is from.
MEASURED = {
    ("pca", "1,000,000 of a sheet"): "PCA, swiss roll 1,000,000 → 2",
    ("pca", "70,000 images"): "PCA, MNIST 70,000×784 float32 → 50",
    ("mds", "10,000 images"): "classical MDS of 10,000 points (MNIST), Euclidean",
    ("isomap", "10,000 images exactly"): "Isomap exact, MNIST 10,000, k = 10",
    ("isomap", "70,000 images"): "Isomap by landmarks, MNIST 70,000, k = 10",
    ("isomap", "1,000,000 of a sheet"): "Isomap by landmarks, swiss roll 1,000,000, k = 10",
    ("eigenmaps", "1,000,000 of a sheet"): "eigenmaps, swiss roll 1,000,000, k = 10",
    ("eigenmaps", "70,000 images"): "eigenmaps, MNIST 70,000, k = 10",
    ("lle", "1,000,000 of a sheet"): "LLE, swiss roll 1,000,000, k = 10",
    ("lle", "10,000 images"): "LLE, MNIST 10,000, k = 10",
    ("lpp", "10,000 images"): "LPP, MNIST 10,000, k = 10",
    ("npp", "10,000 images"): "NPP, MNIST 10,000, k = 10",
}


@pytest.mark.parametrize(("method", "size"), MEASURED)
def test_sizes_are_those_that_were_measured(method, size):
    results = Path(__file__).parents[2] / "benchmarks" / "RESULTS.md"
    row = re.escape(MEASURED[method, size])
    [measured] = re.findall(rf"^\| {row} \| dualfold \| ([\d.]+) \|", results.read_text(), re.M)
    told = re.search(rf"{re.escape(size)} \(([\d.]+) s\)", DESCRIPTIONS[method].size)
    assert told, DESCRIPTIONS[method].size
    # Another machine may be twice as fast; more than that, and the table tells stories.
    assert float(measured) / 2 - 0.1 <= float(told[1]) <= 2 * float(measured) + 0.1


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lists_fit_the_terminal(monkeypatch, width):
    monkeypatch.setattr("dualfold.cli.console.terminal_width", lambda: width)
    monkeypatch.setattr("dualfold.cli.method_list.terminal_width", lambda: width)
    for words in ((), ("isomap",), ("lpp",)):
        lines = run("methods", *words).stdout.splitlines()
        assert max(map(len, lines)) <= width
        assert not [line for line in lines if "…" in line]  # no word is cut
