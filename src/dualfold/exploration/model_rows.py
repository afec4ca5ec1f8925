"""New rows for an existing map: read, encoded and completed as the rows that it was made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dualfold.data.reading import Reading, reading_of
from dualfold.errors import Argument, InvalidInput, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dualfold.data.columns import Table
    from dualfold.data.text.text_block import TextBlock
    from dualfold.models import Model


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows for the map of a model.

    table : X has the model's columns in its order, without missing values
    notices : what was decided about them, in sentences
    values : the columns that X was made of as they were read, gaps and all; {} for sparse tables
    """

    table: Table
    notices: list[str]
    values: dict[str, Any]


def stored_reading(stated: Any, path: str) -> Reading:
    """How the table was read, as a file states it, if it states it in the right form."""
    if not isinstance(stated, dict | None):
        raise InvalidInput(f"{path} states how its table was read in an unknown form")
    try:
        return reading_of(stated or {})
    except InvalidInput as error:
        raise InvalidInput(f"{path}: ", error.message) from error


def rows_for_model(model: Model, source: Any, reading: Reading) -> ModelRows:
    """The new rows as the model takes them.

    source : a file, a data frame or an array
    reading : how the new rows are read; what the model states of cells goes before its defaults
    """
    from dualfold.data.prepared import table_of_source

    if reading.vectors and (model.text is None or not model.text.vectors):
        raise InvalidInput(
            Argument("vectors", reading.vectors[0]),
            " has no use: the map was made of columns, not of vectors; leave it out",
        )
    first = stored_reading(model.settings.get("reading"), "the model")
    if first.mixed == "counts" and reading.missing == "auto":  # counts are not guessed
        reading = replace(reading, missing="raise")
    written = replace(reading.after(first, "notation"), missing="keep")
    if model.encodings or model.text is not None:
        return _mixed_rows(model, source, reading, replace(written, text=(), vectors=()))
    table = table_of_source(source, written, features=model.columns)
    notices = list(table.notices)
    unnamed = tuple(f"column_{place + 1}" for place in range(table.X.shape[1]))
    if table.names == unnamed and len(unnamed) == len(model.columns) and unnamed != model.columns:
        notices.append("the rows have no column names; they were taken in the model's order")
        X = table.X
    else:
        X = model.matching_columns(table.X, table.names)
    table = replace(table, X=X, names=model.columns, notices=())
    values = {} if hasattr(X, "tocsr") else dict(zip(model.columns, X.T, strict=True))
    return _new_rows(table, model, reading, notices, values)


def _mixed_rows(model: Model, source: Any, reading: Reading, written: Reading) -> ModelRows:
    """New rows of a mixed table, as the old ones were encoded."""
    from dualfold.data.prepared import table_of_source

    numbers = [one.name for one in model.encodings if one.kind in ("number", "log")]
    table = table_of_source(source, written, features=numbers, mixed=True)
    columns = table.labels | dict(zip(table.names, table.X.T, strict=True))
    if model.text is not None:
        columns |= _given_vectors(model.text, reading.vectors, table)
    X, notices = model.encoded_table(columns)
    table = replace(table, X=X, names=model.columns, notices=())
    if model.text is not None:
        table, said = _with_comparable_texts(table, model.text)
        columns = {name: column[table.rows] for name, column in columns.items()}
        notices = [*notices, *_file_notices(model.text, reading), *said]
    values = {one.name: columns[one.name] for one in model.encodings}
    return _new_rows(table, model, reading, notices, values)


def _given_vectors(block: TextBlock, typed: Sequence[str], table: Table) -> dict[str, Any]:
    """The vectors of new rows under the names that the model has for them."""
    from dualfold.data.text.text_block import vector_rows

    files = [name for name in block.vectors if name.lower().endswith(".npy")]
    if not typed or not block.vectors:
        return {name: vector_rows({}, [name], table.rows) for name in files}
    found = vector_rows(table.labels, typed, table.rows)
    return {block.vectors[0]: found} | dict.fromkeys(block.vectors[1:], found[:, :0])


def _file_notices(block: TextBlock, reading: Reading) -> list[str]:
    """That vectors came from the file that the map was made of, where none was named."""
    files = [name for name in block.vectors if name.lower().endswith(".npy")]
    if not files or reading.vectors:
        return []
    return [
        Message(
            f"the vectors of these rows are those of {files[0]}, as the map's were; ",
            Argument("vectors", "NEW.npy"),
            " names a file of other rows",
        )
    ]


def _with_comparable_texts(table: Table, block: TextBlock) -> tuple[Table, list[str]]:
    """The rows whose text has a known term, and a notice about the others."""
    import numpy as np

    kept = np.flatnonzero(~np.isnan(table.X[:, 0]))
    lost = len(table.rows) - len(kept)
    if not lost:
        return table, []
    if not len(kept):
        raise InvalidInput("no new row has a text or vector that can be compared with the old ones")
    what = "a vector of zeros" if block.rule is None else "no term that the old texts have"
    labels = {name: values[kept] for name, values in table.labels.items()}
    table = replace(table, X=table.X[kept], rows=table.rows[kept], labels=labels)
    rows = "1 row" if lost == 1 else f"{lost:,} rows"
    return table, [f"{rows} left out: {what}, so nothing to compare"]


def _new_rows(
    table: Table, model: Model, reading: Reading, notices: list[str], values: dict[str, Any]
) -> ModelRows:
    """The complete rows, and the values that they were read with."""
    import numpy as np

    complete, notices = _complete(table, model, reading, notices)
    kept = np.searchsorted(table.rows, complete.rows)
    return ModelRows(complete, notices, {name: column[kept] for name, column in values.items()})


def _complete(
    table: Table, model: Model, reading: Reading, notices: list[str]
) -> tuple[Table, list[str]]:
    """The rows without missing values, if they have the labels that are named."""
    from dualfold.data.missing_values import without_missing_values
    from dualfold.data.notices import quoted_names

    for option, name in (("color", reading.color), ("identifier", reading.identifier)):
        if name is not None and name not in table.labels:
            raise InvalidInput(
                Argument(option, name),
                f" names no label; there is {quoted_names(table.labels) or 'none'}",
            )
    if reading.missing in ("auto", "mean", "impute"):
        return _filled_table(table, model, reading, notices)
    if model.encodings:
        table = replace(table, X=model.with_categories(table.X))
    table = without_missing_values(table, reading.missing)
    return table, [*notices, *table.notices]


def _filled_table(
    table: Table, model: Model, reading: Reading, notices: list[str]
) -> tuple[Table, list[str]]:
    """Missing values filled in by the rows that the map was made of, not by the new ones."""
    import numpy as np

    from dualfold.data.missing_values import without_missing_values

    if reading.missing == "mean":
        model = replace(model, imputation=None)
    if not isinstance(table.X, np.ndarray) or (model.imputation is None and model.means is None):
        return without_missing_values(table, "mean"), notices
    count = int((~np.isfinite(table.X)).sum())
    if not count:
        return table, notices
    values = "1 missing value was" if count == 1 else f"{count:,} missing values were"
    how = "with the means of the model's own rows"
    if model.imputation is not None:
        how = "as those of the model's own rows, by the values of similar rows"
    notice = f"{values} filled {'in ' if model.imputation is not None else ''}{how}"
    return replace(table, X=model.imputed_rows(table.X)), [*notices, notice]
