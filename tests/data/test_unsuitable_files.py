"""Sound files without what is asked, and places where none can be written: refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dualfold.data import Reading, read_table
from dualfold.errors import InvalidInput
from tests.data.door import check_folder_place, write_table

X = np.random.default_rng(0).normal(size=(12, 3))
FILES = {
    "'z' names no column; the columns of the matrix are called": ("x.npy", {"exclude": ["z"]}),
    "but all 3 were taken out": (
        "x.npy", {"exclude": ["column_1", "column_2", "column_3"]},
    ),
    "has 1 column but no rows": ("none.parquet", {}),
    "is the decimal mark, too": ("x.csv", {"thousands": ",", "decimal": ","}),
    "must be one character": ("x.csv", {"separator": "::"}),
    "names no layer or obsm entry": ("x.h5ad", {"array": "z"}),
    "has no X; obsm holds 'X_pca'": ("y.h5ad", {}),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Tables that are sound, but not for what is asked of them."""
    anndata = pytest.importorskip("anndata")
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("files")
    pd.DataFrame({"a": np.empty(0)}).to_parquet(folder / "none.parquet")
    np.save(folder / "x.npy", X)
    np.savetxt(folder / "x.csv", X, delimiter=",", header="a,b,c", comments="")
    anndata.AnnData(X).write_h5ad(folder / "x.h5ad")
    anndata.AnnData(obsm={"X_pca": X}).write_h5ad(folder / "y.h5ad")
    return folder


@pytest.mark.parametrize("said", FILES)
def test_a_sound_file_that_has_not_what_is_asked(files, said):
    name, options = FILES[said]
    with pytest.raises(InvalidInput) as refused:
        read_table(files / name, Reading(**options))
    assert said in str(refused.value)


def test_files_are_not_written_where_they_cannot_be(files):
    (files / "taken.csv").mkdir()
    with pytest.raises(InvalidInput, match="is a folder"):
        write_table(files / "taken.csv", {"a": X[:, 0]})
    with pytest.raises(InvalidInput, match="there is no folder"):
        check_folder_place(files / "none" / "here.parquet", overwrite=False)
    with pytest.raises(InvalidInput, match="is a file, and a folder is needed"):
        check_folder_place(files / "x.csv" / "here.parquet", overwrite=False)
