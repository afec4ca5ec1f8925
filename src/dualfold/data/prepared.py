"""From a file, a data frame or an array to the matrix that methods take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.data.cell_words import with_choices
from dualfold.data.column_choices import encoded_table, logarithms, without_redundant_columns
from dualfold.data.columns import Table
from dualfold.data.counts import table_of_counts
from dualfold.data.filled_cells import (
    LONG_PLAUSIBLE_TABLES,
    MAX_SHORT_ROWS,
    PLAUSIBLE_TABLES,
    FilledCells,
)
from dualfold.data.missing_patterns import without_empty_columns
from dualfold.data.missing_values import (
    ColumnScaling,
    complete_table,
    standard_of_known,
    with_constant_notice,
)
from dualfold.data.preparation import Preparation
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.data.scales import (
    Standard,
    column_limits,
    different_units,
    gower_standard,
    standard_of,
)
from dualfold.data.table_reader import table_of_source
from dualfold.data.weight_columns import weight_remarks
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.weights.encoding import (
    Encoding,
    indicators,
    is_mixed,
    sources_of,
    to_json,
)
from dualfold.weights.row_weights import validated_weights
from dualfold.weights.written_dates import ambiguous_dates, as_dates


@dataclass(frozen=True, eq=False)
class Prepared:
    """Table that is ready for a method; `prepare` makes it.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Features as methods take them, scaled where that was chosen.
    table : Table
        What was read, before scaling.
    preparation : Preparation
        How the table became X, for rows that come later.
    source : str
        Name of the file, or kind of the object.
    remarks : tuple of Message
        What should be known before the numbers are believed, beside the notices of the table.
    scales_differ : bool
        Whether the scales of the columns differ much and were left so; the widest column then
        decides the distances.
    raw : Table or None
        The table before categories became numbers, logarithms were taken and values were imputed.
    filled : FilledCells or None
        Cells that were filled in; None where all were there.
    text : TextFeatures or None
        Terms of the texts and how they became the first columns of X; None without text.

    See Also
    --------
    prepare : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.data import prepare
    >>> prepared = prepare(np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 7.0], [6.0, 8.0]]))
    >>> prepared.X.shape, prepared.filled_share
    ((4, 2), 0.125)
    """

    X: Any
    table: Table
    preparation: Preparation
    source: str
    remarks: tuple[Message, ...]
    scales_differ: bool = False
    raw: Table | None = None
    filled: FilledCells | None = None
    text: Any = None

    @property
    def filled_share(self) -> float:
        """Share of the cells that were filled in.

        Returns
        -------
        float
            From 0 to 1.
        """
        return 0.0 if self.filled is None else self.filled.share

    @property
    def reading(self) -> Reading:
        """Choices by which the table was read.

        Returns
        -------
        Reading
            The choices, with those that were found out.
        """
        return self.preparation.reading

    @property
    def encodings(self) -> tuple[Encoding, ...]:
        """Encodings of the columns of the source.

        Returns
        -------
        tuple of Encoding
            One for each column that is no text.
        """
        return self.preparation.encodings

    @property
    def doubt(self) -> str:
        """Why no map of this table can be judged.

        Returns
        -------
        str
            Words; "" where maps can be judged.
        """
        return "" if self.filled is None else self.filled.doubt

    def plausible_tables(self, count: int | None = None) -> Iterator[Any]:
        """X again and again, each with other random values in the filled cells.

        These values are as far from the filled ones as known cells are from what is predicted for
        them. What holds in all of these tables is in the data; what holds in X alone was filled in.

        Parameters
        ----------
        count : int or None, default=None
            Number of tables; None: 5, or 2 if there are more than 2,000 rows.

        Yields
        ------
        ndarray of shape (n_samples, n_features)
            One table at a time; X itself, once, where nothing was filled in.
        """
        if self.filled is None:
            yield self.X
            return
        long = self.filled.n_rows > MAX_SHORT_ROWS
        count = count or (LONG_PLAUSIBLE_TABLES if long else PLAUSIBLE_TABLES)
        for seed in range(count):
            drawn = self.filled.drawn_rows(self.table.X, seed)
            yield self.preparation.scaled(drawn)

    @property
    def numbers(self) -> tuple[tuple[str, ...], Any]:
        """The columns of numbers as they were read.

        Returns
        -------
        names : tuple of str
            Names of the columns.
        matrix : ndarray or sparse array
            Their values.
        """
        raw = self.table if self.raw is None else self.raw
        if len(raw.rows) == len(self.table.rows):
            return raw.names, raw.X
        return raw.names, raw.X[np.searchsorted(raw.rows, self.table.rows)]

    @property
    def has_categories(self) -> bool:
        """Whether there are categories among the features.

        Returns
        -------
        bool
            True where there are.
        """
        return is_mixed(self.encodings)

    @property
    def sources(self) -> list[str]:
        """Columns of the source that are used.

        Returns
        -------
        list of str
            Their names.
        """
        return list(dict.fromkeys(self.feature_sources))

    @property
    def feature_sources(self) -> list[str]:
        """The column of the source that each column of X comes from."""
        sources = list(sources_of(self.encodings))
        return sources if self.text is None else [*self.text.sources, *sources]

    @property
    def suspected_targets(self) -> tuple[str, ...]:
        """Columns that were kept apart because they look like the target.

        Returns
        -------
        tuple of str
            Their names, the most likely first.
        """
        return self.table.targets

    @property
    def color_name(self) -> str | None:
        """Column to colour by.

        Returns
        -------
        str or None
            The column that was named, or the most likely suspected target.
        """
        return self.reading.color or next(iter(self.suspected_targets), None)

    @property
    def stored_encodings(self) -> list[dict[str, Any]]:
        """The encodings, for a file.

        Returns
        -------
        list of dict
            Ready for JSON; empty where all columns are numbers as they are.
        """
        return to_json(self.encodings) if self.preparation.is_encoded else []

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of X.

        Returns
        -------
        tuple of str
            One name for each column.
        """
        return self.table.names

    @property
    def rows(self) -> NDArray[np.int64]:
        """Which rows of the source these are.

        Returns
        -------
        ndarray of int
            Row numbers, counted from 0.
        """
        return self.table.rows

    @property
    def labels(self) -> dict[str, Array]:
        """Columns that were kept apart.

        Returns
        -------
        dict
            Names and values.
        """
        return self.table.labels

    @property
    def notices(self) -> tuple[str, ...]:
        """Everything that was decided or needs attention.

        Returns
        -------
        tuple of str
            Plain sentences.
        """
        return (*self.table.notices, *self.remarks)

    @property
    def row_names(self) -> dict[str, Array]:
        """A column that names the rows: the one that was asked for, or found, or their numbers.

        Numbers are counted from 1, and only given where rows were left out; else it is {}.
        """
        if self.reading.identifier is not None:
            return {self.reading.identifier: self.labels[self.reading.identifier]}
        if self.table.row_names:
            return dict(self.table.row_names)
        first = self.table if self.raw is None else self.raw
        left_out = len(first.rows) != len(self.rows) or self.rows[-1:] != len(self.rows) - 1
        return {"row": self.rows + 1} if left_out else {}

    def label(self, name: str | None) -> Any:
        """A column that was kept apart.

        Parameters
        ----------
        name : str or None
            Name of the column.

        Returns
        -------
        ndarray or None
            Its values; None for None.
        """
        return None if name is None else self.labels[name]

    @property
    def classes(self) -> Any:
        """Classes that methods learn from.

        Returns
        -------
        ndarray or None
            The values of the column that `reading.labels` names; None where it names none.
        """
        return self.label(self.reading.labels)

    @property
    def weights(self) -> Any:
        """Number of times that each row counts.

        Returns
        -------
        ndarray or None
            The numbers of the column that `reading.weight` names; None where it names none.
        """
        return weights_of(self.table, self.reading)

    @property
    def colors(self) -> Any:
        """Values to colour by.

        Returns
        -------
        ndarray or None
            The values of the column `color_name`; dates in words are dates.
        """
        values = self.label(self.color_name)
        return None if values is None else colors_of(values)


