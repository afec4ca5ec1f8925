"""Tables of other packages, as estimators take them: numbers, or a refusal in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dualfold.arrays import Seed
from dualfold.errors import Argument, InPython, InvalidInput


def numbers_of(X: Any) -> Any:
    """The rows behind X, where X is a container of more than these; anything else as it is.

    AnnData: its matrix X. Arrays, data frames of pandas and polars, Arrow tables and
    `xarray.DataArray` are rows of numbers already.
    """
    package, kind = type(X).__module__.partition(".")[0], type(X).__name__
    if package == "anndata" and hasattr(X, "obs"):
        if X.X is None:
            raise InvalidInput(
                Argument("X"), " is an AnnData without a matrix X; give one of its layers"
            )
        return (X.to_memory() if X.isbacked else X).X
    if package == "numpy" and kind == "MaskedArray" and X.mask.any():
        raise InvalidInput(
            Argument("X"), " has masked entries; fill (X.filled) or drop them first"
        )  # scikit-learn would take what is behind the mask for data
    if package == "polars" and kind == "LazyFrame":
        raise InvalidInput(
            Argument("X"), " is a polars.LazyFrame, which has no rows yet; give X.collect()"
        )
    if package == "polars" and kind == "Series":
        raise InvalidInput(Argument("X"), " is one column; give X.to_frame(), a table of it")
    if package == "xarray" and kind == "Dataset":
        raise InvalidInput(
            Argument("X"),
            " is an xarray.Dataset, several arrays under names; give one of them, or "
            "X.to_dataframe()",
        )
    return X


def random_generator(random_state: Seed | list[int]) -> np.random.Generator:
    """NumPy's generator for a seed, an older `RandomState`, or None, which draws a seed."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInput(
            Argument("random_state"),
            f" must be None, a whole number from 0 on or a generator; it is {random_state!r}",
        ) from None


def frame_of(X: Any) -> Any:
    """A data frame of polars or an Arrow table as one of pandas; anything else as it is."""
    if type(X).__module__.partition(".")[0] in ("polars", "pyarrow") and hasattr(X, "to_pandas"):
        return X.to_pandas()
    return X


@runtime_checkable
class PreparedTable(Protocol):
    """A table that was read and prepared, as `dualfold.data.prepare` returns it.

    X : the rows as methods take them
    """

    X: Any

    @property
    def notices(self) -> tuple[str, ...]:
        """Decisions about the table, in sentences."""

    @property
    def weights(self) -> Any:
        """Weight of each row; None where all are alike."""

    def plausible_tables(self) -> Iterator[Any]:
        """X with other values where cells were filled in; X itself where none were."""


def prepared_frame(frame: Any) -> PreparedTable:
    """A data frame of pandas, read as estimators read it, without guesses of what was meant."""
    # Frames are read on the floor of the application, which is loaded for such tables alone.
    data = import_module("dualfold.data")
    table: PreparedTable = data.prepare(frame, data.Reading(plain=True))
    return table


def measurable_rows(X: Any) -> Any:
    """X as measures take it: a table of numbers, also where columns of a data frame are none.

    Those columns are read as estimators read them, without guesses of what was meant; everything
    else stays as it is.
    """
    rows = numbers_of(X)
    return prepared_frame(frame_of(rows)).X if word_columns(rows) else rows


def refuse_text(X: Any, trouble: Exception) -> None:
    """Where X is a table with columns that are no numbers: InvalidInput that names them."""
    names = word_columns(X)
    if names:
        listed = ", ".join(repr(name) for name in names[:5]) + (", …" if len(names) > 5 else "")
        plural = len(names) > 1
        raise InvalidInput(
            Argument("X"),
            f" has {'columns that are' if plural else 'a column that is'} no numbers ({listed}): "
            f"leave {'them' if plural else 'it'} out, or encode {'them' if plural else 'it'}",
            InPython(
                " (dualfold.explore(X) makes a map of such a table, dualfold.data.prepare(X).X its "
                "numbers, and FAMD takes categories)"
            ),
        ) from trouble


def word_columns(X: Any) -> list[str]:
    """The columns of a table that hold no numbers: text, categories, dates; none of an array."""
    if hasattr(X, "select_dtypes"):
        words = X.select_dtypes(exclude=["number", "bool"])
        return [str(name) for name in words if not _numeric(words[name])]
    fields = getattr(X, "schema", None)
    if fields is None:
        return []
    pairs = fields.items() if hasattr(fields, "items") else ((f.name, f.type) for f in fields)
    known = ("int", "uint", "float", "double", "half", "bool", "decimal")
    return [str(name) for name, kind in pairs if not str(kind).lower().startswith(known)]


def _numeric(column: Any) -> bool:
    """Whether a column of objects holds numbers all the same."""
    try:
        column.astype(float)
    except (TypeError, ValueError):
        return False
    return True
