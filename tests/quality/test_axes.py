"""Axes in terms of the columns: correlations, loadings, arrows; axes that turn."""

import json
import statistics

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold import PCA
from dualfold.data import read_metadata
from dualfold.errors import InvalidInput
from dualfold.quality import close_axes, column_correlations, far_rows
from dualfold.quality.picture import percent
from dualfold.view import biplot_figure
from tests.cli.command_line import run


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.standard_normal((200, 3)) @ rng.standard_normal((3, 5)) + rng.uniform(size=(200, 5))


def test_correlations_are_numpys(table):
    points = table[:, :2] ** 2
    expected = np.corrcoef(table.T, points.T)[:5, 5:]
    np.testing.assert_allclose(column_correlations(table, points), expected, atol=1e-12)
    scattered = np.where(np.abs(table) > 1, table, 0.0)
    expected = np.corrcoef(scattered.T, points.T)[:5, 5:]
    found = column_correlations(sp.csr_array(scattered), points)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    still = np.column_stack([table[:, 0], np.full(200, 3.0)])
    assert (column_correlations(still, points)[1] == 0).all()


def test_loadings_are_covariances_and_give_the_table_back(table):
    model = PCA().fit(table)
    points = model.transform(table) / np.sqrt(model.explained_variance_)
    expected = np.cov(table.T, points.T)[:5, 5:]
    np.testing.assert_allclose(model.loadings_, expected, atol=1e-10)
    np.testing.assert_allclose(model.loadings_ @ model.loadings_.T, np.cov(table.T), atol=1e-10)
    even = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    model = PCA(n_components=2).fit(pd.DataFrame(even, columns=[*"abcde"]))
    frame = model.loadings_frame()
    expected = column_correlations(even, model.transform(pd.DataFrame(even, columns=[*"abcde"])))
    np.testing.assert_allclose(frame.to_numpy(), expected, atol=1e-10)
    assert (list(frame.index), list(frame.columns)) == ([*"abcde"], ["pca0", "pca1"])


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_axes_called_close_turn_in_another_sample(ratio):
    """Simulated: how far the first axis of 200 rows turns from sample to sample."""
    n, rng = 200, np.random.default_rng(1)
    angles, close = [], 0
    for _ in range(200):
        X = rng.standard_normal((n, 3)) * np.sqrt([ratio, 1.0, 0.1])
        values, vectors = np.linalg.eigh(np.cov(X.T))
        close += (1, 2) in close_axes(values[::-1], n)
        angles.append(np.degrees(np.arccos(min(1.0, abs(vectors[0, -1])))))
    turned = np.quantile(angles, 0.75)
    # Uniform angles have their third quartile at 67.5°, axes that are far apart below 15°.
    if ratio == 2.0:
        assert turned < 15
        assert close <= 20  # δ is 4 standard errors beyond the limit
    else:
        assert turned > 45
        # 95 % by Anderson's law; 200 draws deviate from it by 1.5 % a standard deviation.
        assert 0.88 <= close / 200 <= 0.995


def test_names_of_a_biplot_do_not_cover_each_other(table):
    arrows = np.array([[1.0, 0.02], [0.98, 0.0], [0.97, 0.01], [0.96, -0.01], [0.95, -0.02]])
    names = ["weight", "length", "Miles_per_$Gallon", "Displacement", "year"]
    figure = biplot_figure(table[:, :2], arrows, names)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    assert len(boxes) == 5
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


def test_a_biplot_has_an_arrow_for_each_of_the_longest_columns(table):
    model = PCA(n_components=2).fit(table)
    figure = biplot_figure(model.transform(table), model.loadings_, [*"abcde"], most=3)
    words = [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    longest = np.argsort(-np.linalg.norm(model.loadings_, axis=1))[:3]
    assert sorted(words) == sorted("abcde"[j] for j in longest)
    with pytest.raises(InvalidInput, match="two axes"):
        biplot_figure(table[:, :1], model.loadings_, [*"abcde"])


def test_the_command_line_says_writes_and_draws_it(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(table, columns=[*"abcde"]).to_csv("t.csv", index=False)
    told = run("embed", "t.csv", "--loadings", "l.csv", "--biplot", "b.svg", "-p", "p.svg")
    model = PCA(n_components=2).fit(table)
    shares = read_metadata("t.pca.csv")["explained_variance_ratio"]
    np.testing.assert_allclose(shares, model.explained_variance_ratio_, atol=1e-12)
    assert f"The axes explain {percent(shares[0])}, {percent(shares[1])}" in told.stderr
    written = pd.read_csv("l.csv", index_col="column")
    np.testing.assert_allclose(written[["pca_1", "pca_2"]], model.loadings_, atol=1e-10)
    points = pd.read_csv("t.pca.csv")[["pca_1", "pca_2"]].to_numpy()
    together = column_correlations(table, points)
    np.testing.assert_allclose(written[["r_pca_1", "r_pca_2"]], together, atol=1e-6)
    for name in ("b.svg", "p.svg"):
        assert (tmp_path / name).stat().st_size > 1000
    rng = np.random.default_rng(2)
    np.save("ball.npy", rng.standard_normal((300, 3)))
    assert "explain nearly the same" in run("embed", "ball.npy").stderr
    assert dualfold.quality.close_axes([1.0], 10) == []


def by_hand(column):
    """Far rows by their definition: distances from the median, all but the farthest hundredth."""
    out = [abs(value - statistics.median(column)) for value in column]
    order = sorted(range(len(out)), key=lambda row: -out[row])
    reach = out[order[max(1, len(out) // 100)]]
    return tuple(row for row in order[: max(1, len(out) // 100)] if out[row] > 4 * reach)


@pytest.mark.parametrize("seed", range(5))
def test_far_rows_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    Y = rng.standard_t(1.5, size=(rng.integers(30, 700), 3))
    expected = {axis: by_hand(column.tolist()) for axis, column in enumerate(Y.T)}
    found = far_rows(Y)
    assert {one.axis: one.rows for one in found} == {a: r for a, r in expected.items() if r}
    for one in found:  # units and places do not matter
        assert [x.rows for x in far_rows(2.0**600 * Y)] == [x.rows for x in found]
        assert one.times > 4


def test_ordinary_maps_have_no_far_rows():
    rng = np.random.default_rng(0)
    for Y in (rng.normal(size=(20_000, 2)), rng.exponential(size=(20_000, 2)), np.zeros((50, 2))):
        assert far_rows(Y) == []
    few = np.zeros((29, 1))
    few[3] = 1e9
    assert far_rows(few) == []
    spot = np.zeros((200, 1))
    spot[7] = 1.0
    assert [(one.times, one.rows) for one in far_rows(spot)] == [(np.inf, (7,))]


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