def prepare(source: Any, reading: Reading = DEFAULT_READING) -> Prepared:
    """Read and prepare a table: the matrix that methods take, with names, labels and notices.

    The command line prepares every table with this function, so the same file and the same choices
    give the same X here. Unless `reading` says otherwise, redundant columns are left out,
    categories and dates are used beside numbers, missing values are imputed, and columns in
    different units are standardised. Each of these decisions is a sentence in `notices`.

    Parameters
    ----------
    source : str, path, data frame, array-like or sparse matrix
        File that `read_table` reads ("-": standard input), data frame of pandas or polars, array or
        sparse matrix.
    reading : Reading, default=Reading()
        What to do with columns and missing values, and how a file is written.

    Returns
    -------
    Prepared
        The matrix `X` with its `names`, `labels`, `rows` and `notices`.

    Raises
    ------
    InvalidInput
        If a choice of `reading` does not fit the table, or there is nothing to use.

    See Also
    --------
    Reading : The choices.
    dualfold.explore : Prepare a table, make a map of it and judge the map.

    Examples
    --------
    >>> import pandas as pd
    >>> from dualfold.data import prepare
    >>> shops = pd.DataFrame({"size": [1.0, 2.0, 9.0, 4.0], "kind": ["a", "b", "a", "b"]})
    >>> prepared = prepare(shops)
    >>> prepared.X.shape, prepared.sources
    ((4, 1), ['size'])
    """
    if reading.is_of_text:
        raise InvalidInput(
            "text and vectors are no columns of numbers; dualfold.explore and dualfold.text take ",
            Argument("text" if reading.text else "vectors"),
        )
    return prepared_columns(source, reading)


