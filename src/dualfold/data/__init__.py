"""Where X comes from: toys with a known answer, well-known sets, and files.

Nothing here needs pandas or scikit-learn until a function that uses them is called.
"""

from dualfold.data.sets import DataSet, digits, mnist
from dualfold.data.tables import Table, read_metadata, read_table, write_table
from dualfold.data.toys import (
    Sample,
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
    "DataSet",
    "Sample",
    "Table",
    "digits",
    "helix",
    "holed_swiss_roll",
    "linked_rings",
    "mnist",
    "oversampled_swiss_roll",
    "read_metadata",
    "read_table",
    "s_curve",
    "sphere_cap",
    "swiss_roll",
    "toroidal_helix",
    "write_table",
]
