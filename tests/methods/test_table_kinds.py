"""Every estimator takes tables of other packages, or refuses them in one sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold import PCA
from dualfold.errors import InvalidInput
from dualfold.methods.descriptions import ESTIMATOR_MODULES

NAMES = list("abcd")
X = np.abs(np.random.default_rng(0).standard_normal((60, 4)))  # some methods take counts alone
KINDS = np.repeat(["u", "v", "w"], 20)


def frame():
    return pd.DataFrame(X, columns=NAMES)


def of_polars():
    polars = pytest.importorskip("polars", reason="tables of polars")
    return polars.DataFrame(X, schema=NAMES)


def arrow():
    pyarrow = pytest.importorskip("pyarrow", reason="tables of Arrow")
    return pyarrow.table({name: X[:, place] for place, name in enumerate(NAMES)})


def of_xarray():
    xarray = pytest.importorskip("xarray", reason="arrays of xarray")
    return xarray.DataArray(X, dims=("row", "column"))


def annotated():
    anndata = pytest.importorskip("anndata", reason="AnnData")
    return anndata.AnnData(X.copy(), var=pd.DataFrame(index=NAMES))


def fitted(name: str, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(dualfold, name)()
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.fit(table, KINDS)


def answer_of(model) -> np.ndarray:
    return np.asarray(getattr(model, "embedding_", getattr(model, "components_", None)))


@pytest.mark.parametrize("made", [frame, of_polars, arrow, of_xarray, annotated])
def test_every_estimator_takes_it_as_it_takes_the_array(made):
    table = made()
    for name in ESTIMATOR_MODULES:
        # an array in the same order in memory: sums in another order differ in their last bits,
        # and a descent makes more of it
        plain = np.asarray(getattr(table, "X", table))
        np.testing.assert_array_equal(plain, X)
        wanted, given = answer_of(fitted(name, plain)), answer_of(fitted(name, table))
        np.testing.assert_allclose(given, wanted, atol=1e-6 * np.abs(wanted).max(), err_msg=name)


def test_new_rows_come_in_the_same_kinds():
    model = dualfold.PCA(2).fit(X)
    for made in (of_xarray, annotated):
        np.testing.assert_array_equal(model.transform(made()), model.transform(X))


def refused_by(name: str, table) -> str:
    with pytest.raises((ValueError, TypeError)) as refusal:
        fitted(name, table)
    return str(refusal.value)


def test_what_is_no_table_of_numbers_is_refused_in_one_sentence():
    polars = pytest.importorskip("polars", reason="tables of polars")
    xarray = pytest.importorskip("xarray", reason="arrays of xarray")
    tables = {
        "collect": polars.LazyFrame(X, schema=NAMES),
        "to_frame": polars.Series("a", X[:, 0]),
        "to_dataframe": xarray.Dataset({"a": ("row", X[:, 0])}),
        "'kind'": frame().assign(kind=KINDS),
        "('kind')": of_polars().with_columns(kind=polars.Series(KINDS.tolist())),
    }
    for name in ESTIMATOR_MODULES:
        for remedy, table in tables.items():
            if name == "FAMD" and "kind" in remedy:
                continue  # it takes categories
            said = refused_by(name, table)
            assert remedy in said, (name, said)
            assert said.count(". ") == 0, (name, said)
            assert "\n" not in said


def test_famd_takes_categories_of_polars_as_those_of_pandas():
    polars = pytest.importorskip("polars", reason="tables of polars")
    mixed = frame().assign(kind=KINDS)
    mine = dualfold.FAMD().fit(polars.DataFrame(mixed.to_dict("list")))
    np.testing.assert_array_equal(answer_of(mine), answer_of(dualfold.FAMD().fit(mixed)))


def test_sparse_annotated_data_is_its_matrix():
    anndata = pytest.importorskip("anndata", reason="AnnData")
    counts = sp.random(60, 30, 0.2, format="csr", random_state=0)
    pca = dualfold.PCA(2).fit(anndata.AnnData(counts))
    np.testing.assert_array_equal(pca.components_, dualfold.PCA(2).fit(counts).components_)
    with pytest.raises(InvalidInput, match="without a matrix"):
        dualfold.PCA(2).fit(anndata.AnnData(obs=pd.DataFrame(index=["a", "b"])))


RNG = np.random.default_rng(0)
POINTS, NEW_POINTS = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


def test_tables_without_rows_or_with_words_are_named():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 0.0], "who": ["x", "y", "z"]})
    with pytest.raises(InvalidInput, match=r"LazyFrame, which has no rows yet"):
        PCA(n_components=1).fit(frame.lazy())
    with pytest.raises(InvalidInput, match=r"is one column; give X\.to_frame"):
        PCA(n_components=1).fit(frame["a"])
    for words in (frame, frame.to_pandas(), frame.to_arrow()):
        with pytest.raises(InvalidInput, match=r"a column that is no numbers \('who'\)"):
            PCA(n_components=1).fit(words)
    seven = pd.DataFrame({name: ["x", "y"] for name in "abcdefg"})
    with pytest.raises(InvalidInput, match=r"columns that are no numbers \('a', .*'e', …\)"):
        PCA(n_components=1).fit(seven)


def test_masked_entries_and_several_arrays_are_no_table():
    hidden = np.ma.masked_array(POINTS, mask=POINTS > 1)
    with pytest.raises(InvalidInput, match="has masked entries"):
        PCA(n_components=1).fit(hidden)
    several = type("Dataset", (), {"__module__": "xarray.core.dataset"})()
    with pytest.raises(InvalidInput, match=r"an xarray\.Dataset, several arrays under names"):
        PCA(n_components=1).fit(several)
