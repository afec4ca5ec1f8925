"""Every example in a docstring does what it says.

The modules are those of the package as it is imported, so the README's test command runs the
examples of the installed one; those of papers/ come from the checkout. Modules without examples
are not listed.
"""

import doctest
import re
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import dualfold
import papers
from dualfold.methods.descriptions import ESTIMATOR_MODULES

EXAMPLE = re.compile(r"^\s*>>> ", re.MULTILINE)


def modules_with_examples() -> list[str]:
    """Those whose text has an example; collecting imports none of them."""
    found = []
    for package in (dualfold, papers):
        folder = Path(package.__path__[0])
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            if path.name != "__main__.py" and EXAMPLE.search(path.read_text(encoding="utf-8")):
                found.append(".".join(parts).removesuffix(".__init__"))
    return found


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
