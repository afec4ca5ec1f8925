"""Where X comes from: toys with a known answer, well-known sets, files and data frames.

Nothing here needs pandas or scikit-learn until a function that uses them is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualfold.data.data_sets import digits, mnist
    from dualfold.data.prepared import Prepared, prepare
    from dualfold.data.reading import Reading
    from dualfold.data.table_reader import read_table
    from dualfold.data.toys import (
        helix,
        holed_swiss_roll,
        linked_rings,
        oversampled_swiss_roll,
        s_curve,
        sphere_cap,
        swiss_roll,
        toroidal_helix,
    )

__all__ = [
    "Prepared",
    "Reading",
    "digits",
    "helix",
    "holed_swiss_roll",
    "linked_rings",
    "mnist",
    "oversampled_swiss_roll",
    "prepare",
    "read_table",
    "s_curve",
    "sphere_cap",
    "swiss_roll",
    "toroidal_helix",
]
# Loaded when first used: the options of the command line need `reading` and no numerics.
_NAMES_BY_MODULE = {
    "prepared": ("Prepared", "prepare"),
    "reading": ("Reading",),
    "data_sets": ("digits", "mnist"),
    "table_reader": ("read_table",),
}
_MODULE_OF = {name: home for home, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dualfold.data' has no attribute {name!r}")
    return getattr(import_module(f"dualfold.data.{_MODULE_OF.get(name, 'toys')}"), name)


def __dir__() -> list[str]:
    return __all__
