"""How a table becomes X: fitted once to a table, applied to every row that comes later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.data.array_files import unnamed_columns
from dualfold.data.columns import Table, refuse_lacking
from dualfold.data.imputation import MIN_NOISE, Imputation
from dualfold.data.missing_values import complete_table
from dualfold.data.notices import quoted_names
from dualfold.data.reading import DEFAULT_READING, Reading, reading_of
from dualfold.data.scales import Standard
from dualfold.data.table_reader import table_of_source
from dualfold.errors import Argument, DamagedFile, InvalidInput, Message
from dualfold.methods.maps.parts import DATA_TOLERANCE, Parts, agree_within
from dualfold.weights.encoding import (
    Encoding,
    Number,
    encoded_columns,
    features_of,
    from_json,
    indicators,
    level_places,
    to_json,
)

if TYPE_CHECKING:
    from dualfold.data.text.text_block import TextBlock

# What a file holds of an imputation.
IMPUTATION_ARRAYS = ("mean", "scale", "components", "noise")
# In units of the columns' scales components are near 1; these only keep sums from overflowing.
MAX_COMPONENTS = 100
MAX_COMPONENT = 1e6
# An iteration that ends at steps of 1e-5 ends elsewhere on another processor, but not by more.
IMPUTATION_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Rows that were prepared as those of an earlier table.

    table : its X has the columns of the preparation, complete, before scaling
    X : the same rows as methods take them, scaled
    notices : what was decided about them, in sentences
    values : the columns that X was made of as they were read, gaps and all; {} for sparse tables
    """

    table: Table
    X: Rows
    notices: list[str]
    values: dict[str, Array]


