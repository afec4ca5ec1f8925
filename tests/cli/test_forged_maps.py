"""Stored maps on the command line: what `embed` wrote holds, and what was changed does not."""

import json
import math
import shutil

import pandas as pd
import pytest
from typer.testing import CliRunner

from dualfold.cli import app
from dualfold.data import swiss_roll
from dualfold.methods.descriptions import DESCRIPTIONS
from tests.cli.command_line import run
from tests.tools.tables import rows_for

pytestmark = pytest.mark.filterwarnings("ignore")

X = swiss_roll(150, random_state=0).points


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, columns=["x", "y", "z"]).to_csv("roll.csv", index=False)
    return tmp_path


METHODS = [
    name
    for name, row in DESCRIPTIONS.items()
    # What holds within a per cent holds of a table that differs by less: test_neighbor_map.py. A
    # map of least stress of this table is stationary, not proved: test_stress_mds.py.
    if row.nothing_better and name not in ("neighbor_map", "mds_stress")
    if not row.dual and "labels" not in row.needs
]


@pytest.mark.parametrize("method", METHODS)
def test_what_embed_writes_is_accepted_as_a_map_and_as_a_model(here, method):
    rows = rows_for(DESCRIPTIONS[method], X)
    pd.DataFrame(rows, columns=["x", "y", "z"]).to_csv("roll.csv", index=False)
    options = ["--standardize"] if method in ("pca", "isomap", "famd") else []
    near = ["-k", 12] if DESCRIPTIONS[method].needs_graph else []
    files = ["m.csv", "m.dualfold"] if method != "spectral_embedding" else ["m.csv"]
    model = ["--save-model", "m.dualfold"] if files[1:] else []
    run("embed", "roll.csv", "-m", method, *near, "-o", "m.csv", "-q", *model, *options)
    for name in files:
        done = run("certify", "roll.csv", name, "--fresh")
        assert f"Judged as {method}, 2 coordinates" in done.stderr
        assert "columns (x, y, z)" in done.stderr
    (X[:, ::-1] * 1.0).tofile("noise")
    pd.DataFrame(rows * [1, 1.01, 1], columns=["x", "y", "z"]).to_csv("other.csv", index=False)
    for name in files:
        if not options:  # standardising takes a factor away
            run("certify", "other.csv", name, code=3)


def changed_json(name, **more):
    with open(name) as file:
        told = json.load(file)
    told.update(more)
    with open(name, "w") as file:
        json.dump(told, file)
    return told


def test_what_a_file_says_about_its_quality_is_not_used(here):
    run("embed", "roll.csv", "-m", "mvu", "-k", 5, "-o", "m.csv", "--save-model", "m.dualfold")
    claim = {"level": "proved", "gap": 0.0, "tolerance": 1e9, "verdict": "Proved: by anybody"}
    changed_json("m.csv.json", certificate=claim, verdict="Proved: by anybody")
    assert "anybody" not in run("certify", "roll.csv", "m.csv", code=3).output
    frame = pd.read_csv("m.csv")
    frame.sample(frac=1, random_state=0).to_csv("m.csv", index=False)
    done = run("certify", "roll.csv", "m.csv", "--model", "m.dualfold", code=3)
    assert "anybody" not in done.output
    assert "Not certified" in done.stderr


@pytest.mark.parametrize("tolerance", ["nan", "inf", "-1", "2"])
def test_the_command_line_refuses_a_tolerance_that_proves_anything(here, tolerance):
    run("embed", "roll.csv", "-q")
    refused = run("certify", "roll.csv", "roll.pca.csv", "--tolerance", tolerance, code=2)
    assert "--tolerance" in refused.stderr


def test_a_wide_gap_is_no_proof_until_the_caller_says_so(here):
    run("embed", "roll.csv", "-m", "mvu", "-k", 5, "-o", "m.csv", "--save-model", "m.dualfold")
    tight = run("certify", "roll.csv", "m.dualfold", "--tolerance", "1e-13", "--json", code=3)
    assert json.loads(tight.stdout)["holds"] is False
    assert "Proved:" not in tight.stderr
    run("certify", "roll.csv", "m.dualfold", "--tolerance", "0.01")


@pytest.fixture(scope="module")
def isomap_files(tmp_path_factory):
    """A table, a map of it and what is stored with the map."""
    folder = tmp_path_factory.mktemp("isomap")
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        pd.DataFrame(X, columns=["x", "y", "z"]).to_csv("roll.csv", index=False)
        run("embed", "roll.csv", "-m", "isomap", "-o", "m.csv", "-q")
    return folder


@pytest.mark.parametrize(
    "more",
    [
        {"eigenvalues": [math.nan, math.nan]},
        {"eigenvalues": [math.inf, 1.0]},
        {"eigenvalues": []},
        {"eigenvalues": "high"},
        {"eigenvalues": [True, True]},
        {"eigenvalues": [10**400, 1]},
        {"eigenvalues": [1.0]},
        {"coordinates": ["isomap_1", "isomap_1"]},
        {"coordinates": ["isomap_1"]},
        {"coordinates": 3},
        {"settings": {"method": "isomap", "n_components": 2, "n_neighbors": 140}},
        {"settings": {"method": "isomap", "n_components": 2, "n_neighbors": 10**12}},
        {"settings": {"method": "isomap", "n_components": -1}},
        {"settings": {"method": "isomap", "n_components": 10**9}},
        {"settings": {"method": "isomap", "n_components": "2"}},
        {"settings": {"method": "pca", "n_components": 2}},
        {"settings": {"method": "lle", "n_components": 2}},
        {"settings": {"method": "umap", "n_components": 2}},
        {"settings": ["isomap"]},
        {"reading": {"exclude": "x"}},
        {"reading": {"exclude": ["x"]}},
        {"reading": {"missing": "any"}},
        {"reading": {"standardize": True}},
        {"reading": {"standardize": "no"}},
        {"reading": 7},
    ],
)
def test_settings_that_do_not_fit_are_rejected(here, isomap_files, more):
    shutil.copytree(isomap_files, here, dirs_exist_ok=True)
    changed_json("m.csv.json", **more)
    result = CliRunner().invoke(app, ["certify", "roll.csv", "m.csv"])
    assert result.exit_code in (1, 3), (more, result.output)
    assert "should not" not in result.stderr


def test_settings_are_shown_without_commands_to_the_terminal(here):
    run("embed", "roll.csv", "-m", "pca", "-o", "m.csv", "-q")
    changed_json("m.csv.json", reading={"gap_markers": ["\x1b[2J-99"]})
    assert "\x1b" not in run("certify", "roll.csv", "m.csv").stderr
