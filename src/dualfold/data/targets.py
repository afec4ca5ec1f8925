"""Columns that look like the answer (a target, a class) rather than a measurement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.notices import column_argument, quoted_names
from dualfold.errors import Argument, Message

if TYPE_CHECKING:
    import pandas as pd

    Column = Array | pd.Series[Any]

# Names alone or as the last word ("iris_class"), as in scikit-learn's, UCI's and R's tables: those
# that say it whatever the values are, those that say it where the values are few; then the same
# of names that are features beside a better one, as the class of passengers who survived.
TARGET_PATTERNS = (
    r"(?:.*[_\s.-])?(?:labels?|targets?)|target[_\s.-].*|y_true|(?:ground_?)?truth",
    r"(?:.*[_\s.-])?(?:species|outcomes?|diagnosis)|answers?|response|survived|churn(?:ed)?|digit",
    r"(?:.*[_\s.-])?class(?:es)?",
    r"(?:.*[_\s.-])?clusters?|y|categor(?:y|ies)",
)
ANY_VALUE_RANKS = (0, 2)
SURE_RANKS = (0, 1)
# Few values, of which each has enough rows to be a group.
MAX_TARGET_LEVELS = 20
MIN_ROWS_PER_LEVEL = 5
# More columns of such names are a block of measurements (class_1 to class_9).
MAX_TARGETS = 3


def target_rank(name: str, others: Iterable[str] = ()) -> int | None:
    """Rank of a name that says that a column is the target, 0 the best; None where it does not.

    others : the names of all columns; y beside x is a coordinate
    """
    name = name.strip().lower()
    if name == "y" and any(other.strip().lower() == "x" for other in others):
        return None
    ranks = (rank for rank, words in enumerate(TARGET_PATTERNS) if re.fullmatch(words, name))
    return next(ranks, None)


def named_targets(used: list[str], names: list[str], asked: Iterable[str] = ()) -> list[str]:
    """Features whose names say that they are targets; none where nothing else would be left.

    names : of all columns; beside a better target that is no feature a modest name is none
    asked : columns that the caller named, to use them
    """
    meant, features = set(asked), set(used)
    ranks = {name: target_rank(name, names) for name in names}
    better = any(ranks[name] in SURE_RANKS for name in names if name not in features)
    rank_of = {
        name: rank
        for name in used
        if (rank := ranks[name]) is not None and name not in meant
        if rank in SURE_RANKS or not better
    }
    return sorted(rank_of, key=lambda name: rank_of[name]) if len(rank_of) < len(used) else []


def suspected_targets(named: list[str], columns: Mapping[str, Column]) -> list[str]:
    """Named targets whose values suit the name, the best first."""
    ranks = {name: target_rank(name) for name in named}
    suited = [
        name for name in named if ranks[name] in ANY_VALUE_RANKS or has_few_values(columns[name])
    ]
    sure = [name for name in suited if ranks[name] in SURE_RANKS]
    suspects = sure or suited[:1]
    return suspects if len(suspects) <= MAX_TARGETS else []


def has_few_values(column: Column) -> bool:
    """Whether the values are those of a class: whole numbers or words, few, in several rows."""
    if isinstance(column, np.ndarray):
        numbers = column[np.isfinite(column)]
        if not np.array_equal(numbers, np.floor(numbers)):
            return False
        known, levels = len(numbers), len(np.unique(numbers))
    else:
        known, levels = int(column.notna().sum()), column.nunique()
    return 2 <= levels <= min(MAX_TARGET_LEVELS, max(known // MIN_ROWS_PER_LEVEL, 2))


def target_notices(targets: list[str], doubtful: list[str], color: str | None) -> list[Message]:
    """Notices about targets that were kept apart, and about features that may be some."""
    notices = [_apart_notice(targets, color)] if targets else []
    return [*notices, _used_notice(doubtful)] if doubtful else notices


def _apart_notice(names: list[str], color: str | None) -> Message:
    """The notice about suspected targets that were kept apart; `color` colours, if given."""
    single = len(names) == 1
    colors = "" if color is not None else f"{'it' if single else 'the first'} colours the map, "
    return Message(
        f"{quoted_names(names)} {'looks' if single else 'look'} like the target by name and "
        f"values: {colors}{'it is' if single else 'they are'} not used as a feature; ",
        column_argument("keep", names),
        f" uses {'it' if single else 'them'}",
    )


def _used_notice(names: list[str]) -> Message:
    """The notice about columns that are used, but may be the target."""
    them = "it" if len(names) == 1 else "them"
    feature = "a feature" if len(names) == 1 else "features"
    return Message(
        f"{quoted_names(names)}: used as {feature}, although the name says that it may be the "
        "target; ",
        Argument("label_columns", names[:1]),  # as an option it colours, too, and takes one
        " keeps it apart, ",
        column_argument("exclude", names),
        f" leaves {them} out",
    )
