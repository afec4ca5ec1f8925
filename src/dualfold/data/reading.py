"""How a table is read: every choice there is, stated once.

The fields of `Reading` define the options of the command line, the settings that are stored
with a map, and the check of settings that a file states. A new choice is a field here and the
code that uses it. Nothing here needs numerics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, Self

from dualfold.errors import Argument, InvalidInput

Missing = Literal["auto", "raise", "drop", "mean", "impute", "keep"]
Mixed = Literal["famd", "gower", "numbers", "given", "counts"]
Section = Literal["columns", "values", "file"]
FILE_FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet", "npy", "npz", "mtx", "h5ad")


# The fields that name labels, which are no features by themselves.
_LABEL_FIELDS = ("color", "identifier", "labels", "label_columns")


@dataclass(frozen=True)
class Option:
    """Facts about a field: all that is not its type and what `Reading` says of it.

    help : on the command line
    section : of the help, in which it is listed: "columns", "values" or "file"
    flag : what is typed; "" for "--" and the name of the field
    metavar : what stands for the value in help texts; the choices where there are some
    choices : the words that are accepted; () for any
    alias : another flag for the same
    least : the smallest whole number that it takes; None where it takes words
    about : "columns", what becomes of them; "file", how it is written; "notation", how numbers
        in it are written, which files of new rows have in common with it
    uses : whether it names columns that are used whatever they look like
    changes_counts : whether it would change the numbers of a contingency table
    """

    help: str
    section: Section
    flag: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    about: str = "columns"
    alias: str = ""
    least: int | None = None
    uses: bool = False
    changes_counts: bool = False


def _option(default: Any, section: Section, help: str, **more: Any) -> Any:
    """A field that is also an option of the command line."""
    return field(default=default, metadata={"option": Option(help, section, **more)})


@dataclass(frozen=True)
class Reading:
    """Choices: how a table becomes features, names and labels.

    A field that takes several columns takes one name or a sequence of names.

    Parameters
    ----------
    color : str or None, default=None
        Column to colour by; it is no feature, unless `keep` names it, too.
    identifier : str or None, default=None
        Column that names the rows; it is no feature.
    labels : str or None, default=None
        Column with the classes, for methods that learn from them; it is no feature.
    weight : str or None, default=None
        Column that says how often each row counts (counts, survey weights); it is no feature.
        Columns are standardised by weighted means and deviations; missing values are filled in
        without weights.
    exclude : tuple of str, default=()
        Columns to leave out.
    keep : tuple of str, default=()
        Columns to use although they look like identifiers or codes, repeat others or are text.
    category : tuple of str, default=()
        Columns of numbers or text whose values are names of categories.
    ordered : tuple of str, default=()
        Categories with an order, as "size=small<medium<large" (or with commas); their places are
        numbers. "Q*=never<rarely<often" is about all columns of such a name. Answers in words of a
        known scale are ordered anyway.
    season : tuple of str, default=()
        Columns of dates of which the time of the year is used, a place on a circle.
    text : tuple of str, default=()
        Columns of prose that the map is made of: TF-IDF and a certified `TruncatedSVD`, compared
        by cosine. Other columns become labels, unless a field (`keep`, `category`, `log`, …) names
        them: those join the text.
    vectors : tuple of str, default=()
        Vectors of the rows that you have: names of columns (also patterns, as "dim_*"), a column
        of lists, or a file that ends in .npy with a row for each row of the table. They are
        compared by cosine; the words of `text` then name the groups only.
    text_options : tuple of str, default=()
        Parameters of `dualfold.text.TextVectors`, as "min_df=3", and "weight=0.5", the share
        of the text where other columns join it. A mapping does, too.
    mixed : {"famd", "gower", "numbers", "given", "counts"}, default="famd"
        "famd" uses categories (a column of 0 and 1 for each level, scaled as in factor analysis of
        mixed data), true/false and dates beside numbers. "gower" scales the same columns so that
        the Manhattan distance of two rows is Gower's. "numbers" uses numbers only. "given" takes
        all numbers as they are: nothing is scaled, left out or filled in unless another field says
        so. "counts" is the same for a contingency table: the first column of text names the rows,
        the others are counts; text, gaps and numbers below 0 are refused.
    plain : bool, default=False
        Whether to guess nothing. By default columns that look like the target are kept apart and
        colour the map, answers in words are ordered, numbers with a unit or separators of thousands
        are numbers, a few words among numbers are missing, "None" or "NA" is a level where it is
        one, the header is found below a title, and lines below the table are left out.
    log : tuple of str, default=()
        Columns to take the logarithm of.
    tails : {"auto", "keep"}, default="auto"
        "auto" takes the logarithm log(1 + x/unit) of columns in which 1 % of the rows hold most of
        the variance, where it helps; "keep" leaves them.
    auto : bool, default=False
        Whether to take the logarithm of every column that is positive and very skewed.
    standardize : bool or None, default=None
        Whether to shift every column to mean 0 and scale it to standard deviation 1; None does
        where the scales differ much and the columns do not share a range.
    missing : {"auto", "raise", "drop", "mean", "impute", "keep"}, default="auto"
        Rows with missing or infinite values: "raise" refuses them, "drop" leaves them out, "mean"
        fills in the mean of the column, "impute" fills in the values of similar rows (by
        principal components), "keep" leaves the gaps. "auto" is "impute" in `prepare` and "raise"
        in `read_table`.
    gap_markers : tuple of str, default=()
        Further words that mean missing, as "-999"; "?" and the usual words (NA, NaN, null, …) do
        anyway. "size=none" is about the column "size" alone.
    levels : tuple of str, default=()
        Words that are levels although they usually mean missing, as "None" or "size=None".
    format : str or None, default=None
        Format of the file, as "csv"; None: the ending of its name says it, and standard input is
        CSV.
    encoding : str or None, default=None
        Encoding of a text file, as "cp1252"; None: UTF-8, UTF-16 with its mark, else Latin-1.
    separator : str or None, default=None
        Mark between the cells of a text file; None: found out.
    thousands : str or None, default=None
        Separator of thousands; None: found out.
    decimal : str or None, default=None
        Decimal mark; None: found out.
    header_row : int or None, default=None
        Line of a text file or sheet with the names of columns, counted from 1; 0 where none has
        them; None: found out.
    skip_rows : int, default=0
        Number of lines at the top of a text file or sheet that are not read.
    array : str or None, default=None
        Which array of an .npz file, layer or obsm entry of an .h5ad file, or sheet of an .xlsx
        file.
    label_columns : tuple of str, default=()
        Further columns to keep apart as labels.
    used_columns : tuple of str, default=()
        Columns that a stored map was made of; these are used again and no others.
    header : bool or None, default=None
        Whether a text file has a header; None: found out.

    See Also
    --------
    prepare : Takes these choices.

    Examples
    --------
    >>> from dualfold.data import Reading
    >>> Reading(exclude="price", missing="drop").non_default()
    {'exclude': ('price',), 'missing': 'drop'}
    """

    color: str | None = _option(
        None,
        "columns",
        "Colour by it; it is no feature, unless --keep names it, too.",
        metavar="COLUMN",
    )
    identifier: str | None = _option(
        None, "columns", "Names the rows; copied to the output.", flag="--id", metavar="COLUMN"
    )
    labels: str | None = _option(
        None,
        "columns",
        "Classes, for methods that learn from them; not used as a feature.",
        metavar="COLUMN",
    )
    weight: str | None = _option(
        None,
        "columns",
        "How often each row counts: counts or survey weights; not used as a feature.",
        metavar="COLUMN",
    )
    exclude: tuple[str, ...] = _option((), "columns", "Leave out (repeatable).", metavar="COLUMN")
    keep: tuple[str, ...] = _option(
        (),
        "columns",
        "Use although it looks like an identifier, a code or text (repeatable).",
        metavar="COLUMN",
        uses=True,
    )
    category: tuple[str, ...] = _option(
        (),
        "columns",
        "Its values are names (repeatable).",
        metavar="COLUMN",
        uses=True,
        changes_counts=True,
    )
    ordered: tuple[str, ...] = _option(
        (),
        "columns",
        "Categories with an order; Q* names several columns (repeatable).",
        metavar="COLUMN=LOW<…<HIGH",
        uses=True,
        changes_counts=True,
    )
    season: tuple[str, ...] = _option(
        (),
        "columns",
        "Of these dates use the time of the year (repeatable).",
        metavar="COLUMN",
        uses=True,
        changes_counts=True,
    )
    text: tuple[str, ...] = _option(
        (), "file", "Prose: make a map of its words (repeatable).", metavar="COLUMN"
    )
    vectors: tuple[str, ...] = _option(
        (),
        "file",
        "Vectors of the rows: columns, as dim_*, a column of lists, or a .npy file (repeatable).",
        metavar="COLUMNS|FILE.npy",
    )
    text_options: tuple[str, ...] = _option(
        (),
        "file",
        "Of the vectoriser of --text, as min_df=3 or ngram_range=1,2; n_components=100; "
        "weight=0.5 of the text beside other columns (repeatable).",
        flag="--text-option",
        metavar="NAME=VALUE",
    )
    mixed: Mixed = _option(  # noqa: RUF009 (it returns a field)
        "famd",
        "values",
        "Categories and dates beside numbers, scaled as FAMD or Gower; numbers only, just as they "
        "are given, or counts of a contingency table.",
        choices=("famd", "gower", "numbers", "given", "counts"),
    )
    plain: bool = _option(
        False,
        "values",
        "No guesses: use suspected targets, take answers in words as categories, heavy tails and "
        "cells as they are, and the first line as the header.",
        about="notation",
    )
    log: tuple[str, ...] = _option(
        (),
        "values",
        "Take its logarithm (repeatable).",
        metavar="COLUMN",
        uses=True,
        changes_counts=True,
    )
    tails: Literal["auto", "keep"] = _option(
        "auto",
        "values",
        "Columns of which few rows hold the variance: take logarithms (auto), or keep them.",
        choices=("auto", "keep"),
    )
    auto: bool = _option(
        False,
        "values",
        "Take the logarithm of every very skewed positive column.",
        changes_counts=True,
    )
    standardize: bool | None = _option(
        None,
        "values",
        "Give every column the same weight; default: where scales differ much.",
        changes_counts=True,
    )
    missing: Missing = _option(  # noqa: RUF009 (it returns a field)
        "auto",
        "values",
        "Missing values: refuse, leave rows out, fill with the mean, or impute (auto).",
        choices=("auto", "raise", "drop", "mean", "impute"),
    )
    gap_markers: tuple[str, ...] = _option(
        (),
        "values",
        "A further word for missing, as -999 (repeatable).",
        flag="--na",
        metavar="[COLUMN=]WORD",
        about="notation",
    )
    levels: tuple[str, ...] = _option(
        (),
        "values",
        "A word that is a level, as None, and not missing (repeatable).",
        flag="--level",
        metavar="[COLUMN=]WORD",
        about="notation",
    )
    format: str | None = _option(
        None, "file", "If the ending of FILE does not say it.", choices=FILE_FORMATS, about="file"
    )
    encoding: str | None = _option(
        None,
        "file",
        "Of a text file, as cp1252; default: UTF-8, else Latin-1.",
        metavar="NAME",
        about="file",
    )
    separator: str | None = _option(
        None,
        "file",
        "Between the cells of a text file; default: found out.",
        metavar="MARK",
        about="file",
    )
    thousands: str | None = _option(
        None,
        "file",
        "Separator of thousands; default: found out.",
        metavar="MARK",
        about="notation",
    )
    decimal: str | None = _option(
        None, "file", "Decimal mark; default: found out.", metavar="MARK", about="notation"
    )
    header_row: int | None = _option(
        None,
        "file",
        "The line with the names of columns, 0 if there is none; default: found out.",
        metavar="N",
        about="file",
        least=0,
    )
    skip_rows: int = _option(
        0, "file", "Leave out so many lines at the top of FILE.", metavar="N", about="file", least=0
    )
    array: str | None = _option(
        None,
        "file",
        "Which array of an .npz, layer or obsm of an .h5ad, sheet of an .xlsx.",
        metavar="NAME",
        about="file",
        alias="--sheet",
    )
    label_columns: tuple[str, ...] = ()
    used_columns: tuple[str, ...] = ()
    header: bool | None = None

    def __post_init__(self) -> None:
        for declared in fields(self):
            value = getattr(self, declared.name)
            if isinstance(declared.default, tuple):
                if isinstance(value, Mapping):  # of options
                    value = [f"{name}={choice}" for name, choice in value.items()]
                # A single name is a sequence of letters, too, which is never meant.
                several = (value,) if isinstance(value, str) else tuple(value)
                object.__setattr__(self, declared.name, several)

    @property
    def label_fields(self) -> dict[str, str]:
        """Columns that become labels, each with the field that names it.

        Returns
        -------
        dict
            Names of columns and names of fields.
        """
        asked = dict.fromkeys(self.label_columns, "label_columns")
        columns = (name for name in self.vectors if not name.lower().endswith(".npy"))
        asked |= dict.fromkeys(columns, "vectors") | dict.fromkeys(self.text, "text")
        for field_name in ("weight", "labels", "identifier", "color"):
            name = getattr(self, field_name)
            asked |= {} if name is None else {name: field_name}
        return asked

    @property
    def kept_apart(self) -> tuple[str, ...]:
        """Labels that are no features.

        Returns
        -------
        tuple of str
            All labels but those that are used whatever they look like.
        """
        meant = self.meant_columns.difference(self.exclude)
        return tuple(name for name in self.label_fields if name not in meant)

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """Levels of ordered categories.

        Returns
        -------
        dict
            Names of columns and their levels, the lowest first.
        """
        orders = {}
        for words in self.ordered:
            name, _, levels = words.partition("=")
            mark = "," if "," in levels else "<"  # "<18,18-65,>65" has commas between its levels
            orders[name] = tuple(level.strip() for level in levels.split(mark))
            if len(orders[name]) < 2:
                raise InvalidInput(
                    Argument("ordered", words),
                    " names no order; write it as in ",
                    Argument("ordered", "size=small<medium<large"),
                )
        return orders

    def for_columns(self, names: Sequence[str]) -> Self:
        """This reading with each order of a pattern, as "Q*", spelt out for its columns.

        Parameters
        ----------
        names : sequence of str
            Names of the columns of the table.

        Returns
        -------
        Reading
            The same choices without patterns.
        """
        there = set(names)
        spelt_vectors = tuple(spelt_names(self.vectors, names))
        if spelt_vectors != self.vectors:
            return replace(self, vectors=spelt_vectors).for_columns(names)
        patterns = {one for one in self.orders if one not in there and set(one) & set("*?[")}
        if not patterns:
            return self
        spelt = dict[str, str]()
        # Patterns first: a column that is named has its own order.
        for words in sorted(self.ordered, key=lambda one: one.partition("=")[0] not in patterns):
            name, _, levels = words.partition("=")
            columns = (
                [one for one in names if fnmatchcase(one, name)] if name in patterns else [name]
            )
            if not columns:
                raise InvalidInput(Argument("ordered", words), " fits the name of no column")
            spelt |= {one: f"{one}={levels}" for one in columns}
        return replace(self, ordered=tuple(spelt.values()))

    @property
    def is_of_text(self) -> bool:
        """Whether the map is made of text or of given vectors.

        Returns
        -------
        bool
            True with `text` or `vectors`.
        """
        return bool(self.text or self.vectors)

    @property
    def used_fields(self) -> dict[str, str]:
        """Columns that some field says to use, each with that field.

        Returns
        -------
        dict
            Names of columns and names of fields.
        """
        asked: dict[str, str] = {}
        for field_name, option in READING_OPTIONS.items():
            if option.uses:
                named = self.orders if field_name == "ordered" else getattr(self, field_name)
                asked |= dict.fromkeys(named, field_name)
        return asked

    @property
    def meant_columns(self) -> frozenset[str]:
        """Columns that are used whatever they look like.

        Returns
        -------
        frozenset of str
            Their names.
        """
        return frozenset((*self.used_fields, *self.used_columns))

    @property
    def as_given(self) -> bool:
        """Whether all numbers are taken as they are.

        Returns
        -------
        bool
            True with `mixed="given"` and `mixed="counts"`.
        """
        return self.mixed in ("given", "counts")

    @property
    def guesses(self) -> bool:
        """Whether what a column means may be guessed from its name and values.

        Returns
        -------
        bool
            False with `plain=True`, `mixed="given"` or `mixed="counts"`.
        """
        return not self.plain and not self.as_given

    def differences(self, earlier: Reading) -> dict[str, Any]:
        """Choices that make other features than those of an earlier map.

        Parameters
        ----------
        earlier : Reading
            How the table of the earlier map was read.

        Returns
        -------
        dict
            Names of fields and their values.
        """
        used, changes = set(self.used_columns), dict[str, Any]()
        for name, value in self.non_default().items():
            if OPTION_SUBJECTS[name] != "columns" or name in (*_LABEL_FIELDS, "used_columns"):
                continue
            same = value == getattr(earlier, name)
            if name in ("exclude", "keep") and used:
                same = used.isdisjoint(value) if name == "exclude" else used.issuperset(value)
            changes |= {} if same else {name: value}
        return changes

    @property
    def takes_logs(self) -> bool:
        """Whether heavy tails become logarithms without having been asked for.

        Returns
        -------
        bool
            True where guesses are allowed and `tails` is "auto".
        """
        return self.guesses and self.tails == "auto"

    @property
    def excluded_columns(self) -> tuple[str, ...]:
        """Columns that are neither features nor labels.

        Returns
        -------
        tuple of str
            Their names.
        """
        return tuple(name for name in self.exclude if name not in self.label_fields)

    def gap_words(self, name: str) -> set[str]:
        """Further words for missing in a column.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        set of str
            The words.
        """
        return _words_for(self.gap_markers, name)

    def level_words(self, name: str) -> set[str]:
        """Words that are levels of a column, whatever they usually mean.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        set of str
            The words.
        """
        return _words_for(self.levels, name)

    def non_default(self) -> dict[str, Any]:
        """Fields with another value than by default.

        Returns
        -------
        dict
            Names of fields and their values.
        """
        values = {name: getattr(self, name) for name in DEFAULT_VALUES}
        return {name: value for name, value in values.items() if value != DEFAULT_VALUES[name]}

    def after(self, earlier: Reading, *about: str) -> Self:
        """This reading, completed by an earlier one where it has defaults.

        Parameters
        ----------
        earlier : Reading
            Choices that hold where this reading has defaults.
        *about : str
            Subjects of the fields to take over: "columns", "file", "notation"; none: all.

        Returns
        -------
        Reading
            The choices of both.
        """
        known = {
            name: value
            for name, value in earlier.non_default().items()
            if not about or OPTION_SUBJECTS[name] in about
        }
        return replace(self, **(known | self.non_default()))

    def settings(self) -> dict[str, Any]:
        """The choices, for a file.

        Returns
        -------
        dict
            Ready for JSON; `reading_of` makes the same reading of it.
        """
        values = {name: getattr(self, name) for name in READING_OPTIONS}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def spelt_names(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names of columns, each pattern as "dim_*" spelt out; what fits no column stays."""
    spelt = list[str]()
    for pattern in patterns:
        fits = [] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        spelt += fits or [pattern]
    return list(dict.fromkeys(spelt))


