"""Public docstrings are numpydoc, and what they say of parameters is what the code accepts.

* numpydoc validates every public name, and the public methods of the classes among them, with the
  exceptions that are stated below.
* The documented type and default of a parameter are those of the code: an estimator's
  `_parameter_constraints`, a function's annotations, and the signature.
* There are at most MAX_NAMES of them: public is what a user calls.

A type has this form: `int ≥ 1, {"auto", "mle"} or None, default=2`. Intervals are `float > 0`,
`int ≥ 1` or `float in [0, 1)`; an array may say more: `array-like of shape (n_samples, 2)`.
"""

import ast
import dataclasses
import functools
import inspect
import pkgutil
import re
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Hidden

from tests.workflows.public_names import CLASSES, ESTIMATORS, THINGS, members

validation = pytest.importorskip("numpydoc.validate", reason="pip install '.[dev]'")

# More than people can look through is no public face. Theory counts apart: it is the library that
# the papers are checked with, and its names are looked up by the papers (docs/papers-to-code.md).
MAX_NAMES = {"floors": 243, "theory": 101}
# Where the parameters of estimators are read, beside their own files.
READERS = ("methods/fitting", "methods/points")
EXCEPTIONS = {
    "ES01": "where one line says all, there is no second paragraph",
    "SA01": "not every name has a relative",
    "SS05": "a function is named by what it returns, so its summary may begin with a plural",
}
EXCEPTIONS_OF_MEMBERS = EXCEPTIONS | {"EX01": "the example of a class shows its methods"}
EXCEPTIONS_OF_ERRORS = EXCEPTIONS | {
    "EX01": "an error is caught, and a warning filtered, by its name",
    "PR01": "users do not make them",
}
# An estimator is what people look up first: its docstring has every section.
SECTIONS = ("Parameters", "Attributes", "See Also", "Notes", "References", "Examples")
PLAIN = {int: "int", float: "float", bool: "bool", str: "str", None: "None", type(None): "None"}
# Of a union that has them all, they are one thing.
ARRAY_LIKE = set(typing.get_args(ArrayLike))
KINDS: dict[Any, set[str]] = {
    None: {"None"},
    str: {"str"},
    dict: {"dict"},
    list: {"list"},
    tuple: {"tuple"},
    callable: {"callable"},
    np.ndarray: {"ndarray"},
    Integral: {"int"},
    "boolean": {"bool"},
    "verbose": {"bool", "int"},
    "array-like": {"array-like"},
    "random_state": {"int", "RandomState instance", "None"},
}


def names() -> dict[str, Any]:
    """Each public thing once, by its longest name."""
    longest = {id(thing): name for name, thing in sorted(THINGS.items(), key=lambda x: len(x[0]))}
    return {name: THINGS[name] for name in sorted(longest.values())}


NAMES = names()
ROOM_OF = {name: thing.__module__.split(".")[1] for name, thing in NAMES.items()}
NAMES_BY_ROOM = {
    room: [name for name in NAMES if ROOM_OF[name] == room] for room in ROOM_OF.values()
}


def callables(name: str) -> Iterator[tuple[str, Any]]:
    """The thing of that name and, of a class, its public methods and properties.

    A method without a docstring has that of the class whose promise it keeps.
    """
    yield name, NAMES[name]
    for member, what in members(CLASSES[name]) if name in CLASSES else ():
        if what.__doc__:
            yield f"{name}.{member}", what


def documented_things(room: str) -> Iterator[tuple[str, Any]]:
    """All public things of a room, with their members."""
    return (pair for name in NAMES_BY_ROOM[room] for pair in callables(name))


class Docstring(validation.Validator):
    """numpydoc's reading of a thing, without opening source files: that takes most of the time."""

    source_file_name = source_file_def_line = None

    def __init__(self, obj_name: Any) -> None:
        super().__init__(validation.get_doc_object(obj_name))

    @property
    def method_returns_something(self) -> bool:
        if inspect.isgeneratorfunction(self.code_obj):
            return False  # what it yields has a section of its own
        return self.code_obj.__annotations__.get("return", "None") != "None"


read = functools.cache(Docstring)


@functools.cache
def faults_of(thing: Any) -> tuple[tuple[str, str], ...]:
    """What numpydoc finds in one docstring; methods are often inherited, and read once."""
    return tuple(validation.validate(thing, lambda obj_name: read(obj_name))["errors"])


def faults(name: str) -> list[str]:
    """What numpydoc finds in the docstrings of a name and its members, but for the exceptions."""
    return [
        f"{full}: {code} {words}"
        for full, thing in callables(name)
        for code, words in faults_of(thing)
        if code not in exceptions_of(thing)
        and not (code == "PR01" and has_fields_as_attributes(thing))
    ]


