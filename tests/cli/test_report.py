"""`dualfold report`: the measures are those of the library."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import dualfold
from tests.cli.command_line import ROLL, exact_csv, run


def test_report_is_the_librarys(here):
    run("embed", "roll.csv", "-m", "isomap", "-q", "--mixed", "numbers")
    done = run("report", "roll.csv", "roll.isomap.csv", "--json", "-p", "q.png", "-o", "q.csv")
    found = json.loads(done.stdout)
    points = exact_csv("roll.isomap.csv").drop(columns="name").to_numpy()
    expected = dualfold.quality.report(ROLL, points)
    assert found["measures"]["trustworthiness"] == expected.measures["trustworthiness"]
    along = dualfold.residual_variance(dualfold.graph.knn(ROLL, 10), points)
    assert found["measures"]["geodesic_residual_variance"] == pytest.approx(float(along))
    np.testing.assert_array_equal(
        exact_csv("q.csv")["trustworthiness"], expected.per_point["trustworthiness"]
    )
    assert (here / "q.png").stat().st_size > 5000
    pd.DataFrame(ROLL[:5, :2], columns=["u", "v"]).to_csv("short.csv", index=False)
    assert "5 points" in run("report", "roll.csv", "short.csv", code=1).stderr


def test_a_map_in_an_array_is_its_last_columns(here):
    run("embed", "t.csv", "-m", "pca", "-o", "m.npy", "-q")
    by_array, by_table = (
        json.loads(run("report", "t.csv", name, "--json").stdout) for name in ("m.npy", "m.csv")
    )
    assert by_array["measures"] == by_table["measures"]
