"""Files of the version before: they load, place rows where they did, and are judged as before.

`models/write.py` made them with the command line and estimators as they were at fb8d324,
when the two stated their problems separately; "VALE" was written again when its problem changed
(its A_i run over all of the t nearest points).
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from dualfold.cli import app
from dualfold.data import read_table
from dualfold.models import load_model

FILES = Path(__file__).parent / "models"
EXPECTED = json.loads((FILES / "expected.json").read_text())
NEW = read_table(str(FILES / "new.csv")).X


def _place(word):
    return word if word == "--model" else str(FILES / word)


def judged(*words):
    done = CliRunner().invoke(app, ["certify", "--json", "-q", *map(_place, words)])
    assert done.exit_code in (0, 3), (done.output, done.exception)
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.parametrize("name", EXPECTED["models"])
def test_a_model_places_rows_where_it_did(name):
    expected = np.array(EXPECTED["models"][name]["points"])
    found = load_model(FILES / f"{name}.dualfold").transform(NEW)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", [n for n, of in EXPECTED["models"].items() if "level" in of])
def test_a_model_is_judged_as_before(name):
    expected = EXPECTED["models"][name]
    code, found = judged(expected["table"], f"{name}.dualfold")
    assert (code, found["certificate"]["level"]) == (expected["exit"], expected["level"])


@pytest.mark.parametrize("name", EXPECTED["maps"])
def test_a_map_is_judged_as_before(name):
    expected = EXPECTED["maps"][name]
    both = ["--model", "mvu.dualfold"] if name == "mvu" else []
    code, found = judged(expected["table"], f"{name}.map.csv", *both)
    assert (code, found["certificate"]["level"]) == (expected["exit"], expected["level"])


def test_a_changed_map_of_before_does_not_hold(tmp_path):
    for ending in ("", ".json"):
        shutil.copy(FILES / f"isomap.map.csv{ending}", tmp_path / f"m.csv{ending}")
    lines = (tmp_path / "m.csv").read_text().splitlines()
    lines[5] = lines[6]
    (tmp_path / "m.csv").write_text("\n".join(lines) + "\n")
    code, found = judged("roll.csv", tmp_path / "m.csv")
    assert (code, found["certificate"]["level"]) == (3, "failed")
