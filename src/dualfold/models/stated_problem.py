"""What states the problem of a map again: an estimator by its name, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.errors import DamagedFile, InvalidInput
from dualfold.methods.descriptions import DESCRIPTIONS, ESTIMATOR_MODULES, Description
from dualfold.methods.fitting.estimator import Estimator

# They change how an answer is found or reported, not which one is right.
NEUTRAL_PARAMETERS = {"n_jobs": None, "verbose": False}
# Parameters that may be lists of row or column numbers; the estimator checks them.
LIST_PARAMETERS = ("left_out", "coordinates")


@dataclass(frozen=True, eq=False)
class StatedProblem:
    """Estimator that a map is of, by name, with its parameters.

    Attributes
    ----------
    estimator : str
        Name of the class.
    parameters : dict
        Its parameters, and what its fit has found of them, as JSON has them.
    not_kept : tuple of str
        Names of further parameters, which no file can hold.
    weighted : bool
        Whether the rows had weights.
    """

    estimator: str
    parameters: Mapping[str, Any]
    not_kept: tuple[str, ...] = ()
    weighted: bool = False

    @classmethod
    def of(cls, estimator: Estimator, *, weighted: bool | None = None) -> StatedProblem:
        """The problem of an estimator; without `weighted` the fit knows."""
        plain: dict[str, Any] = {}
        others = []
        parameters = estimator.get_params(deep=False)
        # Rows that were left out are stated: with them it would be another problem.
        if hasattr(estimator, "found_parameters") and hasattr(estimator, "certificate_"):
            parameters |= estimator.found_parameters()
        for name, value in parameters.items():
            value = value.item() if isinstance(value, np.generic) else value
            if value is None or isinstance(value, bool | int | float | str):
                plain[name] = value
            elif isinstance(value, dict) and not value:
                plain[name] = None
            elif name in LIST_PARAMETERS:
                plain[name] = [int(number) for number in value]
            else:
                others.append(name)
        if weighted is None:
            weighted = bool(estimator._weighted)
        return cls(type(estimator).__name__, plain, tuple(others), weighted)

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> StatedProblem:
        """The problem of a method with options, as the command line stores them with a map."""
        row = DESCRIPTIONS.get(str(settings.get("method")))
        if row is None:
            raise InvalidInput(f"there is no method {settings.get('method')!r}")
        options = row.estimator_parameters(row.options_of_stored(settings))
        return cls(row.class_name, {"n_components": settings.get("n_components", 2)} | options)

    @property
    def method(self) -> Description | None:
        """The method that the estimator is with these parameters; None where no name says it."""
        rows = [row for row in DESCRIPTIONS.values() if row.class_name == self.estimator]
        known = self.parameters.items()
        return next((row for row in rows if row.fixed.items() <= known), None)

    def settings(self, method: Description) -> dict[str, Any]:
        """The method with its options, as the command line stores them with a map."""
        names = ["n_components", *method.options]
        names += [] if self.parameters.get("left_out") is None else ["left_out"]
        return {"method": method.name} | {name: self.parameters[name] for name in names}

    def new_estimator(self) -> Estimator:
        """The estimator, not fitted."""
        name, parameters = self.estimator, self.parameters
        if name not in ESTIMATOR_MODULES:
            raise InvalidInput(
                f"the model is of {name!r}, which is no estimator; there are "
                f"{', '.join(ESTIMATOR_MODULES)}"
            )
        row = next((row for row in DESCRIPTIONS.values() if row.class_name == name), None)
        if row is None:
            raise InvalidInput(
                f"a model of {name} is not certified again: its problem is about two tables, and "
                "the file is about one; fit again, and look at certificate_"
            )
        known = row.estimator_class()().get_params()
        if not parameters.keys() <= known.keys():
            raise InvalidInput(
                "the model does not hold the parameters it was fitted with; save it again"
            )
        if self.not_kept:
            raise InvalidInput(
                f"the model was fitted with {list(self.not_kept)}, which no file keeps, so its "
                "problem cannot be stated again"
            )
        neutral = {name: value for name, value in NEUTRAL_PARAMETERS.items() if name in known}
        return _estimator(row, {**parameters, **neutral})

    def to_json(self) -> dict[str, Any]:
        """JSON that a file states; `from_json` makes the same of it."""
        stated = {"estimator": self.estimator, "parameters": dict(self.parameters)}
        stated["not_kept"] = list(self.not_kept)
        return stated | ({"weighted": True} if self.weighted else {})

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> StatedProblem:
        """The problem that a file states; another program may have written it."""
        name, parameters = stated.get("estimator"), stated.get("parameters")
        not_kept, weighted = stated.get("not_kept", []), stated.get("weighted", False)
        if not isinstance(name, str) or not isinstance(parameters, dict):
            raise DamagedFile("it does not hold the estimator that it is of, with its parameters")
        if not isinstance(not_kept, list) or not all(isinstance(word, str) for word in not_kept):
            raise DamagedFile("it names the parameters that it lacks in an unknown form")
        return cls(name, parameters, tuple(not_kept), weighted is True)


def _estimator(row: Description, parameters: Mapping[str, Any]) -> Estimator:
    """The estimator with parameters from a file, each of a type that a file can hold."""
    kind = row.estimator_class()
    for name, value in parameters.items():
        # A bool is an integer to Python, and True neighbours are one.
        flag = isinstance(value, bool) and "boolean" not in kind._parameter_constraints[name]
        if name in LIST_PARAMETERS and isinstance(value, list):
            continue
        plain = isinstance(value, None | bool | int | float | str)
        given_graph = name == "graph" and value is not None  # no file holds one as a parameter
        if given_graph or not plain or (flag and name != "verbose"):
            raise InvalidInput(f"the file states {name} as {value!r}, which is no value of it")
    estimator = kind(**parameters)
    try:
        estimator._validate_params()
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the file's parameters are none of {row.class_name}: {error}"
        ) from error
    return estimator
