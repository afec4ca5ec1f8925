"""Tables to files: CSV, TSV, Parquet, NPY or .h5ad, by atomic writes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualfold.arrays import Array
from dualfold.data import h5ad as annotated
from dualfold.data.array_files import parquet_module
from dualfold.data.atomic_files import atomic_file, check_place
from dualfold.data.limits import parse_json
from dualfold.errors import Argument, InvalidInput

WRITABLE_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".npy", ".h5ad")
HOLD_METADATA = (".parquet", ".h5ad")
# Parquet's metadata is a flat map of bytes; ours is one JSON text under one key.
PARQUET_KEY = b"dualfold"


def write_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, ArrayLike],
    *,
    overwrite: bool = False,
    metadata: Mapping[str, Any] | None = None,
    onto: str | os.PathLike[str] | None = None,
    rows: NDArray[np.int64] | None = None,
    spreadsheet: bool = False,
) -> None:
    """Write named columns of equal length to the file `path`.

    The ending chooses the format: .csv, .tsv (either also .gz), .parquet, .npy (a
    plain n×D array, numbers only, without the names) or .h5ad (columns pca_1, pca_2 become
    obsm['X_pca']; with `onto`, in a copy of that file's `rows`). "-" writes CSV to standard
    output. `metadata` (JSON-ready) goes into a Parquet or .h5ad file itself and otherwise
    to a file beside it, `out.csv.json`; standard output gets none.

    A spreadsheet runs text that begins with = + - or @ as a formula. With `spreadsheet`, names
    and labels of a text file that begin so (or with a tab or line end) get an apostrophe before
    them. By default they are written as they are, and read again as they were.

    The files appear when they are complete, or never; one that exists is not
    replaced unless overwrite=True.
    """
    arrays = _validated_columns(columns)
    arrays = _without_formulas(arrays) if spreadsheet else arrays
    text = _json(metadata)
    if os.fspath(path) == "-":
        _write_text(sys.stdout.buffer, arrays, ",")
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    ending = _known_ending(target)
    _refuse_missing_package(ending)  # before anything is touched
    beside = None if text is None or ending in HOLD_METADATA else metadata_path(target)
    with contextlib.ExitStack() as files:
        # The last one opened is named first: a table never stands there without its metadata.
        main = files.enter_context(atomic_file(target, overwrite=overwrite))
        if beside is not None and text is not None:
            note = files.enter_context(atomic_file(beside, overwrite=overwrite))
            note.write(text)
        if ending == ".h5ad":
            base = None if onto is None else Path(onto)
            annotated.write_h5ad(main.name, arrays, text, onto=base, rows=rows)
        else:
            _write(main, ending, arrays, text)


def check_table_place(path: Path, *, overwrite: bool) -> None:
    """Refuse now what `write_table` would refuse later: ending, folder, files that exist."""
    ending = _known_ending(path)
    check_place(path, overwrite=overwrite)
    _refuse_missing_package(ending)
    if ending not in HOLD_METADATA:
        check_place(metadata_path(path), overwrite=overwrite)


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The metadata that write_table stored with a table, or None."""
    file = Path(path)
    if file.suffix in (".parquet", ".pq"):
        stored = parquet_module().read_schema(file).metadata or {}
        text = stored.get(PARQUET_KEY)
    elif file.suffix == ".h5ad":
        text = annotated.h5ad_metadata(file)
    else:
        beside = metadata_path(file)
        text = beside.read_bytes() if beside.exists() else None
    metadata: dict[str, Any] | None = None if text is None else parse_json(text)
    return metadata


def metadata_path(path: Path) -> Path:
    """Where the metadata of a file lies that cannot hold its own."""
    return path.with_name(path.name + ".json")


def _refuse_missing_package(ending: str) -> None:
    if ending == ".parquet":
        parquet_module()
    elif ending == ".h5ad":
        annotated.anndata_module()


STANDARD_OUTPUTS = ("/dev/stdout", "/dev/fd/1", "stdout")


def _known_ending(path: Path) -> str:
    name = path.name.lower()
    for ending in sorted(WRITABLE_ENDINGS, key=len, reverse=True):
        if name.endswith(ending):
            return ending
    raise InvalidInput(
        f"{path} must end with one of {', '.join(WRITABLE_ENDINGS)}, which chooses the format"
        + ("; standard output is called -" if str(path) in STANDARD_OUTPUTS else "")
    )


def _validated_columns(columns: Mapping[str, ArrayLike]) -> dict[str, Array]:
    arrays = {str(name): np.asarray(values) for name, values in columns.items()}
    if not arrays:
        raise InvalidInput("at least one column is needed to write a table, but there is none")
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) != 1 or any(len(shape) != 1 for shape in shapes):
        shown = ", ".join(f"'{name}' {array.shape}" for name, array in list(arrays.items())[:10])
        raise InvalidInput(f"every column must be a list of the same length, but they are {shown}")
    return arrays


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def _without_formulas(arrays: dict[str, Array]) -> dict[str, Array]:
    """Text that no spreadsheet takes for a formula; numbers are none."""

    def plain(value: object) -> Any:
        return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value

    return {
        plain(name): array
        if array.dtype.kind in "biufM"
        else np.array([plain(value) for value in array.tolist()], dtype=object)
        for name, array in arrays.items()
    }


def _json(metadata: Mapping[str, Any] | None) -> bytes | None:
    if metadata is None:
        return None
    try:
        return json.dumps(dict(metadata), indent=2, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            Argument("metadata"), f" must be JSON-ready (text, numbers, lists, dicts): {error}"
        ) from error


def _write(file: BinaryIO, ending: str, arrays: dict[str, Array], metadata: bytes | None) -> None:
    if ending == ".npy":
        words = [name for name, array in arrays.items() if array.dtype.kind not in "biuf"]
        if words:
            raise InvalidInput(
                f"an .npy file holds numbers only, but '{words[0]}' has none; use .csv"
            )
        np.save(file, np.column_stack(list(arrays.values())))
    elif ending == ".parquet":
        _write_parquet(file, arrays, metadata)
    elif ending.endswith(".gz"):
        import gzip

        # No name and no time inside, so that equal tables give equal files.
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
            _write_text(packed, arrays, _separator(ending))
    else:
        _write_text(file, arrays, _separator(ending))


def _separator(ending: str) -> str:
    return "\t" if ending.startswith(".tsv") else ","


def _write_text(file: Any, arrays: dict[str, Array], separator: str) -> None:
    import pandas as pd

    # floats are written by their shortest exact text, so that reading gives the same bits
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        pd.DataFrame(arrays).to_csv(text, sep=separator, index=False, lineterminator="\n")
    finally:
        text.detach()  # else a forgotten wrapper closes the file, even standard output


def _write_parquet(file: BinaryIO, arrays: dict[str, Array], metadata: bytes | None) -> None:
    parquet = parquet_module()
    import pyarrow

    table = pyarrow.table({name: pyarrow.array(array) for name, array in arrays.items()})
    if metadata is not None:
        table = table.replace_schema_metadata({PARQUET_KEY: metadata})
    parquet.write_table(table, file)
