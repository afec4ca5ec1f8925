"""What the parameters of `TextVectors` may be; others are refused by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

from dualfold.errors import Argument, InvalidInput

__all__ = ["refuse_wrong_values"]


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_count_or_share(value: object) -> bool:
    if value is None or _is_count(value):
        return True
    return isinstance(value, Real) and not isinstance(value, Integral) and 0 <= float(value) <= 1


def _is_range(value: object) -> bool:
    sizes = list(value) if isinstance(value, list | tuple) else []
    return len(sizes) == 2 and all(map(_is_count, sizes)) and sizes[0] <= sizes[1]


def _is_stop_words(value: object) -> bool:
    return value in (None, "english") or not isinstance(value, str | int | float)


# Whether a value is allowed, and what is, in words.
Rule = tuple[Callable[[Any], bool], str]
COUNT_OR_SHARE: Rule = (_is_count_or_share, "a number of texts from 1 on, or a share as 0.5")
TRUTH: Rule = (lambda value: isinstance(value, bool), "true or false")
RULES: Mapping[str, Rule] = {
    "n_components": (_is_count, "a whole number from 1 on"),
    "analyzer": (lambda value: value in ("word", "char", "char_wb"), "word, char or char_wb"),
    "ngram_range": (_is_range, "two whole numbers from 1 on, the smaller one first"),
    "min_df": COUNT_OR_SHARE,
    "max_df": COUNT_OR_SHARE,
    "max_features": (
        lambda value: value is None or _is_count(value),
        "a whole number from 1 on, or None",
    ),
    "stop_words": (_is_stop_words, "english, or a list of words"),
    "strip_accents": (lambda value: value in (None, "ascii", "unicode"), "ascii, unicode or None"),
} | dict.fromkeys(("lowercase", "sublinear_tf", "binary", "use_idf", "smooth_idf"), TRUTH)


def refuse_wrong_values(parameters: Mapping[str, Any]) -> None:
    """Refuse the first parameter whose value is not allowed."""
    for name, value in parameters.items():
        is_allowed, allowed = RULES.get(name, (lambda _: True, ""))
        if not is_allowed(value):
            raise InvalidInput(Argument(name, value), f" must be {allowed}")
