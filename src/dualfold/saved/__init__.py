"""Maps kept as files: models that place new rows, and a second look at stored maps.

save_model("roll.dualfold", model_of(Isomap().fit(X)))
load_model("roll.dualfold").transform(new)
"""

from dualfold.fitting.statement import Stated
from dualfold.saved.foreign import Foreign, judged_rows, kept_rows, old_rows
from dualfold.saved.model import BothSides, Model, load_model, save_model
from dualfold.saved.placing import both_sides, model_of, rule_of
from dualfold.saved.recheck import rechecked
from dualfold.saved.restate import estimator_of, rechecked_model, rechecked_points
from dualfold.saved.unfolding import rechecked_unfolding

__all__ = [
    "BothSides",
    "Foreign",
    "Model",
    "Stated",
    "both_sides",
    "estimator_of",
    "judged_rows",
    "kept_rows",
    "load_model",
    "model_of",
    "old_rows",
    "rechecked",
    "rechecked_model",
    "rechecked_points",
    "rechecked_unfolding",
    "rule_of",
    "save_model",
]
