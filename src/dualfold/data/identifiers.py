"""Columns of whole numbers that name the rows: by their names, or since they count the rows.

That the values are all different is no reason: losses, incomes and ranks are, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from dualfold.arrays import Array

# Row names that a program wrote before the first column: R, pandas, spreadsheets, our reader.
ROW_NAMES_PATTERN = re.compile(
    r"|unnamed: 0|column_1|row[._ ]?names?|rownum(?:ber)?s?|x\.1", re.IGNORECASE
)
WORD_PATTERN = re.compile(r"[^\W\d_]+|\d+")
CAMEL_PATTERN = re.compile(r"(?<=[a-zà-ÿ])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-zà-ÿ])")


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTIFIER_WORDS = _words_of("id ids identifier uuid guid identifiant identificador")
# Things that are counted one by one; "subject" names them, "subjects" is how many there are.
THINGS = (
    "account|animal|article|author|bank|book|building|case|cell|choice|city|claim|client|company|"
    "country|county|cust|customer|device|dist|district|doc|doctor|document|driver|employee|event|"
    "fam|family|film|firm|flight|gene|group|hh|hospital|hosp|house|household|int|invoice|item|"
    "kunden|loan|match|member|movie|node|obs|observation|order|parcel|participant|pat|passenger|"
    "patient|pers|person|plant|player|plot|policy|post|precinct|prod|product|prov|provider|rec|"
    "record|region|respondent|room|row|run|sample|school|sensor|seq|serial|session|shop|site|state|"
    "station|store|student|study|sub|subj|subject|team|test|title|town|tract|trans|transaction|tree|"
    "trial|trip|user|vehicle|visit|voter|zone"
)
JOINED_WORD_PATTERN = re.compile(
    rf"(?:{THINGS})(?:id|no|nr|num|nummer|code?|key|idx)|id(?:{THINGS})|[cefghopstuv]id|.+nummer"
)
PERSONS = _words_of(
    "client customer employee member participant passenger patient ptid respondent subj subject "
    "user voter"
)
# Words that name rows only where the numbers rise or are consecutive, each once.
NUMBER_WORDS = _words_of(
    "case code county department dept district entry fips idx index key no nr num number numero "
    "numéro número nummer obs observation pair plot record row rownum sample seq sequence serial "
    "site specimen station study"
)
TIME_WORDS = _words_of(
    "age century date datetime day days decade hour hours minute month months period quarter "
    "season second t tag time timestamp trend wave week weeks year years yr "
    "jahr monat woche zeit alter année annee mois jour temps año mes día tiempo ano mês dia tempo"
    ""
)
# Measurements that count up from row to row by design: ranks, counts, doses, places on a line.
MEASURE_WORDS = _words_of(
    "amount count counts degree depth distance dose freq frequency height length level n place "
    "position rang rank ranking score size temperature total value weight width x y z"
)
YEARS = (1500, 2100)
# Below this many rows, counts begin at 0 and rise by 1 (0, 1, 2 deaths) as row numbers do.
MIN_ROWS_FROM_ZERO = 20
# Longer words are sentences, which describe a row.
MAX_NAME_LETTERS = 64
# Codes of fewer values are classes (a scale from 1 to 7), unless the name says "id".
MIN_IDENTIFIERS = 10


def identifier_kinds(columns: Mapping[str, Array], first: str = "") -> dict[str, str]:
    """The columns of whole numbers that may name the rows, each with its kind.

    "named": by the name; "identifier": it counts the rows; "distinct": whole numbers that rise
    from row to row in the first column, where identifiers stand; they are used.
    `first` is the name of the table's first column.
    """
    kinds: dict[str, str] = {}
    for name, column in columns.items():
        if (values := _whole_numbers(column)) is None:
            continue
        if name == first and _are_row_names(name, values, columns):
            kinds[name] = "identifier"
        elif _is_named_identifier(name, values):
            kinds[name] = "named"
        elif _counts_rows(name, values) and "identifier" not in kinds.values():
            kinds[name] = "identifier"
        elif name == first and len(values) >= MIN_ROWS_FROM_ZERO and _rises(values):
            kinds |= {} if _is_time(name, values) else {name: "distinct"}
    return kinds


def names_of_rows(numbers: Mapping[str, Array], words: Mapping[str, Any]) -> str | None:
    """First column that is no feature and names every row; None: there is none.

    numbers : columns of numbers, of which identifiers count; words : columns of text
    """
    kinds = identifier_kinds(numbers, next(iter(numbers), ""))
    named = [name for name, kind in kinds.items() if kind != "distinct"]
    different = [name for name in named if _all_different(numbers[name])]
    return next(iter([*different, *(name for name in words if _are_names(words[name]))]), None)


def _are_names(column: Any) -> bool:
    """Whether each row has a word of its own, which is no sentence."""
    for part in (column[:100], column):
        seen = set(part)
        if len(seen) != len(part):
            return False
    return all(isinstance(word, str) and 0 < len(word) <= MAX_NAME_LETTERS for word in seen)


def _whole_numbers(column: Array) -> Array | None:
    """The known values; None where some are no whole numbers, or there are fewer than 3."""
    if column.dtype.kind == "f":
        # Most measurements have a fraction early on.
        for part in (column[:100], column):
            known = part[np.isfinite(part)]
            if not np.array_equal(known, np.floor(known)):
                return None
        column = known
    return column if len(column) >= 3 else None


def _words(name: str) -> list[str]:
    """The words of a name: "customerId", "customer_id", "Customer ID" have two."""
    return WORD_PATTERN.findall(CAMEL_PATTERN.sub(" ", name).lower())


def _are_row_names(name: str, values: Array, columns: Mapping[str, Array]) -> bool:
    """Whether the first column has no name of its own, the others have, and it names the rows."""
    if not ROW_NAMES_PATTERN.fullmatch(name) or "column_2" in columns:
        return False
    falls = bool((values[1:] < values[:-1]).all())  # as heights and ages, which are row names, too
    return _all_different(values) and not falls and not _are_years(values)


def _is_named_identifier(name: str, values: Array) -> bool:
    words = _words(name)
    if not words or ("year" in words and _are_years(values)):
        return False
    if (words[-1] in IDENTIFIER_WORDS or words[0] in IDENTIFIER_WORDS) and _n_values(values) > 2:
        return True
    last, few = words[-1], _n_values(values) < MIN_IDENTIFIERS
    if JOINED_WORD_PATTERN.fullmatch(last) or last in PERSONS:
        return not few
    if last not in NUMBER_WORDS:
        return False
    if few:
        return _counts(values)
    return _numbers_each(values) or _numbers_blocks(values)


def _numbers_each(values: Array) -> bool:
    """Whether the numbers rise, or are consecutive ones in any order."""
    if _rises(values):
        return True
    return _all_different(values) and int(values.max()) - int(values.min()) == len(values) - 1


def _numbers_blocks(values: Array) -> bool:
    """Whether rows are numbered in equal blocks: 1, 1, 2, 2, … or 1, 2, …, 1, 2, …"""
    starts = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
    lengths = np.diff(starts, append=len(values))
    if lengths[0] > 1:
        return bool((lengths == lengths[0]).all()) and _all_different(values[starts])
    period = int(values.max()) - int(values.min()) + 1
    return bool(np.array_equal(values, values[0] + np.arange(len(values)) % period))


def _counts(values: Array) -> bool:
    """Whether these are 1, 2, 3 … or 0, 1, 2 …"""
    n = len(values)
    return values[0] in (0, 1) and bool(np.array_equal(values, values[0] + np.arange(n)))


def _counts_rows(name: str, values: Array) -> bool:
    """Whether the numbers count the rows from 1 or 0, and are no measurement."""
    if not _counts(values) or (values[0] == 0 and len(values) < MIN_ROWS_FROM_ZERO):
        return False
    return not MEASURE_WORDS.intersection(_words(name)) and not _is_time(name, values)


def _is_time(name: str, values: Array) -> bool:
    return bool(TIME_WORDS.intersection(_words(name))) or _are_years(values)


def _are_years(values: Array) -> bool:
    low, high = YEARS
    return bool(values.min() >= low and values.max() <= high)


def _rises(values: Array) -> bool:
    return bool((values[1:] > values[:-1]).all())


def _n_values(values: Array) -> int:
    return len(np.unique(values))


def _all_different(values: Array) -> bool:
    # Most columns repeat a value early on, and comparing a few rows is much faster.
    return all(_n_values(part) == len(part) for part in (values[:100], values))
