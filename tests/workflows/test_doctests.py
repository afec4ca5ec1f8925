"""Every example in a docstring does what it says.

The modules are those of the package as it is imported, so the README's test command runs the
examples of the installed one; those of papers/ come from the checkout. Modules without examples
are not listed.
"""

import doctest
import pkgutil
import warnings
from importlib import import_module

import pytest

import dualfold
import papers
from dualfold.descriptions import ESTIMATOR_MODULES


def modules_with_examples() -> list[str]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = [
        module.name
        for package in (dualfold, papers)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not module.name.endswith("__main__")
    ]
    return [
        name
        for name in ["dualfold", *names]
        if any(test.examples for test in finder.find(import_module(name)))
    ]


MODULES = modules_with_examples()


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an example that warns teaches a bad habit
        outcome = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.failed == 0
    assert outcome.attempted > 0


def test_every_estimator_has_an_example() -> None:
    estimators = list(ESTIMATOR_MODULES)
    assert not [name for name in estimators if ">>>" not in getattr(dualfold, name).__doc__]
