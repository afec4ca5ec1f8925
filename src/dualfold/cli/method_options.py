"""The options of one method: its estimator's parameters, read where they are stated.

Types and ranges are the estimator's `_parameter_constraints`, defaults its signature, and the
help is in the "Parameters" of its docstring. The description names which of them are options.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from dualfold.methods.descriptions import DESCRIPTIONS, Description

# Options of methods that every command has among its own.
SHARED_OPTIONS = ("n_components", "n_neighbors")
# Those that are on or off, without a value; stated here since help must not load estimators.
SWITCH_OPTIONS = frozenset({"angles", "metric_mds", "supervised", "whiten"})
# The options that a command has for the methods that are named in it, each once.
METHOD_OPTIONS = tuple(
    dict.fromkeys(
        name for row in DESCRIPTIONS.values() for name in row.options if name not in SHARED_OPTIONS
    )
)
# Options that are not used where another one is given.
REPLACED_BY = {"n_neighbors": "radius", "perplexity": "n_neighbors"}
NONE_WORD = "none"  # how None is written on the command line


@dataclass(frozen=True)
class MethodOption:
    """Parameter of an estimator as an option.

    rules : what its values may be, as scikit-learn's constraints
    default, estimators_default : its value where none is given, here and in Python
    help : one sentence
    """

    name: str
    rules: tuple[Any, ...] = ()
    default: Any = None
    estimators_default: Any = None
    help: str = ""

    @property
    def flag(self) -> str:
        return flag_of(self.name)

    @property
    def off(self) -> str:
        """Flag that turns a switch off."""
        return off_flag_of(self.name)

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off, without a value."""
        return self.name in SWITCH_OPTIONS

    @property
    def values(self) -> str:
        """Values that may be given, in words."""
        if self.is_switch:
            return "on or off"
        words = [word for rule in self.rules for word in _rule_in_words(rule)]
        return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))

    @property
    def usual(self) -> str:
        """The default in words; with the estimator's own where that is another."""
        here, there = as_word(self.default), as_word(self.estimators_default)
        return here if here == there else f"{here} (in Python: {there})"

    @property
    def help_text(self) -> str:
        """Help: what the option does, what may be given and its default."""
        return f"{self.help} [{self.values}; default: {self.usual}]".lstrip()

    def takes(self, value: Any) -> bool:
        """Whether the rules allow this value."""
        return any(_holds(rule, value) for rule in self.rules)

    @property
    def words(self) -> list[str]:
        """The words among its values, to complete what is typed."""
        return [word for rule in self.rules if hasattr(rule, "options") for word in _words(rule)]

    def value_of(self, text: str) -> Any:
        """The value that `text` stands for; ValueError with what is possible otherwise."""
        for value in _readings(text):
            if self.takes(value):
                return value
        raise ValueError(f"{text!r} is not {self.values}")


def flag_of(name: str) -> str:
    """A parameter as it is written on the command line."""
    return f"--{name.replace('_', '-')}"


def off_flag_of(name: str) -> str:
    """Flag that turns a switch off on the command line."""
    return f"--no-{name.replace('_', '-')}"


def as_word(value: Any) -> str:
    """A value as it is written on the command line: read again it is the same.

    >>> as_word(30.0), as_word(1e-7), as_word(19 / 3)
    ('30', '1e-07', '6.333333333333333')
    """
    if value is None:
        return NONE_WORD
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value)


def option_words(row: Description, settings: Mapping[str, object]) -> list[str]:
    """The options that make settings of what is usual; those that are usual are left out."""
    words: list[str] = []
    for option in method_options(row.name):
        value = settings.get(option.name, option.default)
        if settings.get(REPLACED_BY.get(option.name, "")) is not None:
            continue  # it is not used
        if isinstance(value, list):
            continue  # what fitting has found, as it would again
        if value == option.default:
            continue
        if option.is_switch:
            words.append(option.flag if value else option.off)
        else:
            words += [option.flag, as_word(value)]
    return words


@functools.cache
def method_options(name: str) -> tuple[MethodOption, ...]:
    """The options of a method, in the order of its description; loads the numerics."""
    row = DESCRIPTIONS[name]
    return tuple(_option(row, parameter) for parameter in row.options)


def coordinates_option(name: str) -> MethodOption:
    """n_components, which every method has; 2 by default, and never 0."""
    from sklearn.utils._param_validation import Interval

    option = _option(DESCRIPTIONS[name], "n_components")
    one = Interval(Integral, 1, None, closed="left")
    whole = [getattr(rule, "type", None) is Integral for rule in option.rules]
    rules = tuple(one if is_ else rule for rule, is_ in zip(option.rules, whole, strict=True))
    return replace(option, rules=rules, default=2)


def _option(row: Description, name: str) -> MethodOption:
    estimator, own = row.estimator_class(), row.estimator_defaults[name]
    rules = tuple(estimator._parameter_constraints[name])
    help = parameter_help(estimator).get(name, "")
    return MethodOption(name, rules, row.defaults.get(name, own), own, help)


def parameter_help(estimator: Any) -> dict[str, str]:
    """Each parameter with the first paragraph of its description in the estimator's docstring.

    Further paragraphs are about what only Python can do.
    """
    text = inspect.getdoc(estimator) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.M | re.S)
    helps: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section[1].strip()) if section else []:
        head, _, description = entry.partition("\n")
        names = head.partition(" : ")[0]
        plain = " ".join(description.strip().split("\n\n")[0].split())
        plain = re.sub(r'"([^"]*)"|`([^`]*)`', r"\1\2", re.sub(r"\bNone\b", NONE_WORD, plain))
        helps |= dict.fromkeys(names.split(", "), plain)
    return helps


def _readings(text: str) -> list[Any]:
    """Readings of a text: nothing, a number, or itself."""
    readings: list[Any] = [None] if text == NONE_WORD else []
    for kind in (int, float):
        try:
            readings.append(kind(text))
        except ValueError:
            continue
    return [*readings, text]


def _holds(rule: Any, value: Any) -> bool:
    from sklearn.utils._param_validation import make_constraint

    if rule is str:
        return isinstance(value, str)
    if rule is callable or rule == "array-like":  # nothing that a command line could hold
        return False
    if hasattr(rule, "options") and value not in _words(rule):
        return False
    satisfied: bool = make_constraint(rule).is_satisfied_by(value)
    return satisfied


def _rule_in_words(rule: Any) -> list[str]:
    """Each kind of value that a rule allows, none where no word can be one."""
    if rule is None:
        return [NONE_WORD]
    if rule is str:
        return ["a word"]
    if rule == "random_state":
        return ["a whole number ≥ 0", NONE_WORD]
    if hasattr(rule, "options"):
        return _words(rule)
    if hasattr(rule, "left"):
        return [_interval_in_words(rule)]
    return []


def _words(rule: Any) -> list[str]:
    """The words that may be given. A table of affinities has no distances to measure a map by."""
    return sorted(word for word in rule.options if not word.startswith("precomputed"))


def _interval_in_words(rule: Any) -> str:
    kind = "a whole number" if rule.type is Integral else "a number"
    words = kind
    if rule.left is not None:
        words += f" {'≥' if rule.closed in ('left', 'both') else '>'} {rule.left:g}"
    if rule.right is not None:
        joint = " and" if rule.left is not None else ""
        words += f"{joint} {'≤' if rule.closed in ('right', 'both') else '<'} {rule.right:g}"
    return words
