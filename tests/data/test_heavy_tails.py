"""Columns of which few rows hold the variance become logarithms, so that no row squeezes a map."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import Reading, prepare
from tests.cli.command_line import run
from tests.data.door import heavy_tails, min_tail_share, read_metadata, tail_share
from tests.quality.door import far_rows


def movies(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.standard_normal(rows)
    return pd.DataFrame(
        {
            "rating": rng.normal(6, 1, rows),
            "minutes": rng.normal(100, 15, rows),
            "budget": np.exp(15 + 2.5 * size + 0.5 * rng.standard_normal(rows)),
            "votes": rng.poisson(np.exp(5 + 2.5 * size + rng.standard_normal(rows))),
        }
    )


def test_a_share_of_the_variance_by_its_definition():
    rng = np.random.default_rng(0)
    column = rng.lognormal(0, 1, 500)
    squares = np.sort((column - column.mean()) ** 2)
    assert tail_share(column) == pytest.approx(squares[-5:].sum() / squares.sum(), rel=1e-12)
    assert tail_share(1e200 * column) == pytest.approx(tail_share(column), rel=1e-9)
    assert tail_share(np.ones(50)) == tail_share(np.zeros(50)) == 0


def test_no_row_squeezes_the_map_of_movies():
    kept = prepare(movies(), Reading(tails="keep"))
    taken = prepare(movies())
    assert far_rows(dualfold.PCA(2).fit_transform(kept.X))
    assert not far_rows(dualfold.PCA(2).fit_transform(taken.X))
    assert taken.names == ("rating", "minutes", "log budget", "log votes")
    votes = movies()["votes"]
    np.testing.assert_allclose(taken.table.X[:, 3], np.log1p(votes), rtol=1e-12)
    (said,) = [notice for notice in taken.notices if "variance" in notice]
    assert "'budget', 'votes': 4 of 400 rows hold up to" in said
    assert "tails='keep' leaves them" in said
    (offered,) = [notice for notice in kept.notices if "variance" in notice]
    assert "log=['budget', 'votes'] takes their logarithms" in offered
    assert prepare(movies(), Reading(plain=True)).names == tuple(movies())


@pytest.mark.parametrize("rows", [20, 60, 300])
def test_normal_uniform_and_rare_columns_stay(rows):
    rng = np.random.default_rng(rows)
    for _ in range(100):
        X = np.column_stack(
            [rng.normal(5, 1, rows), rng.uniform(size=rows), rng.random(rows) < 0.02]
        )
        assert heavy_tails(X, ("normal", "uniform", "rare")) is None


def test_exponential_columns_stay_and_log_normal_ones_do_not():
    rng = np.random.default_rng(0)
    tables = [(rng.exponential(size=(500, 1)), rng.lognormal(0, 1.5, (500, 1))) for _ in range(50)]
    # Per column one in some thousand exponential ones, see the calibration.
    assert sum(heavy_tails(X, ("x",)) is not None for X, _ in tables) <= 1
    assert all(heavy_tails(X, ("x",)) for _, X in tables)
    assert min_tail_share(20) > min_tail_share(200) > min_tail_share(10**6) == 1 / 3


@pytest.mark.parametrize("heavy", [4, 16])
def test_columns_of_one_unit_are_treated_alike(heavy):
    """Most of 20 like columns decide for all of them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (200, 20))
    X[:, :heavy] = rng.lognormal(0, 2, (200, heavy))
    found = heavy_tails(X, tuple(f"item {place}" for place in range(20)))
    assert (set() if found is None else set(found.units)) == (
        {f"item {place}" for place in range(20)} if heavy > 10 else set()
    )
    assert found is None or len(set(found.units.values())) == 1


def test_the_unit_of_a_column_changes_nothing():
    frame = movies()[["rating", "budget"]]
    small = prepare(frame.assign(budget=frame["budget"] / 1e6))
    np.testing.assert_allclose(small.X, prepare(frame).X, rtol=1e-9)


def test_new_rows_of_zero_or_less_have_a_place():
    preparation = prepare(movies()).preparation
    new = movies()[:4].assign(votes=[6.0, 0.0, -6.0, np.nan])
    found = preparation.apply(new, Reading(missing="keep"))
    (unit,) = [one.unit for one in preparation.encodings if one.name == "votes"]
    place = np.log1p(6.0 / unit)
    np.testing.assert_allclose(found.table.X[:, 3], [place, 0, -place, np.nan])


def test_new_rows_are_placed_by_the_same_logarithms(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    movies().to_csv("t.csv", index=False)
    done = run("embed", "t.csv", "-o", "o.csv", "--save-model", "m.dualfold")
    assert "--tails keep leaves them" in done.output
    assert read_metadata("o.csv")["features"][2:] == ["log budget", "log votes"]
    movies()[7:10].assign(votes=[5, 0, -3]).to_csv("new.csv", index=False)
    done = run("transform", "m.dualfold", "new.csv", "-o", "p.csv")
    movies()[7:8].to_csv("old.csv", index=False)
    run("transform", "m.dualfold", "old.csv", "-o", "q.csv")
    first, again = pd.read_csv("o.csv").iloc[7], pd.read_csv("q.csv").iloc[0]
    np.testing.assert_allclose(again[["pca_1", "pca_2"]], first[["pca_1", "pca_2"]], rtol=1e-9)


@pytest.mark.parametrize("numbered", [True, False])
def test_genes_of_different_ranges_are_one_block(numbered):
    """All logarithms or none, also where some are expressed a thousand times as much as others."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(0, 0.9, (60, 600)) * 10 ** rng.uniform(0, 3, 600)
    names = [f"ENSG{place}" if numbered else f"gene {'x' * place}" for place in range(600)]
    found = heavy_tails(X, tuple(names))
    assert found is None or len(found.units) == 600


def test_a_block_with_negative_numbers_has_no_logarithms():
    X = np.random.default_rng(0).lognormal(0, 2, (200, 20))
    assert len(heavy_tails(X, tuple(f"item {place}" for place in range(20))).units) == 20
    X[5, 3] = -40.0
    assert heavy_tails(X, tuple(f"item {place}" for place in range(20))) is None
