"""Axes in terms of the columns, on the command line."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from dualfold import PCA
from dualfold.quality import column_correlations
from tests.cli.command_line import run
from tests.cli.door import read_metadata


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.standard_normal((200, 3)) @ rng.standard_normal((3, 5)) + rng.uniform(size=(200, 5))


def test_the_command_line_says_writes_and_draws_it(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(table, columns=[*"abcde"]).to_csv("t.csv", index=False)
    told = run("embed", "t.csv", "--loadings", "l.csv", "--biplot", "b.svg", "-p", "p.svg")
    model = PCA(n_components=2).fit(table)
    shares = np.array(read_metadata("t.pca.csv")["explained_variance_ratio"])
    np.testing.assert_allclose(shares, model.explained_variance_ratio_, atol=1e-12)
    (line,) = [line for line in told.stderr.splitlines() if line.startswith("The axes explain")]
    told_shares = [float(word) for word in re.findall(r"([\d.]+) %", line)]
    np.testing.assert_allclose(told_shares, [*(100 * shares), 100 * sum(shares)], atol=0.5)
    written = pd.read_csv("l.csv", index_col="column")
    np.testing.assert_allclose(written[["pca_1", "pca_2"]], model.loadings_, atol=1e-10)
    points = pd.read_csv("t.pca.csv")[["pca_1", "pca_2"]].to_numpy()
    together = column_correlations(table, points)
    np.testing.assert_allclose(written[["r_pca_1", "r_pca_2"]], together, atol=1e-6)
    for name in ("b.svg", "p.svg"):
        assert (tmp_path / name).stat().st_size > 1000
    rng = np.random.default_rng(2)
    np.save("ball.npy", rng.standard_normal((300, 3)))
    assert "to tell apart" in run("embed", "ball.npy").stderr


def test_a_rare_category_and_an_outlier_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    size = rng.lognormal(3, 0.4, 420)
    shops = pd.DataFrame({"kind": np.where(size > 20, "grocer", "cafe"), "size": size})
    shops["sold"], shops["staff"] = size * rng.normal(10, 2, 420), size / 5 + rng.normal(size=420)
    shops.loc[77, "kind"] = "kiosk"
    shops.to_csv("shops.csv", index=False)
    said = run("embed", "shops.csv").stderr
    assert "row 78 lies" in said
    assert "1 of 420 rows has 'kind=kiosk'" in said
    assert "--exclude kind leaves the column out" in said
    shops["rent"] = rng.normal(50, 9, 420)
    shops.loc[[5, 8], "rent"] = 4_000.0
    shops.drop(columns="kind").to_csv("rents.csv", index=False)
    said = run("embed", "rents.csv", "-m", "pca", "--json")
    (notice,) = [one for one in json.loads(said.stdout)["notices"] if "far out" in one]
    assert "2 rows (" in notice
    assert "'rent'" in notice
    assert "--log rent" in notice
