"""Every public name explains itself.

* Every name of `dualfold.__all__` and of every room's `__all__`, and every public method and
  property of the classes among them, has a docstring (a method may inherit it from the class
  whose promise it keeps).
* A function or class with more than three parameters names each of them, in its own docstring
  or, for words that a whole file or room shares, as a line `word : meaning` in the docstring of
  that file or room.
* An estimator's docstring states the attributes that fitting leaves behind, all and no others
  (test_numpydoc.py compares its parameters with the code).
"""

import dataclasses
import inspect
import re
import sys
import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import dualfold
from dualfold.data import swiss_roll
from dualfold.methods.descriptions import ESTIMATOR_MODULES
from tests.workflows.public_names import CLASSES, ESTIMATORS, ROOMS, THINGS, members

# A signature of three words is read at a glance; a longer one needs a legend.
READ_AT_A_GLANCE = 3
# Set by scikit-learn's `validate_data` on every estimator, explained there.
OF_SCIKIT_LEARN = {"n_features_in_", "feature_names_in_"}


def documented(kind: type, name: str) -> bool:
    """Whether the member, or the promise that it keeps in a class above, is explained."""
    return any(inspect.getdoc(vars(base)[name]) for base in kind.__mro__ if name in vars(base))


def words(text: str | None) -> set[str]:
    return set(re.findall(r"\w+", text or ""))


def defined_words(text: str | None) -> set[str]:
    """The words that a docstring defines, as in `metric, p : how distances are measured`."""
    lines = re.findall(r"^\s*(\w+(?:, \w+)*) : ", text or "", flags=re.MULTILINE)
    return {word for line in lines for word in line.split(", ")}


def unexplained(thing: Any, doc: str | None = None) -> list[str]:
    try:
        parameters = [*inspect.signature(thing).parameters]
    except (TypeError, ValueError):  # a class written in C (an exception) has none
        return []
    parameters = [name for name in parameters if name not in ("self", "cls")]
    if len(parameters) <= READ_AT_A_GLANCE:
        return []
    home = thing.__module__
    room = home.split(".")[1]
    known = words(doc or inspect.getdoc(thing))
    if dataclasses.is_dataclass(thing):  # fields are explained where they are declared
        known |= {word for base in thing.__mro__[1:] for word in words(inspect.getdoc(base))}
    known |= defined_words(sys.modules[home].__doc__)
    known |= defined_words(import_module(f"dualfold.{room}").__doc__)
    return [name for name in parameters if name not in known]


def fitted(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = np.array(["a", "b", "c"])[np.arange(80) % 3]
        points = np.abs(swiss_roll(80, random_state=0).points)  # some take counts alone
        return CLASSES[name]().fit(points, kinds)


def test_the_walk_sees_the_house() -> None:
    assert set(ESTIMATORS) == set(ESTIMATOR_MODULES)
    assert {"quality.trustworthiness", "games.nesterov", "errors.InvalidInput"} <= set(THINGS)
    assert {name for name, _ in members(dualfold.Isomap)} >= {"fit", "transform", "dist_matrix_"}


def test_every_room_has_a_docstring() -> None:
    assert not [room for room in ROOMS if not import_module(f"dualfold.{room}").__doc__]


def test_every_public_name_has_a_docstring() -> None:
    # A dataclass without a docstring is given its signature by Python, which teaches nothing.
    assert not [
        name
        for name, thing in THINGS.items()
        if not vars(thing).get("__doc__", inspect.getdoc(thing))
        or (dataclasses.is_dataclass(thing) and thing.__doc__.startswith(f"{thing.__name__}("))
    ]


def test_every_public_method_and_property_has_a_docstring() -> None:
    assert not [
        f"{name}.{member}"
        for name, kind in CLASSES.items()
        for member, _ in members(kind)
        if not documented(kind, member)
    ]


def test_longer_signatures_are_explained_word_by_word() -> None:
    lacking = {name: unexplained(thing) for name, thing in THINGS.items()}
    for name, kind in CLASSES.items():
        for member, function in members(kind):
            if inspect.isfunction(function):
                lacking[f"{name}.{member}"] = unexplained(function)
    lacking = {name: which for name, which in lacking.items() if which}
    assert not lacking, lacking  # in full: pytest shortens what it compares


def stated_attributes(kind: type) -> dict[str, str]:
    """The entries of the section Attributes."""
    section = re.search(
        r"^Attributes\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", inspect.getdoc(kind) or "", re.M | re.S
    )
    entries = re.split(r"\n(?=\S)", section[1].strip()) if section else []
    return {entry.partition(" : ")[0]: entry for entry in entries}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimators_docstring_states_the_attributes_that_fitting_leaves(name: str) -> None:
    stated = stated_attributes(CLASSES[name])
    left = {attribute for attribute in dir(fitted(name)) if re.fullmatch(r"[a-z]\w*_", attribute)}
    assert not left - set(stated) - OF_SCIKIT_LEARN
    # What is there in some fits only says so.
    usual = {attribute for attribute, words in stated.items() if "only" not in words.lower()}
    assert not usual - left - OF_SCIKIT_LEARN


def test_the_check_sees_what_is_missing() -> None:
    def four(one: int, two: int, three: int, four: int) -> None:
        """Explains one and two, and four."""

    four.__module__ = "dualfold.quality.ranks"
    assert unexplained(four) == ["three"]
    assert defined_words("metric, p : how far\n  seed : where from\nno: such") == {
        "metric",
        "p",
        "seed",
    }