@dataclass(frozen=True, eq=False)
class Preparation:
    """Way from a table to X: read, encoded, completed and scaled.

    `prepare` fits it to a table. Models and explorations hold it, and rows that come later are
    prepared by its `apply`.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns of X.
    reading : Reading
        How the table was read.
    encodings : tuple of Encoding
        How columns of the table become those of X that stand after the text.
    text : TextBlock or None
        How texts or vectors become the first columns of X.
    means : ndarray or None
        Means of the columns before scaling, which replace missing values of new rows; None where
        no table was read.
    standard : Standard or None
        Shift and scale of each column; None where nothing is scaled.
    imputation : Imputation or None
        How missing values are filled in, if not by means alone.
    sizes : ndarray or None
        Largest absolute value of each column, which rounding is relative to; no file keeps it.

    See Also
    --------
    prepare : Fits it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.data import prepare
    >>> fitted = prepare(np.array([[1.0, 20.0], [3.0, 40.0], [5.0, 90.0]])).preparation
    >>> fitted.columns, fitted.apply(np.array([[1.0, 20.0]])).X.shape
    (('column_1', 'column_2'), (1, 2))
    """

    columns: tuple[str, ...]
    reading: Reading = DEFAULT_READING
    encodings: tuple[Encoding, ...] = ()
    text: TextBlock | None = None
    means: Array | None = None
    standard: Standard | None = None
    imputation: Imputation | None = None
    sizes: Array | None = None

    @classmethod
    def of_numbers(cls, columns: Sequence[str]) -> Preparation:
        """Columns of numbers that are taken as they are."""
        return cls(tuple(columns), encodings=tuple(map(Number, columns)))

    @property
    def is_fitted(self) -> bool:
        """Whether it was fitted to a table; an estimator is given rows as they are.

        Returns
        -------
        bool
            True where the means of the columns are known.
        """
        return self.means is not None

    @property
    def is_encoded(self) -> bool:
        """Whether X has columns that are not numbers of the table as they are.

        Returns
        -------
        bool
            True with texts, vectors, categories, dates and logarithms.
        """
        return self.text is not None or any(
            not isinstance(encoding, Number) for encoding in self.encodings
        )

    def apply(self, source: object, reading: Reading = DEFAULT_READING) -> PreparedRows:
        """Prepare rows that come later, as the rows of the table were.

        Parameters
        ----------
        source : str, path, data frame, array-like or sparse matrix
            Rows with the columns of the table, found by their names.
        reading : Reading, default=Reading()
            How these rows are read; the notation of the table goes before its defaults.

        Returns
        -------
        PreparedRows
            The rows, and what was decided about them.

        Raises
        ------
        InvalidInput
            If columns are missing, or values that may not be.
        """
        if reading.vectors and (self.text is None or not self.text.vectors):
            raise InvalidInput(
                Argument("vectors", reading.vectors[0]),
                " has no use: the map was made of columns, not of vectors; leave it out",
            )
        if self.reading.mixed == "counts" and reading.missing == "auto":  # counts are not guessed
            reading = replace(reading, missing="raise")
        written = replace(
            reading.after(self.reading, "notation"), missing="keep", text=(), vectors=()
        )
        if self.is_encoded:
            table, values, notices = self._encoded_table(source, written, reading)
        else:
            table, values, notices = self._table_of_numbers(source, written)
        complete, notices = self._complete_table(table, reading, notices)
        kept = np.searchsorted(table.rows, complete.rows)
        values = {name: column[kept] for name, column in values.items()}
        return PreparedRows(complete, self.scaled(complete.X), notices, values)

    def scaled(self, X: Rows) -> Rows:
        """Scale rows with `columns` as the rows of the table were.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Complete rows.

        Returns
        -------
        array-like
            The rows as methods take them.
        """
        return X if self.standard is None else self.standard.apply(X)

    def encoded(self, table: Mapping[str, Any]) -> tuple[Array, list[str]]:
        """Encode columns of a table as `columns`.

        Parameters
        ----------
        table : mapping of str to array-like
            Columns by name.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            What is unknown or missing is NaN.
        notices : list of str
            One sentence for each column with unknown values.
        """
        refuse_lacking([encoding.name for encoding in self.encodings], list(table))
        blocks = [] if self.text is None else [self.text.rows(table)]
        blocks += [encoded_columns(self.encodings, table)] if self.encodings else []
        unknown = {
            encoding.name: encoding.unknown(table[encoding.name]) for encoding in self.encodings
        }
        notices = [
            f"'{name}' has values that no old row had ({quoted_names(values, 3)}): counted as "
            "unknown"
            for name, values in unknown.items()
            if values
        ]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1), notices

    def decoded(self, X: Array) -> dict[str, Array]:
        """The columns of a table whose rows with `columns` these are, up to their rounding.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Complete rows before scaling.

        Returns
        -------
        dict
            Columns by name; text has none.
        """
        columns, first = {}, 0 if self.text is None else self.text.width
        for encoding in self.encodings:
            last = first + len(encoding.features)
            columns[encoding.name] = encoding.decoded_column(X[:, first:last])
            first = last
        return columns

    def with_categories(self, X: Array) -> Array:
        """Fill in what is missing or unknown in categories.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows with `columns`; missing values are NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows in which numbers alone may be missing.
        """
        of_text = np.zeros(0 if self.text is None else self.text.width, dtype=bool)
        lacking = ~np.isfinite(X) & np.concatenate([of_text, indicators(self.encodings)])
        return np.where(lacking, self._filled(X), X) if lacking.any() else X

    def _filled(self, X: Array) -> Array:
        """Rows without gaps, by the model of missing values or by means."""
        if self.imputation is not None:
            return self.imputation.imputed(X)
        return X if self.means is None else np.where(np.isfinite(X), X, self.means)

    def _table_of_numbers(
        self, source: object, written: Reading
    ) -> tuple[Table, dict[str, Array], list[str]]:
        """New rows of numbers, and their columns, found by their names or else by their order."""
        table = table_of_source(source, written, features=self.columns)
        X, notices = table.X, list(table.notices)
        unnamed = unnamed_columns(X.shape[1])
        if table.names == unnamed and len(unnamed) == len(self.columns) and unnamed != self.columns:
            notices.append("the rows have no column names; they were taken in the model's order")
        else:
            X = matching_columns(X, table.names, self.columns)
        values = {} if hasattr(X, "tocsr") else dict(zip(self.columns, X.T, strict=True))
        return replace(table, X=X, names=self.columns, notices=()), values, notices

    def _encoded_table(
        self, source: object, written: Reading, reading: Reading
    ) -> tuple[Table, dict[str, Array], list[str]]:
        """New rows of a mixed table, and the columns that they were encoded from."""
        numbers = [encoding.name for encoding in self.encodings if encoding.is_numeric]
        table = table_of_source(source, written, features=numbers, mixed=True)
        columns = table.labels | dict(zip(table.names, table.X.T, strict=True))
        if self.text is not None:
            columns |= _given_vectors(self.text, reading.vectors, table)
        X, notices = self.encoded(columns)
        table = replace(table, X=X, names=self.columns, notices=())
        if self.text is not None:
            table, left_out = _with_comparable_texts(table, self.text)
            columns = {name: column[table.rows] for name, column in columns.items()}
            notices = [*notices, *_file_notices(self.text, reading), *left_out]
        return (
            table,
            {encoding.name: columns[encoding.name] for encoding in self.encodings},
            notices,
        )

    def _complete_table(
        self, table: Table, reading: Reading, notices: list[str]
    ) -> tuple[Table, list[str]]:
        """The rows without missing values, if they have the labels that are named."""
        for option, name in (("color", reading.color), ("identifier", reading.identifier)):
            if name is not None and name not in table.labels:
                raise InvalidInput(
                    Argument(option, name),
                    f" names no label; there is {quoted_names(table.labels) or 'none'}",
                )
        if reading.missing in ("auto", "mean", "impute"):
            by_means = reading.missing == "mean"
            rule = replace(self, imputation=None) if by_means else self
            return rule._filled_table(table, notices)
        if self.is_encoded:
            table = replace(table, X=self.with_categories(table.X))
        table, _ = complete_table(table, reading.missing)
        return table, [*notices, *table.notices]

    def _filled_table(self, table: Table, notices: list[str]) -> tuple[Table, list[str]]:
        """Missing values filled in by the rows of the first table, not by the new ones."""
        has_model = self.imputation is not None
        if not isinstance(table.X, np.ndarray) or not (has_model or self.means is not None):
            return complete_table(table, "mean")[0], notices
        count = int((~np.isfinite(table.X)).sum())
        if not count:
            return table, notices
        values = "1 missing value was" if count == 1 else f"{count:,} missing values were"
        notice = f"{values} filled with the means of the model's own rows"
        if has_model:
            how = "as those of the model's own rows, by the values of similar rows"
            notice = f"{values} filled in {how}"
        return replace(table, X=self._filled(table.X)), [*notices, notice]

    def differences(self, stored: Preparation) -> list[str]:
        """Compare what a model states with this preparation, fitted to the model's table anew.

        Parameters
        ----------
        stored : Preparation
            What the model states.

        Returns
        -------
        list of str
            A sentence for each difference that rounding does not explain.
        """
        doubts = []
        if stored.columns != self.columns:
            doubts.append("the model names other columns, or in another order")
        elif not _same_encodings(self.encodings, stored.encodings):
            doubts.append("the model makes its columns in another way than the table's were made")
        (shift, scale), (stored_shift, stored_scale) = (
            _shift_and_scale(self),
            _shift_and_scale(stored),
        )
        for name, mine, theirs, sizes in (
            ("means", self.means, stored.means, self.sizes),
            ("shift", shift, stored_shift, self.sizes),
            ("scale", scale, stored_scale, None),
        ):
            if columns_differ(mine, theirs, sizes):
                doubts.append(f"the model's {name} of the columns are not those of the table")
        if _imputations_differ(self.imputation, stored.imputation):
            doubts.append("the model fills missing values in as the table does not")
        return doubts

    def parts(self) -> Parts:
        """Take it apart, for a file.

        Returns
        -------
        Parts
            Facts and arrays; `from_parts` makes the same of them.
        """
        parts = Parts("preparation")
        parts.facts |= {"columns": list(self.columns), "reading": self.reading.settings()}
        if self.is_encoded:
            parts.facts["encodings"] = to_json(self.encodings)
        if self.text is not None:
            parts.facts["text"] = self.text.put_into(parts)
        parts.put("means", self.means)
        if self.standard is not None:
            parts.put("shift", self.standard.mean)
            parts.put("scale", self.standard.deviation)
        if self.imputation is not None:
            for name in IMPUTATION_ARRAYS:
                parts.put(f"imputation_{name}", np.atleast_1d(getattr(self.imputation, name)))
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> Preparation:
        """Put the preparation of a file together, if it is one.

        Parameters
        ----------
        parts : Parts
            What the file states; another program may have written it.

        Returns
        -------
        Preparation
            The preparation.
        """
        columns = parts.facts.get("columns")
        if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
            raise DamagedFile("it names its columns in an unknown form")
        width, text = len(columns), None
        if "text" in parts.facts:
            from dualfold.data.text.text_block import TextBlock  # loads scikit-learn's vectoriser

            text = TextBlock.from_file(parts, parts.facts["text"])
        joined = tuple(columns[0 if text is None else text.width :])
        encodings = cls.of_numbers(joined).encodings
        if "encodings" in parts.facts:
            encodings = from_json(parts.facts["encodings"])
            if features_of(encodings) != joined:
                raise DamagedFile("its columns are not those that it states how to make")
        shift = parts.optional_array("shift", [width])
        scale = parts.optional_array("scale", [width], above=0.0, infinite=True)
        if (shift is None) != (scale is None):
            raise DamagedFile("it has a shift of its columns without their scale, or the other")
        return cls(
            columns=tuple(columns),
            reading=stored_reading(parts.facts.get("reading")),
            encodings=encodings,
            text=text,
            means=parts.optional_array("means", [width]),
            standard=None if shift is None or scale is None else Standard(shift, scale),
            imputation=None if text is not None else _imputation(parts, encodings, width),
        )


