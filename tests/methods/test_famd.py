"""FAMD: its definition, correspondence analysis, another package's numbers; new and stored rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.saved import load_model, model_of, save_model
from tests.cli.command_line import run
from tests.tools.tables import animals


@pytest.fixture
def frame():
    return animals()


def by_hand(table):
    """FAMD from its definition: the singular vectors of numbers/deviation and (z/p − 1)·√p."""
    parts = []
    for column in table.columns:
        values = table[column].to_numpy()
        if values.dtype.kind == "f":
            parts.append(((values - values.mean()) / values.std())[:, None])
        else:
            for level in sorted(set(values)):
                z = (values == level).astype(float)
                parts.append(((z / z.mean() - 1) * np.sqrt(z.mean()))[:, None])
    Z = np.concatenate(parts, axis=1)
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return Z, U * s, s**2 / len(table)


def same_up_to_signs(ours, theirs):
    scale = np.abs(theirs).max()
    signs = np.sign(np.sum(ours * theirs, axis=0))
    np.testing.assert_allclose(ours * signs, theirs, atol=1e-9 * scale)


def test_famd_is_its_definition_and_places_new_rows_by_the_old_shares(frame):
    table = frame[["size", "weight", "kind", "tame"]]
    fitted = dualfold.FAMD(3).fit(table)
    Z, points, values = by_hand(table)
    same_up_to_signs(fitted.embedding_, points[:, :3])
    np.testing.assert_allclose(fitted.eigenvalues_, values[:3])
    # Each column of numbers weighs 1, each category its levels less one.
    assert Z.var(axis=0).sum() == pytest.approx(2 + 2 + 1)
    np.testing.assert_allclose(fitted.explained_variance_ratio_, values[:3] / 5)
    assert fitted.certificate_.level == "proved"
    # One row alone lies where it lay among all of them.
    np.testing.assert_allclose(fitted.transform(table[7:8]), fitted.embedding_[7:8], atol=1e-12)
    # A level that nobody had is the average of all: the same as no deviation in these columns.
    odd = table[7:8].assign(kind="dog")
    place = (fitted.transform(odd) - fitted.embedding_[7:8])[0]
    kind = np.array([name.startswith("kind=") for name in model_of(fitted).columns])
    np.testing.assert_allclose(place, -fitted.components_[:, kind] @ Z[7, kind], atol=1e-9)


def test_categories_alone_are_correspondence_analysis(frame):
    table = frame[["kind", "tame"]].assign(third=list("abcd") * 30)
    fitted = dualfold.FAMD(3).fit(table)
    # MCA by the table of indicators: singular values of its standardised residuals.
    indicators = pd.get_dummies(table).to_numpy(dtype=float)
    P = indicators / indicators.sum()
    row, column = P.sum(axis=1), P.sum(axis=0)
    S = (P - np.outer(row, column)) / np.sqrt(np.outer(row, column))
    U, s, _ = np.linalg.svd(S, full_matrices=False)
    np.testing.assert_allclose(fitted.eigenvalues_ / 3, s[:3] ** 2)
    coordinates = (U * s)[:, :3] / np.sqrt(row)[:, None]
    same_up_to_signs(fitted.embedding_ / np.sqrt(3), coordinates)
    assert (s**2).sum() == pytest.approx((3 + 2 + 4) / 3 - 1)  # the inertia, J/K − 1


def test_famd_and_mca_are_those_of_prince(frame):
    prince = pytest.importorskip("prince")
    table = frame[["size", "weight", "kind", "tame"]]
    theirs = prince.FAMD(n_components=3).fit(table)
    fitted = dualfold.FAMD(3).fit(table)
    same_up_to_signs(fitted.embedding_, theirs.row_coordinates(table).to_numpy())
    np.testing.assert_allclose(fitted.eigenvalues_, theirs.eigenvalues_)
    words = table[["kind", "tame"]]
    analysis = prince.MCA(n_components=2).fit(words)
    alone = dualfold.FAMD(2).fit(words)
    same_up_to_signs(alone.embedding_ / np.sqrt(2), analysis.row_coordinates(words).to_numpy())


def test_a_mixed_table_is_famd_and_new_rows_find_their_place(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = frame.drop(columns="born")
    frame.to_csv("t.csv", index=False)
    told = run("embed", "t.csv", "--save-model", "m.dualfold").stderr
    assert "Columns used: 'size', 'weight', 'kind', 'tame'\n" in told
    assert "'kind', 'tame': categories, used as such; --exclude kind --exclude tame leaves" in told
    written = pd.read_csv("t.famd.csv", float_precision="round_trip").to_numpy()
    _, points, _ = by_hand(frame)
    same_up_to_signs(written, points[:, :2])
    # Rows in another order of columns, one with a level that nobody had.
    new = frame.iloc[:6, ::-1].copy()
    new.loc[0, "kind"] = "dog"
    new.to_csv("new.csv", index=False)
    told = run("transform", "m.dualfold", "new.csv").stderr
    assert "'kind' has values that no old row had ('dog')" in told
    placed = pd.read_csv("new.placed.csv", float_precision="round_trip").to_numpy()[:, -2:]
    np.testing.assert_allclose(placed[1:], written[1:6], atol=1e-9)
    assert np.abs(placed[0] - written[0]).max() > 0.1
    np.testing.assert_array_equal(load_model("m.dualfold").transform(new)[1:], placed[1:])
    run("certify", "t.csv", "t.famd.csv")
    run("certify", "t.csv", "m.dualfold")


def test_a_fitted_famd_is_saved_with_its_categories(frame, tmp_path):
    table = frame[["size", "kind"]]
    fitted = dualfold.FAMD(2).fit(table)
    save_model(tmp_path / "m.dualfold", model_of(fitted))
    model = load_model(tmp_path / "m.dualfold")
    np.testing.assert_array_equal(model.transform(table), fitted.transform(table))
    odd = table.head(3).assign(kind=["bee", "dog", None])
    np.testing.assert_allclose(model.transform(odd), fitted.transform(odd))


def test_dates_of_a_data_frame_are_time_and_no_categories():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 900, 60)
    frame = pd.DataFrame(
        {
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D"),
            "size": rng.standard_normal(60),
            "kind": rng.choice(["a", "b", "c"], 60),
        }
    )
    points = dualfold.FAMD(2).fit_transform(frame)
    np.testing.assert_allclose(
        points, dualfold.FAMD(2).fit_transform(frame.assign(when=days.astype(float))), atol=1e-9
    )