def prepared_columns(source: Any, reading: Reading) -> Prepared:
    """The table without its text: X has the columns that join it, perhaps none."""
    if reading.text_options and not reading.is_of_text:
        raise InvalidInput(
            Argument("text_options", reading.text_options[0]),
            " is about a column of text; name it by ",
            Argument("text"),
        )
    source = source.to_pandas() if hasattr(source, "to_pandas") else source
    reading = _with_orders(source, reading)
    table = table_of_source(source, reading, mixed=True)
    if reading.mixed == "counts":
        table = table_of_counts(table, reading)
    reading = with_choices(reading, table.choices)
    file = isinstance(source, str | os.PathLike)
    name = os.fspath(source) if file else f"the {type(source).__name__}"
    given = reading.as_given
    if reading.is_of_text and not table.kinds and not table.names:
        return Prepared(table.X, table, Preparation((), reading), name, (), raw=table)
    if not given:
        table = without_empty_columns(without_redundant_columns(table, reading), reading)
    raw = table
    logs, remarks = logarithms(table, reading)
    remarks = [*remarks, *weight_remarks(table, reading)]
    table, encodings = encoded_table(table, logs)
    scaling = _scaling_choice(table, reading, encodings)
    categories = indicators(encodings)
    rule = reading.missing
    if rule == "auto":
        rule = "raise" if given or not isinstance(table.X, np.ndarray) else "impute"
    table, filled = complete_table(table, rule, ColumnScaling.of(scaling.standardize, encodings))
    table = with_constant_notice(table, rule)
    standard, weights = None, weights_of(table, reading)
    if scaling.standardize and filled is None:
        standard = standard_of(table.X, categories, weights)
    elif scaling.standardize and filled is not None:
        standard = standard_of_known(table.X, filled.hole, categories, weights)
    if reading.mixed == "gower":
        standard = gower_standard(table.X, categories, len(encodings))
    preparation = fitted_preparation(table, Preparation((), reading, encodings), standard, filled)
    remarks = [*remarks, *scaling.remarks, *_color_remarks(table, reading.color)]
    return Prepared(
        X=preparation.scaled(table.X),
        table=table,
        preparation=preparation,
        source=name,
        remarks=tuple(remarks),
        scales_differ=scaling.differ,
        raw=raw,
        filled=filled,
    )