def _words_for(entries: tuple[str, ...], name: str) -> set[str]:
    """Words that are about all columns, or about this one ("name=word")."""
    start = f"{name}="
    return {entry.removeprefix(start) if entry.startswith(start) else entry for entry in entries}


# What each field is about; those that are no options are about text files, but two.
OPTION_SUBJECTS: dict[str, str] = {
    one.name: one.metadata["option"].about if one.metadata else "file" for one in fields(Reading)
} | {"label_columns": "columns", "used_columns": "columns"}
DEFAULT_VALUES: dict[str, Any] = {one.name: one.default for one in fields(Reading)}
# The fields that are options, in the order of the help texts.
READING_OPTIONS: dict[str, Option] = {
    one.name: one.metadata["option"] for one in fields(Reading) if "option" in one.metadata
}


DEFAULT_READING = Reading()
# Data frames as estimators take them, which never guess.
PLAIN_READING = Reading(plain=True)


def reading_of(settings: Mapping[str, Any]) -> Reading:
    """The reading that stored settings state; another program may have written them."""
    stated = {name: settings[name] for name in READING_OPTIONS if name in settings}
    wrong = [name for name, value in stated.items() if not _can_be(name, value)]
    if wrong:
        raise InvalidInput(
            f"the settings state how a table was read in an unknown form ({', '.join(wrong)})"
        )
    return Reading(**stated)


def _can_be(name: str, value: object) -> bool:
    """Whether a JSON value can stand for this field."""
    default, choices = DEFAULT_VALUES[name], READING_OPTIONS[name].choices
    if name == "standardize":
        return isinstance(value, bool | None)
    least = READING_OPTIONS[name].least
    if least is not None and value is not None:
        return type(value) is int and value >= least
    if isinstance(default, tuple):
        return isinstance(value, list) and all(isinstance(word, str) for word in value)
    if isinstance(default, bool) or value is None:
        return isinstance(value, type(default))
    return isinstance(value, str) and (not choices or value in choices)