def exceptions_of(thing: Any) -> dict[str, str]:
    """What numpydoc asks for and a thing of this kind need not have."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return EXCEPTIONS_OF_ERRORS
    return EXCEPTIONS if any(thing is known for known in NAMES.values()) else EXCEPTIONS_OF_MEMBERS


def has_fields_as_attributes(thing: Any) -> bool:
    """Whether a class that users do not make themselves states its fields as attributes."""
    if not dataclasses.is_dataclass(thing):
        return False
    stated = documented(thing, "Parameters") | documented(thing, "Attributes")
    return {field.name for field in dataclasses.fields(thing) if field.init} <= set(stated)


@functools.cache
def documented(thing: Any, section: str = "Parameters") -> dict[str, str]:
    """The entries of a section, with their types."""
    entries = read(thing).doc[section]
    return {name: kind for names, kind, _ in entries for name in names.split(", ")}


def split_type(text: str) -> tuple[set[str], str | None]:
    """What a documented type allows, and the default, both as written.

    >>> sorted(split_type('int ≥ 1, {"a", "b"}, float in (0, 1) or None, default="a"')[0])
    ['"a"', '"b"', 'None', 'float in (0, 1)', 'int ≥ 1']
    """
    kinds, _, default = " ".join(text.split()).partition(", default=")
    found: set[str] = set()
    for part in re.split(r", (?![^\[({]*[\])}])| or (?![^({]*[)}])", kinds):
        words = re.findall(r'"[^"]*"', part)
        found |= set(words) or {re.sub(r" of .*", "", part.strip())}
    return found, default or None


def interval(rule: Any) -> str:
    """An interval of scikit-learn as docstrings state it."""
    kind = "int" if rule.type is Integral else "float"
    if rule.left is None and rule.right is None:
        return kind
    low = f"{'≥' if rule.closed in ('left', 'both') else '>'} {rule.left:g}"
    if rule.right is None:
        return f"{kind} {low}"
    ends = "[" if rule.closed in ("left", "both") else "("
    ends += "]" if rule.closed in ("right", "both") else ")"
    return f"{kind} in {ends[0]}{rule.left:g}, {rule.right:g}{ends[1]}"


def allowed(rules: Any) -> set[str]:
    """What `_parameter_constraints` allow, as docstrings state it."""
    found: set[str] = set()
    for rule in rules:
        if isinstance(rule, Hidden):  # deprecated in scikit-learn
            continue
        if hasattr(rule, "options"):
            found |= {f'"{word}"' for word in rule.options}
        elif hasattr(rule, "closed"):
            found.add(interval(rule))
        else:
            found |= KINDS[rule]
    return found


def annotated(hint: Any) -> set[str] | None:
    """The plain types and words that an annotation allows; None where it allows anything."""
    if hint in (Any, inspect.Parameter.empty) or is_array_like(hint):
        return None
    if typing.get_origin(hint) is Literal:
        return {f'"{word}"' for word in typing.get_args(hint) if isinstance(word, str)}
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        given = set(typing.get_args(hint))
        given -= ARRAY_LIKE if given >= ARRAY_LIKE else set()
        parts = [annotated(part) for part in given]
        return None if None in parts else set().union(*parts)
    return {PLAIN[hint]} if hint in PLAIN else set()


def is_array_like(hint: Any) -> bool:
    """Whether a hint is a part of `Numbers` or of NumPy's `ArrayLike`, "array-like" in words."""
    kind = typing.get_origin(hint) or hint
    return kind is Sequence or getattr(kind, "__module__", "").startswith("numpy._typing")


def hint_of(thing: Any, parameter: inspect.Parameter) -> Any:
    """The annotation of a parameter; Any where only type checkers know its names."""
    if not isinstance(parameter.annotation, str):
        return parameter.annotation
    try:
        return eval(parameter.annotation, vars(sys.modules[thing.__module__]))
    except NameError:
        return Any


def wrong_annotation(kinds: set[str], hint: Any) -> bool:
    """Whether a documented type and an annotation differ in plain types or in words."""
    expected = annotated(hint)
    if expected is None:
        return False
    plain = {re.sub(r" ([≥>] |in [\[(]).*", "", kind) for kind in kinds}
    plain = {kind for kind in plain if kind in PLAIN.values() or kind.startswith('"')}
    if "str" in expected:  # words are strings
        plain = {"str" if kind.startswith('"') else kind for kind in plain}
    return plain != expected


