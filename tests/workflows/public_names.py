"""The names that dualfold invites people to use, found by walking the package."""

import functools
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

import dualfold

ROOMS = [
    "embedding",
    "methods.maps",
    "methods.points.neighbor_map",
    "methods.points.tsne",
    "trace.solvers",
    *sorted(name for name in dualfold.__all__ if inspect.ismodule(getattr(dualfold, name))),
]


def public_things() -> dict[str, Any]:
    """Every public function and class: by its name in the package, and in its room."""
    found = {name: getattr(dualfold, name) for name in dualfold.__all__}
    for room in ROOMS:
        module = import_module(f"dualfold.{room}")
        names = getattr(module, "__all__", None) or [
            name
            for name, thing in vars(module).items()
            if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
        ]
        found |= {f"{room}.{name}": getattr(module, name) for name in names}
    return {
        name: thing
        for name, thing in found.items()
        if inspect.isclass(thing) or inspect.isroutine(thing)
    }


THINGS = public_things()
CLASSES = {name: thing for name, thing in THINGS.items() if inspect.isclass(thing)}
ESTIMATORS = sorted(
    name for name, kind in CLASSES.items() if "." not in name and issubclass(kind, BaseEstimator)
)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that dualfold wrote, inherited ones included."""
    for name in dir(kind):
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("dualfold"):
            continue
        member = inspect.getattr_static(kind, name)
        if isinstance(member, staticmethod | classmethod):
            member = member.__func__
        if inspect.isfunction(member) or isinstance(member, property | functools.cached_property):
            yield name, member
