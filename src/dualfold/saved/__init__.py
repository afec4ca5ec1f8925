"""Maps stored as files: models that place new rows, and stored answers judged again.

save_model("roll.dualfold", model_of(Isomap().fit(X)))
load_model("roll.dualfold").transform(new)
"""

from dualfold.fitting.estimator import Statement
from dualfold.saved.foreign_rows import ForeignRows, judged_rows, kept_rows, old_rows
from dualfold.saved.model import (
    Model,
    both_sides,
    columns_differ,
    load_model,
    model_of,
    save_model,
    storable_map,
)
from dualfold.saved.rechecks import (
    estimator_of,
    estimator_of_model,
    rechecked_model,
    rechecked_points,
)
from dualfold.saved.trace_answers import certify_points
from dualfold.unfolding.stored_unfolding import BothSides, rechecked_unfolding

__all__ = [
    "BothSides",
    "ForeignRows",
    "Model",
    "Statement",
    "both_sides",
    "certify_points",
    "columns_differ",
    "estimator_of",
    "estimator_of_model",
    "judged_rows",
    "kept_rows",
    "load_model",
    "model_of",
    "old_rows",
    "rechecked_model",
    "rechecked_points",
    "rechecked_unfolding",
    "save_model",
    "storable_map",
]