def wrong_default(stated: str | None, default: Any) -> bool:
    if default is inspect.Parameter.empty or stated is None:
        return default is not inspect.Parameter.empty or stated is not None
    if isinstance(default, float) and not np.isfinite(default):  # NaN and inf are no literals
        return stated.lower() != str(default)
    try:
        return bool(ast.literal_eval(stated) != default)
    except (SyntaxError, ValueError):  # a default that is no literal
        return isinstance(default, str | int | float | tuple | None)


def misstated(thing: Any) -> list[str]:
    """Parameters whose documented type or default is not that of the code."""
    if isinstance(thing, property | functools.cached_property):
        return []
    try:
        parameters = inspect.signature(thing).parameters
    except (TypeError, ValueError):  # a class written in C (an exception) has none
        return []
    stated = documented(thing) if inspect.isroutine(thing) else {}
    stated |= documented(thing, "Attributes") | documented(thing) if inspect.isclass(thing) else {}
    rules = getattr(thing, "_parameter_constraints", {})
    found = []
    for name, parameter in parameters.items():
        if name not in stated or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        kinds, default = split_type(stated[name])
        if name in rules and rules[name] != "no_validation":
            wrong = kinds != allowed(rules[name])
            expected = allowed(rules[name])
        else:
            expected = hint_of(thing, parameter)
            wrong = wrong_annotation(kinds, expected)
        is_result = dataclasses.is_dataclass(thing) and name not in documented(thing)
        if wrong or (wrong_default(default, parameter.default) and not is_result):
            found.append(f"{name} : {stated[name]}; the code: {expected}, {parameter.default!r}")
    return found


@pytest.mark.parametrize("room", NAMES_BY_ROOM)
def test_docstrings_are_numpydoc(room: str) -> None:
    wrong = [words for name in NAMES_BY_ROOM[room] for words in faults(name)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", NAMES_BY_ROOM)
def test_types_and_defaults_are_those_of_the_code(room: str) -> None:
    found = {full: misstated(thing) for full, thing in documented_things(room)}
    found = {full: wrong for full, wrong in found.items() if wrong}
    assert not found, found


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_has_every_section(name: str) -> None:
    doc = read(NAMES[name])
    assert doc.extended_summary
    assert [title for title in SECTIONS if title not in doc.section_titles] == []


@pytest.mark.parametrize("room", NAMES_BY_ROOM)
def test_names_that_docstrings_mention_exist(room: str) -> None:
    for full, thing in documented_things(room):
        mentioned = set(re.findall(r"`(dualfold(?:\.\w+)+)`", inspect.getdoc(thing) or ""))
        mentioned |= set(read(thing).see_also)
        folders = ["dualfold", *full.split(".")]
        places = ["", *(".".join(folders[: count + 1]) + "." for count in range(len(folders)))]
        lost = [one for one in mentioned if not any(exists(place + one) for place in places)]
        assert not lost, full


@functools.cache
def exists(name: str) -> bool:
    try:
        return pkgutil.resolve_name(name) is not None
    except (AttributeError, ImportError, ValueError):
        return False


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_that_are_ignored_say_so(name: str) -> None:
    entries = read(NAMES[name]).doc["Parameters"]
    marked = {entry.name for entry in entries if entry.desc[0].startswith("Ignored")}
    own = Path(inspect.getfile(NAMES[name]))
    shared = [file for room in READERS for file in (own.parents[1] / room).glob("*.py")]
    assert not marked & parameters_read(own)
    assert {entry.name for entry in entries} - marked <= parameters_read(own, *shared)


@functools.cache
def parameters_read(*files: Path) -> set[str]:
    """Attributes of estimators that files read."""
    code = "\n".join(file.read_text() for file in files)
    found = re.findall(r"\b(?:self|estimator)\.(\w+)|getattr\(\w+, \"(\w+)\"", code)
    return {name for names in found for name in names}


def test_public_is_what_a_user_calls() -> None:
    in_theory = len(NAMES_BY_ROOM["theory"])
    assert in_theory <= MAX_NAMES["theory"]
    assert len(NAMES) - in_theory <= MAX_NAMES["floors"]


def test_the_check_sees_what_is_wrong() -> None:
    def sample(kind: Literal["a", "b"] = "a", count: int | None = 2) -> None:
        """Do nothing.

        Parameters
        ----------
        kind : {"a", "c"}, default="a"
            Which.
        count : int ≥ 1 or None, default=3
            How many.
        """

    assert [words.split(" : ")[0] for words in misstated(sample)] == ["kind", "count"]
    assert split_type('float in [0, 1) or "auto"') == ({"float in [0, 1)", '"auto"'}, None)
    assert split_type("array-like of shape (n, 2) or None, default=None")[0] == {
        "array-like",
        "None",
    }
    assert split_type('{"a", "b or c"}, default="a"')[0] == {'"a"', '"b or c"'}
