"""Where X comes from: toys with a known answer, well-known sets, files and data frames.

Nothing here needs pandas or scikit-learn until a function that uses them is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.lazy_names import lazy_names

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
    "text",
    "toroidal_helix",
]
# Loaded when first used: the options of the command line need `reading` and no numerics.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Prepared": "prepared",
        "Reading": "reading",
        "digits": "data_sets",
        "helix": "toys",
        "holed_swiss_roll": "toys",
        "linked_rings": "toys",
        "mnist": "data_sets",
        "oversampled_swiss_roll": "toys",
        "prepare": "prepared",
        "read_table": "table_reader",
        "s_curve": "toys",
        "sphere_cap": "toys",
        "swiss_roll": "toys",
        "toroidal_helix": "toys",
    },
    rooms=("text",),
)
