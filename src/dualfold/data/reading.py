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
Mixed = Literal["famd", "gower", "numbers", "given"]
FILE_FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet", "npy", "npz", "mtx", "h5ad")


# The fields that name labels, which are no features by themselves.
_LABEL_FIELDS = ("color", "identifier", "labels", "label_columns")


@dataclass(frozen=True)
class Option:
    """How a field appears on the command line.

    flag : what is typed; "" for "--" and the name of the field
    metavar : what stands for the value in help texts; the choices where there are some
    choices : the words that are accepted; () for any
    alias : another flag for the same
    least : the smallest whole number that it takes; None where it takes words
    about : "columns", what becomes of them; "file", how it is written; "notation", how numbers
        in it are written, which files of new rows have in common with it
    """

    help: str
    flag: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    about: str = "columns"
    alias: str = ""
    least: int | None = None


def _option(default: Any, help: str, **more: Any) -> Any:
    """A field that is also an option of the command line."""
    return field(default=default, metadata={"option": Option(help, **more)})


@dataclass(frozen=True)
class Reading:
    """How a table becomes features, names and labels.

    color, identifier, labels : columns to colour by, to name the rows by, and with the classes
        for methods that learn from them; no features
    label_columns : further columns to keep apart as labels
    used_columns : the columns that a stored map was made of, which are used again and no others
    exclude : columns to leave out; a column that is kept apart is no feature anyway
    keep : columns to use although they look like identifiers or codes, repeat others or are text
    category : columns of numbers or text whose values are names of categories
    ordered : categories with an order, as "size=small<medium<large" (or with commas); their
        places are numbers. "Q*=never<rarely<often" is about all columns of such a name. Answers
        in words of a known scale are ordered anyway (see `answer_scales`)
    season : dates of which the time of the year is meant, a place on a circle
    mixed : "famd" uses categories (a column of 0 and 1 for each, in the scaling of factor
        analysis of mixed data), true/false and dates beside numbers; "gower" scales the same
        columns so that the Manhattan distance of two rows is Gower's; "numbers" only those;
        "given" all numbers as they are, where nothing is to be scaled, left out or filled
        without being asked for
    plain : use columns that look like the answer as features, and take answers in words as
        categories; by default the former are kept apart and colour the map, the latter ordered.
        Take cells as they are written, too: by default numbers with a unit or separators of
        thousands are numbers, a few words among numbers are missing, "None" or "NA" is a level
        where it is one, the header is found below a title, lines below the table are left out
    log : columns to take the logarithm of
    tails : "auto" takes the logarithm log(1 + x/unit) of columns in which 1 % of the rows hold
        most of the variance, where it helps (see `heavy_tails`); "keep" leaves them
    auto : take the logarithm of every column that is positive and very skewed
    standardize : shift every column to mean 0 and scale it to standard deviation 1; None does
        where the columns' scales differ much and they do not share a range (see `scales`)
    missing : rows with missing or infinite values are an error ("raise"), left out ("drop";
        `rows` says which remain), filled with their column's mean ("mean") or with what rows that
        are alike have there ("impute": principal components, as many as predict known values,
        without columns and rows that are mostly empty); "keep" leaves them in. "auto" is "impute"
        in `prepare` and "raise" in `read_table`
    format : one of `FILE_FORMATS`; by default the ending of a file says it, standard input is CSV
    encoding : of a text file, as "cp1252"; by default UTF-8 (or UTF-16 with its mark), and
        Latin-1 where it is neither
    gap_markers : further words that mean missing, as "-999"; "?" and the usual words (NA, NaN,
        null, …) do anyway. "size=none" is about the column "size" alone
    levels : words that are levels although they usually mean missing, as "None" or "size=None"
    thousands, decimal : the marks in numbers; found out by default
    separator, header : of a text file; found out by default
    header_row : the line of a text file or sheet with the names of columns, counted from 1; 0
        where none has them; found out by default
    skip_rows : this many lines of a text file or sheet come before all else, and are not read
    array : which array of an .npz file, layer or obsm entry of an .h5ad file, or sheet of an .xlsx

    A field that takes several columns takes one name or a sequence of names.
    """

    color: str | None = _option(
        None, "Colour by it; it is no feature, unless --keep names it, too.", metavar="COLUMN"
    )
    identifier: str | None = _option(
        None, "Names the rows; copied to the output.", flag="--id", metavar="COLUMN"
    )
    labels: str | None = _option(
        None, "Classes, for methods that learn from them; not used as a feature.", metavar="COLUMN"
    )
    exclude: tuple[str, ...] = _option((), "Leave out (repeatable).", metavar="COLUMN")
    keep: tuple[str, ...] = _option(
        (),
        "Use although it looks like an identifier, a code or text (repeatable).",
        metavar="COLUMN",
    )
    category: tuple[str, ...] = _option((), "Its values are names (repeatable).", metavar="COLUMN")
    ordered: tuple[str, ...] = _option(
        (),
        "Categories with an order; Q* names several columns (repeatable).",
        metavar="COLUMN=LOW<…<HIGH",
    )
    season: tuple[str, ...] = _option(
        (), "Of these dates use the time of the year (repeatable).", metavar="COLUMN"
    )
    mixed: Mixed = _option(  # noqa: RUF009 (it returns a field)
        "famd",
        "Categories and dates beside numbers, scaled as FAMD or Gower; numbers only, or just "
        "as they are given.",
        choices=("famd", "gower", "numbers", "given"),
    )
    plain: bool = _option(
        False,
        "No guesses: use suspected targets, take answers in words as categories, heavy tails and "
        "cells as they are, and the first line as the header.",
        about="notation",
    )
    log: tuple[str, ...] = _option((), "Take its logarithm (repeatable).", metavar="COLUMN")
    tails: Literal["auto", "keep"] = _option(
        "auto",
        "Columns of which few rows hold the variance: take logarithms (auto), or keep them.",
        choices=("auto", "keep"),
    )
    auto: bool = _option(False, "Take the logarithm of every very skewed positive column.")
    standardize: bool | None = _option(
        None, "Give every column the same weight; default: where scales differ much."
    )
    missing: Missing = _option(  # noqa: RUF009 (it returns a field)
        "auto",
        "Missing values: refuse, leave rows out, fill with the mean, or impute (auto).",
        choices=("auto", "raise", "drop", "mean", "impute"),
    )
    gap_markers: tuple[str, ...] = _option(
        (),
        "A further word for missing, as -999 (repeatable).",
        flag="--na",
        metavar="[COLUMN=]WORD",
        about="notation",
    )
    levels: tuple[str, ...] = _option(
        (),
        "A word that is a level, as None, and not missing (repeatable).",
        flag="--level",
        metavar="[COLUMN=]WORD",
        about="notation",
    )
    format: str | None = _option(
        None, "If the ending of FILE does not say it.", choices=FILE_FORMATS, about="file"
    )
    encoding: str | None = _option(
        None,
        "Of a text file, as cp1252; default: UTF-8, else Latin-1.",
        metavar="NAME",
        about="file",
    )
    separator: str | None = _option(
        None, "Between the cells of a text file; default: found out.", metavar="MARK", about="file"
    )
    thousands: str | None = _option(
        None, "Separator of thousands; default: found out.", metavar="MARK", about="notation"
    )
    decimal: str | None = _option(
        None, "Decimal mark; default: found out.", metavar="MARK", about="notation"
    )
    header_row: int | None = _option(
        None,
        "The line with the names of columns, 0 if there is none; default: found out.",
        metavar="N",
        about="file",
        least=0,
    )
    skip_rows: int = _option(
        0, "Leave out so many lines at the top of FILE.", metavar="N", about="file", least=0
    )
    array: str | None = _option(
        None,
        "Which array of an .npz, layer or obsm of an .h5ad, sheet of an .xlsx.",
        metavar="NAME",
        about="file",
        alias="--sheet",
    )
    label_columns: tuple[str, ...] = ()
    used_columns: tuple[str, ...] = ()
    header: bool | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(one.default, tuple):
                # A single name is a sequence of letters, too, which is never meant.
                several = (value,) if isinstance(value, str) else tuple(value)
                object.__setattr__(self, one.name, several)

    @property
    def label_fields(self) -> dict[str, str]:
        """The columns that become labels, each with the field that names it."""
        asked = dict.fromkeys(self.label_columns, "label_columns")
        for one in ("labels", "identifier", "color"):
            name = getattr(self, one)
            asked |= {} if name is None else {name: one}
        return asked

    @property
    def kept_apart(self) -> tuple[str, ...]:
        """The labels that are no features: all but those that are used whatever they look like."""
        meant = self.meant_columns.difference(self.exclude)
        return tuple(name for name in self.label_fields if name not in meant)

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """The levels of ordered categories, the lowest first."""
        found = {}
        for words in self.ordered:
            name, _, levels = words.partition("=")
            mark = "," if "," in levels else "<"  # "<18,18-65,>65" has commas between its levels
            found[name] = tuple(level.strip() for level in levels.split(mark))
            if len(found[name]) < 2:
                raise InvalidInput(
                    Argument("ordered", words),
                    " names no order; write it as in ",
                    Argument("ordered", "size=small<medium<large"),
                )
        return found

    def for_columns(self, names: Sequence[str]) -> Self:
        """This reading with each order of a pattern, as "Q*", spelt out for its columns."""
        there = set(names)
        patterns = {one for one in self.orders if one not in there and set(one) & set("*?[")}
        if not patterns:
            return self
        spelt = dict[str, str]()
        # Patterns first: a column that is named has its own order.
        for words in sorted(self.ordered, key=lambda one: one.partition("=")[0] not in patterns):
            name, _, levels = words.partition("=")
            found = [one for one in names if fnmatchcase(one, name)] if name in patterns else [name]
            if not found:
                raise InvalidInput(Argument("ordered", words), " fits the name of no column")
            spelt |= {one: f"{one}={levels}" for one in found}
        return replace(self, ordered=tuple(spelt.values()))

    @property
    def used_fields(self) -> dict[str, str]:
        """The columns that some field says to use, each with that field."""
        fields = ("keep", "category", "log", "season")
        asked = {name: field for field in fields for name in getattr(self, field)}
        return asked | dict.fromkeys(self.orders, "ordered")

    @property
    def meant_columns(self) -> frozenset[str]:
        """The columns that are used whatever they look like."""
        return frozenset((*self.used_fields, *self.used_columns))

    @property
    def guesses(self) -> bool:
        """Whether what a column means may be guessed from its name and values."""
        return not self.plain and self.mixed != "given"

    def differences(self, earlier: Reading) -> dict[str, Any]:
        """The fields that make other features of the columns `used_columns` of an earlier map."""
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
        """Whether heavy tails become logarithms without having been asked for."""
        return self.guesses and self.tails == "auto"

    @property
    def excluded_columns(self) -> tuple[str, ...]:
        """The columns that are neither features nor labels."""
        return tuple(name for name in self.exclude if name not in self.label_fields)

    def gap_words(self, name: str) -> set[str]:
        """The further words for missing in this column."""
        return _words_for(self.gap_markers, name)

    def level_words(self, name: str) -> set[str]:
        """The words that are levels of this column, whatever they usually mean."""
        return _words_for(self.levels, name)

    def non_default(self) -> dict[str, Any]:
        """The fields with another value than by default."""
        values = {name: getattr(self, name) for name in DEFAULT_VALUES}
        return {name: value for name, value in values.items() if value != DEFAULT_VALUES[name]}

    def after(self, earlier: Reading, *about: str) -> Self:
        """This reading, with values of `earlier` about these subjects where this has defaults."""
        known = {
            name: value
            for name, value in earlier.non_default().items()
            if not about or OPTION_SUBJECTS[name] in about
        }
        return replace(self, **(known | self.non_default()))

    def settings(self) -> dict[str, Any]:
        """JSON-ready; `reading_of` makes the same reading of it."""
        values = {name: getattr(self, name) for name in READING_OPTIONS}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


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
    if stated and "mixed" not in stated:  # of a version that made no such choices
        stated["mixed"] = "given"
    if stated and "plain" not in stated:  # of a version that guessed less
        stated["plain"] = True
    wrong = [name for name, value in stated.items() if not _can_be(name, value)]
    if wrong:
        raise InvalidInput(
            f"the settings state how a table was read in an unknown form ({', '.join(wrong)})"
        )
    return Reading(**stated)


def _can_be(name: str, value: Any) -> bool:
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