def fitted_preparation(
    table: Table, made: Preparation, standard: Standard | None, filled: FilledCells | None
) -> Preparation:
    """The preparation by which columns were `made`, with what a complete table says."""
    low, high = column_limits(table.X)
    return replace(
        made,
        columns=table.names,
        means=np.asarray(table.X.mean(axis=0), dtype=float).ravel(),
        standard=standard,
        imputation=None if filled is None else filled.model,
        sizes=np.maximum(np.abs(low), np.abs(high)),
    )


def weights_of(table: Table, reading: Reading) -> Array | None:
    """The validated weights of the rows of a table; None where no column has them."""
    if reading.weight is None:
        return None
    return validated_weights(table.labels[reading.weight], len(table.rows), "weight")


@dataclass(frozen=True)
class _Scaling:
    """Whether columns are standardised, whether their scales stay different, and why."""

    standardize: bool
    differ: bool = False
    remarks: tuple[Message, ...] = ()


def _scaling_choice(table: Table, reading: Reading, encodings: tuple[Encoding, ...]) -> _Scaling:
    if reading.mixed == "counts":  # shares of a row have no scale of their own
        return _Scaling(standardize=bool(reading.standardize))
    free = reading.standardize is None and not reading.as_given
    if free and reading.is_of_text:  # lengths of texts have no unit that numbers could share
        return _Scaling(standardize=True)
    if reading.standardize or reading.mixed == "gower" or (free and is_mixed(encodings)):
        return _Scaling(standardize=True)
    differ = different_units(table.X, table.names)
    if differ is None:
        return _Scaling(standardize=False)
    narrow, wide, ratio = differ
    times = f"{ratio:,.0f}" if ratio < 1e9 else f"{ratio:.0e}"
    words = f"'{table.names[wide]}' spreads {times} times as much as '{table.names[narrow]}'"
    if free:
        done = f"the columns were given the same weight, since they differ in scale ({words}); "
        remark = Message(done, Argument("standardize", False), " leaves them as they are")
        return _Scaling(standardize=True, remarks=(remark,))
    remark = Message(
        f"the columns differ in scale: {words} and so decides the distances; ",
        Argument("standardize", True),
        " gives every column the same weight",
    )
    return _Scaling(standardize=False, differ=True, remarks=(remark,))


def colors_of(values: Array) -> Array:
    """Values to colour by; dates in words become dates, so that they have an order."""
    dates = as_dates(values)
    return values if dates is None else dates


def _with_orders(source: Any, reading: Reading) -> Reading:
    """The reading with the orders that categorical columns of a data frame have."""
    known = {} if not hasattr(source, "iloc") else dict(source.dtypes)
    orders = tuple(
        f"{name}={','.join(map(str, dtype.categories))}"
        for name, dtype in known.items()
        if getattr(dtype, "ordered", False) and reading.mixed in ("famd", "gower")
        if name not in (*reading.orders, *reading.exclude, *reading.label_fields, *reading.category)
    )
    return replace(reading, ordered=(*reading.ordered, *orders)) if orders else reading


def _color_remarks(table: Table, color: str | None) -> list[Message]:
    if color is None or not ambiguous_dates(table.labels[color]):
        return []
    return [
        Message(
            Argument("color", color),
            ": it is unclear which are days and which are months in dates as "
            f"'{table.labels[color][0]}', so they are coloured as words without an order; write "
            "them as 2021-12-31",
        )
    ]
