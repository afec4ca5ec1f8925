"""Single-cell tables (.h5ad) through anndata, where it is installed."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.data.array_files import Place, dense_table, sparse_table
from dualfold.data.columns import Table
from dualfold.data.limits import unreadable_as_damaged
from dualfold.data.notices import quoted_names
from dualfold.errors import Argument, InvalidInput, MissingDependency

# Where the certificate and the settings lie among the unstructured annotations.
METADATA_KEY = "dualfold"
COORDINATE_PATTERN = re.compile(r"(.+)_([1-9]\d*)")
ROW_NAMES = "obs_names"


def anndata_module() -> Any:
    """anndata, or the command that installs it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import anndata
    except ImportError as error:
        raise MissingDependency(
            ".h5ad files need anndata, which is not installed: pip install 'dualfold[h5ad]'"
        ) from error
    return anndata


def h5ad_table(file: Place, name: str, array: str | None) -> Table:
    """X of an .h5ad file, or the layer or obsm entry called `array`; obs become labels."""
    if isinstance(file, io.BytesIO):
        raise InvalidInput(".h5ad files cannot come from standard input; give the file's name")
    stored = _open_h5ad(file, name)
    matrix, names = _matrix_of(stored, name, array)
    if matrix is None:
        held = list(stored.obsm)
        raise InvalidInput(
            f"{name} has no X; obsm holds {quoted_names(held) or 'nothing'}",
            *(("; choose one, as ", Argument("array", held[0])) if held else ()),
        )
    import scipy.sparse as sp

    table = sparse_table(matrix) if sp.issparse(matrix) else dense_table(np.asarray(matrix), name)
    labels = {ROW_NAMES: stored.obs_names.to_numpy(dtype=object)}
    for column in stored.obs:
        values = stored.obs[column]
        plain = isinstance(values.dtype, np.dtype) and values.dtype.kind in "biufM"
        labels[str(column)] = values.to_numpy() if plain else values.to_numpy(dtype=object)
    sentences = [f"{quoted_names(stored.obs.columns)}: annotations of rows, kept as labels"]
    notices = (*table.notices, *(sentences if len(stored.obs.columns) else []))
    return Table(table.X, names or table.names, labels, notices, table.rows)


def h5ad_coordinates(path: Path, key: str) -> Array:
    """Entry of obsm with this name."""
    stored = _open_h5ad(path, str(path))
    if key not in stored.obsm:
        raise InvalidInput(
            f"{path} has no map '{key}' in obsm; it holds {quoted_names(stored.obsm)}"
        )
    return np.asarray(stored.obsm[key])


def h5ad_metadata(path: Path) -> bytes | None:
    """The JSON text that was stored with a map, or None."""
    text = _open_h5ad(path, str(path)).uns.get(METADATA_KEY)
    return None if text is None else str(text).encode()


def write_h5ad(
    path: str,
    columns: Mapping[str, Array],
    metadata: bytes | None,
    *,
    onto: Path | None,
    rows: NDArray[np.int64] | None,
) -> None:
    """Coordinates name_1, name_2, … as obsm['X_name'], all else as obs.

    onto : an .h5ad file whose rows (those of `rows`) these are; a copy of it is written
    """
    anndata = anndata_module()
    import pandas as pd

    maps, others = coordinate_groups(columns)
    n = len(next(iter(columns.values())))
    if onto is not None:
        made = _open_h5ad(onto, str(onto))
        made = made if rows is None or len(rows) == made.n_obs else made[rows].copy()
    else:
        index = [str(row) for row in range(1, n + 1)]
        plain = {name: columns[name].tolist() for name in others}  # no NumPy strings inside
        frame = pd.DataFrame(plain, index=index)
        made = anndata.AnnData(X=np.zeros((n, 0)), obs=frame)
    for name, members in maps.items():
        made.obsm[f"X_{name}"] = np.column_stack([columns[member] for member in members])
    if metadata is not None:
        made.uns[METADATA_KEY] = metadata.decode()
    for frame in (made.obs, made.var):
        _plain_strings(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of anndata's own future
        made.write_h5ad(path, convert_strings_to_categoricals=False)


def _plain_strings(frame: Any) -> None:
    """Convert text to Python's own strings, and to categories where values are missing.

    anndata 0.12 cannot write strings that pandas 3 stores in Arrow, nor h5py text with missing
    values.
    """
    import pandas as pd

    frame.index = pd.Index(frame.index.to_numpy(dtype=object), dtype=object)
    for column in frame:
        values = frame[column]
        kind = getattr(values.dtype, "categories", values).dtype
        if not (isinstance(kind, pd.StringDtype) or kind.kind == "O"):
            continue
        if not isinstance(values.dtype, pd.CategoricalDtype):
            missing = values.isna().to_numpy()
            words = [None if absent else str(v) for v, absent in zip(values, missing, strict=True)]
            kept = pd.Series(words, index=frame.index, dtype=object)
            values = kept.astype("category") if missing.any() else kept
        if isinstance(values.dtype, pd.CategoricalDtype):
            known = [str(word) for word in values.cat.categories]
            values = values.cat.rename_categories(pd.Index(known, dtype=object))
        frame[column] = values


def coordinate_groups(columns: Mapping[str, Any]) -> tuple[dict[str, list[str]], list[str]]:
    """Which columns are coordinates (pca_1, pca_2 → pca), and which are not."""
    maps: dict[str, list[str]] = {}
    others = []
    for name, values in columns.items():
        match = COORDINATE_PATTERN.fullmatch(name)
        group = maps.get(match[1], []) if match else []
        if match and int(match[2]) == len(group) + 1 and np.asarray(values).dtype.kind == "f":
            maps[match[1]] = [*group, name]
        else:
            others.append(name)
    return maps, others


def _open_h5ad(path: Path, name: str) -> Any:
    anndata = anndata_module()
    with unreadable_as_damaged(name, ".h5ad"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return anndata.read_h5ad(path)


def _matrix_of(stored: Any, name: str, array: str | None) -> tuple[Any, tuple[str, ...] | None]:
    genes = tuple(str(gene) for gene in stored.var_names)
    if array is None or array == "X":
        return (None if stored.n_vars == 0 else stored.X), genes
    plain = array.removeprefix("layers/").removeprefix("obsm/")
    if plain in stored.layers:
        return stored.layers[plain], genes
    if plain in stored.obsm:
        matrix = stored.obsm[plain]
        return matrix, tuple(f"{plain}_{column + 1}" for column in range(matrix.shape[1]))
    raise InvalidInput(
        Argument("array", array),
        f" names no layer or obsm entry of {name}; it holds X, layers "
        f"{quoted_names(stored.layers)} and obsm {quoted_names(stored.obsm)}",
    )