def stored_reading(stated: object) -> Reading:
    """The reading that a file states; `DamagedFile` where its form is unknown."""
    if not isinstance(stated, dict | None):
        raise DamagedFile("it states how its table was read in an unknown form")
    try:
        return reading_of(stated or {})
    except InvalidInput as error:
        raise DamagedFile(error.message) from error


def _shift_and_scale(preparation: Preparation) -> tuple[Array | None, Array | None]:
    standard = preparation.standard
    return (None, None) if standard is None else (standard.mean, standard.deviation)


def matching_columns(X: Rows, names: Sequence[str], wanted: Sequence[str]) -> Rows:
    """The wanted columns of a table by their names, in this order."""
    refuse_lacking(wanted, names)
    if tuple(names) == tuple(wanted):
        return X
    numbers = {name: number for number, name in enumerate(names)}
    return X[:, [numbers[name] for name in wanted]]


def _given_vectors(block: TextBlock, typed: Sequence[str], table: Table) -> dict[str, Array]:
    """The vectors of new rows under the names that the model has for them."""
    from dualfold.data.text.text_block import vector_rows

    files = [name for name in block.vectors if name.lower().endswith(".npy")]
    if not typed or not block.vectors:
        return {name: vector_rows({}, [name], table.rows) for name in files}
    vectors = vector_rows(table.labels, typed, table.rows)
    return {block.vectors[0]: vectors} | dict.fromkeys(block.vectors[1:], vectors[:, :0])


def _file_notices(block: TextBlock, reading: Reading) -> list[str]:
    """The notice that vectors came from the file that the map was made of."""
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


def columns_differ(mine: Array | None, stored: Array | None, sizes: Array | None = None) -> bool:
    """Whether one number for each column is stored as another than `mine`.

    `sizes` is what their rounding is relative to (None: they themselves). None is nothing.
    """
    if mine is None or stored is None:
        return (mine is None) != (stored is None)
    if stored.shape != mine.shape or stored.dtype.kind not in "fiu":
        return True
    return not agree_within(
        mine, stored, DATA_TOLERANCE * (np.abs(mine) if sizes is None else sizes)
    )


def _same_encodings(mine: Sequence[Encoding], stored: Sequence[Encoding]) -> bool:
    """Whether columns are made alike; units are sums over rows, so they may differ by rounding."""
    return len(mine) == len(stored) and all(
        replace(a, unit=0.0) == replace(b, unit=0.0)
        and abs(a.unit - b.unit) <= DATA_TOLERANCE * abs(a.unit)
        for a, b in zip(mine, stored, strict=True)
    )


def _imputations_differ(mine: Imputation | None, stored: Imputation | None) -> bool:
    """Whether a model fills missing values in as its table was not."""
    if mine is None or stored is None:
        return mine is not stored
    if mine.components.shape != stored.components.shape:
        return True
    pairs = (
        (mine.mean, stored.mean, mine.scale),
        (mine.scale, stored.scale, mine.scale),
        (mine.components, stored.components, 1.0),
        (mine.noise, stored.noise, mine.noise),
    )
    return any(np.abs(a - b).max() > IMPUTATION_TOLERANCE * np.max(unit) for a, b, unit in pairs)


def _imputation(parts: Parts, encodings: Sequence[Encoding], width: int) -> Imputation | None:
    """The model of missing values that a file states; None where it states none."""
    if all(parts.get(f"imputation_{name}") is None for name in IMPUTATION_ARRAYS):
        return None
    components = parts.array("imputation_components", [width, None])
    noise = parts.array("imputation_noise", [1], least=MIN_NOISE)
    if components.shape[1] > MAX_COMPONENTS or np.abs(components).max(initial=0.0) > MAX_COMPONENT:
        raise DamagedFile("its components of missing values are too many or too large")
    return Imputation(
        mean=parts.array("imputation_mean", [width]),
        scale=parts.array("imputation_scale", [width], least=0.0),
        components=components,
        noise=float(noise[0]),
        levels=level_places(encodings),
    )
